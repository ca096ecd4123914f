"""Building Tantivy queries from the core's parsed query and from filters.

No string of a caller ever reaches the engine's own query parser.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import tantivy

from pi_event_search import _core
from pi_event_search.store.text_index import SCHEMA, facet, guarded

Query = tantivy.Query
Occur = tantivy.Occur


class Ranking(NamedTuple):
    """What the score adds to BM25. `benches/relevance` shows what each choice is worth."""

    part: float
    """What a match in the parts of identifiers weighs; a match by words weighs 1."""
    whole: float
    """Bonus for an identifier of several words exactly as typed, times its own score."""
    said: float
    """Bonus for what was said or concluded, as a share of the rarity of the words asked for."""
    adjacent: float
    """Bonus for all words side by side in their order, times the score of that phrase."""


PLAIN = Ranking(part=1.0, whole=0.0, said=0.0, adjacent=0.0)
"""BM25 alone, to compare with."""
RANKING = Ranking(part=0.0001, whole=0.5, said=0.3, adjacent=0.3)
"""How searches rank.

So small a share of a match by parts stays below any match by words, however rare the parts and
however common the words are. The other values lie on a plateau: half or double of each changes
little.
"""

ADJACENT_LIMIT = 3_000
"""Fragments expected to hold all the words, up to which they are looked for side by side: with
more, comparing all the positions would take longer than the rest of a search. Quotes still do."""
RARE_ENOUGH = 10_000
"""At least one of the words must be in no more fragments, since words that go together (`const`,
`import`) defeat the expectation."""

FEW = 64
"""Numbers that are looked up one by one. A set walks through the whole dictionary of the field,
which can take longer than the search (measured: 20 of 730,000 events 0.7 ms instead of 0.05)."""


class Ranked(NamedTuple):
    """A query whose score ranks, and what is added to it for what was said or concluded.

    The engine is not asked to add it: it would have to look at every match then (measured:
    5.7 ms instead of 1.7 for 108,000 matches).
    """

    query: Query
    said: float


class TextFilter(NamedTuple):
    """Facts that never change, decided inside the engine. Empty means no constraint.

    ``facets`` maps a fact to the accepted values (any of them). ``epochs`` and ``workspaces``
    restrict, ``without_epochs`` excludes. ``ts`` is in milliseconds, inclusive on both ends.
    """

    facets: Mapping[str, Sequence[str]] = MappingProxyType({})
    without_facets: Sequence[str] = ()
    epochs: Sequence[int] | None = None
    workspaces: Sequence[int] | None = None
    without_workspaces: Sequence[int] = ()
    without_epochs: Sequence[int] = ()
    events: Sequence[int] | None = None
    ts_from: int | None = None
    ts_to: int | None = None


def build(query: _core.Query | None, restriction: TextFilter) -> Query:
    """The engine's query: every clause must match one fragment; filters do not touch the score."""
    clauses = () if query is None else _clauses(query, PLAIN, _few_events(restriction))
    return _query(clauses, restriction)


def ranked(
    query: _core.Query | None,
    restriction: TextFilter,
    searcher: tantivy.Searcher,
    hint: _core.Query | None = None,
) -> list[Ranked]:
    """The same matches as those of :func:`build`, scored as :data:`RANKING` says, in one query
    after another: every hit of one stands before every hit of the next.

    First come those that hold each clause as words, then those where parts of identifiers help.
    Asking for the two at once takes the engine three times as long, and the first are mostly
    enough. Without words a hint says what the better of several fragments of an event holds.
    """
    if query is None:
        hints = () if hint is None else _clauses(hint, RANKING)
        return [Ranked(_query((), restriction, bonuses=list(hints)), 0.0)]
    words = [word for clause in query.clauses for word in clause]
    holding = guarded("search", lambda: [searcher.doc_freq("words", word) for word in words])
    said = RANKING.said * sum(_rarity(count, searcher.num_docs) for count in holding)
    bonuses = list(_bonuses(query, holding, searcher.num_docs))
    if RANKING.part >= 1:
        return [Ranked(_query(_clauses(query, RANKING), restriction, bonuses=bonuses), said)]
    clauses = [_side_by_side("words", tokens) for tokens in query.clauses]
    # One of a few events is found at once, unless a union around it has to be walked through.
    within = _few_events(restriction)
    helped = _query(
        _by_parts(query, within) if len(clauses) == 1 else _clauses(query, RANKING, within),
        restriction,
        bonuses=bonuses,
        without=[_all(clauses)],
    )
    return [
        Ranked(_query(clauses, restriction, bonuses=bonuses), said),
        Ranked(Query.boost_query(helped, RANKING.part), RANKING.part * said),
    ]


def _query(
    clauses: Iterable[Query],
    restriction: TextFilter,
    *,
    bonuses: Sequence[Query] = (),
    without: Sequence[Query] = (),
) -> Query:
    must = [(Occur.Must, clause) for clause in clauses]
    must += [(Occur.Must, Query.const_score_query(part, 0.0)) for part in _accepting(restriction)]
    if not must:
        must = [(Occur.Must, Query.const_score_query(Query.all_query(), 0.0))]
    must += [(Occur.MustNot, part) for part in (*_excluding(restriction), *without)]
    must += [(Occur.Should, bonus) for bonus in bonuses]
    return must[0][1] if len(must) == 1 else Query.boolean_query(must)


