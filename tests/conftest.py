"""Fixtures that several test modules share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexes import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An empty session directory and a place for its index."""
    return Place(tmp_path)
