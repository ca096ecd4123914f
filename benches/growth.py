"""What changes when there is more of something: one huge session, and very many small ones."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from functools import partial

from pi_event_search import EventIndex

from benches import jobs
from benches.asks import Ask
from benches.corpus.generate import Corpus, equal
from benches.goals import Row
from benches.measure import Times, in_turns, timed
from benches.place import Place, opened, somebody
from benches.queries import typical

MANY = 10_000
ROUNDS = 3
RESTARTS = 7


def huge_rows(place: Place) -> Iterator[Row]:
    """A session of a gigabyte beside one of a tenth of it."""
    work = "one session of 1 GB"
    found: dict[int, jobs.Figures] = {}
    for megabytes in (100, 1_000):
        corpus = place.corpus(f"single-{megabytes}", equal(1, megabytes * 1_000_000))
        shutil.rmtree(place.index_of(corpus), ignore_errors=True)
        found[megabytes] = jobs.run("sync", place.index_of(corpus), corpus.sessions_dir)
        assert found[megabytes]["bytes_read"] == corpus.bytes
    yield Row(work, "time", found[1_000]["seconds"], "s")
    for name in ("anonymous", "peak"):
        more = (found[1_000][name] - found[100][name]) / 1e6
        goal = 64.0 if name == "anonymous" else None
        what = (
            f"more {name} memory than 100 MB" if name == "anonymous" else "more with mapped files"
        )
        yield Row(work, what, more, "MB", goal, f"{found[1_000][name] / 1e6:.0f} MB in all")


def many_rows(place: Place, usual: Corpus) -> Iterator[Row]:
    """Ten thousand sessions beside the usual corpus, whose index is there already."""
    work = f"{MANY:,} sessions of 100 KB"
    corpus = place.corpus(f"many-{MANY}", equal(MANY, 100_000))
    shutil.rmtree(place.index_of(corpus), ignore_errors=True)
    taken = jobs.run("sync", place.index_of(corpus), corpus.sessions_dir)
    yield Row(work, "cold index", taken["seconds"], "s")
    with (
        opened(place.index_of(corpus), corpus.sessions_dir) as many,
        opened(place.index_of(usual), usual.sessions_dir) as few,
    ):
        restarts = Times([timed(many.sync) for _ in range(RESTARTS)])
        yield Row(work, "restart sync", restarts.median, goal=200)
        times = _both(many, corpus, few, usual, typical(usual, place.seed))
    yield Row(work, "query, p50", times["many"].median)
    ratio = times["many"].median / times["few"].median
    yield Row(work, f"query p50, against {len(usual.sessions)} sessions", ratio, "x", 2.0)


def _both(
    many: EventIndex, corpus: Corpus, few: EventIndex, usual: Corpus, asked: Sequence[Ask]
) -> dict[str, Times]:
    found = {"many": Times(), "few": Times()}
    for ask in asked:
        if "cwd" in ask.filters or ask.since_ms is not None:
            continue  # means something else in the other corpus
        ways = {
            "many": partial(ask.of, many, somebody(corpus)),
            "few": partial(ask.of, few, somebody(usual)),
        }
        for name, times in in_turns(ways, ROUNDS).items():
            found[name] += times
    return found
