"""Which events may answer a search: the sessions asked for, the engine's part, the rows' part.

The engine decides what never changes (words, kind, role, time, ...). Rows decide the rest: whether
the caller may see an event, and what it is on its branch now.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from pi_event_search import _core
from pi_event_search.access.authorize import Authorizer, Root, canonical
from pi_event_search.access.scope import Scope
from pi_event_search.access.view import View
from pi_event_search.errors import InvalidQuery
from pi_event_search.services.files import events_touching
from pi_event_search.services.query import parse
from pi_event_search.services.silent import NO_FRAGMENT, silent_hits
from pi_event_search.store.rows import RETRIEVAL, EventRow, SessionRow
from pi_event_search.store.schema import epoch_of
from pi_event_search.store.store import Snapshot
from pi_event_search.store.text_query import RankedHits, TextFilter, TextHit, build, ranked
from pi_event_search.types import SearchRequest

_CHUNK = 64
"""Hits whose rows are read together."""


class Match(NamedTuple):
    """A fragment that matches, with the event it belongs to."""

    hit: TextHit
    row: EventRow


class Matches:
    """What matches one request, in one snapshot, for one caller."""

    def __init__(self, snapshot: Snapshot, view: View, request: SearchRequest) -> None:
        self._snapshot = snapshot
        self._view = view
        self._request = request
        self.target = None if request.session_id is None else view.scope.resolve(request.session_id)

    @cached_property
    def hint(self) -> _core.Query | None:
        """What to show of an event that is found without words: where it names the file."""
        if self._request.file is None:
            return None
        try:
            return parse(PurePosixPath(self._request.file).name)
        except InvalidQuery:
            return None  # nothing in the name can be searched for

    @property
    def scope(self) -> Scope:
        """What the caller may see."""
        return self._view.scope

    @cached_property
    def holders(self) -> Mapping[int, SessionRow]:
        """The sessions that may hold an event of the answer, by epoch: all but the current one, of
        these only those recorded in the directory asked for or below it."""
        return {e: s for e, s in self._inside.items() if s is not self.scope.current}

    @cached_property
    def sessions(self) -> Mapping[int, SessionRow]:
        """The sessions that may answer: the one asked for, or all holders."""
        if self.target is None:
            return self.holders
        return {e: s for e, s in self._inside.items() if s is self.target}

    @cached_property
    def unfiltered(self) -> Mapping[int, SessionRow]:
        """The sessions that would answer without any filter, and the one asked for."""
        current = self.scope.current
        return {
            epoch: session
            for epoch, session in self.scope.sessions.items()
            if session is not current or session is self.target
        }

    def ranked(
        self,
        query: _core.Query | None,
        sessions: Mapping[int, SessionRow],
        restriction: TextFilter,
        sort: str,
        first: int,
    ) -> Iterator[Match]:
        """Matching fragments of some sessions in their order; without words, by time, also events
        without any text.

        A hit without a visible row is a leftover and dropped. ``first`` says how many are fetched
        to begin with; more follow as long as they are asked for.
        """
        hits = self._hits(query, restriction, sort, max(first, _CHUNK))
        while chunk := list(islice(hits, _CHUNK)):
            rows = self._view.rows(hit.event for hit in chunk if epoch_of(hit.event) in sessions)
            for hit in chunk:
                row = rows.get(hit.event)
                if row is not None and (
                    row.first_key <= hit.key < row.first_key + row.fragments
                    or hit.key == NO_FRAGMENT
                ):
                    yield Match(hit, row)

    def _hits(
        self, query: _core.Query | None, restriction: TextFilter, sort: str, first: int
    ) -> Iterator[TextHit]:
        searcher = self._snapshot.searcher
        if sort == "relevance":
            wanted = ranked(query, restriction, searcher, self.hint)
            return iter(RankedHits(searcher, wanted, sort, first))
        hits = RankedHits(searcher, build(query, restriction), sort, first)
        if query is not None:
            return iter(hits)
        silent = silent_hits(self._snapshot.connection, restriction, sort)
        return heapq.merge(hits, silent, key=hits.order)

    @cached_property
    def restriction(self) -> TextFilter:
        """Every filter of the request that the engine can decide."""
        request = self._request
        return replace(
            self.only(self.sessions),
            facets={
                "kind": request.kinds,
                "type": request.entry_types,
                "role": request.roles,
                "tool": request.tool_names,
                "is": ("error",) if request.error_only else (),
            },
            events=None if self._touching is None else sorted(self._touching),
            ts_from=request.from_ms,
            ts_to=request.to_ms,
        )

    def only(self, sessions: Mapping[int, SessionRow]) -> TextFilter:
        """The events of some sessions, less what is suppressed, as far as the engine can tell.

        Whole workspaces, less single sessions: the engine only must not fill pages with what the
        rows refuse in the end.
        """
        suppressed = (_core.FACET_RETRIEVAL,) if self._suppresses else ()
        if len(sessions) == 1:
            return TextFilter(epochs=list(sessions), without_facets=suppressed)
        everywhere = self.scope.directory.workspaces
        inside = {session.workspace for session in sessions.values()}
        outside = set(everywhere.values()) - inside
        restriction = TextFilter(
            without_epochs=sorted(
                e for e, w in everywhere.items() if w in inside and e not in sessions
            ),
            without_facets=suppressed,
        )
        if not outside:
            return restriction
        if len(outside) < len(inside):
            return replace(restriction, without_workspaces=sorted(outside))
        return replace(restriction, workspaces=sorted(w for w in inside if w is not None))

    def passes(self, row: EventRow) -> bool:
        """Whether an event of a session that may answer passes what the rows decide."""
        request = self._request
        if row.flags & RETRIEVAL and self._suppresses:
            return False  # a fork can hold the result of a call without the call
        if self._asks_for_time and row.ts == 0 and row.timestamp is not None:
            return False  # it has no time that could be read
        if not self._view.answers_for_its_id(row):
            return False
        if self._touching is not None and row.event not in self._touching:
            return False  # a copy in a session of another directory
        states = self._view.states(row)
        if request.branch_states and states.branch(row) not in request.branch_states:
            return False
        return not request.selection_states or states.selection(row) in request.selection_states

    @cached_property
    def _touching(self) -> Set[int] | None:
        """The events that touched the file asked for."""
        if self._request.file is None:
            return None
        return events_touching(self._snapshot.connection, self.scope, self._request.file)

    @property
    def _suppresses(self) -> bool:
        """Retrieval tools' own calls and results answer only when a tool is asked for by name."""
        return not self._request.tool_names

    @property
    def _asks_for_time(self) -> bool:
        return self._request.from_ms is not None or self._request.to_ms is not None

    @cached_property
    def _inside(self) -> Mapping[int, SessionRow]:
        """The sessions that pass the filter on the working directory."""
        if self._request.cwd is None:
            return self.scope.sessions
        asked = self.scope.absolute(self._request.cwd)
        place = None if asked is None else canonical(asked)
        inside = Authorizer(() if place is None else (Root(place, "explicit"),))
        return {e: s for e, s in self.scope.sessions.items() if inside.allows(s.cwd or "")}
