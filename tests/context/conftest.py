"""Fixtures of the tests about context."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from pi_event_search import EventIndex

from tests.context.seen import Indexed
from tests.context.writing import Log
from tests.indexes import Place, passing_place


@pytest.fixture
def place() -> Iterator[Place]:
    """As elsewhere, but in memory where the system can do that."""
    with passing_place() as place:
        yield place


@pytest.fixture
def indexed(place: Place) -> Iterator[Indexed]:
    """Writes sessions, each to a file of its id, and gives an index over the directory."""
    with ExitStack() as opened:

        def write_and_sync(*logs: Log) -> EventIndex:
            for log in logs:
                place.put(log.id, log.data)
            index = opened.enter_context(place.index())
            index.sync()
            return index

        yield write_and_sync
