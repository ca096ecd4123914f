"""Ranks of the known events, for one way of ranking and for another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pi_event_search import EventIndex
from pi_event_search.store import text_query
from pi_event_search.store.text_query import Ranking

from benches.relevance.corpus import write
from benches.relevance.known import SAMPLES, Known
from tests.quality.history import EVERYTHING

SAMPLE_SESSIONS = Path(__file__).resolve().parents[2] / "samples" / "sessions"
DEPTH = 50
"""A known event behind this rank counts as not found."""


@dataclass(frozen=True)
class Score:
    """What a person sees of a ranking: is it the first, on the first screen, how far down?"""

    queries: int
    hit_at_1: float
    hit_at_5: float
    mrr: float

    @classmethod
    def of(cls, ranks: Sequence[int]) -> Score:
        """From the rank of each known event, counted from 1; 0 for not found."""
        count = max(len(ranks), 1)
        return cls(
            queries=len(ranks),
            hit_at_1=sum(rank == 1 for rank in ranks) / count,
            hit_at_5=sum(1 <= rank <= 5 for rank in ranks) / count,
            mrr=sum(1 / rank for rank in ranks if rank) / count,
        )


@contextmanager
def histories(place: Path) -> Iterator[tuple[EventIndex, list[Known]]]:
    """An index over the generated histories and the samples, and the known events of both."""
    known = [*write(place / "sessions"), *SAMPLES]
    directories = [place / "sessions", SAMPLE_SESSIONS]
    with EventIndex.open(index_dir=place / "index", session_dirs=directories) as index:
        index.sync()
        yield index, known


def ranks(index: EventIndex, known: Sequence[Known], ranking: Ranking) -> dict[Known, int]:
    """The rank of each known event under a way of ranking."""
    before, text_query.RANKING = text_query.RANKING, ranking
    try:
        return {item: _rank(index, item) for item in known}
    finally:
        text_query.RANKING = before


def _rank(index: EventIndex, item: Known) -> int:
    page = index.search(item.query, invocation=EVERYTHING, limit=DEPTH)
    for rank, hit in enumerate(page.hits, start=1):
        here = (hit.session_id, *hit.also_in)
        if hit.entry_id == item.entry_id and item.session_id in here:
            return rank
    return 0


def by_class(found: Mapping[Known, int]) -> dict[str, Score]:
    """Scores a class of query, in alphabetical order, and of all."""
    kinds = sorted({item.kind for item in found})
    scores = {
        kind: Score.of([r for item, r in found.items() if item.kind == kind]) for kind in kinds
    }
    return {**scores, "all": Score.of(list(found.values()))}
