"""The facts of session files as the index under test has them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pi_event_search import EventIndex, _core
from pi_event_search.access.view import View
from pi_event_search.store.rows import (
    DETACHED,
    EVENT_COLUMNS,
    IDLESS,
    SUPERSEDED,
    EventRow,
    SessionRow,
)
from pi_event_search.store.schema import epoch_range, event_number

from tests.indexes import EVERYTHING
from tests.pi.compare import Facts


def indexed_facts(index: EventIndex) -> dict[Path, Facts]:
    """By session file: those that answers come from, so no second file of a session id."""
    with _view(index) as (connection, view):
        return {
            Path(os.fsdecode(session.path)): _Reader(connection, view, session).facts()
            for session in view.scope.sessions.values()
        }


@contextmanager
def _view(index: EventIndex) -> Iterator[tuple[sqlite3.Connection, View]]:
    with index._view(EVERYTHING) as (snapshot, view):
        yield snapshot.connection, view


class _Reader:
    """Asks a view about one session, as the services do."""

    def __init__(self, connection: sqlite3.Connection, view: View, session: SessionRow) -> None:
        assert session.epoch is not None
        self._connection = connection
        self._view = view
        self._session = session
        self._numbers = epoch_range(session.epoch)
        self._all = [
            EventRow(*row)
            for row in connection.execute(
                f"SELECT {EVENT_COLUMNS} FROM events WHERE event BETWEEN ? AND ? ORDER BY event",
                self._numbers,
            )
        ]
        self._rows = [row for row in self._all if view.shows(row) and _placed(row)]
        self._ids = {row.event: row.entry_id for row in self._rows}

    def facts(self) -> Facts:
        branch = [row for row in self._rows if self._state(row)[0] == "selected"]
        branch.sort(key=lambda row: row.depth or 0)
        return Facts(
            session_id=str(self._session.session_id),
            cwd=self._session.cwd or "",
            name=self._view.name(self._session),
            leaf=self._leaf(),
            order=[
                None if row.flags & IDLESS else row.entry_id
                for row in self._all
                if not row.flags & DETACHED
            ],
            branch=[row.entry_id for row in branch],
            children=self._children(),
            roots=[row.entry_id for row in self._rows if self._is_root(row)],
            labels=self._labels(),
            states={row.entry_id: self._state(row) for row in self._rows},
            contributes={
                row.entry_id: row.contribution != _core.CONTRIBUTION_NEVER for row in self._rows
            },
            types={row.entry_id: row.entry_type for row in self._rows},
            compaction=self._compaction(),
            edits=self._edits(),
            orphans=[row.entry_id for row in self._rows if self._missing_parent(row) is not None],
            duplicates={row.entry_id for row in self._all if row.flags & SUPERSEDED},
        )

    def _state(self, row: EventRow) -> tuple[str, str]:
        states = self._view.states(row)
        return states.branch(row), states.selection(row)

    def _leaf(self) -> str | None:
        found = self._connection.execute(
            "SELECT leaf_ord FROM sessions WHERE epoch = ?", (self._session.epoch,)
        ).fetchone()
        return None if found[0] is None else self._id_at(found[0])

    def _compaction(self) -> str | None:
        found = self._session.compaction_ord
        return None if found is None else self._id_at(found)

    def _id_at(self, ord_: int) -> str:
        assert self._session.epoch is not None
        return self._ids[event_number(self._session.epoch, ord_)]

    def _children(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for row in self._rows:
            missing = self._missing_parent(row)
            if missing is not None:
                found.setdefault(missing, []).append(row.entry_id)
            children = [child.entry_id for child in self._view.children(row) if _placed(child)]
            if children:
                found[row.entry_id] = children
        return found

    def _is_root(self, row: EventRow) -> bool:
        """Pi lists entries without parent, with a missing one, and their own parents."""
        segment = self._top(row)
        if segment is None:
            return False
        return segment[0] != _core.ORIGIN_CYCLE or row.parent_id == row.entry_id

    def _missing_parent(self, row: EventRow) -> str | None:
        segment = self._top(row)
        return None if segment is None else segment[1]

    def _top(self, row: EventRow) -> tuple[int, str | None] | None:
        """Origin and missing parent of the chain that the entry begins, if it begins one."""
        if row.depth != 0:
            return None
        found: tuple[int, str | None] = self._connection.execute(
            "SELECT origin, missing_parent FROM segments WHERE segment = ?", (row.segment,)
        ).fetchone()
        return found

    def _labels(self) -> dict[str, str]:
        return {
            row.entry_id: label
            for row in self._targets(_core.RELATIONSHIP_LABELS)
            if (label := self._view.label(row)) is not None
        }

    def _edits(self) -> dict[str, str]:
        return {
            row.entry_id: self._ids[edit[0]]
            for row in self._targets(_core.RELATIONSHIP_CONTEXT_EDIT)
            if (edit := self._view.states(row).edit(row.entry_id)) is not None
        }

    def _targets(self, kind: int) -> Iterator[EventRow]:
        """A row for each entry that others refer to; the entry itself may be absent."""
        any_row = next(iter(self._all), None)
        for (target,) in self._connection.execute(
            "SELECT DISTINCT reference FROM relationships WHERE kind = ? AND event BETWEEN ? AND ?",
            (kind, *self._numbers),
        ).fetchall():
            assert any_row is not None
            yield any_row._replace(entry_id=target)


def _placed(row: EventRow) -> bool:
    """Whether Pi sees the entry and can name it."""
    return not row.flags & (DETACHED | IDLESS)
