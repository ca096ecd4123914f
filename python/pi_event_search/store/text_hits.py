"""Reading what a query of the engine finds: hits in their final order, or in none.

A hit is a document's address; everything about it comes from columns, which cost a look-up in every
segment each time (measured: 80 us for 13 segments, for 1 hit as for 100). So little is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import tantivy

from pi_event_search.store.text_index import guarded

RESCORED = 256
"""The best so many fragments by words are ordered anew with what counts for having been said, and
all before the others. Always so many, so that the order never depends on how much is asked for."""
MAX_PAGE = 4_096
"""Hits fetched at once while paging through ranked hits."""


class TextHit(NamedTuple):
    """A matching fragment: its score, key and time; without a key an event without text."""

    score: float
    key: int
    ts: int
    event: int | None = None
    """Only where there is no key to find it by."""


class RankedHits:
    """All hits of a query in their final order, fetched page by page.

    The engine breaks ties by where a document happens to lie. Here a group of equal scores (or
    times) is always completed before it is ordered: score, newer first, then key. What is equal in
    score and time is for the caller to order, who knows more than keys.

    :param sort: ``relevance``, ``newest`` or ``oldest``.
    :param first: hits to begin with, where nothing is added.
    :param said: added to the score of what was said, among the best by words.
    """

    def __init__(
        self,
        searcher: tantivy.Searcher,
        query: tantivy.Query,
        sort: str,
        first: int,
        said: float = 0.0,
    ) -> None:
        self._searcher = searcher
        self._query = query
        self._sort = sort
        self._said = said
        # The engine makes room for as many hits as are asked for, and a damaged row may ask for
        # more than there is memory: it would end the process.
        self._most = searcher.num_docs + 1
        self._first = min(RESCORED if said else max(first, 1), self._most)

    def __iter__(self) -> Iterator[TextHit]:
        offset, size, said = 0, self._first, self._said
        waiting: list[_Found] = []
        while True:
            page = self._fetch(offset, size)
            offset += len(page)
            waiting += page
            if len(page) < size:
                yield from self._ordered(waiting, said)
                return
            # The last rank may go on behind this page; it waits for the next one.
            last = self._rank(page[-1])
            ended = len(waiting)
            while ended and self._rank(waiting[ended - 1]) == last:
                ended -= 1
            if ended:
                yield from self._ordered(waiting[:ended], said)
                said = 0.0
            del waiting[:ended]
            size = min(size * 2, MAX_PAGE, self._most)

    def _rank(self, found: _Found) -> float:
        return found[0] if self._sort == "relevance" else found[2] >> 1

    def _ordered(self, some: Sequence[_Found], said: float) -> Iterator[TextHit]:
        sign = 1 if self._sort == "oldest" else -1
        ordered = sorted(
            (-score - said * (moment & 1), sign * (moment >> 1), key) for score, key, moment in some
        )
        return (TextHit(-score, key, sign * ts) for score, ts, key in ordered)

    def order(self, hit: TextHit) -> tuple[float, int, int]:
        """What hits are sorted by."""
        score, key, ts, _ = hit
        return -score, ts if self._sort == "oldest" else -ts, key

    def _fetch(self, offset: int, size: int) -> list[_Found]:
        search = self._by_score if self._sort == "relevance" else self._by_time
        return guarded("search", partial(search, offset, size))

    def _by_score(self, offset: int, size: int) -> list[_Found]:
        hits = self._searcher.search(self._query, size, count=False, offset=offset).hits
        keys, moments = _columns(self._searcher, ("key", "moment"), hits)
        return list(zip((_rounded(score) for score, _ in hits), keys, moments, strict=True))

    def _by_time(self, offset: int, size: int) -> list[_Found]:
        order = tantivy.Order.Asc if self._sort == "oldest" else tantivy.Order.Desc
        hits = self._searcher.search(
            self._query, size, count=False, order_by_field="moment", offset=offset, order=order
        ).hits
        [keys] = _columns(self._searcher, ("key",), hits)
        return [(0.0, key, moment) for (moment, _), key in zip(hits, keys, strict=True)]


def _rounded(score: float) -> float:
    """A score without its last digits. The engine adds up the words of a query in an order that
    depends on the segment, so that the same text may score a trifle more in another one."""
    return float(f"{score:.5g}")


_Found = tuple[float, int, int]
"""Score, key and moment (see ``rust/core/src/document.rs``) as the engine has them."""


def _columns(
    searcher: tantivy.Searcher, names: Sequence[str], hits: Sequence[tuple[Any, tantivy.DocAddress]]
) -> list[list[int]]:
    """Number fields of some documents; each document has one value in each."""
    addresses = [address for _, address in hits]
    return [cast(list[int], searcher.fast_field_values(name, addresses)) for name in names]


def pages(
    searcher: tantivy.Searcher, query: tantivy.Query, size: int, *names: str
) -> Iterator[list[list[int]]]:
    """Number fields of all matching fragments, so many fragments at once, in no order."""
    size = min(size, searcher.num_docs + 1)
    unscored = tantivy.Query.const_score_query(query, 0.0)

    def search(offset: int) -> list[list[int]]:
        found = searcher.search(unscored, size, count=False, offset=offset)
        return _columns(searcher, names, found.hits)

    offset = 0
    while (page := guarded("search", partial(search, offset)))[0]:
        yield page
        offset += len(page[0])
        if len(page[0]) < size:
            return


def matching_keys(searcher: tantivy.Searcher, query: tantivy.Query, limit: int) -> list[int]:
    """Keys of up to ``limit`` matching fragments, in no particular order."""
    return next(pages(searcher, query, limit, "key"), [[]])[0]
