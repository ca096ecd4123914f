"""Search: ranked fragments, coalesced to events, each with its strongest fragment as evidence."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pi_event_search import _core
from pi_event_search.authorize import Authorizer, Root
from pi_event_search.copies import Copies, copies_of
from pi_event_search.errors import InvalidQuery
from pi_event_search.evidence import fragment_id, snippet_of, timestamp_of
from pi_event_search.scope import Scope
from pi_event_search.store.documents import RETRIEVAL_FACET
from pi_event_search.store.rows import ERROR, FRAGMENT_COLUMNS, EventRow, FragmentRow, SessionRow
from pi_event_search.store.schema import epoch_of
from pi_event_search.store.store import Snapshot
from pi_event_search.store.text_query import (
    RankedHits,
    TextFilter,
    TextHit,
    build,
    matching_events,
    ranked,
)
from pi_event_search.types import Diagnostics, DiagnosticTerm, Hit, SearchRequest
from pi_event_search.view import View

SNIPPET_CHARS = 240
"""Code points of a snippet."""
ALSO_IN_NAMED = 50
"""Sessions with a copy of a hit that are named; the rest is counted."""
COUNT_LIMIT = 1_000
"""Where the counts of diagnostics stop."""
_CHUNK = 64


@dataclass(frozen=True, slots=True)
class _Found:
    """An event of the answer: the row shown, the fragment that matched, and its copies."""

    row: EventRow
    key: int
    score: float
    copies: Copies


class Search:
    """One search over one snapshot."""

    def __init__(self, snapshot: Snapshot, scope: Scope, request: SearchRequest) -> None:
        self._snapshot = snapshot
        self._scope = scope
        self._request = request
        self._view = View(snapshot.connection, scope)
        self._query = parse(request.query) if request.has_words else None
        self._target = None if request.session_id is None else scope.resolve(request.session_id)

    def hits(self) -> tuple[Hit, ...]:
        """The best hits, each event once, in a deterministic order."""
        page: list[_Found] = []
        seen: set[int] = set()
        for hit, row in self._candidates(self._filter):
            if row.event in seen:
                continue
            seen.add(row.event)
            if not self._wanted(row):
                continue
            found = self._stand(row, hit)
            seen.add(found.row.event)
            seen.update(copy.event for copy in found.copies.rows)
            page.append(found)
            if len(page) == self._request.limit:
                break
        return tuple(self._present(page))

    def diagnostics(self) -> Diagnostics:
        """Why there may be no hits: what each term and the words alone match in the scope."""
        query = self._query
        scoped = replace(self._scoped(self._sessions), without_facets=self._suppressed)
        terms = []
        for number, display in enumerate(() if query is None else query.display):
            assert query is not None
            count = self._count(query.only(number), scoped)
            terms.append(DiagnosticTerm(display, count, at_least=count >= COUNT_LIMIT))
        return Diagnostics(
            terms=tuple(terms),
            without_filters=self._count(query, scoped),
            current_session_excluded=self._scope.current is not None and self._target is None,
        )

    @cached_property
    def _sessions(self) -> dict[int, SessionRow]:
        """The sessions that may answer: the one asked for, or all but the current one."""
        if self._target is not None:
            assert self._target.epoch is not None
            return {self._target.epoch: self._target}
        current = self._scope.current
        return {
            epoch: session
            for epoch, session in self._scope.sessions.items()
            if current is None or epoch != current.epoch
        }

    @cached_property
    def _suppressed(self) -> Sequence[str]:
        """Retrieval tools' own calls and results answer only when a tool is asked for by name."""
        return () if self._request.tool_names else (RETRIEVAL_FACET,)

    @cached_property
    def _filter(self) -> TextFilter:
        request = self._request
        scoped = self._scoped(
            {e: s for e, s in self._sessions.items() if self._inside is None or e in self._inside}
        )
        return replace(
            scoped,
            facets={
                "kind": request.kinds,
                "type": request.entry_types,
                "role": request.roles,
                "tool": request.tool_names,
                "is": ("error",) if request.error_only else (),
            },
            without_facets=self._suppressed,
            events=self._view.events_touching(request.file) if request.file else None,
            ts_from=request.from_ms,
            ts_to=request.to_ms,
        )

    def _scoped(self, sessions: dict[int, SessionRow]) -> TextFilter:
        """Some sessions of the scope as engine filters: whole workspaces, less single sessions.

        Rows decide in the end; the engine only must not fill pages with what they refuse.
        """
        if self._target is not None:
            return TextFilter(epochs=sorted(sessions))
        return restrict(sessions, self._snapshot)

    @cached_property
    def _inside(self) -> dict[int, SessionRow] | None:
        """The sessions that pass the filter on the working directory; ``None`` without one."""
        return None if self._request.cwd is None else self._below(self._request.cwd)

    def _below(self, cwd: str) -> dict[int, SessionRow]:
        """The sessions that were recorded in a directory or below it."""
        inside = Authorizer((Root(os.path.realpath(cwd), "explicit"),))
        return {
            epoch: session
            for epoch, session in self._scope.sessions.items()
            if inside.allows(session.cwd or "")
        }

    def _candidates(self, restriction: TextFilter) -> Iterator[tuple[TextHit, EventRow]]:
        """Ranked hits with their rows; a hit without a visible row is a leftover and dropped."""
        searcher = self._snapshot.searcher
        if self._sort == "relevance":
            query = ranked(self._query, restriction, searcher)
        else:
            query = build(self._query, restriction)
        first = max(_CHUNK, self._request.limit * 2)
        chunk: list[TextHit] = []
        for hit in RankedHits(searcher, query, self._sort, first):
            chunk.append(hit)
            if len(chunk) == _CHUNK:
                yield from self._with_rows(chunk)
                chunk = []
        yield from self._with_rows(chunk)

    @property
    def _sort(self) -> str:
        sort = self._request.sort
        return "newest" if sort == "relevance" and self._query is None else sort

    def _with_rows(self, hits: Sequence[TextHit]) -> Iterator[tuple[TextHit, EventRow]]:
        rows = self._view.rows(hit.event for hit in hits)
        for hit in hits:
            row = rows.get(hit.event)
            if row is None or epoch_of(hit.event) not in self._sessions:
                continue
            if self._inside is not None and epoch_of(hit.event) not in self._inside:
                continue
            if row.first_key <= hit.key < row.first_key + row.fragments:
                yield hit, row

    def _wanted(self, row: EventRow) -> bool:
        """Whether the states of an event pass the state filters."""
        request = self._request
        states = self._view.states(row)
        if request.branch_states and states.branch(row) not in request.branch_states:
            return False
        return not request.selection_states or states.selection(row) in request.selection_states

    def _stand(self, row: EventRow, hit: TextHit) -> _Found:
        """The hit under the oldest session that holds the same event, with the others' names."""
        candidates = [
            copy
            for copy in copies_of(self._snapshot.connection, row)
            if epoch_of(copy.event) in self._scope.sessions and self._view.shows(copy)
        ]
        passing = [row]
        for copy in candidates:
            session = self._scope.sessions[epoch_of(copy.event)]
            if copy.event != row.event and self._passes(copy, session):
                passing.append(copy)
        passing.sort(key=lambda copy: _age(self._scope.sessions[epoch_of(copy.event)]))
        owner = row if self._target is not None else passing[0]
        others = tuple(copy for copy in passing if copy.event != owner.event)
        return _Found(owner, owner.first_key + hit.key - row.first_key, hit.score, Copies(others))

    def _passes(self, copy: EventRow, session: SessionRow) -> bool:
        current = self._scope.current
        if current is not None and session.epoch == current.epoch:
            return False
        if self._inside is not None and session.epoch not in self._inside:
            return False
        return self._wanted(copy)

    def _present(self, page: Sequence[_Found]) -> Iterator[Hit]:
        counts = self._fragment_counts(page)
        fragments = self._fragments(page)
        for found in page:
            yield self._hit(found, fragments[found.key], counts[found.row.event])

    def _fragment_counts(self, page: Sequence[_Found]) -> Counter[int]:
        """How many fragments of each event match: one query over the page's events."""
        rows = {found.row.event: found.row for found in page}
        counts: Counter[int] = Counter()
        if rows:
            restriction = replace(self._filter, events=sorted(rows), epochs=None, workspaces=None)
            query = build(self._query, restriction)
            limit = sum(row.fragments for row in rows.values()) + 1
            for key, event in matching_events(self._snapshot.searcher, query, limit):
                row = rows.get(event)
                if row is not None and row.first_key <= key < row.first_key + row.fragments:
                    counts[event] += 1
        return counts

    def _fragments(self, page: Sequence[_Found]) -> dict[int, FragmentRow]:
        keys = [found.key for found in page]
        marks = ", ".join("?" * len(keys))
        rows = self._snapshot.connection.execute(
            f"SELECT {FRAGMENT_COLUMNS} FROM fragments WHERE key IN ({marks})", keys
        )
        return {row[0]: FragmentRow(*row) for row in rows}

    def _hit(self, found: _Found, fragment: FragmentRow, count: int) -> Hit:
        row = found.row
        session = self._scope.sessions[epoch_of(row.event)]
        states = self._view.states(row)
        snippet, highlights = snippet_of(fragment, self._query, SNIPPET_CHARS)
        also_in = [
            str(self._scope.sessions[epoch_of(r.event)].session_id) for r in found.copies.rows
        ]
        return Hit(
            session_id=str(session.session_id),
            session_name=self._view.name(session),
            cwd=session.cwd or "",
            entry_id=row.entry_id,
            entry_type=row.entry_type,
            role=row.role,
            matching_fragment_id=fragment_id(fragment),
            semantic_kind=_core.KINDS[fragment.kind],
            tool_name=fragment.tool_name,
            is_error=bool(row.flags & ERROR),
            custom_type=fragment.custom_type,
            timestamp=timestamp_of(row),
            branch_state=states.branch(row),
            selection_state=states.selection(row),
            snippet=snippet,
            highlights=highlights,
            matching_fragment_count=max(count, 1),
            score=round(found.score, 6),
            path=os.fsdecode(session.path),
            also_in=tuple(also_in[:ALSO_IN_NAMED]),
            also_in_total=len(also_in),
        )

    def _count(self, query: _core.Query | None, restriction: TextFilter) -> int:
        """Events that match, counted up to the limit of diagnostics."""
        counted: set[int] = set()
        found = RankedHits(
            self._snapshot.searcher, build(query, restriction), "relevance", COUNT_LIMIT
        )
        chunk: list[TextHit] = []
        for hit in found:
            chunk.append(hit)
            if len(chunk) == COUNT_LIMIT:
                counted.update(row.event for _, row in self._with_rows(chunk))
                chunk = []
                if len(counted) >= COUNT_LIMIT:
                    return COUNT_LIMIT
        counted.update(row.event for _, row in self._with_rows(chunk))
        return min(len(counted), COUNT_LIMIT)


