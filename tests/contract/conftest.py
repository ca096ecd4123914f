"""Places to ask questions in, with nothing of the machine's own Pi around them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.place import Capture, Place
from tests.indexes import passing_place


@pytest.fixture(autouse=True)
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The test's own directory, which is the current one and holds an empty home.

    The environment says nothing of Pi, and no git worktree is around.
    """
    for name in list(os.environ):
        if name.startswith("PI_"):
            monkeypatch.delenv(name)
    with passing_place() as passing:
        base = passing.base.resolve()
        (base / "home").mkdir()
        monkeypatch.setenv("HOME", str(base / "home"))
        monkeypatch.chdir(base)
        yield base
        monkeypatch.undo()


@pytest.fixture
def place(base: Path, capsys: Capture) -> Place:
    """An empty place of the test's own."""
    return Place(base, capsys)
