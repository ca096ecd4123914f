"""Search: ranked fragments, coalesced to events, each with its strongest fragment as evidence."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pi_event_search import _core
from pi_event_search.access.scope import Scope
from pi_event_search.access.view import View
from pi_event_search.services.diagnostics import explain
from pi_event_search.services.evidence import fragment_id, snippet_of, timestamp_of
from pi_event_search.services.lineage import age
from pi_event_search.services.matches import Matches
from pi_event_search.services.query import parse
from pi_event_search.services.silent import NO_FRAGMENT
from pi_event_search.store.rows import ERROR, FRAGMENT_COLUMNS, EventRow, FragmentRow, SessionRow
from pi_event_search.store.schema import epoch_of
from pi_event_search.store.store import Snapshot
from pi_event_search.types.requests import SearchRequest
from pi_event_search.types.search import Diagnostics, Hit

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
    matching: int = 0


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
        # Only what is equal in score and time can change places, so that much is looked at before
        # it is ordered, and no more.
        for _, equals in groupby(self._events(), key=lambda found: (found.score, found.row.ts)):
            group = list(equals)
            if len(group) > 1:
                group.sort(key=lambda found: self._ids(found.row))
            page += group
            if len(page) >= limit:
                break
        del page[limit:]
        self._weigh(page)
        self._view.prepare(found.row for found in page)
        fragments = self._fragments(page)
        return tuple(self._hit(found, fragments.get(found.key)) for found in page)

    def diagnostics(self) -> Diagnostics:
        """Why there may be no hits: what each term and the words alone match in the scope."""
        return explain(self._matches, self._query)

    def _events(self) -> Iterator[_Found]:
        """The events that match in their order, each once, with its copies."""
        matches, seen = self._matches, set[int]()
        for page in matches.ranked(self._query, matches.restriction, self._sort, self._first):
            fresh = [m for m in page if m.row.event not in seen and matches.passes(m.row)]
            copies = self._view.copies(match.row for match in fresh)
            for hit, row in fresh:
                if row.event in seen:
                    continue
                owner, others = self._stand(row, copies[row.event])
                seen.update(copy.event for copy in (owner, *others))
                key = NO_FRAGMENT
                if hit.key != NO_FRAGMENT:
                    key = owner.first_key + hit.key - row.first_key
                yield _Found(owner, others, key, hit.score)

    @property
    def _sort(self) -> str:
        by_time = self._request.sort == "relevance" and self._query is None
        return "newest" if by_time else self._request.sort

    @property
    def _first(self) -> int:
        """Fragments to begin with; a few are of the same event, or copies."""
        return self._request.limit + self._request.limit // 4 + 1

    def _stand(
        self, row: EventRow, visible: Sequence[EventRow]
    ) -> tuple[EventRow, Sequence[EventRow]]:
        """An event as it is shown, under the oldest session that holds it, and its copies.

        Copies pass the filters too and are never in the current session. Where a session is asked
        for, the event stands under that one.
        """
        copies = [copy for copy in visible if self._is_copy(copy)]
        if not copies:
            return row, ()
        copies.append(row)
        copies.sort(key=lambda copy: age(self._session(copy)))
        owner = row if self._matches.target is not None else copies[0]
        copies.remove(owner)
        return owner, copies

    def _is_copy(self, copy: EventRow) -> bool:
        return copy.epoch in self._matches.holders and self._matches.passes(copy)

    def _weigh(self, page: Sequence[_Found]) -> None:
        """Counts the matching fragments of each event, and finds the strongest where the order of
        the hits did not tell it."""
        by_strength = self._sort == "relevance"
        if not by_strength:
            rows = {found.row.event: found.row for found in page if found.row.fragments}
            strongest = self._matches.strongest(self._query, rows) if rows else {}
            for found in page:
                hit = strongest.get(found.row.event)
                if hit is not None:
                    found.key, found.score = hit.key, hit.score
        several = {found.row.event: found.row for found in page if found.row.fragments > 1}
        matching = self._matches.matching(self._query, several) if several else {}
        for found in page:
            # An event is here because a fragment of it matches, if it has any.
            found.matching = matching.get(found.row.event, min(found.row.fragments, 1))

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
