"""Fixtures of the lifecycle tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.indexes import passing_place
from tests.lifecycle.world import World


@pytest.fixture
def base() -> Iterator[Path]:
    """A directory in memory where the system can do that: nothing here is about the disk."""
    with passing_place() as place:
        yield place.base


@pytest.fixture
def world(base: Path) -> Iterator[World]:
    """An empty session directory with an index."""
    made = World(base)
    yield made
    made.index.close()
