"""The guard over session files itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pi_event_search
import pytest

from tests import read_only

ROOT = Path(__file__).parents[1]
CODE = """
def write(path): path.write_bytes(b"")
def append(path): path.open("ab").close()
def touch(path): path.touch()
def rename(path): path.rename(path.with_suffix(".txt"))
def remove(path): path.unlink()
def read(path): path.read_bytes()
def call(path, action): action(path)
"""


@pytest.fixture
def culprit() -> dict[str, Callable[..., None]]:
    """Functions that pass for some of the package."""
    made: dict[str, Callable[..., None]] = {}
    name = Path(pi_event_search.__file__).parent / "culprit.py"
    exec(compile(CODE, str(name), "exec"), made)
    return made


@pytest.mark.parametrize("deed", ["write", "append", "touch", "rename", "remove"])
def test_every_deed_is_noticed(
    deed: str, culprit: dict[str, Callable[..., None]], tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n")
    culprit[deed](path)
    assert len(read_only.changes) == 1
    read_only.changes.clear()


def test_reading_is_fine_and_so_is_what_a_test_does_itself(
    culprit: dict[str, Callable[..., None]], tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n")
    culprit["read"](path)
    culprit["call"](path, lambda path: path.write_bytes(b""))
    culprit["write"](tmp_path / "a.txt")
    assert read_only.changes == []


def test_the_core_opens_files_in_one_place_and_for_reading() -> None:
    opening = re.compile(r"\b(?:OpenOptions|File|OFlags)::\w+|\.\w*write\w*\(|\.\w+\(true\)")
    found = {
        (str(path.relative_to(ROOT / "rust")), match.group())
        for path in [*(ROOT / "rust/core/src").rglob("*.rs"), *(ROOT / "rust/py/src").rglob("*.rs")]
        if "test" not in path.stem and "tests" not in path.parts
        for match in opening.finditer(path.read_text())
    }
    places = {path for path, text in found if not text.startswith(".")}
    assert places == {"core/src/source.rs"}
    assert {text for path, text in found if path in places} == {
        "OpenOptions::new",
        "OFlags::NONBLOCK",
        "OFlags::NOCTTY",
        ".read(true)",
    }
