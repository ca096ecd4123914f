"""Everything an index holds of one session file, in terms that any two indexes share.

Epochs, keys and the numbers made of them differ with every history of an index; positions,
places in the tree and texts do not. `dump` gives every row in these terms, `told` what is said of
each event.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pi_event_search import EventIndex, _core
from pi_event_search.access.view import View
from pi_event_search.store.rows import DETACHED, EVENT_COLUMNS, IDLESS, SUPERSEDED, EventRow
from pi_event_search.store.schema import ORD_MASK, epoch_range

from tests.indexes import EVERYTHING

Row = dict[str, Any]

_NUMBERED = ("event", "segment", "parent_segment")
"""Columns whose upper half is the epoch."""
_OF_THIS_INDEX = ("epoch", "source", "workspace", "key", "first_key")
"""Columns that mean nothing outside the index they stand in."""
_TABLES = {
    "sessions": "epoch BETWEEN :epoch AND :epoch ORDER BY epoch",
    "events": "event BETWEEN :first AND :last ORDER BY event",
    "fragments": "event BETWEEN :first AND :last ORDER BY event, key",
    "relationships": "event BETWEEN :first AND :last ORDER BY event, kind, reference",
    "segments": "segment BETWEEN :first AND :last ORDER BY segment",
    "path": "segment BETWEEN :first AND :last ORDER BY segment",
    "receipts": "epoch = :epoch ORDER BY kind",
}


def dump(index: EventIndex, path: Path) -> dict[str, list[Row]]:
    """Every row about a session file; no tables where the file is no session."""
    with _connection(index) as connection:
        epoch = _epoch(connection, path)
        if epoch is None:
            return {}
        first, last = epoch_range(epoch)
        values = {"epoch": epoch, "first": first, "last": last}
        return {
            table: [
                _comparable(row)
                for row in _rows(connection, f"SELECT * FROM {table} WHERE {condition}", values)
            ]
            for table, condition in _TABLES.items()
        }


@dataclass(frozen=True)
class Told:
    """What an index says of one event."""

    entry_id: str
    row: EventRow
    states: tuple[str, str]
    label: str | None
    children: list[str]
    """Ids, in append order."""
    fragments: dict[str, str]
    """Fragment id -> text."""

    @property
    def superseded(self) -> bool:
        return bool(self.row.flags & SUPERSEDED)

    @property
    def detached(self) -> bool:
        return bool(self.row.flags & DETACHED)

    @property
    def idless(self) -> bool:
        return bool(self.row.flags & IDLESS)

    @property
    def placed(self) -> bool:
        """It has its place in the tree, so that others can refer to it."""
        return not self.row.flags & (SUPERSEDED | DETACHED | IDLESS)


def told(index: EventIndex, path: Path) -> list[Told] | None:
    """Every event of a session file in append order, or None where the file is no session."""
    with index._view(EVERYTHING) as (snapshot, view):
        epoch = _epoch(snapshot.connection, path)
        if epoch is None:
            return None
        rows = snapshot.connection.execute(
            f"SELECT {EVENT_COLUMNS} FROM events WHERE event BETWEEN ? AND ? ORDER BY event",
            epoch_range(epoch),
        ).fetchall()
        return [_told(view, EventRow(*row)) for row in rows]


def receipts(index: EventIndex, path: Path) -> dict[str, int]:
    """What `status` says of a session file: problem kind -> count."""
    found: Counter[str] = Counter()
    for problem in index.status(invocation=EVERYTHING).problems:
        if problem.path == str(path.resolve()):
            found[problem.kind] += problem.count
    return dict(found)


def hits(index: EventIndex, query: str, **filters: Any) -> set[tuple[str, str]]:
    """Session and entry id of everything that a search finds."""
    page = index.search(query, invocation=EVERYTHING, limit=200, **filters)
    assert len(page.hits) < 200
    return {(hit.session_id, hit.entry_id) for hit in page.hits}


def _told(view: View, row: EventRow) -> Told:
    shown = view.shows(row)
    states = view.states(row)
    return Told(
        entry_id=row.entry_id,
        row=row,
        states=(states.branch(row), states.selection(row)) if shown else ("", ""),
        label=view.label(row) if shown else None,
        children=[child.entry_id for child in view.children(row)] if shown else [],
        fragments={
            f"{_core.KINDS[f.kind]}:{f.n}": "".join(_core.bounded_text(f.text, f.head))
            for f in view.fragments(row)
        },
    )


@contextmanager
def _connection(index: EventIndex) -> Iterator[sqlite3.Connection]:
    with index._view(EVERYTHING) as (snapshot, _):
        yield snapshot.connection


def _epoch(connection: sqlite3.Connection, path: Path) -> int | None:
    found = connection.execute(
        "SELECT epoch FROM sources WHERE path = ?", (os.fsencode(path.resolve()),)
    ).fetchone()
    return None if found is None else found[0]


def _rows(connection: sqlite3.Connection, query: str, values: Row) -> Iterator[Row]:
    cursor = connection.execute(query, values)
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))


def _comparable(row: Row) -> Row:
    found = {name: value for name, value in row.items() if name not in _OF_THIS_INDEX}
    for name in _NUMBERED:
        if found.get(name) is not None:
            found[name] &= ORD_MASK
    return found
