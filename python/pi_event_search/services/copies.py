"""Fork copies: the same event in several session files.

A fork copies entries with their ids, but may hang them on another parent and name another kept
entry. Two events are copies when id, type, time and content without these two links are equal.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from pi_event_search.store.rows import EVENT_COLUMNS, SUPERSEDED, EventRow


@dataclass(frozen=True, slots=True)
class Copies:
    """Other events of the answer's scope that are the same as the one shown, oldest first."""

    rows: tuple[EventRow, ...]


def copies_of(connection: sqlite3.Connection, row: EventRow) -> list[EventRow]:
    """Every stored copy of an event, itself included, whoever may see it."""
    found = connection.execute(
        f"SELECT {EVENT_COLUMNS} FROM events"
        " WHERE entry_id = ? AND copy_hash = ? AND ts = ? AND entry_type = ? AND NOT flags & ?",
        (row.entry_id, row.copy_hash, row.ts, row.entry_type, SUPERSEDED),
    )
    return [EventRow(*columns) for columns in found]
