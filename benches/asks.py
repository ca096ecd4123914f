"""The queries that are measured, by kind, drawn from the vocabulary of the corpus.

Each says what a right answer looks like, and how the engine alone would be asked the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tantivy
from pi_event_search import EventIndex, Invocation, SearchPage, _core
from pi_event_search.store.text_index import SCHEMA, facet

from benches.corpus.generate import Corpus
from benches.corpus.vocabulary import Vocabulary

LIMIT = 20
EACH = 12
"""Queries of a kind."""
MOST = 200
"""Hits that a search returns at most."""
_RECENT_MS = 20 * 24 * 3_600_000
"""How far a filter by time reaches back from the newest session."""

Query, Occur = tantivy.Query, tantivy.Occur


@dataclass(frozen=True)
class Ask:
    """One search."""

    kind: str
    words: str
    filters: Mapping[str, Any] = field(default_factory=dict)
    facets: tuple[str, ...] = ()
    """What of the filters the engine alone can be asked for."""
    since_ms: int | None = None
    finds: bool | None = None
    """Whether there is an answer; `None`: as many as the engine finds, or more."""

    def of(self, index: EventIndex, caller: Invocation, limit: int = LIMIT) -> SearchPage:
        """The answer of the index."""
        return index.search(self.words, invocation=caller, limit=limit, **self.filters)

    def bare(self, searcher: tantivy.Searcher) -> list[Any]:
        """The engine's answer: the same words and facts, and the numbers of what it found."""
        parsed = _core.parse_query(self.words)
        must = [(Occur.Must, _together(clause)) for clause in parsed.clauses]
        must += [
            (Occur.Must, Query.term_query(SCHEMA, "facet", term, "basic")) for term in self.facets
        ]
        if self.since_ms is not None:
            since = 2 * self.since_ms  # a moment is a time and one bit more
            span = Query.range_query(SCHEMA, "moment", tantivy.FieldType.Integer, since, None)
            must.append((Occur.Must, span))
        found = searcher.search(Query.boolean_query(must), LIMIT, count=False)
        return list(searcher.fast_field_values("key", [address for _, address in found.hits]))


def asks(corpus: Corpus, seed: int) -> list[Ask]:
    """All of them."""
    vocabulary = Vocabulary(seed)
    return [
        ask
        for kind in (_plain, _filtered, _by_state, _without_hits)
        for ask in kind(vocabulary, corpus)
    ]


def _plain(vocabulary: Vocabulary, corpus: Corpus) -> Iterator[Ask]:
    words, dice = vocabulary.words, vocabulary.dice
    for word in (*corpus.expected, *words[-2_000::400], *vocabulary.identifiers[-2_000::1_000]):
        yield Ask("rare", word)
    for word in words[20 : 20 + 9 * EACH : 9]:
        yield Ask("common", word)
    for first, second in zip(words[25::11], words[400::31], strict=False):
        if dice.random() < 0.5:
            yield Ask("two terms", f"{first} {second}")
        if first == words[25 + 11 * 2 * EACH]:
            break
    for sentence in vocabulary.prose[: 4 * EACH : 4]:
        pair = [word for word in sentence.lower().split() if word.isalpha()][:2]
        yield Ask("phrase", f'"{" ".join(pair)}"')
    for text in vocabulary.ideographs[:EACH]:
        yield Ask("CJK", text[1 : dice.randint(3, 5)])


def _filtered(vocabulary: Vocabulary, corpus: Corpus) -> Iterator[Ask]:
    common = vocabulary.words[24 : 24 + 7 * EACH : 7]
    newest = max(corpus.sessions, key=lambda session: Path(session.path).stat().st_mtime_ns)
    since_ms = int(Path(newest.path).stat().st_mtime * 1000) - _RECENT_MS
    since = datetime.fromtimestamp(since_ms / 1000, UTC)
    for word in common:
        yield Ask(
            "by kind", word, {"kinds": ["tool.result"]}, facets=(facet("kind", "tool.result"),)
        )
        yield Ask("by tool", word, {"tool_names": ["edit"]}, facets=(facet("tool", "edit"),))
        yield Ask("by time", word, {"time_from": since}, since_ms=since_ms)
        yield Ask("by workspace", word, {"cwd": str(corpus.work / "project1")})


def _by_state(vocabulary: Vocabulary, corpus: Corpus) -> Iterator[Ask]:
    for word in vocabulary.words[24 : 24 + 7 * EACH : 7]:
        yield Ask("by branch state", word, {"branch_states": ["alternate"]})
        yield Ask("by selection state", word, {"selection_states": ["summarized"]})


def _without_hits(vocabulary: Vocabulary, corpus: Corpus) -> Iterator[Ask]:
    for word in vocabulary.words[24 : 24 + 7 * EACH : 7]:
        yield Ask("no hit", f"{word} zqnothinghere", finds=False)
        yield Ask("no hit by filter", word, {"tool_names": ["zqnotool"]}, finds=False)


def _together(tokens: list[str]) -> tantivy.Query:
    if len(tokens) == 1:
        return Query.term_query(SCHEMA, "words", tokens[0], "freq")
    return Query.phrase_query(SCHEMA, "words", list(tokens))
