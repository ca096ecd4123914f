"""What an event is on the branches of its session, as Pi 1.6.0 itself resolves them.

Two facts an event: its branch state (is it on the path from the root to the materialized leaf?)
and its selection state (does it reach the model in the next request on that path?). Both are
comparisons on the immutable place of an event; nothing is stored with the event.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import cached_property

from pi_event_search import _core
from pi_event_search.store.rows import DETACHED, IDLESS, EventRow, SessionRow
from pi_event_search.store.schema import epoch_range, event_number
from pi_event_search.types.vocabulary import BranchState, SelectionState


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
        if row.segment is None or row.depth is None:
            return False
        return row.depth <= self._path.get(row.segment, -1)

    def _unplaced(self, row: EventRow) -> bool:
        return bool(self.session.leaf_unknown or row.flags & (DETACHED | IDLESS))

    @cached_property
    def _path(self) -> dict[int, int]:
        assert self.session.epoch is not None
        return dict(
            self.connection.execute(
                "SELECT segment, upto FROM path WHERE segment BETWEEN ? AND ?",
                epoch_range(self.session.epoch),
            )
        )

    @cached_property
    def _window(self) -> tuple[int, int] | None:
        """Depth of the newest compaction on the path, and depth at which its kept range begins."""
        if self.session.compaction_depth is None or self.session.kept_depth is None:
            return None
        return self.session.compaction_depth, self.session.kept_depth

    def _origin(self, row: EventRow) -> int:
        found = self.connection.execute(
            "SELECT origin FROM segments WHERE segment = ?", (row.segment,)
        ).fetchone()
        return _core.ORIGIN_CYCLE if found is None else int(found[0])

    def edit(self, entry_id: str) -> tuple[int, str] | None:
        """The context edit that counts for an entry: its event number, and what it does.

        It lies on the path inside the range that is still sent; the last such one counts.
        """
        assert self.session.epoch is not None
        edits = self.connection.execute(
            "SELECT e.segment, e.depth, e.event, r.detail"
            " FROM relationships r JOIN events e USING (event)"
            " WHERE r.reference = ? AND r.kind = ? AND r.event >= ? AND r.event < ?",
            (
                entry_id,
                _core.RELATIONSHIP_CONTEXT_EDIT,
                event_number(self.session.epoch, 0),
                self.cutoff,
            ),
        )
        begins = 0 if self._window is None else self._window[1]
        effective = [
            (depth, event, detail)
            for segment, depth, event, detail in edits
            if begins <= (-1 if depth is None else depth) <= self._path.get(segment, -1)
        ]
        return max(effective)[1:] if effective else None

    def _omitted(self, row: EventRow) -> bool:
        edit = self.edit(row.entry_id)
        return edit is not None and edit[1] == _core.EDIT_OMITS
