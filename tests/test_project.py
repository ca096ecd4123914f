"""What holds for the repository as a whole: one version, honest samples, true documents."""

from __future__ import annotations

import base64
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
SAMPLES = REPOSITORY / "samples" / "sessions"
LAMP = "019d3840-5c1e-7a42-9b16-2f4d8c7e1a05"
FORK = "019d3a11-07b3-7c58-8e2d-64a0f3b95d17"
OLD = "7b0e9d52-33c4-4f0a-a1d8-90f1c2b7e6aa"
ORCHARD = "019d2f6c-91d0-7e33-b5a4-0c7751ee8b20"

# Spelled with a class each, so that this file does not find itself.
FORBIDDEN = [
    r"(?<![\w./}])/roo[t]/",
    r"/wor[k]/(?:mai[n]|share[d]|\.(?:librar|mirro))",
    r"(?<![\w.])/tm[p]/w/",
    r"\.\./share[d]\b",
    r"https?://[^\s]*(?:registr[y]|crate[s]\.|pyp[i]|pythonhoste[d]|debia[n])",
    r"\b(?:TOD[O]|FIXM[E])\b",
]

Record = dict[str, Any]


def records(session_id: str) -> list[Record]:
    (path,) = SAMPLES.rglob(f"*_{session_id}.jsonl")
    lines = path.read_bytes().split(b"\n")
    assert lines.pop() == b"", "the last record ends in LF"
    return [json.loads(line) for line in lines]


def project_files() -> list[Path]:
    """Every file that somebody wrote, as far as .gitignore tells."""
    ignored = (REPOSITORY / ".gitignore").read_text(encoding="utf-8").split()
    built = {".git", *(name.strip("/") for name in ignored)}
    found: list[Path] = []
    for directory, folders, files in os.walk(REPOSITORY):
        folders[:] = sorted(set(folders) - built)
        found += [Path(directory, name) for name in sorted(files) if not name.endswith(".so")]
    return found


def make_targets() -> set[str]:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))


class TestVersion:
    def test_one_version_everywhere(self) -> None:
        cargo = tomllib.loads((REPOSITORY / "Cargo.toml").read_text(encoding="utf-8"))
        changelog = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
        top = re.search(r"^## (\S+) - (\d{4}-\d{2}-\d{2}|unreleased)$", changelog, re.MULTILINE)
        assert top is not None
        version = cargo["workspace"]["package"]["version"]
        assert top[1] == version
        assert importlib.metadata.version("pi-event-search") == version

    def test_crates_take_the_version_of_the_workspace(self) -> None:
        for manifest in sorted((REPOSITORY / "rust").glob("*/Cargo.toml")):
            if manifest.parent.name == "fuzz":
                continue  # it stands outside, and nobody gets it
            package = tomllib.loads(manifest.read_text(encoding="utf-8"))["package"]
            assert package["version"] == {"workspace": True}, manifest


