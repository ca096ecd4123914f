"""Compactions of a session with what each keeps, for whoever works out the window on a path."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from pi_event_search import _core
from pi_event_search.store.rows import DETACHED, IDLESS, SUPERSEDED


class Compaction(NamedTuple):
    """A compaction: its event number, its place, and the place of the first entry it keeps."""

    event: int
    place: tuple[int, int]
    kept: tuple[int, int] | None


def compactions_of(
    connection: sqlite3.Connection, first: int, last: int, base: int
) -> Iterator[Compaction]:
    """The compactions among the events ``first`` to ``last`` of one session.

    Nothing behind ``last`` counts, neither as a compaction nor as what one keeps. Segments are
    numbered from ``base``, the first number of the session.
    """
    # The condition is written out, so that the partial index answers it.
    rows = connection.execute(
        "SELECT event, segment - ?, depth FROM events"
        f" WHERE contribution = {_core.CONTRIBUTION_COMPACTION}"
        " AND event BETWEEN ? AND ? AND segment IS NOT NULL",
        (base, first, last),
    ).fetchall()
    for event, segment, depth in rows:
        kept = connection.execute(
            "SELECT e.segment - ?, e.depth FROM relationships r JOIN events e"
            " ON e.entry_id = r.reference AND e.event BETWEEN ? AND ? AND NOT e.flags & ?"
            " WHERE r.event = ? AND r.kind = ?",
            (
                base,
                first,
                last,
                SUPERSEDED | DETACHED | IDLESS,
                event,
                _core.RELATIONSHIP_COMPACTS,
            ),
        ).fetchone()
        found = None if kept is None or kept[0] is None else (kept[0], kept[1])
        yield Compaction(event, (segment, depth), found)
