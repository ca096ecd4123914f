"""Everything an index holds of one session file, in terms that any two indexes share.

Epochs, keys and the numbers made of them differ with every history of an index; positions,
places in the tree and texts do not. `dump` gives those, `indexed` answers the questions that the
oracles and the real Pi answer too.
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
from pi_event_search.store.rows import DETACHED, EVENT_COLUMNS, IDLESS, SUPERSEDED, EventRow
from pi_event_search.store.schema import ORD_MASK, epoch_range
from pi_event_search.view import View

from tests.indexes import EVERYTHING
from tests.pi.compare import Facts

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


def indexed(index: EventIndex, path: Path) -> Facts | None:
    """The facts of a session file as the index has them; `edits` are left empty."""
    events = told(index, path)
    if events is None:
        return None
    placed = {event.entry_id: event for event in events if event.placed}
    with index._view(EVERYTHING) as (snapshot, view):
        session = next(s for s in view.scope.sources if s.path == os.fsencode(path.resolve()))
        (session_row,) = _rows(
            snapshot.connection, "SELECT * FROM sessions WHERE epoch = :e", {"e": session.epoch}
        )
        name = view.name(session)
        labels = _labels(snapshot.connection, epoch_range(session_row["epoch"]))
    leaf = next((e for e in events if e.row.ord == session_row["leaf_ord"]), None)
    children: dict[str, list[str]] = {}
    for event in placed.values():
        if event.row.parent_id is not None:
            children.setdefault(event.row.parent_id, []).append(event.entry_id)
    return Facts(
        session_id=session_row["session_id"],
        cwd=session.cwd or "",
        name=name,
        leaf=None if leaf is None else leaf.entry_id,
        order=[None if e.idless else e.entry_id for e in events if not e.detached],
        branch=_branch(placed, leaf),
        children=children,
        roots=[
            key
            for key, event in placed.items()
            if event.row.parent_id in (None, key) or event.row.parent_id not in placed
        ],
        labels=labels,
        states={key: event.states for key, event in placed.items()},
        contributes={
            key: event.row.contribution != _core.CONTRIBUTION_NEVER for key, event in placed.items()
        },
        types={key: event.row.entry_type for key, event in placed.items()},
        compaction=next(
            (e.entry_id for e in events if e.row.ord == session_row["compaction_ord"]), None
        ),
    )


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


def _branch(placed: dict[str, Told], leaf: Told | None) -> list[str]:
    """From the root to the leaf, by recorded parents."""
    found: list[str] = []
    at = leaf
    while at is not None:
        found.append(at.entry_id)
        at = placed.get(at.row.parent_id) if at.row.parent_id is not None else None
    return found[::-1]


def _labels(connection: sqlite3.Connection, numbers: tuple[int, int]) -> dict[str, str]:
    rows = connection.execute(
        "SELECT r.reference, r.detail FROM relationships r JOIN events e USING (event)"
        " WHERE r.kind = ? AND event BETWEEN ? AND ? AND NOT e.flags & ? ORDER BY event",
        (_core.RELATIONSHIP_LABELS, *numbers, DETACHED),
    )
    return {target: label for target, label in dict(rows.fetchall()).items() if label}


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
