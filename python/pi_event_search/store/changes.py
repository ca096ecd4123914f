"""Which sources a publication changes, told by SQLite itself, so that nothing can be forgotten.

Who has looked at all sources in one committed state needs to look at few of them in the next.
Triggers that only the writing connection has note every source of which, or of whose session, a
row is written. They are part of its transaction: what is undone was not noted.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Set

_KEPT = 64
"""Publications that are remembered."""

_NOTING = (
    "CREATE TEMP TABLE IF NOT EXISTS changed (source INTEGER PRIMARY KEY)",
    *(
        f"CREATE TEMP TRIGGER IF NOT EXISTS {table}_{event} AFTER {event} ON main.{table} BEGIN"
        f" INSERT OR IGNORE INTO changed VALUES ({row}.source); END"
        for table in ("sources", "sessions")
        for event, row in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD"))
    ),
)


def note_changes(connection: sqlite3.Connection) -> None:
    """Has a connection note what it changes from now on."""
    for statement in _NOTING:
        connection.execute(statement)


def noted_changes(connection: sqlite3.Connection) -> frozenset[int]:
    """The sources that the open transaction has changed."""
    noted = frozenset(row[0] for row in connection.execute("SELECT source FROM temp.changed"))
    connection.execute("DELETE FROM temp.changed")
    return noted


class Steps:
    """What the latest publications to one database changed. For several threads."""

    def __init__(self) -> None:
        self._changed: dict[int, frozenset[int]] = {}
        self._lock = threading.Lock()

    def add(self, generation: int, changed: frozenset[int]) -> None:
        """One publication, by the generation that it made."""
        with self._lock:
            self._changed[generation] = changed
            while len(self._changed) > _KEPT:
                del self._changed[next(iter(self._changed))]

    def between(self, before: int, after: int) -> Set[int] | None:
        """The sources that differ between two generations, unless somebody else was at work."""
        if not 0 < after - before <= _KEPT:
            return None
        with self._lock:
            steps = [self._changed.get(number) for number in range(before + 1, after + 1)]
        known = [step for step in steps if step is not None]
        return frozenset().union(*known) if len(known) == len(steps) else None
