"""Keeping an index current: when a look is taken, and what is told of it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pi_event_search import Change, IndexBusy
from pi_event_search.store import lease
from pi_event_search.upkeep.watch import Notifications

from tests.crash.world import in_turns
from tests.indexes import EVERYTHING, Place, passing_place
from tests.sessions import chain, header

Told = list[tuple[str, str | None, int]]


def facts(change: Change) -> tuple[str, str | None, int]:
    return change.change, change.session_id, change.events_added


@pytest.fixture
def place() -> Iterator[Place]:
    """In memory where the system can do that."""
    with passing_place() as place:
        yield place


def test_every_change_is_told_once_it_is_visible(place: Place) -> None:
    told: Told = []

    def wakeups() -> Iterator[None]:
        place.put("a", header("s1") + chain(0, 2, "hello"))
        yield
        yield  # nothing has happened
        place.append("a", chain(2, 3, "more"))
        place.put("b", header("s2"))
        yield
        place.put("a", header("s1") + chain(0, 1, "another"))
        place.put("b", b"no session\n")
        yield
        place.path("a").unlink()
        yield

    with place.index() as index:

        def changed(change: Change) -> None:
            told.append(facts(change))
            known = [s.session_id for s in index.sessions(invocation=EVERYTHING).sessions]
            assert (change.session_id in known) is (change.change != "removed")

        index.watch(changed, wakeups=wakeups())
    assert sorted(told[:3]) == [("added", "s1", 2), ("added", "s2", 0), ("appended", "s1", 3)]
    assert sorted(told[3:5]) == [("failed", "s2", 0), ("rebuilt", "s1", 1)]
    assert told[5:] == [("removed", "s1", 0)]


def test_a_failure_is_told_once(place: Place) -> None:
    told: list[Change] = []

    def wakeups() -> Iterator[None]:
        place.put("a", header("s1"))
        yield
        place.put("a", b"no session\n")
        yield
        yield
        place.append("a", b"still none\n")
        yield

    with place.index() as index:
        index.watch(told.append, wakeups=wakeups())
    assert [change.change for change in told] == ["added", "failed"]
    assert "header" in told[1].detail


def test_a_busy_index_is_tried_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = lease._queue
    monkeypatch.setattr(lease, "_queue", lambda w, d, _, pause: queue(w, d, 0, pause))
    told: Told = []
    refused: list[IndexBusy] = []

    def wakeups() -> Iterator[None]:
        place.put("a", header("s1"))
        with lease.writer_lease(place.base / "index"):
            yield
        assert len(refused) == 1
        yield

    with place.index() as index:
        index.watch(lambda c: told.append(facts(c)), busy=refused.append, wakeups=wakeups())
    assert told == [("added", "s1", 0)]


def test_stop_ends_a_sync_between_two_files(place: Place) -> None:
    for n in range(5):
        place.put(f"f{n}", header(f"s{n}") + chain(0, 3, "hello"))
    stop = threading.Event()
    told: Told = []

    def changed(change: Change) -> None:
        told.append(facts(change))
        stop.set()

    def wakeups() -> Iterator[None]:
        yield
        pytest.fail("it went on")

    with place.index() as index:
        with in_turns(place):
            index.watch(changed, stop=stop, wakeups=wakeups())
        assert len(told) < 5
        assert index.sync().coverage.state == "ready"
        assert len(index.sessions(invocation=EVERYTHING).sessions) == 5


def test_nothing_is_done_after_stop(place: Place) -> None:
    stop = threading.Event()
    stop.set()
    with place.index() as index:
        index.watch(lambda _: pytest.fail("it looked"), stop=stop, wakeups=[None])
        index.watch(lambda _: pytest.fail("it looked"), stop=stop)
        assert index.status(invocation=EVERYTHING).coverage.last_reconciled_at is None


def test_what_the_listener_raises_comes_out(place: Place) -> None:
    place.put("a", header("s1") + chain(0, 1, "hello"))

    def changed(_: Change) -> None:
        raise BrokenPipeError

    with place.index() as index:
        with pytest.raises(BrokenPipeError):
            index.watch(changed, wakeups=[None, None])
        assert index.sync().unchanged == 1


class Watched:
    """Real notifications over directories of a test; silence is noticed after 50 ms."""

    def __init__(self, base: Path) -> None:
        self.stop = threading.Event()
        self.directories = [base / "one", base / "two"]
        notifications = Notifications(self.directories, base / "one" / "index", self.stop, 0.05)
        self.matters = notifications._matters
        self.wakeups = iter(notifications)
        next(self.wakeups)


def test_silence_wakes_up_too_with_or_without_directories(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    next(watched.wakeups)  # there is nothing to listen to
    watched.directories[0].mkdir()
    next(watched.wakeups)
    next(watched.wakeups)  # nothing happens there
    shutil.rmtree(watched.directories[0])
    next(watched.wakeups)
    watched.directories[0].mkdir()
    next(watched.wakeups)
    watched.stop.set()
    assert list(watched.wakeups) in ([], [None])


def test_a_change_wakes_up_long_before_silence_does(tmp_path: Path) -> None:
    stop = threading.Event()
    (tmp_path / "s" / "project").mkdir(parents=True)
    wakeups = iter(Notifications([tmp_path / "s"], tmp_path / "i", stop, period=3_600))
    next(wakeups)
    heard = threading.Event()

    def write() -> None:
        number = 0
        while not heard.wait(0.05):  # it may not listen yet when the first file appears
            number += 1
            (tmp_path / "s" / "project" / f"{number}.jsonl").write_bytes(b"{}\n")

    writer = threading.Thread(target=write)
    writer.start()
    next(wakeups)
    heard.set()
    writer.join()
    stop.set()
    assert list(wakeups) in ([], [None])


def test_the_index_itself_is_no_news(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    index = tmp_path / "one" / "index"
    assert not watched.matters(str(index))
    assert not watched.matters(str(index / "writer.lock"))
    assert watched.matters(str(tmp_path / "one" / "index.jsonl"))
    assert watched.matters(str(tmp_path / "one"))
