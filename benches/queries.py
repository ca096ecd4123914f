"""How long searches take, beside the engine asked for the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

from benches.answers import check
from benches.asks import Ask, asks
from benches.corpus.generate import Corpus
from benches.goals import Row, at
from benches.measure import Times, in_turns
from benches.place import Place, opened, somebody, text_index

ROUNDS = 5
_SLOWER = ("by branch state", "by selection state", "no hit", "no hit by filter")
"""Kinds of queries with a goal of their own: they look at more than the engine can tell."""
_ALLOWED_MS = 3.0


def rows(place: Place, corpus: Corpus, megabytes: float) -> Iterator[Row]:
    """Figures by kind of query, and over all of them."""
    wanted = asks(corpus, place.seed)
    index_dir = place.index_of(corpus)
    ours: dict[str, Times] = defaultdict(Times)
    bare: dict[str, Times] = defaultdict(Times)
    searcher = text_index(index_dir).searcher()
    with opened(index_dir, corpus.sessions_dir) as index:
        caller = somebody(corpus)
        for ask in wanted:
            check(ask, index, caller, corpus, found_by_engine=bool(ask.bare(searcher)))
            taken = in_turns(
                {"ours": partial(ask.of, index, caller), "bare": partial(ask.bare, searcher)},
                ROUNDS,
            )
            ours[ask.kind] += taken["ours"]
            bare[ask.kind] += taken["bare"]
    work = f"query, {megabytes:g} MB"
    usual = [kind for kind in ours if kind not in _SLOWER]
    mine, engine = _over(ours, usual), _over(bare, usual)
    allowed = 1.5 * engine.percentile(99) + _ALLOWED_MS
    yield Row(work, "all usual kinds, p50", mine.median, goal=at(megabytes, 1_000, 1.0))
    yield Row(
        work,
        "all usual kinds, p99",
        mine.percentile(99),
        goal=at(megabytes, 1_000, allowed),
        note=f"engine alone {engine.percentile(99):.3g} ms",
    )
    for kind, times in ours.items():
        slow = at(megabytes, 1_000, 10.0) if kind in _SLOWER else None
        alone = bare[kind]
        note = f"engine alone {alone.median:.3g} / {alone.percentile(99):.3g} ms"
        yield Row(work, f"{kind}, p50", times.median, note=note)
        yield Row(work, f"{kind}, p99", times.percentile(99), goal=slow)


def typical(corpus: Corpus, seed: int) -> Sequence[Ask]:
    """The usual kinds of queries, to compare two corpora by."""
    return [ask for ask in asks(corpus, seed) if ask.kind not in _SLOWER]


def _over(times: dict[str, Times], kinds: Sequence[str]) -> Times:
    return Times([sample for kind in kinds for sample in times[kind].samples])
