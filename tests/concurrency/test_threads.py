"""One index in many threads, many calls, and callers that go away."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pi_event_search import EventIndex, Progress
from pi_event_search.store.lease import is_held

from tests.checks import check_documents, check_tables, facts, fresh_facts
from tests.indexes import EVERYTHING, Place, passing_place
from tests.processes import Nursery
from tests.sessions import chain, header

THREADS = 8
ROUNDS = 12
CALLS = 10_000
WARM_UP = 2_000
GROWTH = 4 << 20
"""Bytes that memory may grow by in so many calls."""


@pytest.fixture
def place() -> Iterator[Place]:
    """Four sessions; in memory where the system can do that."""
    with passing_place() as place:
        for n in range(4):
            place.put(f"f{n}", header(f"s{n}") + chain(0, 5, "hello"))
        yield place


def test_one_index_for_eight_threads(place: Place) -> None:
    """Each thread writes to its own file, syncs, and asks for everything."""
    start = threading.Barrier(THREADS)
    failures: list[BaseException] = []

    def work(own: int) -> None:
        try:
            start.wait()
            place.put(f"own{own}", header(f"own{own}"))
            for number in range(ROUNDS):
                place.append(f"own{own}", chain(number, 1, f"own{own}"))
                index.sync()
                ask(index, f"own{own}", number)
        except BaseException as error:
            failures.append(error)

    with place.index() as index:
        threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert facts(index) == fresh_facts(place.sessions, place.base / "fresh")
        check_tables(index)
        check_documents(index)


def ask(index: EventIndex, session: str, last: int) -> None:
    """What a thread has synced is there for it, whatever the others do."""
    everything: Any = {"invocation": EVERYTHING}
    page = index.search(f'"{session} number{last}"', session_id=session, **everything)
    assert [hit.entry_id for hit in page.hits] == [f"e{last}"]
    assert index.read(session, f"e{last}", **everything).source.state == "exact"
    assert index.trace(session, f"e{last}", **everything).target.entry_id == f"e{last}"
    assert session in {s.session_id for s in index.sessions(**everything).sessions}
    assert index.status(**everything).index.events > last


@pytest.mark.timeout(600)
def test_many_calls_cost_no_memory_and_no_descriptors(place: Place, nursery: Nursery) -> None:
    child = nursery.start(
        "tests.concurrency.jobs:call_often", base=str(place.base), warm_up=WARM_UP, calls=CALLS
    )
    before, after = child.heard().split(), child.heard().split()
    child.finish()
    print(f"memory {before[0]} -> {after[0]} bytes, {after[1]} descriptors")
    assert after[1] == before[1]
    assert int(after[0]) - int(before[0]) <= GROWTH


class CallerGone(Exception):  # noqa: N818 - no error of ours
    """What a caller's own function raises."""


@pytest.mark.parametrize("error", [CallerGone, KeyboardInterrupt])
def test_callers_that_go_away_leave_nothing_open(error: type[BaseException], place: Place) -> None:
    def leave(_: Progress) -> None:
        raise error

    def sync() -> None:
        place.append("f0", b"\n")
        index.sync(progress=leave)

    def ask() -> None:
        with index._view(EVERYTHING) as (snapshot, _):
            snapshot.connection.execute("SELECT * FROM events")
            raise error

    with place.index() as index:
        index.sync()
        counts = []
        for _ in range(60):
            for call in (sync, ask):
                leaves(call, error)
            assert not is_held(place.base / "index")
            counts.append(len(os.listdir("/dev/fd")))
        # A thread of Tantivy that looks for commits has one more for an instant.
        assert min(counts[20:40]) == min(counts[40:])
        assert index.sync().coverage.state == "ready"
        assert facts(index) == fresh_facts(place.sessions, place.base / "fresh")
        check_tables(index)


def leaves(call: Callable[[], None], error: type[BaseException]) -> None:
    """The call ends with the caller's own error."""
    with pytest.raises(error):
        call()


def test_an_index_is_closed_while_others_use_it(place: Place) -> None:
    """Closing twice, and asking afterwards, are no errors: what is needed is opened again."""
    index = place.index()
    index.sync()
    index.close()
    index.close()
    assert index.search("hello", invocation=EVERYTHING).hits
    index.close()
