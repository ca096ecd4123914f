"""What child processes do in these tests."""

from __future__ import annotations

import gc
import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

from pi_event_search import EventIndex, EventSearchError
from pi_event_search.faults import Pausing, armed
from pi_event_search.store.lease import writer_lease

from tests.crash.world import in_turns
from tests.indexes import EVERYTHING, Place
from tests.processes import HEAR, SAY, say, wait_for_word


def hold(directory: str) -> None:
    """Holds the writer lock until it is told to let go."""
    with writer_lease(Path(directory)):
        say("held")
        wait_for_word()


def wait(directory: str) -> None:
    """Waits for the writer lock, says when it has it, and lets go."""
    say("waiting")
    with writer_lease(Path(directory), wait=60):
        say("held")


def sync(base: str, turns: bool = False) -> None:
    """Syncs, in many small turns if wanted, and says what it added."""
    place = Place(Path(base))
    index = place.index()
    say("ready")
    wait_for_word()
    if turns:
        with in_turns(place):
            report = index.sync()
    else:
        report = index.sync()
    index.close()
    say(f"added {report.events_added} failed {report.failed}")


def sync_to(base: str, point: str, nth: int = 1, turns: bool = False) -> None:
    """Syncs up to a point, and waits there."""
    place = Place(Path(base))
    manner = in_turns(place) if turns else nullcontext()
    with armed(Pausing(point, SAY, HEAR, nth=nth)), manner:
        index = place.index()
        index.sync()
        index.close()
    say("synced")


def search(base: str, query: str) -> None:
    """Searches until it is told to end; says how often, how many events it saw in the end, and how
    many milliseconds the slowest took."""
    place = Place(Path(base))
    index = place.index()
    searches, last, slowest = 0, -1, 0.0
    say("ready")
    while not select.select([HEAR], [], [], 0)[0]:
        started = time.perf_counter()
        page = index.search(query, invocation=EVERYTHING, limit=200)
        slowest = max(slowest, time.perf_counter() - started)
        found = {(hit.session_id, hit.entry_id) for hit in page.hits}
        assert len(found) == len(page.hits), "an event was shown twice"
        assert len(found) >= last, "an event has gone"
        assert page.coverage.indexed_sessions <= page.coverage.discovered_sessions
        searches, last = searches + 1, len(found)
    wait_for_word()
    page = index.search(query, invocation=EVERYTHING, limit=200)
    say(f"searches {searches} found {len(page.hits)} slowest {slowest * 1000:.0f}")


def answer(base: str, query: str, times: int) -> None:
    """Searches, says what it found, and waits to be asked again."""
    place = Place(Path(base))
    index = place.index()
    for number in range(times):
        if number:
            wait_for_word()
        say(f"found {len(index.search(query, invocation=EVERYTHING, limit=200).hits)}")


def call_often(base: str, warm_up: int, calls: int) -> None:
    """Calls everything many times; says memory and descriptors before and after."""
    place = Place(Path(base))
    index = place.index()
    index.sync()
    asked = cycle(_questions(index, place))
    for count in (warm_up, calls):
        held = [call(next(asked)) for _ in range(count)]
        gc.collect()
        say(f"{resident_memory()} {min(held[-50:])}")


def call(question: Callable[[], Any]) -> int:
    """Asks, and counts the descriptors that are open afterwards.

    A thread of Tantivy that looks for commits has one more for an instant: the least counts.
    """
    question()
    return len(os.listdir("/dev/fd"))


def _questions(index: EventIndex, place: Place) -> Iterator[Callable[[], Any]]:
    (session, *_) = index.sessions(invocation=EVERYTHING).sessions
    ids = session.session_id, "e1"
    everything: Any = {"invocation": EVERYTHING}
    for query in ("number1", "hello", "nothing-of-this", '"hello number2"'):
        yield partial(index.search, query, **everything)
        yield lambda: index.search(kinds=["user.text"], sort="newest", limit=5, **everything)
    yield lambda: index.read(*ids, **everything)
    yield lambda: index.trace(*ids, **everything)
    yield lambda: index.sessions(**everything)
    yield lambda: index.status(**everything)
    yield lambda: index.lineage(ids[0], **everything)
    yield lambda: _refused(index.read, "nobody", "e1", **everything)
    yield lambda: _refused(index.search, "", **everything)
    yield lambda: _refused(index.search, "x", limit=0, **everything)
    yield lambda: _refused(index.sync, place.base / "nowhere.jsonl")
    yield index.sync


def _refused(call: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    with suppress(EventSearchError):
        call(*args, **kwargs)
        raise AssertionError("it was not refused")


def resident_memory() -> int:
    """Bytes of this process in memory; 0 where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
