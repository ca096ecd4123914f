"""What an event is on the branches of its session, as Pi 1.6.0 itself resolves them.

Two facts an event: its branch state (is it on the path from the root to the materialized leaf?)
and its selection state (does it reach the model in the next request on that path?). Both are
comparisons on the immutable place of an event; nothing is stored with the event. With a cutoff
inside the session they are what they would be if the file ended there: nothing behind it shows.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import cached_property

from pi_event_search import _core
from pi_event_search.path import Path, PathTo, Place, StoredPath, leaf_before
from pi_event_search.store.rows import DETACHED, IDLESS, EventRow, SessionRow
from pi_event_search.store.schema import event_number
from pi_event_search.types.vocabulary import BranchState, SelectionState
from pi_event_search.window import window_of


@dataclass(frozen=True)
class SessionStates:
    """States of the events of one session, as of an exclusive ``cutoff`` event number."""

    connection: sqlite3.Connection
    session: SessionRow
    cutoff: int

    def branch(self, row: EventRow) -> BranchState:
        """``selected``, ``alternate`` or ``unknown``."""
        if self._unplaced(row):
            return "unknown"
        if self.on_path(row):
            return "selected"
        return "alternate" if self._origin(row) == _core.ORIGIN_ROOT else "unknown"

    def selection(self, row: EventRow) -> SelectionState:
        """Whether and how the event reaches the model; the rules are Pi's, in this order.

        Off the path nothing is selected. Types that never become a message are not applicable.
        Only the newest compaction on the path counts: it replaces everything before its kept
        range, and inside that range system messages and older compactions. A context edit on the
        path, inside the range that is still sent, omits its target; the last edit wins.
        """
        branch = self.branch(row)
        if branch != "selected":
            return "unknown" if branch == "unknown" else "not-selected"
        if row.contribution == _core.CONTRIBUTION_NEVER:
            return "not-applicable"
        assert row.depth is not None
        if self._window is not None:
            compaction_depth, kept_depth = self._window
            if row.depth < kept_depth:
                return "summarized"
            replaced = row.contribution in (
                _core.CONTRIBUTION_SYSTEM,
                _core.CONTRIBUTION_COMPACTION,
            )
            if row.depth < compaction_depth and replaced:
                return "summarized"
        return "not-selected" if self._omitted(row) else "direct"

    def on_path(self, row: EventRow) -> bool:
        """Whether the event lies between root and materialized leaf."""
        return row.depth is not None and row.depth <= self._path.get(row.segment, -1)

    def after(self, row: EventRow) -> Place | None:
        """Where the path goes on behind an event on it; ``None`` at the materialized leaf."""
        if row.segment is None or row.depth is None:
            return None
        return self._path.after(Place(row.segment, row.depth))

    def _unplaced(self, row: EventRow) -> bool:
        return self._leaf_unknown or bool(row.flags & (DETACHED | IDLESS))

    @property
    def _path(self) -> Path:
        return self._leaf[0]

    @property
    def _leaf_unknown(self) -> bool:
        return self._leaf[1]

    @cached_property
    def _leaf(self) -> tuple[Path, bool]:
        """The path, and whether the leaf is one that Pi cannot name."""
        if not self._cut:
            return StoredPath(self.connection), bool(self.session.leaf_unknown)
        leaf, unknown = leaf_before(self.connection, self._epoch, self.cutoff)
        return PathTo(self.connection, leaf), unknown

    @cached_property
    def _window(self) -> tuple[int, int] | None:
        """Depth of the newest compaction on the path, and depth at which its kept range begins."""
        path = self._path
        if isinstance(path, PathTo):
            window = window_of(self.connection, self._epoch, path.rows.items(), self.cutoff)
            return None if window is None else (window.depth, window.kept_depth)
        if self.session.compaction_depth is None or self.session.kept_depth is None:
            return None
        return self.session.compaction_depth, self.session.kept_depth

    @property
    def _cut(self) -> bool:
        return self.cutoff < event_number(self._epoch, self.session.next_ord)

    @property
    def _epoch(self) -> int:
        assert self.session.epoch is not None
        return self.session.epoch

    def _origin(self, row: EventRow) -> int:
        found = self.connection.execute(
            "SELECT origin FROM segments WHERE segment = ?", (row.segment,)
        ).fetchone()
        return _core.ORIGIN_CYCLE if found is None else int(found[0])

    def _omitted(self, row: EventRow) -> bool:
        first = event_number(row.epoch, 0)
        edits = self.connection.execute(
            "SELECT e.segment, e.depth, r.detail FROM relationships r JOIN events e USING (event)"
            " WHERE r.reference = ? AND r.kind = ? AND r.event >= ? AND r.event < ?",
            (row.entry_id, _core.RELATIONSHIP_CONTEXT_EDIT, first, self.cutoff),
        )
        begins = 0 if self._window is None else self._window[1]
        effective = [
            (depth, detail)
            for segment, depth, detail in edits
            if begins <= (-1 if depth is None else depth) <= self._path.get(segment, -1)
        ]
        return bool(effective) and max(effective)[1] == _core.EDIT_OMITS
