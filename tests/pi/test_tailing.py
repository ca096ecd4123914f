"""A session that Pi is writing to, looked at all the time.

Pi may do so many writes as it is allowed; the reader looks while they happen. What a look shows is
held against an index that reads the same bytes for the first time. `make test-long` has two
thousand appends a mode.
"""

import os
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.indexes import EVERYTHING
from tests.pi.compare import compare
from tests.pi.program import Appender, Oracle, run
from tests.pi.room import Room, fresh
from tests.pi.tally import TALLY

LONG = os.environ.get("PI_EVENT_SEARCH_LONG") == "1"
APPENDS, LOOKS = (2000, 250) if LONG else (60, 8)
MODES = {
    "plain": (),
    "branching": ("--branching",),
    "torn": ("--torn-ms", 1),
}


@pytest.fixture
def session(room: Room) -> Path:
    """A session that Pi began, in the room's directory."""
    begun = room.place / "begun"
    run("generate.mjs", "--seed", 7, "--out", begun, "--sessions", 1, "--steps", 6)
    (path,) = begun.glob("agent/sessions/*/*.jsonl")
    return room.write("live.jsonl", path.read_bytes())


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("mode", MODES)
def test_every_look_shows_the_complete_records_then_on_disk(
    mode: str, room: Room, session: Path, oracle: Oracle
) -> None:
    reader = _Reader(room, session, random.Random(mode))
    torn = mode == "torn"
    writes = APPENDS * (2 if torn else 1)
    with (
        Appender(session, APPENDS, 11, MODES[mode]) as appender,
        _searching(room, reader) as searches,
    ):
        while appender.running:
            appender.allow(reader.random.randint(0, 2 * writes // LOOKS))
            reader.look(appender)
        appender.wait()
        reader.look(appender)
    assert len(appender.told) == APPENDS
    assert reader.looks >= LOOKS * 0.8
    assert not torn or reader.torn_looks
    assert searches.count
    assert not searches.complaints
    facts = room.facts(session)
    assert [e["id"] for e in appender.told] == facts.order[-APPENDS:]
    assert compare(oracle.ask(session), facts) == []
    for entry in appender.told:
        for marker in entry["markers"]:
            assert room.found(marker) == [(facts.session_id, entry["id"], ())]
    assert room.receipts().keys() <= {"repaired-surrogate"}


class _Reader:
    """Syncs, and holds what the index then shows against a first reading of the same bytes."""

    def __init__(self, room: Room, path: Path, rng: random.Random) -> None:
        self.room = room
        self.path = path
        self.random = rng
        self.looks = 0
        self.torn_looks = 0
        self.markers: list[tuple[str, str]] = []
        """Words that were found once and have to be found from then on, with their entries."""

    def look(self, appender: Appender) -> None:
        told = appender.told[:]  # on disk before the look, so part of what it has to show
        complete = self.path.read_bytes().rfind(b"\n") + 1
        self.room.sync()
        fresh_markers = [(m, e["id"]) for e in told[len(told) // 2 :] for m in e["markers"]]
        words = tuple(m for m, _ in self.random.sample(fresh_markers, min(3, len(fresh_markers))))
        shown = self.room.shown(self.path, words)
        extent = self.room.extent(self.path)
        data = self.path.read_bytes()
        assert extent >= complete
        assert {e["id"] for e in told} <= set(shown["facts"]["order"])
        assert shown == fresh(data[:extent], self.room.place, words)
        self.markers = [(m, e["id"]) for e in told for m in e["markers"]]
        self.torn_looks += not data.endswith(b"\n")
        self.looks += 1
        TALLY.observations += 1


class _Searches:
    """What a second thread saw that searched all the time."""

    def __init__(self) -> None:
        self.count = 0
        self.complaints: list[object] = []


@contextmanager
def _searching(room: Room, reader: _Reader) -> Iterator[_Searches]:
    """Searches, from another thread, for what was found before: it must stay, and stay once."""
    seen = _Searches()
    ended = threading.Event()

    def search() -> None:
        rng = random.Random(5)
        while not ended.is_set():
            known = reader.markers
            ended.wait(0.002)  # leaves the machine to the one that syncs
            if not known:
                continue
            marker, entry = rng.choice(known)
            page = room.index.search(marker, invocation=EVERYTHING, limit=200)
            if [hit.entry_id for hit in page.hits] != [entry]:
                seen.complaints.append((marker, entry, page.hits))
            seen.count += 1

    thread = threading.Thread(target=search)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()
