"""What a look at the session files costs, counted in bytes."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace

import pytest

from tests.facts import hits
from tests.indexes import Place

PROBES = 64 << 10
"""Bytes that may be read of a changed file besides what is new in it."""
HEADER = b'{"type":"session","version":3,"id":"s","cwd":"/w"}\n'


def line(entry_id: str, parent: str | None, text: str, image: str = "") -> bytes:
    content = [{"type": "text", "text": text}]
    if image:
        content.append({"type": "image", "data": image, "mimeType": "image/png"})
    message = {"role": "user", "content": content}
    record = {"type": "message", "id": entry_id, "parentId": parent, "message": message}
    return json.dumps(record).encode() + b"\n"


def session_of(size: int, records: int) -> bytes:
    """A session file of about that many bytes; images make it long, which cost only a scan."""
    image = "iVBORw0K" * (size // records // 8)
    parents = [None, *(f"e{n}" for n in range(records))]
    lines = [line(f"e{n}", parents[n], f"number {n}", image) for n in range(records)]
    return HEADER + b"".join(lines)


@pytest.mark.parametrize(("size", "records"), [(100_000, 50), (100_000_000, 100)])
def test_an_append_costs_what_was_appended(place: Place, size: int, records: int) -> None:
    data = session_of(size, records)
    assert abs(len(data) - size) < size / 10
    place.put("s", data)
    with place.index() as index:
        first = index.sync()
        assert (first.rebuilt, first.events_added, first.bytes_read) == (1, records, len(data))

        again = index.sync()
        assert (again.unchanged, again.bytes_read, again.events_added) == (1, 0, 0)
        assert again.probed_bytes <= PROBES

        record = line("new", f"e{records - 1}", "wolpertinger sighted")
        place.append("s", record)
        third = index.sync()
        assert (third.appended, third.events_added, third.bytes_read) == (1, 1, len(record))
        assert 0 < third.probed_bytes <= PROBES
        assert hits(index, "wolpertinger") == {("s", "new")}
        assert hits(index, f'"number {records - 1}"') == {("s", f"e{records - 1}")}


def test_an_unchanged_file_is_not_even_opened(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where its times prove that nothing was written: when they are two seconds old."""
    later = time.time_ns() + 10_000_000_000
    monkeypatch.setattr(
        "pi_event_search.ingest.source.time", SimpleNamespace(time_ns=lambda: later)
    )
    place.put("s", session_of(1000, 2))
    with place.index() as index:
        index.sync()
        again = index.sync()
    assert (again.unchanged, again.bytes_read, again.probed_bytes) == (1, 0, 0)


def test_a_partial_record_is_read_again_until_it_is_whole(place: Place) -> None:
    data = session_of(100_000, 50)
    record = line("new", "e49", "wolpertinger sighted")
    place.put("s", data)
    with place.index() as index:
        index.sync()
        place.append("s", record[:40])
        partial = index.sync()
        assert (partial.appended, partial.events_added, partial.bytes_read) == (1, 0, 40)
        assert partial.coverage.pending_bytes == 40
        place.append("s", record[40:])
        whole = index.sync()
        assert (whole.events_added, whole.bytes_read) == (1, len(record))
        assert whole.coverage.pending_bytes == 0
        assert hits(index, "wolpertinger") == {("s", "new")}


def test_opened_again_nothing_is_read_twice(place: Place) -> None:
    data = session_of(100_000, 50)
    place.put("s", data)
    with place.index() as index:
        index.sync()
    with place.index() as index:
        again = index.sync()
    assert (again.unchanged, again.bytes_read) == (1, 0)
