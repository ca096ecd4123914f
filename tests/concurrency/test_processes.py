"""Processes that write, read, stop and die beside one another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from pi_event_search import EventIndex, IndexBusy
from pi_event_search.store import lease
from pi_event_search.store.recovery import rebuild_text

from tests.checks import check_documents, check_tables, facts, fresh_facts
from tests.concurrency.test_lease import until
from tests.crash.world import RECIPES, World
from tests.indexes import EVERYTHING, Place, passing_place
from tests.processes import Nursery
from tests.sessions import chain, header

JOBS = "tests.concurrency.jobs:"
Trio = tuple[Nursery, Nursery, Nursery]
FILES, EVENTS = 12, 6


@pytest.fixture
def place() -> Iterator[Place]:
    """A dozen sessions, not indexed yet; in memory where the system can do that."""
    with passing_place() as place:
        for n in range(FILES):
            place.put(f"f{n}", header(f"s{n}") + chain(0, EVENTS, f"hello file{n}"))
        yield place


def check(place: Place) -> None:
    """The index equals a fresh one."""
    with place.index() as index:
        assert index.sync().failed == 0
        assert facts(index) == fresh_facts(place.sessions, place.base / "fresh")
        check_tables(index)
        check_documents(index)


@pytest.mark.parametrize("turns", [False, True])
def test_two_sync_while_a_third_searches(turns: bool, place: Place, nurseries: Trio) -> None:
    base = str(place.base)
    place.index().close()
    writers = [n.start(JOBS + "sync", base=base, turns=turns) for n in nurseries[:2]]
    reader = nurseries[2].start(JOBS + "search", base=base, query="hello number0")
    for child in (*writers, reader):
        assert child.heard() == "ready"
    for writer in writers:
        writer.tell()
    words = [writer.heard().split() for writer in writers]
    for writer in writers:
        writer.finish()
    reader.tell()
    _, searches, _, found, _, slowest = reader.heard().split()
    reader.finish()
    assert sum(int(word[1]) for word in words) == FILES * EVENTS  # nobody did it twice
    assert all(word[3] == "0" for word in words)
    assert int(found) == FILES
    assert int(searches) > 0
    print(f"{searches} searches, the slowest took {slowest} ms")
    check(place)


def test_two_open_a_new_index_at_once(place: Place, nurseries: Trio) -> None:
    children = [n.start(JOBS + "sync", base=str(place.base)) for n in nurseries[:2]]
    for child in children:
        assert child.heard() == "ready"
    for child in children:
        child.tell()
    added = [int(child.heard().split()[1]) for child in children]
    for child in children:
        child.finish()
    assert sum(added) == FILES * EVENTS
    check(place)


def test_a_reader_waits_for_no_writer_at_any_point(nursery: Nursery) -> None:
    """A search is answered while a writer stands inside its work, whatever it is doing."""
    with passing_place() as place:
        world = World(next(r for r in RECIPES if r.name == "changes"), place.base)
        for point, count in sorted(world.passings.items()):
            world.reset()
            writer = nursery.start(
                JOBS + "sync_to", base=str(world.place.base), point=point, nth=count
            )
            assert writer.heard() == point
            with world.place.index() as index:
                world.check_served(index)
                page = index.search("number1", invocation=EVERYTHING)
            assert page.hits
            if point not in ("lease.taken", "reconcile.finished"):
                assert page.coverage.state in ("catching-up", "partial", "error")
            writer.tell()
            assert writer.finish() == ["synced"]


def test_a_reader_follows_whatever_takes_the_place_of_the_index(
    place: Place, nursery: Nursery
) -> None:
    """Its own process, asked after every switch; what it had open is gone by then."""
    with place.index() as index:
        index.sync()
        switches: list[Callable[[], object]] = [
            partial(anew, index),
            index.rebuild,
            partial(anew, index),
        ]
        reader = nursery.start(
            JOBS + "answer", base=str(place.base), query="hello", times=len(switches) + 1
        )
        assert reader.heard() == f"found {FILES * EVENTS}"
        for switch in switches:
            switch()
            reader.tell()
            assert reader.heard() == f"found {FILES * EVENTS}"
        reader.finish()


def anew(index: EventIndex) -> None:
    """Makes the text index anew in another directory, and deletes the old one."""
    store = index._store
    with store.turn():
        rebuild_text(store.database, store.directory)
        store._remove_leftovers()


def test_a_stopped_writer(place: Place, nursery: Nursery, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others say so after the stated wait; searches answer what is committed, as catching up."""
    with place.index() as index:
        index.sync()
        place.append("f0", chain(EVENTS, 1, "hello again"))
        writer = nursery.start(JOBS + "sync_to", base=str(place.base), point="publish.documents")
        assert writer.heard() == "publish.documents"
        writer.stop()
        with monkeypatch.context() as patched:
            queue = lease._queue
            patched.setattr(lease, "_queue", lambda w, d, _, pause: queue(w, d, 0.05, pause))
            with pytest.raises(IndexBusy, match=r"0\.05 seconds"):
                index.sync()
        page = index.search("hello", invocation=EVERYTHING, limit=200)
        assert len(page.hits) == FILES * EVENTS
        assert page.coverage.state == "catching-up"
        assert page.coverage.pending_bytes > 0
        writer.go_on()
        writer.tell()
        assert writer.finish() == ["synced"]
        page = index.search("hello", invocation=EVERYTHING, limit=200)
        assert len(page.hits) == FILES * EVENTS + 1
        assert page.coverage.state == "ready"
    check(place)


