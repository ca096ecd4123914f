"""The rows one caller may read: every look-up of the services passes through here.

A view is a snapshot seen through a scope. Rows of sessions outside the scope, rows at or behind
the cutoff of the current session, and rows that a later record superseded do not exist in it, so
no service can forget to leave them out.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from pi_event_search import _core
from pi_event_search.access.path import StoredPath
from pi_event_search.access.scope import Scope
from pi_event_search.access.states import SessionStates, edits_of
from pi_event_search.errors import NotFound
from pi_event_search.services.lineage import Lineage
from pi_event_search.store.rows import (
    DETACHED,
    EVENT_COLUMNS,
    FRAGMENT_COLUMNS,
    IDLESS,
    SUPERSEDED,
    EventRow,
    FragmentRow,
    SessionRow,
    fragments_of,
    typed,
)
from pi_event_search.store.schema import BY_REFERENCE, ORD_BITS, epoch_of, epoch_range

_COLUMNS_OF_E = ", ".join(f"e.{name}" for name in EventRow._fields)
_MANY = 500
_OUTSIDE = DETACHED | IDLESS
"""Records that stand outside the tree: Pi does not see them, or nothing can name them."""
_SAME = "{0}.entry_id = {1} AND {0}.copy_hash = {2} AND {0}.ts = {3} AND {0}.entry_type = {4}"
_UNPLACED = f"& {SUPERSEDED | _OUTSIDE}"


class View:
    """One committed state as one caller may see it."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope) -> None:
        self._connection = connection
        self.scope = scope
        self._states: dict[int, SessionStates] = {}
        self._stored = StoredPath(connection)

    def shows(self, row: EventRow) -> bool:
        """Whether the caller may see the event."""
        return not row.flags & SUPERSEDED and self.scope.shows(row.event)

    def session(self, row: EventRow) -> SessionRow:
        """The session of a visible event."""
        return self.scope.sessions[epoch_of(row.event)]

    def states(self, row: EventRow) -> SessionStates:
        """The states of the events of the row's session."""
        epoch = epoch_of(row.event)
        known = self._states.get(epoch)
        if known is None:
            session = self.scope.sessions[epoch]
            cutoff = self.scope.cutoff_of(session)
            known = self._states[epoch] = SessionStates(
                self._connection, session, cutoff, self._stored
            )
        return known

    def prepare(self, rows: Iterable[EventRow], *, selection: bool = True) -> None:
        """Looks up at once what the states of many visible events depend on.

        ``selection``: false when only branch states are asked for, which no edit changes.
        """
        some = list(rows)
        self._stored.load(row.segment for row in some)
        if not selection:
            return
        states = [self.states(row) for row in some]
        wanted = [(row.entry_id, *of.reach) for row, of in zip(some, states, strict=True)]
        edits = edits_of(self._connection, wanted)
        for row, of, found in zip(some, states, edits, strict=True):
            of.learn_edits({row.entry_id: found})

    def rows(self, events: Iterable[int]) -> dict[int, EventRow]:
        """The visible ones of some event numbers."""
        found = typed(EventRow, self._among(EVENT_COLUMNS, events))
        return {row.event: row for row in found}

    def rows_of(self, keys: Sequence[int]) -> dict[int, EventRow]:
        """The events that some fragments belong to, by the keys of those that may be seen."""
        found: dict[int, EventRow] = {}
        for start in range(0, len(keys), _MANY):
            some = keys[start : start + _MANY]
            both = self._connection.execute(
                f"SELECT f.key, {_COLUMNS_OF_E} FROM fragments f JOIN events e USING (event)"
                f" WHERE f.key IN ({', '.join('?' * len(some))}) AND NOT e.flags & {SUPERSEDED}",
                some,
            ).fetchall()
            rows = typed(EventRow, (columns[1:] for columns in both))
            found.update(
                (columns[0], row)
                for columns, row in zip(both, rows, strict=True)
                if self.scope.shows(row.event)
            )
        return found

    def copies(self, rows: Iterable[EventRow]) -> dict[int, list[EventRow]]:
        """For each of some visible events the visible ones that are the same as it in other
        sessions: id, type, time and content without the links that a fork changes are equal."""
        found: dict[int, list[EventRow]] = {row.event: [] for row in rows}
        for start in range(0, len(found), _MANY):
            some = list(found)[start : start + _MANY]
            for event, *columns in self._connection.execute(
                f"SELECT r.event, {_COLUMNS_OF_E} FROM events r CROSS JOIN events e"
                f" ON {_SAME.format('e', 'r.entry_id', 'r.copy_hash', 'r.ts', 'r.entry_type')}"
                f" AND e.event >> {ORD_BITS} <> r.event >> {ORD_BITS}"
                f" AND NOT e.flags & {SUPERSEDED}"
                f" WHERE r.event IN ({', '.join('?' * len(some))})",
                some,
            ):
                copy = EventRow._make(columns)
                if self.scope.shows(copy.event):
                    found[event].append(copy)
        return found

    def _among(self, columns: str, events: Iterable[int]) -> Iterator[tuple[Any, ...]]:
        """Columns of the visible ones of some event numbers."""
        # As `Scope.shows`, without a call for each.
        sessions, hidden = self.scope.visible.sessions, self.scope.hidden
        numbers = [
            number
            for number in dict.fromkeys(events)
            if number >> ORD_BITS in sessions and number not in hidden
        ]
        for start in range(0, len(numbers), _MANY):
            some = numbers[start : start + _MANY]
            yield from self._connection.execute(
                f"SELECT {columns} FROM events WHERE event IN ({', '.join('?' * len(some))})"
                f" AND NOT flags & {SUPERSEDED}",
                some,
            )

    def find(self, session: SessionRow, entry_id: str) -> EventRow:
        """The event of an entry id; of several records the last one counts.

        :raises NotFound: there is none, or it must not be seen.
        """
        row = self.by_id(session, entry_id)
        if row is None:
            raise NotFound
        return row

    def by_id(self, session: SessionRow, entry_id: str | None) -> EventRow | None:
        """The visible event of an entry id in a session, if there is one.

        A record that Pi does not see is found only where no other has the id.
        """
        if entry_id is None or session.epoch is None:
            return None
        found = self._select(
            f"SELECT {EVENT_COLUMNS} FROM events WHERE entry_id = ? AND event >= ? AND event < ?"
            f" AND NOT flags & {SUPERSEDED} ORDER BY flags & {DETACHED}, event DESC LIMIT 1",
            (entry_id, *self._range(session)),
        )
        return next(found, None)

    def answers_for_its_id(self, row: EventRow) -> bool:
        """Whether asking for the entry id of a visible event gives this event."""
        if not row.flags & DETACHED:
            return True
        found = self.by_id(self.session(row), row.entry_id)
        return found is not None and found.event == row.event

    def fragments(self, row: EventRow) -> list[FragmentRow]:
        """The stored fragments of a visible event."""
        return fragments_of(self._connection, row)

    def first_fragment(self, row: EventRow) -> FragmentRow | None:
        """The first stored fragment of a visible event."""
        if not row.fragments:
            return None
        found = self._connection.execute(
            f"SELECT {FRAGMENT_COLUMNS} FROM fragments WHERE key = ?", (row.first_key,)
        ).fetchone()
        return None if found is None else FragmentRow(*found)

    @cached_property
    def lineage(self) -> Lineage:
        """Which of the visible sessions were forked from which."""
        closed = self.scope.closed
        remembered = self.scope.visible.remembered
        key = Lineage, None if closed is None else closed.epoch
        known: Lineage | None = remembered.get(key)
        if known is None:
            known = remembered[key] = Lineage(self.scope)
        return known

    def parent(self, row: EventRow) -> EventRow | None:
        """The event that the entry names as its parent, if the session has it in its tree."""
        if row.flags & _OUTSIDE or not row.parent_id:
            return None
        found = self._select(
            f"SELECT {EVENT_COLUMNS} FROM events WHERE entry_id = ? AND event >= ? AND event < ?"
            f" AND NOT flags {_UNPLACED} ORDER BY event DESC LIMIT 1",
            (row.parent_id, *self._range(self.session(row))),
        )
        return next(found, None)

    def children(self, row: EventRow, limit: int | None = None) -> list[EventRow]:
        """Entries that name the event as their parent, in append order."""
        if row.flags & _OUTSIDE:
            return []
        return list(
            self._select(
                f"SELECT {EVENT_COLUMNS} FROM events WHERE parent_id = ? AND event >= ?"
                f" AND event < ? AND NOT flags {_UNPLACED} ORDER BY event LIMIT ?",
                (row.entry_id, *self._range(self.session(row)), -1 if limit is None else limit),
            )
        )

    def towards_leaf(self, row: EventRow) -> EventRow | None:
        """The child of an event on the selected path that lies on it too."""
        place = self.states(row).after(row)
        if place is None:
            return None
        query = f"SELECT {EVENT_COLUMNS} FROM events WHERE segment = ? AND depth = ?"
        return next(self._select(query, place), None)

    def first(self, session: SessionRow) -> EventRow | None:
        """The first entry of a session."""
        return next(
            self._select(
                f"SELECT {EVENT_COLUMNS} FROM events WHERE event >= ? AND event < ?"
                f" AND NOT flags {_UNPLACED} ORDER BY event LIMIT 1",
                self._range(session),
            ),
            None,
        )

    def twin(self, row: EventRow, session: SessionRow) -> EventRow | None:
        """The same event in another session: equal id, type, time and content."""
        if row.flags & _OUTSIDE:
            return None
        return next(
            self._select(
                f"SELECT {_COLUMNS_OF_E} FROM events e WHERE {_SAME.format('e', *'????')}"
                f" AND e.event >= ? AND e.event < ? AND NOT e.flags {_UNPLACED}"
                " ORDER BY e.event DESC LIMIT 1",
                (row.entry_id, row.copy_hash, row.ts, row.entry_type, *self._range(session)),
            ),
            None,
        )

    def begun_with(self, row: EventRow, forks: Sequence[SessionRow]) -> list[EventRow]:
        """Copies of an event that are the first entries of forks."""
        if row.flags & _OUTSIDE or not forks:
            return []
        return list(
            self._select(
                f"SELECT {_COLUMNS_OF_E} FROM events e WHERE {_SAME.format('e', *'????')}"
                f" AND NOT e.flags {_UNPLACED}"
                " AND e.event >> 32 IN (SELECT value FROM json_each(?))"
                " AND NOT EXISTS (SELECT 1 FROM events b WHERE b.event >= e.event >> 32 << 32"
                f" AND b.event < e.event AND NOT b.flags {_UNPLACED})",
                (
                    row.entry_id,
                    row.copy_hash,
                    row.ts,
                    row.entry_type,
                    json.dumps([fork.epoch for fork in forks]),
                ),
            )
        )

    def grown_elsewhere(self, row: EventRow, forks: Sequence[SessionRow]) -> list[EventRow]:
        """Entries of forks that continue their copy of an event and that its session lacks.

        They come in the order of ``forks``, then in append order.
        """
        if row.flags & _OUTSIDE or not forks:
            return []
        epochs = {session.epoch: number for number, session in enumerate(forks)}
        # Copies keep their ids, so all children of all copies name the same parent.
        found = self._select(
            f"SELECT {_COLUMNS_OF_E} FROM events e WHERE e.parent_id = ?"
            f" AND NOT e.flags {_UNPLACED}"
            " AND e.event >> 32 IN (SELECT value FROM json_each(?))"
            f" AND EXISTS (SELECT 1 FROM events c WHERE {_SAME.format('c', *'????')}"
            " AND c.event BETWEEN e.event >> 32 << 32 AND e.event | 0xffffffff"
            f" AND NOT c.flags {_UNPLACED})"
            " AND NOT EXISTS (SELECT 1 FROM events o WHERE"
            f" {_SAME.format('o', 'e.entry_id', 'e.copy_hash', 'e.ts', 'e.entry_type')}"
            f" AND o.event >= ? AND o.event < ? AND NOT o.flags {_UNPLACED})",
            (
                row.entry_id,
                json.dumps(list(epochs)),
                row.entry_id,
                row.copy_hash,
                row.ts,
                row.entry_type,
                *self._range(self.session(row)),
            ),
        )
        return sorted(found, key=lambda event: (epochs[epoch_of(event.event)], event.event))

    def references(self, row: EventRow, kind: int) -> Iterator[tuple[str, str | None]]:
        """What an entry refers to: ids or paths with their details, ordered by them."""
        yield from self._connection.execute(
            "SELECT reference, detail FROM relationships WHERE event = ? AND kind = ?"
            " ORDER BY reference",
            (row.event, kind),
        )

    def referring(
        self,
        session: SessionRow,
        kind: int,
        reference: str,
        limit: int,
        *,
        behind: int = -1,
        before: int | None = None,
        newest: bool = True,
    ) -> Iterator[tuple[EventRow, str | None]]:
        """Entries of a session that refer to something, with the details, the newest first.

        :param behind: an event number; only entries behind it.
        :param before: an event number; only entries before it.
        :param newest: false: the oldest first.
        """
        first, end = self._range(session)
        rows = self._connection.execute(
            f"SELECT r.detail, {_COLUMNS_OF_E} FROM relationships r JOIN events e USING (event)"
            f" WHERE r.reference = ? AND r.kind = ? AND r.{BY_REFERENCE}"
            f" AND r.event >= ? AND r.event < ? AND NOT e.flags & {SUPERSEDED}"
            f" ORDER BY r.event {'DESC' if newest else 'ASC'} LIMIT ?",
            (
                reference,
                kind,
                max(first, behind + 1),
                end if before is None else min(end, before),
                limit,
            ),
        )
        for detail, *columns in rows:
            row = EventRow(*columns)
            if self.answers_for_its_id(row):
                yield row, detail

    def before_in_file(self, row: EventRow, count: int) -> list[EventRow]:
        """The nearest earlier records of the file, in append order."""
        query = (
            f"SELECT {EVENT_COLUMNS} FROM events WHERE event >= ? AND event < ?"
            " AND NOT flags & ? ORDER BY event DESC LIMIT ?"
        )
        first = epoch_range(row.epoch)[0]
        rows = list(self._select(query, (first, row.event, SUPERSEDED, count)))
        return rows[::-1]

    def after_in_file(self, row: EventRow, count: int) -> list[EventRow]:
        """The nearest later records of the file, in append order."""
        query = (
            f"SELECT {EVENT_COLUMNS} FROM events WHERE event > ? AND event < ?"
            " AND NOT flags & ? ORDER BY event LIMIT ?"
        )
        end = self.scope.cutoff_of(self.session(row))
        return list(self._select(query, (row.event, end, SUPERSEDED, count)))

    def label(self, row: EventRow) -> str | None:
        """The label an event carries: the last one set in the file, wherever that was."""
        session = self.session(row)
        return self._last_word(session, _core.RELATIONSHIP_LABELS, row.entry_id)

    def given_label(self, row: EventRow) -> str:
        """The label that a label entry sets; empty where it clears one, and for other entries."""
        found = self._connection.execute(
            "SELECT detail FROM relationships WHERE event = ? AND kind = ?",
            (row.event, _core.RELATIONSHIP_LABELS),
        ).fetchone()
        return "" if found is None else found[0] or ""

    def name(self, session: SessionRow) -> str | None:
        """The session's name: the last one given in the file."""
        current = self.scope.current
        if current is None or session.epoch != current.epoch or session.epoch is None:
            return session.name
        return self._last_word(session, _core.RELATIONSHIP_NAMES, "")

    def _last_word(self, session: SessionRow, kind: int, reference: str) -> str | None:
        """What the last record that Pi sees says; an empty text takes it back.

        Records count wherever they stand in the tree, also those that another one supersedes.
        """
        found = self._connection.execute(
            "SELECT r.detail FROM relationships r JOIN events e USING (event)"
            f" WHERE r.reference = ? AND r.kind = ? AND r.{BY_REFERENCE}"
            " AND r.event >= ? AND r.event < ? AND NOT e.flags & ? ORDER BY r.event DESC LIMIT 1",
            (reference, kind, *self._range(session), DETACHED),
        ).fetchone()
        return None if found is None else found[0] or None

    def _range(self, session: SessionRow) -> tuple[int, int]:
        """The event numbers of a session that may be shown: the first, and the one behind."""
        assert session.epoch is not None
        return epoch_range(session.epoch)[0], self.scope.cutoff_of(session)

    def _select(self, query: str, values: Sequence[object]) -> Iterator[EventRow]:
        for row in typed(EventRow, self._connection.execute(query, values)):
            if self.shows(row):
                yield row

    def extent(self, first: int, end: int) -> tuple[int, int]:
        """How many events lie in a range of numbers, and the time of the newest (ms)."""
        count, last = self._connection.execute(
            "SELECT count(*), max(ts) FROM events WHERE event >= ? AND event < ? AND NOT flags & ?",
            (first, end, SUPERSEDED),
        ).fetchone()
        return count, last or 0
