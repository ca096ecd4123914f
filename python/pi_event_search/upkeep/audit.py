"""Looking again at what was indexed long ago.

A sync takes a file that grew for one that was appended to when its first and its last record still
stand: it must not read a long file for one new line. So an edit in place far before the end of a
file that grew as well goes unnoticed. An audit compares every indexed record with its bytes, by
the hash that a read checks too, a piece at a time, for whoever has nothing else to do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable
from typing import NamedTuple

from pi_event_search import _core
from pi_event_search.store.database import Database
from pi_event_search.store.schema import epoch_range
from pi_event_search.store.sources import READY, SourceRecord, load_sources

PIECE_BYTES = 16_000_000
"""Bytes of records compared at once."""

_MTIME = 3


class Audited(NamedTuple):
    """What one piece of an audit came to."""

    changed: bytes | None = None
    """A file of which a record is not the indexed one: it is to be read afresh."""
    finished: bool = False
    """Every file was compared in the state in which it is indexed."""


class _Begun(NamedTuple):
    """A file that was compared in part."""

    epoch: int | None
    state: Hashable
    """Its state at the beginning: what is proven in the end is that one, whatever came since."""
    event: int
    """Where to go on."""


class _Piece(NamedTuple):
    records: list[tuple[int, int, int]]
    """First byte, the byte behind the last, and hash."""
    behind: int | None
    """The event to go on with; None when these were the last ones."""


class Audit:
    """Goes through the sources of an index, the newest first. What was compared is remembered for
    as long as this object lives, and compared again when its file has changed since."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._proven: dict[int, Hashable] = {}
        """Source -> the state in which all its records were found as indexed, oldest first."""
        self._begun: _Begun | None = None

    def step(self, budget: int = PIECE_BYTES) -> Audited:
        """Compares a piece of one file: at least a record, and about ``budget`` bytes."""
        with self._database.snapshot() as connection:
            source = self._chosen(connection)
            if source is None:
                return Audited(finished=True)
            try:
                piece = self._piece(connection, source, budget)
                stands = _stands(source, piece)
            except (TypeError, OverflowError):
                stands = False  # rows that make no sense
        begun, self._begun = self._begun, None
        if not stands:
            return Audited(changed=source.path)
        state = begun.state if begun is not None and begun.epoch == source.epoch else _state(source)
        if piece.behind is not None:
            self._begun = _Begun(source.epoch, state, piece.behind)
        else:
            self._proven.pop(source.source, None)
            self._proven[source.source] = state
        return Audited()

    def _chosen(self, connection: sqlite3.Connection) -> SourceRecord | None:
        """The file that was begun; else of those never compared, or not since they changed, the
        one whose turn was longest ago, so that a file that keeps growing does not keep others
        waiting."""
        due = [
            source
            for source in load_sources(connection)
            if source.state == READY and source.epoch is not None and source.current
            if self._proven.get(source.source) != _state(source)
        ]
        begun = None if self._begun is None else self._begun.epoch
        turns = {source: turn for turn, source in enumerate(self._proven, 1)}
        return min(
            due,
            key=lambda s: (s.epoch != begun, turns.get(s.source, 0), -(s.observation[_MTIME] or 0)),
            default=None,
        )

    def _piece(self, connection: sqlite3.Connection, source: SourceRecord, budget: int) -> _Piece:
        assert source.epoch is not None
        first, last = epoch_range(source.epoch)
        if self._begun is not None and self._begun.epoch == source.epoch:
            first = self._begun.event
        records: list[tuple[int, int, int]] = []
        for event, start, end, record_hash in connection.execute(
            "SELECT event, byte_start, byte_end, record_hash FROM events"
            " WHERE event BETWEEN ? AND ? ORDER BY event",
            (first, last),
        ):
            records.append((start, end, record_hash))
            budget -= end - start
            if budget <= 0:
                return _Piece(records, event + 1)
        return _Piece(records, None)


def _stands(source: SourceRecord, piece: _Piece) -> bool:
    """Whether the file still holds these records. Of one that cannot be read, a sync tells."""
    try:
        return _core.first_changed(source.path, piece.records) is None
    except (OSError, _core.NotASession):
        return True


def _state(source: SourceRecord) -> Hashable:
    return source.epoch, source.observation
