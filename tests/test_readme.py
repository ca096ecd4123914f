"""The examples of the README do what it says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.examples import REPOSITORY, environment_in, run

README = (REPOSITORY / "README.md").read_text()


def block(heading: str, language: str) -> str:
    """The first code block of a language below a heading."""
    _, found, section = README.partition(f"\n## {heading}\n")
    assert found
    match = re.search(
        rf"^```{language}\n(.*?)^```$", section.partition("\n## ")[0], re.MULTILINE | re.DOTALL
    )
    assert match is not None
    return match[1]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return environment_in(tmp_path)


def test_command_line(environment: dict[str, str]) -> None:
    """Each command is run and finds something; the index lies where the example puts it."""
    lines = block("On the command line", "sh").splitlines()
    commands = [line for line in lines if line.startswith("pi-event-search ")]
    assert len(commands) > 5
    shown = [f"echo '== {n}'\n{line}" for n, line in enumerate(commands)]
    exports = [line for line in lines if line.startswith("export ")]
    assert [*exports, *commands] == [line for line in lines if line]
    output = run(["bash", "-euc", "\n".join([*exports, *shown])], environment)
    answers = dict(
        zip(commands, re.split(r"^== \d+\n", output, flags=re.MULTILINE)[1:], strict=True)
    )
    for command, answer in answers.items():
        assert answer.strip(), command
        if command.split()[1] == "search":
            assert "019d" in answer, command


def test_python(environment: dict[str, str]) -> None:
    output = run([sys.executable, "-c", block("From Python", "python")], environment)
    counts, hit, preview, related = output.splitlines()
    assert re.fullmatch(r"\d+ sessions, \d+ events", counts)
    assert "ZoneInfoNotFoundError" in hit
    assert preview.startswith("exact ")
    assert related.startswith("[")


def test_samples_stay_as_they_are(environment: dict[str, str]) -> None:
    samples = REPOSITORY / "samples" / "sessions"
    before = {path: path.read_bytes() for path in samples.rglob("*") if path.is_file()}
    run([sys.executable, "-c", block("From Python", "python")], environment)
    assert {path: path.read_bytes() for path in samples.rglob("*") if path.is_file()} == before
