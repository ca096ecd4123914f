"""How a sync tells how far it is."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from pi_event_search.ingest import source as ingest
from pi_event_search.types.coverage import Progress

from tests.indexes import EVERYTHING, Place
from tests.sessions import chain, header


def test_a_long_file_moves_on_too(place: Place) -> None:
    place.put("long", header("s1") + chain(0, 40, "walrus"))
    place.put("short", header("s2") + chain(0, 2, "walrus"))
    told: list[Progress] = []
    with place.index() as index, patch.object(ingest, "READ_BYTES", 1_000):
        report = index.sync(progress=told.append)
    steps = [(each.sessions_done, each.bytes_done) for each in told]
    assert steps == sorted(steps)
    assert steps[0] == (0, 0)
    assert len({done for done, _ in steps}) == 3
    assert len(set(steps)) > 6
    assert told[-1] == Progress(2, 2, report.bytes_read, report.bytes_read)
    assert {(each.sessions_total, each.bytes_total) for each in told} == {(2, report.bytes_read)}


class Enough(Exception):  # noqa: N818 - no error of ours
    """What a caller's own function raises."""


def test_who_is_told_can_end_it_within_a_file(place: Place) -> None:
    place.put("long", header("s1") + chain(0, 40, "walrus"))

    def leave(progress: Progress) -> None:
        if progress.bytes_done > 2_000:
            raise Enough

    with place.index() as index:
        with patch.object(ingest, "READ_BYTES", 1_000), pytest.raises(Enough):
            index.sync(progress=leave)
        assert not index.search("walrus", invocation=EVERYTHING).hits
        assert index.sync().events_added == 40
        assert len(index.search("walrus", invocation=EVERYTHING, limit=200).hits) == 40
        assert index.verify().equal
