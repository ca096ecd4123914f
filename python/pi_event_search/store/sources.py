"""Rows of session files: their checkpoints, and what state they are in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pi_event_search import _core
from pi_event_search.store.rows import typed

CHECKPOINT_COLUMNS = (
    "device, inode, size, mtime_ns, ctime_ns, settled, complete_offset, complete_lines, entries,"
    " header_offset, header_length, header_hash, boundary_offset, boundary_length, boundary_hash,"
    " tail_offset, tail_length, tail_hash"
)
"""In the order of :data:`_core.Checkpoint`."""

READY = "ready"
PENDING = "pending"
"""Seen, its header was read, not indexed yet."""
NOT_A_SESSION = "not-a-session"
UNREADABLE = "unreadable"
"""Permission or I/O error: the last good reading stays."""
CHANGING = "changing"
"""It was rewritten while it was read: the last good reading stays until the next look."""
FAILED = "failed"
"""It was read and could not be taken in; the last good reading stays."""


@dataclass(slots=True)
class SourceRecord:
    """One session file as it is known."""

    source: int
    path: bytes
    explicit: bool
    epoch: int | None
    state: str
    observation: tuple[int | None, ...]
    """Device, inode, size, mtime and ctime (ns) at the last look, and whether it was settled."""
    checkpoint: _core.Checkpoint | None
    version: int | None
    current: bool
    """The reading was made by this program's projector."""
    published: int | None = None
    """The epoch that a running reading has made live."""

    def unchanged(self, stat: tuple[int, int, int, int, int]) -> bool:
        """Whether (device, inode, size, mtime, ctime) proves that the reading stands."""
        if not self.current or self.state not in (READY, NOT_A_SESSION):
            return False
        return self.observation == (*stat, 1)

    @property
    def pending_from(self) -> int:
        """The byte from which a reading would start if the file only grew."""
        offset = None if self.checkpoint is None else self.checkpoint[6]
        return offset if isinstance(offset, int) else 0


_SOURCES = (
    "SELECT so.source, so.path, so.explicit, so.epoch, so.state, so.projector, se.version,"
    f" {CHECKPOINT_COLUMNS}"
    " FROM sources so LEFT JOIN sessions se ON se.epoch = so.epoch"
)


class KnownSource(NamedTuple):
    """What a look at a file is compared with; the rest is looked up when there is work to do."""

    path: bytes
    source: int
    explicit: int
    state: str
    projector: int | None
    pending_from: int
    """The byte from which a reading would start if the file only grew."""
    device: int | None
    inode: int | None
    size: int | None
    mtime_ns: int | None
    ctime_ns: int | None
    settled: int

    def unchanged(self, stat: tuple[int, int, int, int, int]) -> bool:
        """Whether (device, inode, size, mtime, ctime) proves that the reading stands."""
        if self.projector != _core.PROJECTOR_VERSION:
            return False
        if self.state not in (READY, NOT_A_SESSION) or self.settled != 1:
            return False
        return self[6:11] == stat


def known_sources(connection: sqlite3.Connection) -> dict[bytes, KnownSource]:
    """Every known source by its path."""
    rows = connection.execute(
        "SELECT path, source, explicit, state, projector,"
        " iif(epoch IS NULL OR projector IS NOT ? OR typeof(complete_offset) <> 'integer', 0,"
        " complete_offset),"
        " device, inode, size, mtime_ns, ctime_ns, settled FROM sources",
        (_core.PROJECTOR_VERSION,),
    )
    return {source.path: source for source in typed(KnownSource, rows)}


def load_sources(connection: sqlite3.Connection) -> Iterator[SourceRecord]:
    """Every known source."""
    yield from _records(connection.execute(_SOURCES))


def size_of(checkpoint: _core.Checkpoint) -> int:
    """The size of the file, in bytes, when the checkpoint was made."""
    size = checkpoint[2]
    assert isinstance(size, int)
    return size


def find_source(connection: sqlite3.Connection, path: bytes) -> SourceRecord | None:
    """The source of a path as it is known now."""
    return next(_records(connection.execute(f"{_SOURCES} WHERE so.path = ?", (path,))), None)


