"""Completion scripts: what each shell offers, asked of the shells themselves where they are."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from pi_event_search.cli.arguments import COMMANDS, COMMON, PROGRAM, SHELLS, options_of
from pi_event_search.cli.completion import completion_script
from pi_event_search.types import vocabulary

from tests.cli.made_up import MadeUpIndex

ASKED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # words typed so far (the last one is being completed): what is offered, what is not
    "": (("search", "status"), ()),
    "se": (("search", "sessions"), ("status",)),
    "--all-workspaces s": (("search", "status"), ("read",)),
    "--root /w sy": (("sync",), ("search",)),
    "search --k": (("--kind",), ("--json",)),
    "search --kind user": (("user.text",), ("tool.call",)),
    "search lock --sort ": (("newest", "oldest", "relevance"), ("search",)),
    "search --branch-state a": (("alternate",), ("selected",)),
    "read --order ": (("append", "branch"), ()),
    "read --win": (("--window",), ()),
    "sessions --file": ((), ("--file",)),
    "sync --j": (("--json",), ()),
}


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


def run(*command: str, text: str = "", cwd: Path | None = None) -> str:
    finished = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, cwd=cwd, timeout=60
    )
    assert finished.stderr == ""
    assert finished.returncode == 0
    return finished.stdout


@pytest.mark.parametrize("name", SHELLS)
def test_every_command_and_option_is_there(name: str) -> None:
    script = completion_script(name)
    for command in COMMANDS.values():
        assert command.name in script
        for option in options_of(command):
            assert (option.flag if name != "fish" else f"-l {option.flag[2:]} ") in script
            assert all(value in script for value in option.values)


def test_the_scripts_are_well_formed(shell: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(completion_script(shell), encoding="utf-8")
    run(shell, "-n", str(script))


def offered(shell: str, typed: str, cwd: Path | None = None) -> list[str]:
    """What bash or fish offer."""
    script = completion_script(shell)
    if shell == "fish":
        lines = run("fish", "-c", f"{script}\ncomplete -C '{PROGRAM} {typed}'", cwd=cwd)
        return [line.split("\t")[0] for line in lines.splitlines()]
    words = [PROGRAM, *typed.split(" ")]
    array = " ".join(f"'{word}'" for word in words)
    ask = f"COMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; _pi_event_search"
    show = 'printf "%s\\n" "${COMPREPLY[@]}"'
    return run("bash", "--norc", text=f"{script}\n{ask}\n{show}\n", cwd=cwd).splitlines()


@pytest.mark.parametrize("typed", ASKED)
@pytest.mark.parametrize("name", ["bash", "fish"])
def test_what_is_offered(name: str, typed: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    wanted, unwanted = ASKED[typed]
    found = offered(name, typed)
    assert set(wanted) <= set(found)
    assert not set(unwanted) & set(found)


def test_paths_with_blanks_stay_whole(tmp_path: Path) -> None:
    (tmp_path / "two words").mkdir()
    assert offered("bash", "search --cwd tw", tmp_path) == ["two words"]
    assert offered("bash", "search --file tw", tmp_path) == ["two words"]


def test_the_command_line_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    for name in SHELLS:
        for argv in (("--completion", name), (f"--completion={name}",)):
            assert MadeUpIndex().run(*argv) == 0
            assert capsys.readouterr().out == completion_script(name)


@pytest.mark.parametrize("argv", [(), ("ksh",), ("bash", "zsh"), ("search", "x")])
def test_other_shells(argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert MadeUpIndex().run("--completion", *argv) == 2
    assert "bash, zsh, fish" in capsys.readouterr().err


def test_values_are_those_that_the_services_take() -> None:
    values = {
        option.argument: option.values
        for command in COMMANDS.values()
        for option in (*options_of(command), *COMMON)
        if option.values
    }
    assert values == {
        "kinds": vocabulary.SEMANTIC_KINDS,
        "branch_states": vocabulary.BRANCH_STATES,
        "selection_states": vocabulary.SELECTION_STATES,
        "sort": vocabulary.SORTS,
        "order": vocabulary.ORDERS,
    }