def test_coverage_follows_a_sync_and_survives_its_death(place: Place, nursery: Nursery) -> None:
    """What is known from the start is how much there is; the rest comes turn by turn."""
    size = sum(path.stat().st_size for path in place.sessions.iterdir())
    sync = JOBS + "sync_to"
    base = str(place.base)
    with place.index() as index:
        assert index.status(invocation=EVERYTHING).coverage.state == "partial"
        writer = nursery.start(sync, base=base, point="reconcile.registered")
        assert writer.heard() == "reconcile.registered"
        coverage = index.status(invocation=EVERYTHING).coverage
        assert (coverage.state, coverage.indexed_sessions) == ("catching-up", 0)
        assert (coverage.discovered_sessions, coverage.pending_bytes) == (FILES, size)
        assert coverage.last_reconciled_at is None
        writer.kill()
        assert index.status(invocation=EVERYTHING).coverage.state == "partial"
        writer = nursery.start(sync, base=base, point="reconcile.handed_over", nth=30, turns=True)
        assert writer.heard() == "reconcile.handed_over"
        coverage = index.status(invocation=EVERYTHING).coverage
        assert coverage.state == "partial"  # between two turns nobody is at work
        assert 0 < coverage.indexed_sessions < FILES
        assert 0 < coverage.pending_bytes < size
        writer.kill()
        coverage = index.sync().coverage
        assert (coverage.state, coverage.indexed_sessions) == ("ready", FILES)
        assert (coverage.pending_bytes, coverage.last_reconciled_at is None) == (0, False)
    check(place)


@pytest.mark.parametrize(
    "point", ["reconcile.registered", "publish.documents", "publish.text_committed"]
)
def test_a_killed_writer_is_followed_by_the_one_that_waits(
    point: str, place: Place, nursery: Nursery
) -> None:
    writer = nursery.start(JOBS + "sync_to", base=str(place.base), point=point)
    assert writer.heard() == point
    reports = []
    with EventIndex.open(place.base / "index", [place.sessions]) as index:
        waiting = threading.Thread(target=lambda: reports.append(index.sync()))
        waiting.start()
        until(lambda: lease.is_waited_for(place.base / "index"))
        writer.kill()
        waiting.join()
    assert reports[0].events_added == FILES * EVENTS
    assert reports[0].coverage.state == "ready"
    check(place)


def test_a_long_session_is_left_to_another_writer_in_the_middle(
    place: Place, nurseries: Trio
) -> None:
    """A file that is published in pieces does not keep others waiting to its end."""
    place.put("long", header("long") + chain(0, 60, "long"))
    one, two = nurseries[:2]
    first = one.start(JOBS + "sync", base=str(place.base), turns=True)
    second = two.start(JOBS + "sync", base=str(place.base), turns=True)
    for child in (first, second):
        assert child.heard() == "ready"
        child.tell()
    added = [int(child.heard().split()[1]) for child in (first, second)]
    for child in (first, second):
        child.finish()
    assert sum(added) == FILES * EVENTS + 60
    check(place)