class TestDocuments:
    def test_make_commands_in_the_documents_exist(self) -> None:
        targets = make_targets()
        for name in ("README.md", "ARCHITECTURE.md"):
            document = (REPOSITORY / name).read_text(encoding="utf-8")
            named = set(re.findall(r"(?:^|`)make ([a-z][a-z-]*)", document, re.MULTILINE))
            assert named <= targets, name

    def test_readme_names_the_two_commands_to_start_with(self) -> None:
        readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
        assert "make demo" in readme
        assert "make test" in readme

    def test_help_lists_every_target_with_a_description(self) -> None:
        shown = subprocess.run(
            ["make", "--no-print-directory", "help"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        )
        for target in ("demo", "test", "lint", "format", "clean"):
            assert re.search(rf"^  make {target}\s+\S", shown.stdout, re.MULTILINE), target

    def test_every_dependency_has_its_reason(self) -> None:
        reasons = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
        project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
        wanted = [
            *project["build-system"]["requires"],
            *project["project"]["dependencies"],
            *project["dependency-groups"]["dev"],
        ]
        names = {re.split(r"[<>=!~\[ ]", requirement)[0] for requirement in wanted}
        for manifest in (REPOSITORY / "rust").glob("*/Cargo.toml"):
            crate = tomllib.loads(manifest.read_text(encoding="utf-8"))
            names |= crate.get("dependencies", {}).keys() | crate.get("dev-dependencies", {}).keys()
        names.discard("pi-event-search-core")
        assert {name for name in names if f"| `{name}` |" not in reasons} == set()

    def test_nothing_of_the_machine_it_was_written_on(self) -> None:
        found = []
        for path in project_files():
            if path.name == "Cargo.lock":
                continue
            content = path.read_bytes().decode("utf-8", "replace")
            found += [
                f"{path.relative_to(REPOSITORY)}: {match[0]}"
                for pattern in FORBIDDEN
                for match in re.finditer(pattern, content)
            ]
        assert found == []


class TestSamples:
    def test_generator_writes_the_committed_bytes(self, tmp_path: Path) -> None:
        generator = REPOSITORY / "samples" / "make_samples.py"
        subprocess.run([sys.executable, str(generator), str(tmp_path)], check=True)
        committed = {
            path.relative_to(SAMPLES): path.read_bytes() for path in SAMPLES.rglob("*.jsonl")
        }
        written = {
            path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.jsonl")
        }
        assert written == committed

    def test_there_is_one_of_each_kind(self) -> None:
        cwds = {name: records(name)[0]["cwd"] for name in (LAMP, FORK, OLD, ORCHARD)}
        assert cwds[LAMP] == cwds[FORK] == cwds[OLD] == "/home/ada/work/lighthouse"
        assert cwds[ORCHARD] == "/home/ada/work/orchard"

    @pytest.mark.parametrize("session_id", [LAMP, FORK, ORCHARD])
    def test_current_sessions_are_trees(self, session_id: str) -> None:
        header, *entries = records(session_id)
        assert header["version"] == 3
        seen: set[str | None] = {None}
        for entry in entries:
            assert entry["parentId"] in seen
            assert entry["id"] not in seen
            seen.add(entry["id"])

    def test_lamp_session_tells_the_whole_story(self) -> None:
        entries = records(LAMP)[1:]
        kinds = {
            entry["message"]["role"] if entry["type"] == "message" else entry["type"]
            for entry in entries
        }
        assert {
            "bashExecution",
            "branch_summary",
            "compaction",
            "context_edit",
            "custom",
            "custom_message",
            "label",
            "model_change",
            "session_info",
            "toolResult",
        } <= kinds
        parents = [entry["parentId"] for entry in entries]
        assert len(parents) > len(set(parents)), "somewhere the conversation branches"

    def test_compaction_keeps_from_an_entry_of_its_path(self) -> None:
        entries = {entry["id"]: entry for entry in records(LAMP)[1:]}
        (compaction,) = (entry for entry in entries.values() if entry["type"] == "compaction")
        at = compaction["parentId"]
        while at is not None and at != compaction["firstKeptEntryId"]:
            at = entries[at]["parentId"]
        assert at is not None

    def test_large_output_has_its_only_error_at_the_end(self) -> None:
        outputs = [
            block["text"]
            for entry in records(LAMP)[1:]
            if entry["type"] == "message" and entry["message"]["role"] == "toolResult"
            for block in entry["message"]["content"]
        ]
        log = max(outputs, key=len)
        assert len(log) > 100_000
        assert log.index("ZoneInfoNotFoundError") > len(log) - 300

    def test_image_is_a_png(self) -> None:
        (image,) = (
            block
            for entry in records(LAMP)[1:]
            if entry["type"] == "message" and entry["message"]["role"] == "user"
            for block in entry["message"]["content"]
            if block["type"] == "image"
        )
        data = base64.b64decode(image["data"], validate=True)
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        assert data[-8:-4] == b"IEND"

    def test_fork_repeats_its_prefix_under_the_same_ids(self) -> None:
        header, *copied = records(FORK)
        original = {entry["id"]: entry for entry in records(LAMP)[1:]}
        assert header["parentSession"].endswith(f"_{LAMP}.jsonl")
        common = [entry for entry in copied if entry["id"] in original]
        assert copied[: len(common)] == common
        # The label on the path is left out, so the entry behind it hangs one higher.
        rechained = [entry for entry in common if entry != original[entry["id"]]]
        assert len(rechained) == 1
        assert original[rechained[0]["id"]]["parentId"] not in {entry["id"] for entry in copied}

    def test_old_session_has_no_ids(self) -> None:
        header, *entries = records(OLD)
        assert "version" not in header
        assert all("id" not in entry and "parentId" not in entry for entry in entries)
        (compaction,) = (entry for entry in entries if entry["type"] == "compaction")
        assert [header, *entries][compaction["firstKeptEntryIndex"]]["message"]["role"] == "user"
