"""Which events may answer a search: the sessions asked for, the engine's part, the rows' part.

The engine decides what never changes (words, kind, role, time, ...). Rows decide the rest: whether
the caller may see an event, and what it is on its branch now.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain, islice
from operator import attrgetter
from pathlib import PurePosixPath
from typing import NamedTuple

from pi_event_search import _core
from pi_event_search.access.authorize import Authorizer, Root, canonical
from pi_event_search.access.scope import Scope
from pi_event_search.access.view import View
from pi_event_search.errors import InvalidQuery
from pi_event_search.services.files import events_touching
from pi_event_search.services.holders import Holders
from pi_event_search.services.query import parse
from pi_event_search.services.silent import silent_hits
from pi_event_search.store.rows import DETACHED, RETRIEVAL, EventRow
from pi_event_search.store.schema import ORD_BITS, epoch_of
from pi_event_search.store.store import Snapshot
from pi_event_search.store.text_hits import RankedHits, TextHit, pages
from pi_event_search.store.text_query import TextFilter, build, ranked
from pi_event_search.types.requests import SearchRequest

_MOST_ROWS = 500
"""Hits whose rows are read together, at most."""


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
    def holders(self) -> Holders:
        """The sessions that may hold an event of the answer: all but the current one, of these only
        those recorded in the directory asked for or below it."""
        current = self.scope.current
        without = None if current is None else current.epoch
        return Holders(self.scope.visible, self._workspaces, without=without)

    @cached_property
    def sessions(self) -> Holders:
        """The sessions that may answer: the one asked for, or all holders."""
        if self.target is None:
            return self.holders
        return Holders(self.scope.visible, self._workspaces, only=self.target.epoch)

    @cached_property
    def unfiltered(self) -> Holders:
        """The sessions that would answer without any filter, and the one asked for."""
        current = self.scope.current
        without = None if current is None or current is self.target else current.epoch
        visible = self.scope.visible
        return Holders(visible, visible.workspaces.keys(), without=without)

    def ranked(
        self, query: _core.Query | None, restriction: TextFilter, sort: str, first: int
    ) -> Iterator[list[Match]]:
        """Matching fragments of the sessions that may answer in their order, page by page; without
        words, by time, also events without any text.

        A hit without a visible row is a leftover and dropped. ``first`` says how many are looked at
        to begin with; more follow as long as they are asked for.
        """
        hits = self._hits(query, restriction, sort, 2 * first)
        size = first
        while chunk := list(islice(hits, size)):
            matches = list(self._with_rows(chunk))
            if self._asks_for_states:
                rows = {match.row.event: match.row for match in matches}.values()
                self._view.prepare(rows, selection=bool(self._request.selection_states))
            yield matches
            size = min(2 * size, _MOST_ROWS)

    def _with_rows(self, hits: Sequence[TextHit]) -> Iterator[Match]:
        asked = self.sessions
        by_key = self._view.rows_of([hit.key for hit in hits if hit.event is None])
        silent = self._view.rows(hit.event for hit in hits if hit.event is not None)
        for hit in hits:
            row = by_key.get(hit.key) if hit.event is None else silent.get(hit.event)
            if row is not None and epoch_of(row.event) in asked:
                yield Match(hit, row)

    def strongest(
        self, query: _core.Query | None, events: Mapping[int, EventRow]
    ) -> dict[int, TextHit]:
        """For each of some events of the answer its strongest matching fragment."""
        owners = _Owners(events.values())
        found: dict[int, TextHit] = {}
        for hit in self._hits(query, self._among(events), "relevance", owners.fragments + 1):
            owner = owners.of(hit.key)
            if owner is not None:
                found.setdefault(owner, hit)
        return found

    def matching(self, query: _core.Query | None, events: Mapping[int, EventRow]) -> Counter[int]:
        """How many fragments of each of some events of the answer match."""
        owners = _Owners(events.values())
        wanted = build(query, self._among(events))
        # With one more than there are they come at once, and it is known that these were all.
        found = pages(self._snapshot.searcher, wanted, owners.fragments + 1, "key")
        matching = Counter(owners.of(key) for [keys] in found for key in keys)
        return Counter({event: n for event, n in matching.items() if event is not None})

    def _among(self, events: Mapping[int, EventRow]) -> TextFilter:
        return self.restriction._replace(events=sorted(events))

    def count(self, query: _core.Query | None, limit: int) -> int:
        """How many events match whatever the filters, counted up to a limit."""
        asked, hidden = self.unfiltered, self.scope.hidden
        has_leftovers = not self._snapshot.is_settled()
        wanted = build(query, self.only(asked))
        found: set[int] = set()
        # Many events have several fragments, and a second page costs as much as the first.
        for events, keys in pages(self._snapshot.searcher, wanted, 2 * limit, "event", "key"):
            epochs = {epoch for epoch in set(map(epoch_of, events)) if epoch in asked}
            living = self._view.rows_of(keys) if has_leftovers else None
            found.update(
                event
                for event, key in zip(events, keys, strict=True)
                if event >> ORD_BITS in epochs
                and event not in hidden
                and (living is None or key in living)
            )
            if len(found) >= limit:
                return limit
        return len(found)

    def _hits(
        self, query: _core.Query | None, restriction: TextFilter, sort: str, first: int
    ) -> Iterator[TextHit]:
        searcher = self._snapshot.searcher
        if sort == "relevance":
            stages = ranked(query, restriction, searcher, self.hint)
            return chain.from_iterable(
                RankedHits(searcher, stage.query, sort, first, stage.said) for stage in stages
            )
        hits = RankedHits(searcher, build(query, restriction), sort, first)
        if query is not None:
            return iter(hits)
        silent = silent_hits(self._snapshot.connection, restriction, sort)
        return heapq.merge(hits, silent, key=hits.order)

    @cached_property
    def restriction(self) -> TextFilter:
        """Every filter of the request that the engine can decide."""
        request = self._request
        return self.only(self.sessions)._replace(
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

    def only(self, sessions: Holders) -> TextFilter:
        """The events of some sessions, less what is suppressed, as far as the engine can tell."""
        suppressed = (_core.FACET_RETRIEVAL,) if self._suppresses else ()
        return sessions.filter()._replace(without_facets=suppressed)

    def passes(self, row: EventRow) -> bool:
        """Whether an event of a session that may answer passes what the rows decide."""
        if row.flags & RETRIEVAL and self._suppresses:
            return False  # a fork can hold the result of a call without the call
        if self._asks_for_time and row.ts == 0 and row.timestamp is not None:
            return False  # it has no time that could be read
        if row.flags & DETACHED and not self._view.answers_for_its_id(row):
            return False
        if self._touching is not None and row.event not in self._touching:
            return False  # a copy in a session of another directory
        return not self._asks_for_states or self._is_in_state(row)

    def _is_in_state(self, row: EventRow) -> bool:
        request, states = self._request, self._view.states(row)
        if request.branch_states and states.branch(row) not in request.branch_states:
            return False
        return not request.selection_states or states.selection(row) in request.selection_states

    @cached_property
    def _touching(self) -> Set[int] | None:
        """The events that touched the file asked for."""
        if self._request.file is None:
            return None
        return events_touching(self._snapshot.connection, self.scope, self._request.file)

    @cached_property
    def _suppresses(self) -> bool:
        """Retrieval tools' own calls and results answer only when a tool is asked for by name."""
        return not self._request.tool_names

    @cached_property
    def _asks_for_time(self) -> bool:
        return self._request.from_ms is not None or self._request.to_ms is not None

    @cached_property
    def _asks_for_states(self) -> bool:
        return bool(self._request.branch_states or self._request.selection_states)

    @cached_property
    def _workspaces(self) -> Set[int]:
        """The visible workspaces that pass the filter on the working directory."""
        visible = self.scope.visible.workspaces
        if self._request.cwd is None:
            return visible.keys()
        asked = self.scope.absolute(self._request.cwd)
        place = None if asked is None else canonical(asked)
        inside = Authorizer(() if place is None else (Root(place, "explicit"),))
        return {number for number, cwd in visible.items() if inside.allows(cwd)}


class _Owners:
    """The events that fragments belong to, by their keys, of which each has a range."""

    def __init__(self, rows: Iterable[EventRow]) -> None:
        self._rows = sorted(rows, key=attrgetter("first_key"))
        self._first_keys = [row.first_key for row in self._rows]
        self.fragments = sum(row.fragments for row in self._rows)

    def of(self, key: int) -> int | None:
        """The number of the event that has the fragment; `None` when it is none of these."""
        before = bisect_right(self._first_keys, key)
        row = self._rows[before - 1]
        return row.event if before and key < row.first_key + row.fragments else None
