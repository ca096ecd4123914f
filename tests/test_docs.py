"""Every example of docs/ runs against the samples, and every row of its tables holds."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pi_event_search.cli.arguments import COMMANDS, options_of
from pi_event_search.types import vocabulary

from tests.examples import REPOSITORY, environment_in, run
from tests.quality.history import EVERYTHING, entries, indexed, texts_story

DOCS = sorted((REPOSITORY / "docs").glob("*.md"))
INSTALLS = "pi"
"""The page whose commands change the machine; `tests/pi_package/test_wheel.py` tries them."""
FINDS_NOTHING = {"pi-event-search search lamp nosuchword --errors"}
"""Searches that show how nothing looks."""


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def tables(page: Path, *heading: str) -> Iterator[list[list[str]]]:
    """The rows of every table with such columns, as the cells' text."""
    wanted = "| " + " | ".join(heading) + " |"
    for part in page.read_text().split(wanted + "\n")[1:]:
        rows = [line for line in part.partition("\n\n")[0].splitlines() if line.startswith("| ")]
        yield [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def quoted(cell: str) -> list[str]:
    """The code in a cell."""
    return re.findall(r"`([^`]+)`", cell)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return environment_in(tmp_path)


def test_the_pages_are_there() -> None:
    names = {page.stem for page in DOCS}
    assert {"query-language", "concepts", "library", "troubleshooting"} <= names
    readme = (REPOSITORY / "README.md").read_text()
    assert all(f"docs/{page.name}" in readme for page in DOCS), "the README names each"


@pytest.mark.parametrize(
    "page",
    [page for page in DOCS if blocks(page, "sh") and page.stem != INSTALLS],
    ids=lambda page: page.stem,
)
def test_commands(page: Path, environment: dict[str, str]) -> None:
    """Each one ends well, prints something, and a search finds something."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines() if line]
    commands = [line for line in lines if "pi-event-search" in line and "export" not in line]
    told = [f"echo '== {n}'\n{line}" for n, line in enumerate(commands)]
    script = "\n".join([*(line for line in lines if line not in commands), *told])
    output = run(["bash", "-euc", script], environment)
    answers = re.split(r"^== \d+\n", output, flags=re.MULTILINE)[1:]
    for command, answer in zip(commands, answers, strict=True):
        if "--completion" not in command:
            assert answer.strip(), command
        if " search " in command:
            found = re.search(r"\b(019d[0-9a-f]{4}-|7b0e9d52-)", answer) is not None
            assert found == (command not in FINDS_NOTHING), command


@pytest.mark.parametrize(
    "page", [page for page in DOCS if blocks(page, "python")], ids=lambda page: page.stem
)
def test_python(page: Path, environment: dict[str, str]) -> None:
    """The blocks of a page are one program."""
    run([sys.executable, "-W", "error", "-c", "\n".join(blocks(page, "python"))], environment)


def test_what_finds_what(tmp_path: Path) -> None:
    page = REPOSITORY / "docs" / "query-language.md"
    rows = [row for table in tables(page, "text", "found by", "not by") for row in table]
    assert len(rows) > 20
    texts = [quoted(row[0])[0] for row in rows]
    story, ids = texts_story(texts)
    with indexed(tmp_path, story) as index:
        for entry_id, (text, found, missed) in zip(ids, rows, strict=True):
            for cell, expected in ((found, True), (missed, False)):
                assert quoted(cell), text
                for query in quoted(cell):
                    hits = entries(index.search(query, invocation=EVERYTHING, limit=200))
                    assert (entry_id in hits) == expected, (text, query)


def test_states_and_filters_are_all_explained() -> None:
    concepts = REPOSITORY / "docs" / "concepts.md"
    for name, values in (
        ("branchState", vocabulary.BRANCH_STATES),
        ("selectionState", vocabulary.SELECTION_STATES),
    ):
        (rows,) = tables(concepts, f"`{name}`", "the event")
        assert {quoted(row[0])[0] for row in rows} == set(values)
    language = (REPOSITORY / "docs" / "query-language.md").read_text()
    filters = dict(COMMANDS["search"].groups)["filters"]
    assert all(f"`{option.flag}" in language for option in filters)
    assert all(f"`{kind}`" in language for kind in vocabulary.SEMANTIC_KINDS)


def test_every_flag_in_the_pages_exists() -> None:
    known = {option.flag for command in COMMANDS.values() for option in options_of(command)}
    known |= {"--version", "--completion"}
    for page in DOCS:
        for block in blocks(page, "sh"):
            assert set(re.findall(r"(?<![\w-])--[a-z-]+", block)) <= known, page.name
