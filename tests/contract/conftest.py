"""A place to ask questions in, with nothing of the machine's own Pi around it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.contract.place import Capture, Place


@pytest.fixture
def place(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> Place:
    for name in list(os.environ):
        if name.startswith("PI_"):
            monkeypatch.delenv(name)
    base = tmp_path.resolve()
    (base / "home").mkdir()
    monkeypatch.setenv("HOME", str(base / "home"))
    monkeypatch.chdir(base)
    return Place(base, capsys)
