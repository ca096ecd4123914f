"""Places to ask questions in, with nothing of the machine's own Pi around them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.contract.place import Capture, Place


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without Pi, a home of its own, and a current directory without git."""
    for name in list(os.environ):
        if name.startswith("PI_"):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def place(tmp_path: Path, capsys: Capture) -> Place:
    """An empty place of the test's own."""
    return Place(tmp_path.resolve(), capsys)
