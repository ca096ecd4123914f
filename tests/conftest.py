"""Fixtures that several test modules share."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests import read_only
from tests.indexes import Place

read_only.watch()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """A test in which the package did anything to a session file but read it has failed."""
    read_only.changes.clear()
    yield
    assert read_only.changes == []


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An empty session directory and a place for its index."""
    return Place(tmp_path)