def parse(text: str) -> _core.Query:
    """The query's clauses.

    :raises InvalidQuery: nothing to search for, over 1,000 code points, or over 32 terms.
    """
    try:
        return _core.parse_query(text)
    except ValueError as error:
        raise InvalidQuery(str(error)) from None


def restrict(sessions: dict[int, SessionRow], snapshot: Snapshot) -> TextFilter:
    """Engine filters for a set of sessions: the smaller of what is in and what is out."""
    inside = {session.workspace for session in sessions.values()}
    everywhere = dict(
        snapshot.connection.execute(
            "SELECT so.epoch, se.workspace FROM sources so JOIN sessions se ON se.epoch = so.epoch"
        )
    )
    outside = set(everywhere.values()) - inside
    hidden = sorted(e for e, w in everywhere.items() if w in inside and e not in sessions)
    if not outside:
        return TextFilter(without_epochs=hidden)
    if len(outside) < len(inside):
        return TextFilter(without_workspaces=sorted(outside), without_epochs=hidden)
    return TextFilter(workspaces=sorted(w for w in inside if w is not None), without_epochs=hidden)


def _age(session: SessionRow) -> tuple[int, str]:
    """Orders sessions by when they were created, those without a time last."""
    created = session.created_ts
    return (created if created is not None else 1 << 62, str(session.session_id))
