"""The tree of a session while it is written: places for new events, the selected path, the window.

The rules are the core's (``rust/core/src/tree``); this module looks up what the core asks for and
stores what it answers. An append to a regular session costs a handful of rows whatever its length.
Where a record breaks the order that appends rely on, the session's tree is written anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from pi_event_search import _core
from pi_event_search.faults import point
from pi_event_search.store.compactions import Compaction, compactions_of
from pi_event_search.store.rows import DETACHED, IDLESS, SUPERSEDED
from pi_event_search.store.schema import epoch_range, event_number, ord_of

Place = tuple[int, int]
"""Segment number as stored, and depth."""

_MANY = 500
"""Values of one ``IN`` list."""


class Placement:
    """Gives the events of one epoch their places, batch by batch."""

    def __init__(self, connection: sqlite3.Connection, epoch: int) -> None:
        self._connection = connection
        self._epoch = epoch
        self._numbers = epoch_range(epoch)
        self._superseded = 0

    def take_superseded(self) -> int:
        """How many stored events lost their id to a later one since the last call."""
        count, self._superseded = self._superseded, 0
        return count

    def place(self, batch: _core.Batch, next_ord: int) -> Sequence[Place | None]:
        """Places of the batch's events; ``None`` for one that a later event of its id supersedes.

        ``next_ord`` is the ord of the batch's first event. Segments and path are stored; the
        events themselves are the caller's to store.
        """
        next_segment, leaf, leaf_unknown = self._state()
        tree = _core.Tree(next_segment, leaf, leaf_unknown)
        if next_ord:
            self._teach(tree, batch)
        places = tree.append(batch, next_ord)
        delta = None if places is None else tree.finish()
        if places is None or delta is None:
            return self._rebuild(batch, next_ord)
        self._store(delta)
        if delta.orphans:
            self._count_receipts({"orphan": len(delta.orphans)})
        return [self._stored(place) for place in places]

    def settle(self) -> None:
        """Finds the newest compaction on the path; for when the rows of a batch are stored."""
        compactions = list(compactions_of(self._connection, *self._numbers, self._numbers[0]))
        facts: tuple[int | None, ...] = (None, None, None)
        window = self._window(compactions) if compactions else None
        if window is not None:
            number = next(c.event for c in compactions if c.place == window[0])
            facts = (ord_of(number), window[0][1], window[1])
        self._connection.execute(
            "UPDATE sessions SET compaction_ord = ?, compaction_depth = ?, kept_depth = ?"
            " WHERE epoch = ?",
            (*facts, self._epoch),
        )

    def _window(self, compactions: Sequence[Compaction]) -> tuple[Place, int] | None:
        """Place of the compaction that counts, and the depth at which its kept range begins."""
        path = self._connection.execute(
            "SELECT segment - ?, upto FROM path WHERE segment BETWEEN ? AND ? ORDER BY upto",
            (self._numbers[0], *self._numbers),
        ).fetchall()
        return _core.window(path, [(c.place, c.kept) for c in compactions])

    def _state(self) -> tuple[int, tuple[str, int, int, bool] | None, bool]:
        """Next free segment number, the leaf, and whether there is a leaf Pi cannot name."""
        next_segment, leaf_ord, unknown = self._connection.execute(
            "SELECT next_segment, leaf_ord, leaf_unknown FROM sessions WHERE epoch = ?",
            (self._epoch,),
        ).fetchone()
        if leaf_ord is None:
            return next_segment, None, bool(unknown)
        entry_id, segment, depth = self._connection.execute(
            "SELECT entry_id, segment, depth FROM events WHERE event = ?",
            (event_number(self._epoch, leaf_ord),),
        ).fetchone()
        leaf = (entry_id, segment - self._numbers[0], depth, self._has_first_child(segment, depth))
        return next_segment, leaf, False

    def _teach(self, tree: _core.Tree, batch: _core.Batch) -> None:
        """Looks up what the core cannot know from the batch and the leaf alone."""
        needs = tree.needs(batch)
        for entry_id, segment, depth in self._places(needs.parents + needs.ids):
            first = self._has_first_child(segment, depth)
            tree.learn_place(entry_id, segment - self._numbers[0], depth, first)
        for missing in self._awaited(needs.ids):
            tree.learn_awaited(missing)
        if needs.branches:
            for segment, parent, depth, origin in self._connection.execute(
                "SELECT segment, parent_segment, parent_depth, origin FROM segments"
                " WHERE segment BETWEEN ? AND ?",
                self._numbers,
            ):
                above = None if parent is None else (parent - self._numbers[0], depth)
                tree.learn_segment(segment - self._numbers[0], above, origin)
            for segment, upto in self._connection.execute(
                "SELECT segment, upto FROM path WHERE segment BETWEEN ? AND ?", self._numbers
            ):
                tree.learn_path(segment - self._numbers[0], upto)

    def _places(self, ids: Sequence[str]) -> Iterator[tuple[str, int, int]]:
        for some in _slices(ids):
            yield from self._connection.execute(
                "SELECT entry_id, segment, depth FROM events"
                f" WHERE entry_id IN ({', '.join('?' * len(some))}) AND event BETWEEN ? AND ?"
                " AND NOT flags & ?",
                (*some, *self._numbers, SUPERSEDED | DETACHED | IDLESS),
            ).fetchall()

    def _awaited(self, ids: Sequence[str]) -> list[str]:
        missing = {
            row[0]
            for row in self._connection.execute(
                "SELECT missing_parent FROM segments"
                " WHERE segment BETWEEN ? AND ? AND missing_parent IS NOT NULL",
                self._numbers,
            )
        }
        return [entry_id for entry_id in ids if entry_id in missing]

    def _has_first_child(self, segment: int, depth: int) -> bool:
        found = self._connection.execute(
            "SELECT 1 FROM events WHERE segment = ? AND depth = ?", (segment, depth + 1)
        ).fetchone()
        return found is not None

    def _store(self, delta: _core.TreeDelta) -> None:
        base = self._numbers[0]
        self._insert_segments(delta.new_segments)
        self._connection.executemany(
            "DELETE FROM path WHERE segment = ?", [(base + number,) for number in delta.removed]
        )
        self._connection.executemany(
            "REPLACE INTO path VALUES (?, ?)", [(base + number, upto) for number, upto in delta.set]
        )
        self._save_leaf(delta.leaf_ord, delta.leaf_unknown, delta.next_segment)

    def _insert_segments(self, segments: Iterable[_core.Segment]) -> None:
        base = self._numbers[0]
        self._connection.executemany(
            "INSERT INTO segments VALUES (?, ?, ?, ?, ?)",
            (
                (
                    base + number,
                    None if parent is None else base + parent[0],
                    None if parent is None else parent[1],
                    origin,
                    missing,
                )
                for number, parent, origin, missing in segments
            ),
        )

    def _save_leaf(self, leaf_ord: int | None, unknown: bool, next_segment: int) -> None:
        if leaf_ord is None and not unknown:
            self._connection.execute(
                "UPDATE sessions SET next_segment = ? WHERE epoch = ?", (next_segment, self._epoch)
            )
            return
        self._connection.execute(
            "UPDATE sessions SET next_segment = ?, leaf_ord = ?, leaf_unknown = ? WHERE epoch = ?",
            (next_segment, leaf_ord, unknown, self._epoch),
        )

    def _rebuild(self, batch: _core.Batch, next_ord: int) -> Sequence[Place | None]:
        """Writes the whole tree anew from what is stored and the batch."""
        stored = self._connection.execute(
            "SELECT event - ?, entry_id, parent_id, flags & ?, flags & ? FROM events"
            " WHERE event BETWEEN ? AND ? ORDER BY event",
            (self._numbers[0], IDLESS, DETACHED, *self._numbers),
        ).fetchall()
        full = _core.rebuild_tree(
            [(o, None if idless else i, p, bool(detached)) for o, i, p, idless, detached in stored],
            batch,
            next_ord,
        )
        for table in ("segments", "path"):
            self._connection.execute(
                f"DELETE FROM {table} WHERE segment BETWEEN ? AND ?", self._numbers
            )
        self._insert_segments(full.segments)
        base = self._numbers[0]
        self._connection.executemany(
            "INSERT INTO path VALUES (?, ?)", [(base + number, upto) for number, upto in full.path]
        )
        places = [None if place is None else self._stored(place) for place in full.places]
        self._move_stored(places[: len(stored)])
        self._save_leaf(full.leaf_ord, full.leaf_unknown, len(full.segments))
        self._connection.execute(
            "UPDATE sessions SET irregular = 1 WHERE epoch = ?", (self._epoch,)
        )
        point("tree.rebuilt")
        self._replace_receipts(
            {
                "duplicate-id": full.superseded,
                "orphan": full.orphans,
                "cycle": full.cycles,
            }
        )
        return places[len(stored) :]

    def _move_stored(self, places: Sequence[Place | None]) -> None:
        numbered = list(enumerate(places, self._numbers[0]))
        self._connection.executemany(
            "UPDATE events SET segment = ?, depth = ? WHERE event = ?",
            [(*(place or (None, None)), event) for event, place in numbered],
        )
        superseded = [(event,) for event, place in numbered if place is None]
        self._connection.executemany(
            "INSERT OR IGNORE INTO dead_keys SELECT first_key, first_key + fragments - 1"
            " FROM events WHERE event = ? AND fragments > 0",
            superseded,
        )
        self._connection.executemany(
            "DELETE FROM fragments WHERE key IN (SELECT f.key FROM events e JOIN fragments f"
            " ON f.key >= e.first_key AND f.key < e.first_key + e.fragments WHERE e.event = ?)",
            superseded,
        )
        self._superseded += self._connection.executemany(
            f"UPDATE events SET flags = flags | {SUPERSEDED}, fragments = 0"
            f" WHERE event = ? AND NOT flags & {SUPERSEDED}",
            superseded,
        ).rowcount

    def _replace_receipts(self, counts: dict[str, int]) -> None:
        self._connection.executemany(
            "DELETE FROM receipts WHERE epoch = ? AND kind = ?",
            [(self._epoch, kind) for kind in counts],
        )
        self._count_receipts(counts)

    def _count_receipts(self, counts: dict[str, int]) -> None:
        self._connection.executemany(
            "INSERT INTO receipts VALUES (?, ?, ?, '')"
            " ON CONFLICT DO UPDATE SET count = count + excluded.count",
            [(self._epoch, kind, count) for kind, count in counts.items() if count],
        )

    def _stored(self, place: Place) -> Place:
        return self._numbers[0] + place[0], place[1]


def _slices(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), _MANY):
        yield values[start : start + _MANY]
