"""The selected path of a session: from the root to the leaf, as segments and depths."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from pi_event_search import _core
from pi_event_search.store.schema import epoch_of, epoch_range

_MANY = 500
_BRANCHES = 32
"""Branches of one event that are looked at before the path is."""


class Place(NamedTuple):
    """A segment number as stored, and an absolute depth."""

    segment: int
    depth: int


class Path(Protocol):
    """What is asked of a path."""

    def upto(self, segment: int | None) -> int:
        """The depth up to which the path runs in a segment; -1 if it does not."""
        ...

    def after(self, place: Place) -> Place | None:
        """The place that follows one on the path; ``None`` at the leaf."""
        ...


class StoredPath:
    """The paths to the materialized leaves of all sessions, looked up segment by segment.

    A session may have thousands of forks on its path, and most questions are about a few events.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[int | None, tuple[int, int]] = {None: (-1, _core.ORIGIN_CYCLE)}
        """Segment -> depth up to which a path runs in it, and code of its origin."""

    def load(self, segments: Iterable[int | None]) -> None:
        """Looks many segments up at once, for what is asked next."""
        wanted = [segment for segment in dict.fromkeys(segments) if segment not in self._known]
        for start in range(0, len(wanted), _MANY):
            some = wanted[start : start + _MANY]
            self._known.update(dict.fromkeys(some, (-1, _core.ORIGIN_CYCLE)))
            for segment, origin, upto in self._connection.execute(
                "SELECT s.segment, s.origin, p.upto FROM segments s LEFT JOIN path p"
                f" ON p.segment = s.segment WHERE s.segment IN ({', '.join('?' * len(some))})",
                some,
            ):
                self._known[segment] = -1 if upto is None else upto, origin

    def upto(self, segment: int | None) -> int:
        """See :class:`Path`."""
        return self._segment(segment)[0]

    def origin(self, segment: int | None) -> int:
        """The code of the origin of a segment; that of a cycle where there is no such segment."""
        return self._segment(segment)[1]

    def _segment(self, segment: int | None) -> tuple[int, int]:
        if segment not in self._known:
            self.load((segment,))
        return self._known[segment]

    def after(self, place: Place) -> Place | None:
        """See :class:`Path`. Of many branches the newest are the likeliest, so they come first."""
        if place.depth < self.upto(place.segment):
            return Place(place.segment, place.depth + 1)
        newest = self._connection.execute(
            "SELECT s.segment, EXISTS (SELECT 1 FROM path p WHERE p.segment = s.segment)"
            " FROM segments s WHERE s.parent_segment = ? AND s.parent_depth = ?"
            " ORDER BY s.segment DESC LIMIT ?",
            (*place, _BRANCHES),
        ).fetchall()
        found = next((segment for segment, on_path in newest if on_path), None)
        if found is None and len(newest) == _BRANCHES:
            found = self._below(place)
        return None if found is None else Place(found, place.depth + 1)

    def _below(self, place: Place) -> int | None:
        """The segment of the path that branches off at a place, looked for along the path."""
        found = self._connection.execute(
            "SELECT p.segment FROM path p CROSS JOIN segments s ON s.segment = p.segment"
            " WHERE p.segment BETWEEN ? AND ? AND s.parent_segment = ? AND s.parent_depth = ?",
            (*epoch_range(epoch_of(place.segment)), *place),
        ).fetchone()
        return None if found is None else int(found[0])


class PathTo:
    """The path to some place, walked up from there; ``None``: an empty one."""

    def __init__(self, connection: sqlite3.Connection, leaf: Place | None) -> None:
        self.segments: dict[int, int] = {}
        """Segment -> depth up to which the path runs in it, from the leaf up."""
        at = leaf
        while at is not None and at.segment not in self.segments:
            self.segments[at.segment] = at.depth
            above = connection.execute(
                "SELECT parent_segment, parent_depth FROM segments WHERE segment = ?",
                (at.segment,),
            ).fetchone()
            at = None if above is None or above[0] is None else Place(*above)

    def upto(self, segment: int | None) -> int:
        """See :class:`Path`."""
        return -1 if segment is None else self.segments.get(segment, -1)

    def after(self, place: Place) -> Place | None:
        """See :class:`Path`."""
        if place.depth < self.upto(place.segment):
            return Place(place.segment, place.depth + 1)
        # Depths grow along a path, so the next segment is the one that ends soonest behind here.
        behind = [(upto, segment) for segment, upto in self.segments.items() if upto > place.depth]
        return Place(min(behind)[1], place.depth + 1) if behind else None
