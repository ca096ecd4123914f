use super::runs_retrieval;

#[test]
fn finds_runs_in_command_position() {
    let runs = [
        "pi-event-search search lock",
        "  pi-event-search",
        "/opt/venv/bin/pi-event-search status",
        "./bin/pi-event-search --json search x | jq .",
        "cd /w && pi-event-search search x",
        "true; pi-event-search sync",
        "false || pi-event-search sync",
        "echo a | pi-event-search search",
        "sleep 1 & pi-event-search sync",
        "echo a\npi-event-search search x",
        "(pi-event-search sessions)",
        "{ pi-event-search sessions; }",
        "FOO=1 BAR='a b' pi-event-search search x",
        "if pi-event-search verify; then echo ok; fi",
        "for s in a b; do pi-event-search read $s x; done",
        "! pi-event-search verify",
        "sudo pi-event-search status",
        "sudo -u bob -n pi-event-search status",
        "env -u X A=1 pi-event-search status",
        "time -p pi-event-search status",
        "exec pi-event-search serve",
        "nohup pi-event-search watch &",
        "timeout 30 pi-event-search sync",
        "timeout -k 5 30s pi-event-search sync",
        "echo x | xargs -n 1 pi-event-search search",
        "uv run pi-event-search search x",
        "uv run --with foo --quiet pi-event-search search x",
        "uv --quiet run pi-event-search search x",
        "uv run -m pi_event_search search x",
        "uv tool run pi-event-search search x",
        "uvx pi-event-search@latest search x",
        "uvx --from pi-event-search==0.1 pi-event-search search x",
        "pipx run pi-event-search search x",
        "poetry run pi-event-search search x",
        "python -m pi_event_search search x",
        "python3.12 -X utf8 -B -m pi_event_search.cli search x",
        "/usr/bin/python3 -mpi_event_search",
        "python .venv/bin/pi-event-search x",
        "'pi-event-search' search x",
        "\"/opt/my tools/pi-event-search\" search x",
        "pi-event\\-search x",
        "pi-event-\\\nsearch x",
        "pi install \"$(pi-event-search pi-extension)\"",
        "echo $(cd x; pi-event-search lineage y)",
        "echo `pi-event-search status`",
        "x=\"`pi-event-search status`\"; echo $x",
        "echo \"a $(echo \"$(pi-event-search x)\")\"",
        "bash -c 'pi-event-search search x'",
        "bash -lc \"cd /w && sudo sh -c 'pi-event-search sync'\"",
        "eval 'pi-event-search sync'",
        "2>/dev/null pi-event-search sync",
        "cat <(pi-event-search sessions)",
        "cat > out.txt <<EOF\nsome text\nEOF\npi-event-search sync",
        "echo $(pi-event-search x",
    ];
    for command in runs {
        assert!(runs_retrieval(command), "{command}");
    }
}

#[test]
fn a_mention_is_no_run() {
    let mentions = [
        "",
        "ls -la",
        "grep pi-event-search README.md",
        "grep -rn 'pi-event-search search' docs | head",
        "echo pi-event-search",
        "echo \"run; pi-event-search now\"",
        "echo 'a && pi-event-search b'",
        "echo 'it is $(pi-event-search x)'",
        "# pi-event-search search x",
        "ls # ; pi-event-search",
        "pip install pi-event-search",
        "uv pip install pi-event-search",
        "uv add pi-event-search",
        "cd pi-event-search",
        "cd ~/src/pi-event-search && make test",
        "git clone https://example.org/pi-event-search",
        "which pi-event-search",
        "man pi-event-search",
        "pi-event-search-helper x",
        "xpi-event-search",
        "python -m pytest tests/pi_event_search",
        "python -c 'import pi_event_search'",
        "python3 -m pi_event_searching",
        "cargo test -p pi-event-search-core",
        "cat > notes.md <<'EOF'\npi-event-search search x\nEOF",
        "cat > notes.md <<-EOF\n\tpi-event-search search x\n\tEOF\nls",
        "cat > pi-event-search",
        "ls > pi-event-search 2>&1",
        "cat <<< pi-event-search",
        "bash -c 'echo pi-event-search'",
        "sudo -u pi-event-search ls",
        "echo \\; pi-event-search",
    ];
    for command in mentions {
        assert!(!runs_retrieval(command), "{command}");
    }
}

#[test]
fn hostile_command_lines_end() {
    let deep = "$(".repeat(100_000) + "pi-event-search";
    assert!(runs_retrieval(&deep));
    let nested = format!("{}event-search", "sh -c 'sh -c \"".repeat(10_000));
    assert!(!runs_retrieval(&nested));
    let heredocs = "cat <<pi-event-search\n".repeat(10_000);
    assert!(!runs_retrieval(&heredocs));
    for odd in [
        "event-search '",
        "event-search \"",
        "event-search `",
        "event-search $(",
        "event-search \\",
        "event-search <<",
    ] {
        assert!(!runs_retrieval(odd), "{odd}");
    }
}
