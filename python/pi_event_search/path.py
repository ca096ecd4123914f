"""The selected path of a session: from the root to the leaf, as segments and depths.

Stored it is that of the whole file. For a caller who must not see the end of the file, it is the
path to the last entry before the cutoff, as if the file ended there.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple, Protocol

from pi_event_search import _core
from pi_event_search.store.rows import DETACHED, IDLESS, SUPERSEDED
from pi_event_search.store.schema import epoch_range


class Place(NamedTuple):
    """A segment number as stored, and an absolute depth."""

    segment: int
    depth: int


class Path(Protocol):
    """What is asked of a path; the work never depends on the length of the session."""

    def get(self, segment: int | None, default: int) -> int:
        """The depth up to which the path follows a segment, or the default if it does not."""
        ...

    def after(self, place: Place) -> Place | None:
        """The place that follows one on the path; ``None`` at the leaf."""
        ...


class StoredPath:
    """The path to the materialized leaf, looked up segment by segment."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[int | None, int | None] = {None: None}

    def get(self, segment: int | None, default: int) -> int:
        """See :class:`Path`."""
        if segment not in self._known:
            found = self._connection.execute(
                "SELECT upto FROM path WHERE segment = ?", (segment,)
            ).fetchone()
            self._known[segment] = None if found is None else found[0]
        upto = self._known[segment]
        return default if upto is None else upto

    def after(self, place: Place) -> Place | None:
        """See :class:`Path`. Of many branches the newest is the likeliest, so it comes first."""
        if place.depth < self.get(place.segment, -1):
            return Place(place.segment, place.depth + 1)
        found = self._connection.execute(
            "SELECT s.segment FROM segments s WHERE s.parent_segment = ? AND s.parent_depth = ?"
            " AND EXISTS (SELECT 1 FROM path p WHERE p.segment = s.segment)"
            " ORDER BY s.segment DESC LIMIT 1",
            place,
        ).fetchone()
        return None if found is None else Place(found[0], place.depth + 1)


class PathTo:
    """The path to some place."""

    def __init__(self, connection: sqlite3.Connection, leaf: Place | None) -> None:
        self.rows: dict[int, int] = {}
        if leaf is not None:
            self.rows = dict(
                connection.execute(
                    "WITH RECURSIVE up (segment, upto) AS (SELECT ?, ? UNION ALL"
                    " SELECT s.parent_segment, s.parent_depth FROM up JOIN segments s"
                    " USING (segment) WHERE s.parent_segment IS NOT NULL)"
                    " SELECT segment, upto FROM up",
                    leaf,
                )
            )

    def get(self, segment: int | None, default: int) -> int:
        """See :class:`Path`."""
        return default if segment is None else self.rows.get(segment, default)

    def after(self, place: Place) -> Place | None:
        """See :class:`Path`."""
        if place.depth < self.get(place.segment, -1):
            return Place(place.segment, place.depth + 1)
        # Depths grow along a path, so the next segment is the one that ends soonest behind here.
        behind = [(upto, segment) for segment, upto in self.rows.items() if upto > place.depth]
        _, segment = min(behind, default=(0, None))
        return None if segment is None else Place(segment, place.depth + 1)


def leaf_before(connection: sqlite3.Connection, epoch: int, end: int) -> tuple[Place | None, bool]:
    """The place of the last entry before an event number, and whether it is one Pi cannot name."""
    found = connection.execute(
        "SELECT e.segment, e.depth, e.flags, s.origin FROM events e LEFT JOIN segments s"
        " USING (segment) WHERE e.event >= ? AND e.event < ? AND NOT e.flags & ?"
        " ORDER BY e.event DESC LIMIT 1",
        (epoch_range(epoch)[0], end, DETACHED | SUPERSEDED),
    ).fetchone()
    if found is None:
        return None, False
    segment, depth, flags, origin = found
    if flags & IDLESS or origin == _core.ORIGIN_CYCLE:
        return None, True
    return Place(segment, depth), False
