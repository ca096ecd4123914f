"""Search: ranked fragments, coalesced to events, each with its strongest fragment as evidence."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from pi_event_search import _core
from pi_event_search.access.scope import Scope
from pi_event_search.access.view import View
from pi_event_search.services.copies import copies_of
from pi_event_search.services.diagnostics import explain
from pi_event_search.services.evidence import fragment_id, snippet_of, timestamp_of
from pi_event_search.services.matches import Match, Matches
from pi_event_search.services.query import parse
from pi_event_search.services.silent import NO_FRAGMENT
from pi_event_search.store.rows import ERROR, FRAGMENT_COLUMNS, EventRow, FragmentRow, SessionRow
from pi_event_search.store.schema import epoch_of
from pi_event_search.store.store import Snapshot
from pi_event_search.types import Diagnostics, Hit, SearchRequest

SNIPPET_CHARS = 240
"""Code points of a snippet."""
ALSO_IN_NAMED = 50
"""Sessions with a copy of a hit that are named; the rest is counted."""


@dataclass(slots=True)
class _Found:
    """An event of the answer, its copies, and the fragments of it that match."""

    row: EventRow
    copies: Sequence[EventRow]
    key: int
    """Of the strongest fragment."""
    score: float
    matching: int = field(default=0)


class Search:
    """One search over one snapshot."""

    def __init__(self, snapshot: Snapshot, scope: Scope, request: SearchRequest) -> None:
        self._snapshot = snapshot
        self._scope = scope
        self._request = request
        self._view = View(snapshot.connection, scope)
        self._query = parse(request.query) if request.has_words else None
        self._matches = Matches(snapshot, self._view, request)

    def hits(self) -> tuple[Hit, ...]:
        """The best hits, each event once, in a deterministic order."""
        limit = self._request.limit
        page: list[_Found] = []
        seen: set[int] = set()
        # Only what is equal in score and time can change places, so that much is looked at before
        # it is ordered, and no more.
        for _, equals in groupby(self._ranked(), key=lambda m: (m.hit.score, m.hit.ts)):
            page += sorted(self._events(equals, seen), key=lambda found: self._ids(found.row))
            if len(page) >= limit:
                break
        del page[limit:]
        self._weigh(page)
        fragments = self._fragments(page)
        return tuple(self._hit(found, fragments.get(found.key)) for found in page)

    def diagnostics(self) -> Diagnostics:
        """Why there may be no hits: what each term and the words alone match in the scope."""
        return explain(self._matches, self._query)

    def _ranked(self) -> Iterator[Match]:
        matches, sort = self._matches, self._request.sort
        if sort == "relevance" and self._query is None:
            sort = "newest"
        first = self._request.limit * 2
        return matches.ranked(self._query, matches.sessions, matches.restriction, sort, first)

    def _events(self, matches: Iterator[Match], seen: set[int]) -> Iterator[_Found]:
        """The events that are not in the answer yet, each with its copies."""
        for hit, row in matches:
            if row.event in seen:
                continue
            seen.add(row.event)
            if not self._matches.passes(row):
                continue
            owner, copies = self._stand(row)
            seen.update(copy.event for copy in (owner, *copies))
            key = NO_FRAGMENT
            if hit.key != NO_FRAGMENT:
                key = owner.first_key + hit.key - row.first_key
            yield _Found(owner, copies, key, hit.score)

    def _stand(self, row: EventRow) -> tuple[EventRow, Sequence[EventRow]]:
        """An event as it is shown, under the oldest session that holds it, and its copies.

        Copies pass the filters too and are never in the current session. Where a session is asked
        for, the event stands under that one.
        """
        copies = [
            copy
            for copy in copies_of(self._snapshot.connection, row)
            if copy.epoch != row.epoch and self._is_copy(copy)
        ]
        copies.append(row)
        copies.sort(key=lambda copy: _age(self._session(copy)))
        owner = row if self._matches.target is not None else copies[0]
        copies.remove(owner)
        return owner, copies

    def _is_copy(self, copy: EventRow) -> bool:
        held = copy.epoch in self._matches.holders and self._view.shows(copy)
        return held and self._matches.passes(copy)

    def _weigh(self, page: Sequence[_Found]) -> None:
        """Finds the strongest fragment of each event, and how many match."""
        events = {found.row.event: found for found in page}
        if not events:
            return
        restriction = replace(self._matches.restriction, events=sorted(events))
        first = sum(found.row.fragments for found in page) + 1
        ranked = self._matches.ranked(
            self._query, self._matches.sessions, restriction, "relevance", first
        )
        for hit, row in ranked:
            found = events[row.event]
            if found.matching == 0:
                found.key, found.score = hit.key, hit.score
            found.matching += 1

    def _fragments(self, page: Sequence[_Found]) -> dict[int, FragmentRow]:
        keys = [found.key for found in page]
        marks = ", ".join("?" * len(keys))
        rows = self._snapshot.connection.execute(
            f"SELECT {FRAGMENT_COLUMNS} FROM fragments WHERE key IN ({marks})", keys
        )
        return {row[0]: FragmentRow(*row) for row in rows}

    def _hit(self, found: _Found, fragment: FragmentRow | None) -> Hit:
        row = found.row
        session = self._session(row)
        states = self._view.states(row)
        also_in = [str(self._session(copy).session_id) for copy in found.copies]
        return Hit(
            session_id=str(session.session_id),
            session_name=self._view.name(session),
            cwd=session.cwd or "",
            entry_id=row.entry_id,
            entry_type=row.entry_type,
            role=row.role,
            is_error=bool(row.flags & ERROR),
            timestamp=timestamp_of(row),
            branch_state=states.branch(row),
            selection_state=states.selection(row),
            **self._evidence(row, fragment),
            matching_fragment_count=found.matching,
            score=found.score,
            path=os.fsdecode(session.path),
            also_in=tuple(also_in[:ALSO_IN_NAMED]),
            also_in_total=len(also_in),
        )

    def _evidence(self, row: EventRow, fragment: FragmentRow | None) -> dict[str, Any]:
        """What shows that the event matches; for an event without text only its label, if any."""
        if fragment is None:
            text = self._view.given_label(row)
            return {
                "matching_fragment_id": "",
                "semantic_kind": "",
                "snippet": text[:SNIPPET_CHARS],
            }
        shown = self._query or self._matches.hint
        snippet, highlights = snippet_of(fragment, shown, SNIPPET_CHARS)
        return {
            "matching_fragment_id": fragment_id(fragment),
            "semantic_kind": _core.KINDS[fragment.kind],
            "tool_name": fragment.tool_name,
            "custom_type": fragment.custom_type,
            "snippet": snippet,
            "highlights": highlights,
        }

    def _session(self, row: EventRow) -> SessionRow:
        return self._scope.sessions[epoch_of(row.event)]

    def _ids(self, row: EventRow) -> tuple[str, str]:
        return str(self._session(row).session_id), row.entry_id


def _age(session: SessionRow) -> tuple[int, str]:
    """Orders sessions by when they were created, those without a time last."""
    created = session.created_ts
    return (created if created is not None else 1 << 62, str(session.session_id))
