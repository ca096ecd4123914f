"""What an answer covers: how much of the history in the caller's scope is indexed."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pi_event_search import _core
from pi_event_search.access.directory import is_within
from pi_event_search.access.scope import Scope
from pi_event_search.ingest.discover import SUFFIX
from pi_event_search.store.database import metadata
from pi_event_search.store.rows import SessionRow
from pi_event_search.store.sources import (
    CHANGING,
    FAILED,
    NOT_A_SESSION,
    PENDING,
    READY,
    UNREADABLE,
)
from pi_event_search.types.coverage import Coverage, CoverageProblem, Problem
from pi_event_search.types.vocabulary import CoverageState

DUPLICATE_SESSION = "duplicate-session"
"""Problem of a file whose session id another file owns."""


def coverage_of(
    connection: sqlite3.Connection,
    scope: Scope,
    *,
    being_written: bool = False,
    overtaken: Callable[[], bool] = lambda: False,
    attributed: bool = False,
) -> Coverage:
    """The coverage of a scope, with the kinds of its problems counted.

    ``being_written``: a writer is at work, so that what is missing is on its way. ``overtaken``:
    whether something was published since the snapshot was taken, which then shows a moment of a
    work that may have ended, or is about to be written. ``attributed``: only what is known to
    belong to the scope is counted; the state tells of the rest.
    """
    facts = _facts(connection, scope, attributed)
    reconciled = _last_reconciled(connection, scope)
    return Coverage(
        state=_state(facts, scope, reconciled, being_written, overtaken),
        indexed_sessions=facts.indexed,
        discovered_sessions=facts.discovered,
        last_reconciled_at=reconciled,
        pending_bytes=facts.pending_bytes,
        skipped_records=facts.skipped_records,
        problems=facts.problems,
    )


@dataclass(frozen=True)
class _Facts:
    """What of a coverage follows from committed rows."""

    indexed: int
    discovered: int
    pending_bytes: int
    skipped_records: int
    problems: tuple[CoverageProblem, ...]
    failed: bool
    """A file was read and could not be taken in."""
    partial: bool
    """Something could not be observed."""
    behind: bool
    """Something is known to be missing."""
    outdated: bool
    """The texts were cut by another version."""


def _facts(connection: sqlite3.Connection, scope: Scope, attributed: bool) -> _Facts:
    """Worked out once for a committed state, unless something could not be observed: which of
    that concerns the caller depends on where links lead now."""
    remembered = scope.visible.remembered
    key = _Facts, attributed, _core.PROJECTOR_VERSION, _core.TOKENIZER_VERSION
    known: _Facts | None = remembered.get(key)
    if known is None:
        known = _look_up(connection, scope, attributed)
        if connection.execute("SELECT 1 FROM troubles LIMIT 1").fetchone() is None:
            remembered[key] = known
    return known


def _look_up(connection: sqlite3.Connection, scope: Scope, attributed: bool) -> _Facts:
    counts: Counter[str] = Counter()
    for problem in problems_of(connection, scope, attributed=attributed):
        counts[problem.kind] += problem.count
    sessions = [row for row in scope.sources if row.state != NOT_A_SESSION]
    states = {row.state for row in sessions}
    unattributed = {row.state for row in scope.unattributed}
    behind = [row for row in sessions if _is_behind(row)]
    waiting = [row for row in scope.unattributed if row.state == PENDING]
    shadowed = len(scope.shadowed)
    return _Facts(
        indexed=sum(row.epoch is not None for row in sessions) - shadowed,
        discovered=len(sessions) - shadowed,
        pending_bytes=sum(map(_pending, sessions)),
        skipped_records=sum(
            count for kind, count in counts.items() if kind in _core.LOSING_RECEIPTS
        ),
        problems=tuple(CoverageProblem(kind, count) for kind, count in sorted(counts.items())),
        failed=FAILED in states,
        partial=bool(
            states & {UNREADABLE, CHANGING}
            or unattributed & {UNREADABLE, CHANGING, FAILED}
            or next(_troubles(connection, scope), None)
        ),
        behind=bool(behind or any(map(_is_behind, waiting))),
        outdated=metadata(connection, "tokenizer_version") != _core.TOKENIZER_VERSION,
    )


def problems_of(
    connection: sqlite3.Connection, scope: Scope, *, attributed: bool = False
) -> Iterator[Problem]:
    """Everything of the scope's sources that the index does not hold as it is, with its place.

    What nobody can say the workspace of, an unreadable file or directory, is named only where it
    lies beside sessions that the caller may see. Elsewhere its name might tell of another
    workspace; then it is counted at the session directory.
    """
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
    if scope.unrestricted or not attributed:
        yield from _unattributed(connection, scope)


def _unattributed(connection: sqlite3.Connection, scope: Scope) -> Iterator[Problem]:
    found = [
        (row.path, scope.directory.place(row).directory, row.state, row.detail)
        for row in scope.unattributed
        if row.state not in (READY, PENDING)
    ]
    found += [
        (path, _session_dir(scope, path), kind, detail)
        for path, kind, detail in _troubles(connection, scope)
    ]
    if not found:
        return
    known = {os.path.dirname(row.path) for row in scope.sources}
    unnamed: Counter[tuple[bytes, str]] = Counter()
    for path, directory, kind, detail in found:
        beside = path.endswith(SUFFIX) and os.path.dirname(path) in known
        if scope.unrestricted or path == directory or path in known or beside:
            yield Problem(os.fsdecode(path), kind, detail, 1)
        else:
            unnamed[directory, kind] += 1
    for (directory, kind), count in sorted(unnamed.items()):
        detail = "The workspace is not known; asking for all workspaces shows the names."
        yield Problem(os.fsdecode(directory), kind, detail, count)


def _troubles(connection: sqlite3.Connection, scope: Scope) -> Iterator[tuple[bytes, str, str]]:
    """What could not be observed in the session directories asked for."""
    for path, kind, detail in connection.execute(
        "SELECT path, kind, detail FROM troubles ORDER BY path, kind, detail"
    ):
        if scope.directory.relates(path):
            yield path, kind, detail


def _session_dir(scope: Scope, path: bytes) -> bytes:
    """The session directory asked for that a path belongs to, as the caller named it."""
    for root in scope.directory.session_dirs:
        if is_within(path, root) or is_within(path, os.path.realpath(root)):
            return path if path == os.path.realpath(root) else root
    return path


def _last_reconciled(connection: sqlite3.Connection, scope: Scope) -> str | None:
    """When the directories asked for were last looked through, the least recent of them."""
    times = dict(connection.execute("SELECT directory, reconciled_at FROM directories"))
    asked = [times.get(root) for root in scope.directory.session_dirs]
    known = [time for time in asked if time is not None]
    return min(known) if known and len(known) == len(asked) else None


def _state(
    facts: _Facts,
    scope: Scope,
    reconciled: str | None,
    being_written: bool,
    overtaken: Callable[[], bool],
) -> CoverageState:
    if facts.failed:
        return "error"
    if facts.partial:
        return "partial"
    if being_written:
        return "catching-up"  # what it is about to change is not known to anybody else
    if scope.directory.session_dirs and reconciled is None:
        return "partial"
    if facts.behind:
        return "catching-up" if overtaken() else "partial"
    return "partial" if facts.outdated else "ready"


def _is_behind(row: SessionRow) -> bool:
    """Whether the index holds nothing of a session, not all, or what another version made of it."""
    if row.epoch is None or row.awaited_size is not None:
        return True
    return row.projector != _core.PROJECTOR_VERSION


def _pending(row: SessionRow) -> int:
    size = row.size if row.awaited_size is None else row.awaited_size
    if row.epoch is None or row.projector != _core.PROJECTOR_VERSION:
        return size
    return max(size - row.complete_offset - row.tail_length, 0)


def _path(row: SessionRow) -> str:
    return os.fsdecode(row.path)