def _bonuses(query: _core.Query, holding: Sequence[int], total: int) -> Iterator[Query]:
    """What only adds to the score; none of it decides whether a fragment matches.

    ``holding``: how many of ``total`` fragments hold each of the words.
    """
    if RANKING.whole:
        for whole in filter(None, query.wholes):
            found = Query.term_query(SCHEMA, "wholes", whole, "basic")
            yield Query.boost_query(found, RANKING.whole)
    if RANKING.adjacent and len(query.clauses) > 1:
        expected = total * math.prod(count / max(total, count, 1) for count in holding)
        if min(holding) <= RARE_ENOUGH and expected <= ADJACENT_LIMIT:
            words = [word for clause in query.clauses for word in clause]
            yield Query.boost_query(_side_by_side("words", words), RANKING.adjacent)


def _rarity(holding: int, total: int) -> float:
    """The inverse document frequency of BM25, which its scores are multiples of."""
    return math.log1p((max(total - holding, 0) + 0.5) / (holding + 0.5))


def _clauses(query: _core.Query, ranking: Ranking, within: Query | None = None) -> Iterator[Query]:
    """Each clause among the words, or among the parts of identifiers, for much less."""
    for tokens, parts in zip(query.clauses, query.parts, strict=True):
        whole = _side_by_side("words", tokens)
        inside = [Query.boost_query(way, ranking.part) for way in _inside(tokens, parts)]
        yield _best([whole, *inside], within)


def _by_parts(query: _core.Query, within: Query | None) -> Iterator[Query]:
    """Each clause among the parts of identifiers."""
    for tokens, parts in zip(query.clauses, query.parts, strict=True):
        yield _best(_inside(tokens, parts), within)


def _inside(tokens: Sequence[str], parts: Sequence[str]) -> list[Query]:
    """Tokens side by side among the parts of identifiers. A term that is an identifier itself may
    also be found by its own: `userName` stands in `getUserName` as user, name."""
    ways = [_side_by_side("parts", tokens)]
    if parts:
        ways.append(_side_by_side("parts", parts))
    return ways


def _best(ways: Sequence[Query], within: Query | None) -> Query:
    """The best of several ways to match, which may be looked for in a few documents only."""
    if within is not None:
        ways = [_all([way, Query.const_score_query(within, 0.0)]) for way in ways]
    return Query.disjunction_max_query(list(ways))


def _all(queries: Sequence[Query]) -> Query:
    if len(queries) == 1:
        return queries[0]
    return Query.boolean_query([(Occur.Must, query) for query in queries])


def _few_events(restriction: TextFilter) -> Query | None:
    events = restriction.events
    return None if events is None or len(events) > FEW else _numbers("event", events)


def _side_by_side(name: str, tokens: Sequence[str]) -> Query:
    if len(tokens) == 1:
        return Query.term_query(SCHEMA, name, tokens[0], "freq")
    return Query.phrase_query(SCHEMA, name, list(tokens))


def _accepting(restriction: TextFilter) -> Iterator[Query]:
    for name, values in restriction.facets.items():
        if values:
            yield _any_facet([facet(name, value) for value in values])
    if restriction.epochs is not None:
        yield _numbers("epoch", restriction.epochs)
    if restriction.workspaces is not None:
        yield _numbers("workspace", restriction.workspaces)
    if restriction.events is not None:
        yield _numbers("event", restriction.events)
    if restriction.ts_from is not None or restriction.ts_to is not None:
        yield Query.range_query(SCHEMA, "moment", tantivy.FieldType.Integer, *_moments(restriction))


def _excluding(restriction: TextFilter) -> Iterator[Query]:
    if restriction.without_facets:
        yield _any_facet(restriction.without_facets)
    if restriction.without_workspaces:
        yield _numbers("workspace", restriction.without_workspaces)
    if restriction.without_epochs:
        yield _numbers("epoch", restriction.without_epochs)


def _moments(restriction: TextFilter) -> tuple[int | None, int | None]:
    """Times as the core writes them: the lowest bit says something else."""
    first, last = restriction.ts_from, restriction.ts_to
    return None if first is None else first * 2, None if last is None else last * 2 + 1


def _any_facet(terms: Sequence[str]) -> Query:
    if len(terms) == 1:
        return Query.term_query(SCHEMA, "facet", terms[0], "basic")
    return Query.term_set_query(SCHEMA, "facet", list(terms))


def _numbers(name: str, values: Sequence[int]) -> Query:
    if not values:
        return Query.empty_query()
    if len(values) == 1:
        return Query.term_query(SCHEMA, name, values[0], "basic")
    if len(values) <= FEW:
        terms = (Query.term_query(SCHEMA, name, value, "basic") for value in values)
        return Query.boolean_query([(Occur.Should, term) for term in terms])
    return Query.term_set_query(SCHEMA, name, list(values))