def _records(rows: sqlite3.Cursor) -> Iterator[SourceRecord]:
    for source, path, explicit, epoch, state, projector, version, *columns in rows:
        checkpoint = tuple(columns)
        current = projector == _core.PROJECTOR_VERSION
        yield SourceRecord(
            source=source,
            path=path,
            explicit=bool(explicit),
            epoch=epoch,
            state=state,
            observation=checkpoint[:6],
            # What another projector made of the file is not gone on from.
            checkpoint=checkpoint if epoch is not None and current else None,
            version=version,
            current=current,
        )


def save_checkpoint(
    connection: sqlite3.Connection, source: int, checkpoint: _core.Checkpoint
) -> None:
    """Stores a checkpoint; the source is then ready."""
    marks = ", ".join("?" * len(checkpoint))
    connection.execute(
        f"UPDATE sources SET ({CHECKPOINT_COLUMNS}) = ({marks}), state = ?, detail = '',"
        " projector = ?, awaited_size = NULL WHERE source = ?",
        (*checkpoint, READY, _core.PROJECTOR_VERSION, source),
    )


def add_source(connection: sqlite3.Connection, path: bytes, *, explicit: bool) -> SourceRecord:
    """A new row for a file that was not known."""
    cursor = connection.execute(
        "INSERT INTO sources (path, explicit, state) VALUES (?, ?, ?)", (path, explicit, PENDING)
    )
    assert cursor.lastrowid is not None
    return SourceRecord(
        cursor.lastrowid, path, explicit, None, PENDING, (), None, None, current=False
    )


def set_awaited(connection: sqlite3.Connection, source: int, size: int | None) -> None:
    """Says that a look found the file changed, and how long it was; it will be read next.
    ``None``: it had not changed."""
    connection.execute("UPDATE sources SET awaited_size = ? WHERE source = ?", (size, source))


def set_explicit(connection: sqlite3.Connection, source: int) -> None:
    """Remembers that somebody named the file, so that answers cover it."""
    connection.execute("UPDATE sources SET explicit = 1 WHERE source = ?", (source,))


def set_state(connection: sqlite3.Connection, source: int, state: str, detail: str) -> None:
    """Says why a source is not up to date; its reading stays."""
    connection.execute(
        "UPDATE sources SET state = ?, detail = ?, awaited_size = NULL WHERE source = ?",
        (state, detail, source),
    )


def set_header(connection: sqlite3.Connection, source: int, session_id: str, cwd: str) -> None:
    """What the header says, known before the session is indexed."""
    connection.execute(
        "UPDATE sources SET session_id = ?, cwd = ? WHERE source = ?", (session_id, cwd, source)
    )


def set_not_a_session(
    connection: sqlite3.Connection, source: int, observation: tuple[int, ...], detail: str
) -> None:
    """Remembers a file that is no session, as it was observed, so that it is not read again."""
    connection.execute(
        "UPDATE sources SET (device, inode, size, mtime_ns, ctime_ns, settled)"
        " = (?, ?, ?, ?, ?, ?), state = ?, detail = ?, projector = ?, awaited_size = NULL"
        " WHERE source = ?",
        (*observation, NOT_A_SESSION, detail, _core.PROJECTOR_VERSION, source),
    )


def remove_source(connection: sqlite3.Connection, source: int) -> None:
    """Forgets a source; its epoch must have been removed before."""
    connection.execute("DELETE FROM listings WHERE source = ?", (source,))
    connection.execute("DELETE FROM sources WHERE source = ?", (source,))


def add_listing(connection: sqlite3.Connection, directory: bytes, source: int, path: bytes) -> None:
    """Remembers that a session directory holds the source, and the way to it from there."""
    connection.execute("REPLACE INTO listings VALUES (?, ?, ?)", (directory, source, path))


def remove_listing(
    connection: sqlite3.Connection, directory: bytes, source: int, path: bytes
) -> None:
    """Forgets that a session directory leads to the source this way."""
    connection.execute(
        "DELETE FROM listings WHERE directory = ? AND source = ? AND path = ?",
        (directory, source, path),
    )


def workspace_number(connection: sqlite3.Connection, cwd: str) -> int:
    """The number of a recorded working directory, given one when it is new."""
    connection.execute("INSERT OR IGNORE INTO workspaces (cwd) VALUES (?)", (cwd,))
    return int(
        connection.execute("SELECT workspace FROM workspaces WHERE cwd = ?", (cwd,)).fetchone()[0]
    )
