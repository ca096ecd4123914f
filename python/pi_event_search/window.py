"""The compaction window of a path: the newest compaction on it, and from where it keeps entries."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pi_event_search import _core
from pi_event_search.store.rows import DETACHED, IDLESS, SUPERSEDED
from pi_event_search.store.schema import epoch_range

Place = tuple[int, int]
"""A segment and a depth."""


class Window(NamedTuple):
    """The compaction that counts on a path."""

    event: int
    depth: int
    kept_depth: int
    """Depth at which the range begins that is sent as it is; of the compaction if there is none."""


def window_of(
    connection: sqlite3.Connection,
    epoch: int,
    path: Iterable[Place] | None = None,
    end: int | None = None,
) -> Window | None:
    """The window of a path of one session.

    :param path: segments as stored, each with the depth up to which the path follows it; the
        stored path by default.
    :param end: an event number; compactions from there on do not count.
    """
    first, last = epoch_range(epoch)
    compactions = list(_compactions(connection, epoch, last + 1 if end is None else end))
    if not compactions:
        return None
    if path is None:
        path = connection.execute(
            "SELECT segment, upto FROM path WHERE segment BETWEEN ? AND ?", (first, last)
        )
    local = [(segment - first, upto) for segment, upto in sorted(path, key=lambda row: row[1])]
    found = _core.window(local, [(place, kept) for _, place, kept in compactions])
    if found is None:
        return None
    event = next(event for event, place, _ in compactions if place == found[0])
    return Window(event, found[0][1], found[1])


def _compactions(
    connection: sqlite3.Connection, epoch: int, end: int
) -> Iterator[tuple[int, Place, Place | None]]:
    """Compactions before ``end``: event, place, and the place of the first kept entry."""
    first = epoch_range(epoch)[0]
    # The condition is written out, so that the partial index answers it.
    rows = connection.execute(
        "SELECT event, segment - ?, depth FROM events"
        f" WHERE contribution = {_core.CONTRIBUTION_COMPACTION}"
        " AND event >= ? AND event < ? AND segment IS NOT NULL",
        (first, first, end),
    ).fetchall()
    for event, segment, depth in rows:
        kept = connection.execute(
            "SELECT e.segment - ?, e.depth FROM relationships r JOIN events e"
            " ON e.entry_id = r.reference AND e.event >= ? AND e.event < ? AND NOT e.flags & ?"
            " WHERE r.event = ? AND r.kind = ?",
            (
                first,
                first,
                end,
                SUPERSEDED | DETACHED | IDLESS,
                event,
                _core.RELATIONSHIP_COMPACTS,
            ),
        ).fetchone()
        yield event, (segment, depth), kept
