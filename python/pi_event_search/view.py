"""The rows one caller may read: every look-up of the services passes through here.

A view is a snapshot seen through a scope. Rows of sessions outside the scope, rows at or behind
the cutoff of the current session, and rows that a later record superseded do not exist in it, so
no service can forget to leave them out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from pi_event_search import _core
from pi_event_search.errors import NotFound
from pi_event_search.scope import Scope
from pi_event_search.states import SessionStates
from pi_event_search.store.rows import (
    DETACHED,
    EVENT_COLUMNS,
    IDLESS,
    SUPERSEDED,
    EventRow,
    FragmentRow,
    SessionRow,
    fragments_of,
)
from pi_event_search.store.schema import epoch_of, epoch_range

_COLUMNS_OF_E = ", ".join(f"e.{name}" for name in EventRow._fields)
_MANY = 500


class View:
    """One committed state as one caller may see it."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope) -> None:
        self._connection = connection
        self.scope = scope
        self._states: dict[int, SessionStates] = {}

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
            known = self._states[epoch] = SessionStates(self._connection, session, cutoff)
        return known

    def rows(self, events: Iterable[int]) -> dict[int, EventRow]:
        """The visible ones of some event numbers."""
        numbers = [number for number in dict.fromkeys(events) if self.scope.shows(number)]
        found: dict[int, EventRow] = {}
        for start in range(0, len(numbers), _MANY):
            some = numbers[start : start + _MANY]
            query = (
                f"SELECT {EVENT_COLUMNS} FROM events WHERE event IN ({', '.join('?' * len(some))})"
            )
            found.update((row.event, row) for row in self._select(query, some))
        return found

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
        rows = list(
            self._select(
                f"SELECT {EVENT_COLUMNS} FROM events WHERE entry_id = ? AND event BETWEEN ? AND ?"
                " ORDER BY event DESC",
                (entry_id, *epoch_range(session.epoch)),
            )
        )
        placed = (row for row in rows if not row.flags & DETACHED)
        return next(placed, rows[0] if rows else None)

    def answers_for_its_id(self, row: EventRow) -> bool:
        """Whether asking for the entry id of a visible event gives this event."""
        found = self.by_id(self.session(row), row.entry_id)
        return found is not None and found.event == row.event

    def fragments(self, row: EventRow) -> list[FragmentRow]:
        """The stored fragments of a visible event."""
        return fragments_of(self._connection, row)

    def parent(self, row: EventRow) -> EventRow | None:
        """The event that the entry names as its parent, if the session's tree has it."""
        found = self.by_id(self.session(row), row.parent_id) if row.parent_id else None
        return None if found is None or found.flags & DETACHED else found

    def children(self, row: EventRow, limit: int | None = None) -> list[EventRow]:
        """Entries that name the event as their parent, in append order."""
        outside = DETACHED | IDLESS
        if row.flags & outside or row.segment is None or row.depth is None:
            return []
        session = self.session(row)
        if session.irregular:
            # Where a cycle was cut, the stored tree lacks the link.
            query = (
                f"SELECT {EVENT_COLUMNS} FROM events WHERE event BETWEEN ? AND ? AND parent_id = ?"
                " AND NOT flags & ? ORDER BY event LIMIT ?"
            )
            assert session.epoch is not None
            values: tuple[object, ...] = (*epoch_range(session.epoch), row.entry_id, outside)
        else:
            query = (
                f"SELECT {_COLUMNS_OF_E} FROM ("
                "SELECT event FROM events WHERE segment = ? AND depth = ? UNION ALL "
                "SELECT c.event FROM segments s JOIN events c"
                " ON c.segment = s.segment AND c.depth = s.parent_depth + 1"
                " WHERE s.parent_segment = ? AND s.parent_depth = ?"
                ") JOIN events e USING (event) ORDER BY e.event LIMIT ?"
            )
            values = (row.segment, row.depth + 1, row.segment, row.depth)
        return list(self._select(query, (*values, -1 if limit is None else limit)))

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
        assert session.epoch is not None
        found = self._connection.execute(
            "SELECT r.detail FROM relationships r JOIN events e USING (event)"
            " WHERE r.reference = ? AND r.kind = ? AND r.event >= ? AND r.event < ?"
            " AND NOT e.flags & ? ORDER BY r.event DESC LIMIT 1",
            (
                reference,
                kind,
                epoch_range(session.epoch)[0],
                self.scope.cutoff_of(session),
                DETACHED,
            ),
        ).fetchone()
        return None if found is None else found[0] or None

    def _select(self, query: str, values: Sequence[object]) -> Iterator[EventRow]:
        for columns in self._connection.execute(query, values):
            row = EventRow(*columns)
            if self.shows(row):
                yield row

    def extent(self, first: int, end: int) -> tuple[int, int]:
        """How many events lie in a range of numbers, and the time of the newest (ms)."""
        count, last = self._connection.execute(
            "SELECT count(*), max(ts) FROM events WHERE event >= ? AND event < ? AND NOT flags & ?",
            (first, end, SUPERSEDED),
        ).fetchone()
        return count, last or 0
