"""The work of a read and of a trace does not grow with the session, counted in steps of SQLite."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from pi_event_search import EventIndex
from pi_event_search.access.coverage import coverage_of
from pi_event_search.services.read import read_event
from pi_event_search.services.trace import trace_event
from pi_event_search.types.event import Event
from pi_event_search.types.requests import ReadRequest, TraceRequest
from pi_event_search.types.trace import Trace

from tests.context.writing import Log
from tests.indexes import EVERYTHING, Place, passing_place

STEPS = 100
"""Instructions of SQLite's machine between two looks at the counter."""
BOUND = 5_000
"""Instructions that one read or trace may take: some hundred look-ups, no matter of what."""
CANDIDATE = 40
"""Further instructions for each way on that a receipt names."""
FORK = 100
"""Further instructions for each fork of the session, at each event that is looked at."""


class Work:
    """Counts what SQLite does."""

    def __init__(self) -> None:
        self.steps = 0

    def count(self) -> int:
        self.steps += STEPS
        return 0


@contextmanager
def counted(index: EventIndex) -> Iterator[tuple[Any, Work]]:
    work = Work()
    with index._view(EVERYTHING) as (snapshot, view):
        snapshot.connection.set_progress_handler(work.count, STEPS)
        try:
            yield view, work
        finally:
            snapshot.connection.set_progress_handler(None, 0)


def read(index: EventIndex, session: str, entry: str, *, bound: int = BOUND) -> Event:
    with counted(index) as (view, work):
        coverage = coverage_of(view._connection, view.scope)
        request = ReadRequest(session_id=session, entry_id=entry, before=5, after=5)
        work.steps = 0
        event = read_event(view, request, coverage, accept_modified=False)
        assert work.steps <= bound
    return event


def trace(
    index: EventIndex, session: str, entry: str, *, depth: int = 5, bound: int = BOUND
) -> Trace:
    with counted(index) as (view, work):
        found = trace_event(view, TraceRequest(session_id=session, entry_id=entry, depth=depth))
        assert work.steps <= bound
    return found


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with passing_place() as place:
        yield place


@pytest.fixture(scope="module")
def index(place: Place) -> Iterator[EventIndex]:
    """A long chain, a wide node, a path full of forks, and a session that was forked often."""
    for log in (chain(100_000), fan(10_000), zigzag(5_000), *forked(300)):
        place.put(log.id, log.data)
    with place.index() as index:
        index.sync()
        yield index


def chain(length: int) -> Log:
    log = Log("chain")
    for n in range(length):
        log.entry(f"e{n}", f"e{n - 1}" if n else None, "usage")
    return log


def fan(width: int) -> Log:
    log = Log("fan").entry("hub", None, "usage")
    for n in range(width):
        log.entry(f"c{n}", "hub", "usage")
    return log.entry("leaf", f"c{width // 2}", "usage")


def zigzag(forks: int) -> Log:
    """Each entry of the selected path has a dead first child beside the one that goes on."""
    log = Log("zigzag").entry("p0", None, "usage")
    for n in range(forks):
        log.entry(f"d{n}", f"p{n}", "usage").entry(f"p{n + 1}", f"p{n}", "usage")
    return log


def forked(count: int) -> list[Log]:
    """A session and its forks, which share all of it and go on at one entry."""
    parent = Log("parent").chain(*(f"m{n}" for n in range(10)))
    forks = [parent.fork(f"fork{n:03}").user(f"own{n}", "m5") for n in range(count)]
    return [parent, *forks]


def test_plan_of_the_look_ups(index: EventIndex) -> None:
    """The bounds below hold because every look-up goes through an index."""
    with index._view(EVERYTHING) as (snapshot, _):
        plan = snapshot.connection.execute(
            "EXPLAIN QUERY PLAN SELECT * FROM events WHERE parent_id = 'x' AND event >= 1"
            " AND event < 2 AND NOT flags & 14 ORDER BY event LIMIT 3"
        ).fetchall()
    assert "events_by_parent (parent_id=? AND rowid>? AND rowid<?)" in plan[0][3]
    assert len(plan) == 1  # no sorting


@pytest.mark.parametrize("at", [0, 1, 50_000, 99_998, 99_999])
def test_a_long_chain(index: EventIndex, at: int) -> None:
    event = read(index, "chain", f"e{at}")
    before = [f"e{n}" for n in range(max(at - 5, 0), at)]
    after = [f"e{n}" for n in range(at + 1, min(at + 6, 100_000))]
    assert [node.entry_id for node in event.neighbors.before] == before
    assert [node.entry_id for node in event.neighbors.after] == after
    assert event.branch_state == "selected"
    found = trace(index, "chain", f"e{at}")
    assert len(found.children) == (at < 99_999)


def test_a_wide_node(index: EventIndex) -> None:
    found = trace(index, "fan", "hub")
    assert [edge.leads_to_materialized_leaf for edge in found.children] == [False] * 19 + [True]
    assert found.truncated
    for child in ("c0", "c5000", "c9999"):
        found = trace(index, "fan", child)
        assert len(found.branch_siblings) == 20
    # A receipt names all ways on, and each of them is one index step and one row.
    event = read(index, "fan", "c7", bound=BOUND + 10_000 * CANDIDATE)
    (receipt,) = event.neighbors.forks
    assert len(receipt.candidates) == 10_000
    assert receipt.chosen is not None
    assert receipt.chosen.entry_id == "c7"


@pytest.mark.parametrize("at", [0, 2_500, 4_999])
def test_a_path_with_thousands_of_forks(index: EventIndex, at: int) -> None:
    event = read(index, "zigzag", f"p{at}")
    assert event.branch_state == "selected"
    assert [len(fork.candidates) for fork in event.neighbors.forks] == [2] * (
        min(at, 5) + min(5_000 - at, 5)
    )
    assert all(fork.chosen for fork in event.neighbors.forks)
    found = trace(index, "zigzag", f"p{at}")
    assert [edge.leads_to_materialized_leaf for edge in found.children] == [False, True]
    assert read(index, "zigzag", f"d{at}").branch_state == "alternate"


@pytest.mark.parametrize("session", ["parent", "fork150"])
def test_many_forks_of_one_session(index: EventIndex, session: str) -> None:
    event = read(index, session, "m5", bound=BOUND + 11 * 300 * FORK)
    (receipt,) = (fork for fork in event.neighbors.forks if fork.kind == "session-fork")
    assert len(receipt.candidates) == 301
    found = trace(index, session, "m5", depth=1, bound=BOUND + 3 * 300 * FORK)
    assert found.truncated == (session == "parent")


def test_no_recursion(index: EventIndex) -> None:
    depth = sum(1 for _ in _stack())
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 60)
    try:
        index.read("chain", "e99999", invocation=EVERYTHING, before=5)
        index.trace("chain", "e50000", invocation=EVERYTHING, depth=5)
        index.read("zigzag", "p5000", invocation=EVERYTHING, before=5)
        index.trace("zigzag", "p2500", invocation=EVERYTHING, depth=5)
    finally:
        sys.setrecursionlimit(limit)


def _stack() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back
