"""How long it takes to read and to trace an event."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

from pi_event_search import EventIndex, Hit, Invocation

from benches.answers import Wrong
from benches.corpus.generate import Corpus
from benches.goals import Row, at
from benches.measure import Times, timed
from benches.place import Place, opened, somebody

EVENTS = 300


def rows(place: Place, corpus: Corpus, megabytes: float) -> Iterator[Row]:
    """Figures over events of all ages and kinds."""
    reads: list[float] = []
    traces: list[float] = []
    with opened(place.index_of(corpus), corpus.sessions_dir) as index:
        caller = somebody(corpus)
        for hit in _events(index, caller, place.seed):
            _check(index, caller, hit)
            event = hit.session_id, hit.entry_id
            reads.append(timed(partial(index.read, *event, invocation=caller)))
            traces.append(timed(partial(index.trace, *event, invocation=caller)))
    for name, samples in (("read", reads), ("trace", traces)):
        times = Times(samples)
        work = f"{name}, {megabytes:g} MB"
        yield Row(work, "p50", times.median, goal=at(megabytes, 1_000, 0.5))
        yield Row(work, "p99", times.percentile(99), goal=at(megabytes, 1_000, 3.0))


def _events(index: EventIndex, caller: Invocation, seed: int) -> list[Hit]:
    found = [
        hit
        for word in ("error", "function", "import", "value", "passed")
        for sort in ("newest", "oldest", "relevance")
        for hit in index.search(word, invocation=caller, limit=200, sort=sort).hits
    ]
    return random.Random(seed).sample(found, min(EVENTS, len(found)))


def _check(index: EventIndex, caller: Invocation, hit: Hit) -> None:
    event = index.read(hit.session_id, hit.entry_id, invocation=caller)
    trace = index.trace(hit.session_id, hit.entry_id, invocation=caller)
    if event.entry_id != hit.entry_id or event.source.state != "exact":
        raise Wrong(f"read {hit}: {event.source}")
    if trace.target.entry_id != hit.entry_id or trace.target.timestamp != hit.timestamp:
        raise Wrong(f"trace {hit}: {trace.target}")
