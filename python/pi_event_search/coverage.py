"""What an answer covers: how much of the history in the caller's scope is indexed."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator

from pi_event_search import _core
from pi_event_search.scope import Scope
from pi_event_search.store.database import metadata
from pi_event_search.store.rows import SessionRow
from pi_event_search.store.sources import FAILED, NOT_A_SESSION, PENDING, READY, UNREADABLE
from pi_event_search.types import Coverage, CoverageProblem, Problem
from pi_event_search.types.vocabulary import CoverageState

DUPLICATE_SESSION = "duplicate-session"
"""Problem of a file whose session id another file owns."""


def coverage_of(
    connection: sqlite3.Connection, scope: Scope, *, being_written: bool = False
) -> Coverage:
    """The coverage of a scope, with the kinds of its problems counted.

    ``being_written``: a writer is at work, so that what is missing is on its way.
    """
    found = list(problems_of(connection, scope))
    counts: Counter[str] = Counter()
    for problem in found:
        counts[problem.kind] += problem.count
    sessions = [row for row in scope.sources if row.state != NOT_A_SESSION]
    indexed = [row for row in sessions if row.epoch is not None]
    shadowed = len(scope.shadowed)
    return Coverage(
        state=_state(connection, sessions, being_written),
        indexed_sessions=len(indexed) - shadowed,
        discovered_sessions=len(sessions) - shadowed,
        last_reconciled_at=metadata(connection, "last_reconciled_at"),
        pending_bytes=sum(_pending(row) for row in sessions),
        skipped_records=sum(
            count for kind, count in counts.items() if kind in _core.LOSING_RECEIPTS
        ),
        problems=tuple(CoverageProblem(kind, count) for kind, count in sorted(counts.items())),
    )


def problems_of(connection: sqlite3.Connection, scope: Scope) -> Iterator[Problem]:
    """Everything of the scope's sources that the index does not hold as it is, with its place."""
    by_epoch = {row.epoch: row for row in scope.sources if row.epoch is not None}
    for row in scope.sources:
        if row.state not in (READY, PENDING):
            yield Problem(_path(row), row.state, row.detail, 1)
    for row in scope.shadowed:
        owner = scope.by_id[str(row.session_id)]
        detail = f"session {row.session_id} is answered from {os.fsdecode(owner.path)}"
        yield Problem(_path(row), DUPLICATE_SESSION, detail, 1)
    for epoch, kind, count, detail in connection.execute(
        "SELECT epoch, kind, count, detail FROM receipts ORDER BY epoch, kind"
    ):
        if epoch in by_epoch:
            yield Problem(_path(by_epoch[epoch]), kind, detail, count)
    for path, kind, detail in connection.execute("SELECT path, kind, detail FROM troubles"):
        yield Problem(os.fsdecode(path), kind, detail, 1)


def _state(
    connection: sqlite3.Connection, sessions: list[SessionRow], being_written: bool
) -> CoverageState:
    if any(row.state == FAILED for row in sessions):
        return "error"
    unobservable = any(row.state == UNREADABLE for row in sessions)
    troubled = connection.execute("SELECT 1 FROM troubles LIMIT 1").fetchone() is not None
    if unobservable or troubled:
        return "partial"
    if being_written:
        return "catching-up"  # what it is about to change is not known to anybody else
    unread = any(row.epoch is None or row.awaited_size is not None for row in sessions)
    if unread or metadata(connection, "last_reconciled_at") is None:
        return "partial"
    return "ready"


def _pending(row: SessionRow) -> int:
    size = row.size if row.awaited_size is None else row.awaited_size
    return max(size - row.complete_offset - row.tail_length, 0) if row.epoch else size


def _path(row: SessionRow) -> str:
    return os.fsdecode(row.path)
