"""`make bench-relevance`: prints how high the known events rank, by class of query."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pi_event_search.store.text_query import PLAIN, RANKING

from benches.relevance.evaluate import Score, by_class, histories, ranks

CHOICES = {
    "plain BM25": PLAIN,
    "+ parts weigh less": PLAIN._replace(part=RANKING.part),
    "+ whole identifiers": PLAIN._replace(whole=RANKING.whole),
    "+ what was said": PLAIN._replace(said=RANKING.said),
    "+ words side by side": PLAIN._replace(adjacent=RANKING.adjacent),
    "defaults": RANKING,
}
"""Each choice by itself on top of plain BM25, and all of them together."""


def main() -> int:
    """The exit status: 1 when the defaults are not better than plain BM25."""
    with TemporaryDirectory() as place, histories(Path(place)) as (index, known):
        plain = by_class(ranks(index, known, PLAIN))
        ours = by_class(ranks(index, known, RANKING))
        whole = {name: by_class(ranks(index, known, way))["all"] for name, way in CHOICES.items()}
        misses = [i for i, rank in ranks(index, known, RANKING).items() if not 1 <= rank <= 5]
    print(f"{len(known)} queries, each with the one event that answers it\n")
    print(f"{'class':12}{'queries':>8}   {'plain BM25':^24}   {'defaults':^24}")
    print(f"{'':20}" + f"   {'hit@1':>8}{'hit@5':>8}{'MRR':>8}" * 2)
    for kind, score in ours.items():
        print(f"{kind:12}{score.queries:>8}   {_row(plain[kind])}   {_row(score)}")
    print(f"\n{'each choice alone':23}{'hit@1':>8}{'hit@5':>8}{'MRR':>8}")
    for name, score in whole.items():
        print(f"{name:23}{_row(score)}")
    if "--misses" in sys.argv:
        for item in misses:
            print(f"not among the first five: {item.kind}: {item.query}")
    lost = [kind for kind, score in ours.items() if score.hit_at_5 < plain[kind].hit_at_5]
    better = ours["all"].mrr > plain["all"].mrr and not lost
    print(f"\nThe defaults {'beat' if better else 'DO NOT beat'} plain BM25.", *lost)
    return 0 if better else 1


def _row(score: Score) -> str:
    return f"{score.hit_at_1:8.3f}{score.hit_at_5:8.3f}{score.mrr:8.3f}"


raise SystemExit(main())
