"""What an event is on the branches of its session, as Pi 1.6.0 itself resolves them.

Two facts an event: its branch state (is it on the path from the root to the materialized leaf?)
and its selection state (does it reach the model in the next request on that path?). Both are
comparisons on the immutable place of an event; nothing is stored with the event.

The session that asks is looked at as of the asking: its leaf is then the asking entry, and nothing
behind that entry says anything, neither by being the leaf nor as a compaction, an edit or a parent.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pi_event_search import _core
from pi_event_search.access.path import Path, PathTo, Place, StoredPath
from pi_event_search.store.compactions import compactions_of
from pi_event_search.store.rows import DETACHED, IDLESS, EventRow, SessionRow
from pi_event_search.store.schema import BY_REFERENCE, epoch_range
from pi_event_search.types.vocabulary import BranchState, SelectionState

_MANY = 500


class Edit(NamedTuple):
    """A context edit: the place and the number of its entry, and what it does."""

    segment: int | None
    depth: int | None
    event: int
    detail: str


class SessionStates:
    """States of the events of one session, as of an exclusive ``cutoff`` event number.

    :param stored: the paths to the materialized leaves, shared by the sessions of one question.
    """

    def __init__(
        self, connection: sqlite3.Connection, session: SessionRow, cutoff: int, stored: StoredPath
    ) -> None:
        assert session.epoch is not None
        self.connection = connection
        self.session = session
        self.cutoff = cutoff
        self.stored = stored
        self._numbers = epoch_range(session.epoch)
        """First and last number of the session's events and segments."""
        self._edits: dict[str, list[Edit]] = {}
        self._is_cut = cutoff <= self._numbers[1]
        """Whether this is the session that asks."""
        self._asking = self._asking_place() if self._is_cut else None
        """The place of the asking entry; ``None`` when it has none or nothing is known of it."""
        self._leaf_unknown = self._asking is None if self._is_cut else bool(session.leaf_unknown)
        self._path: Path = PathTo(connection, self._asking) if self._is_cut else stored
        self._window = self._window_before_cutoff() if self._is_cut else self._stored_window()
        """Depth of the newest compaction on the path, and depth at which its kept range begins."""

    def branch(self, row: EventRow) -> BranchState:
        """``selected``, ``alternate`` or ``unknown``."""
        if self._unplaced(row):
            return "unknown"
        if self.on_path(row):
            return "selected"
        return "alternate" if self.stored.origin(row.segment) == _core.ORIGIN_ROOT else "unknown"

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
        return row.depth is not None and row.depth <= self._path.upto(row.segment)

    def after(self, row: EventRow) -> Place | None:
        """Where the path goes on behind an event on it; ``None`` at the materialized leaf."""
        if row.segment is None or row.depth is None:
            return None
        return self._path.after(Place(row.segment, row.depth))

    def _unplaced(self, row: EventRow) -> bool:
        return self._leaf_unknown or bool(row.flags & (DETACHED | IDLESS))

    def _asking_place(self) -> Place | None:
        found = self.connection.execute(
            "SELECT segment, depth, flags FROM events WHERE event = ?", (self.cutoff,)
        ).fetchone()
        if found is None or found[0] is None or found[2] & (DETACHED | IDLESS):
            return None
        if self.stored.origin(found[0]) == _core.ORIGIN_CYCLE or self._rearranged():
            return None
        return Place(found[0], found[1])

    def _rearranged(self) -> bool:
        """Whether an entry behind the cutoff is the parent of one before it, or of the asking one.

        The stored tree knows the whole file. Only in a damaged one can a later record have changed
        how earlier ones hang together; how they hung before is not known then.
        """
        if not self.session.irregular:
            return False
        found = self.connection.execute(
            "SELECT 1 FROM events c JOIN events p ON p.entry_id = c.parent_id"
            " AND p.event BETWEEN ? AND ?"
            " WHERE c.event BETWEEN ? AND ? LIMIT 1",
            (self.cutoff, self._numbers[1], self._numbers[0], self.cutoff),
        ).fetchone()
        return found is not None

    def _stored_window(self) -> tuple[int, int] | None:
        session = self.session
        if session.compaction_depth is None or session.kept_depth is None:
            return None
        return session.compaction_depth, session.kept_depth

    def _window_before_cutoff(self) -> tuple[int, int] | None:
        assert isinstance(self._path, PathTo)
        first = self._numbers[0]
        segments = self._path.segments.items()
        steps = [(segment - first, upto) for segment, upto in reversed(segments)]
        known = compactions_of(self.connection, first, self.cutoff - 1, first)
        window = _core.window(steps, [(c.place, c.kept) for c in known])
        return None if window is None else (window[0][1], window[1])

    def learn_edits(self, edits: Mapping[str, list[Edit]]) -> None:
        """Takes what was looked up for many entries at once: all edits of each of them."""
        self._edits.update(edits)

    @property
    def reach(self) -> tuple[int, int]:
        """The event numbers whose records count: the first, and the one behind."""
        return self._numbers[0], self.cutoff

    def edit(self, entry_id: str) -> tuple[int, str] | None:
        """The context edit that counts for an entry: its event number, and what it does.

        It lies on the path inside the range that is still sent; the last such one counts.
        """
        edits = self._edits.get(entry_id)
        if edits is None:
            [edits] = edits_of(self.connection, [(entry_id, *self.reach)])
        begins = 0 if self._window is None else self._window[1]
        effective = [
            (depth, event, detail)
            for segment, depth, event, detail in edits
            if begins <= (-1 if depth is None else depth) <= self._path.upto(segment)
        ]
        return max(effective)[1:] if effective else None

    def _omitted(self, row: EventRow) -> bool:
        edit = self.edit(row.entry_id)
        return edit is not None and edit[1] == _core.EDIT_OMITS


def edits_of(
    connection: sqlite3.Connection, wanted: Sequence[tuple[str, int, int]]
) -> list[list[Edit]]:
    """The context edits of some entries, each given by its id and the reach of its session."""
    found: list[list[Edit]] = [[] for _ in wanted]
    for start in range(0, len(wanted), _MANY):
        some = [(number, *entry) for number, entry in enumerate(wanted[start : start + _MANY])]
        for number, *edit in connection.execute(
            "WITH wanted (number, entry, first, behind) AS"
            f" (VALUES {', '.join(['(?, ?, ?, ?)'] * len(some))})"
            " SELECT w.number, e.segment, e.depth, e.event, r.detail"
            " FROM wanted w CROSS JOIN relationships r ON r.reference = w.entry"
            f" AND r.kind = {_core.RELATIONSHIP_CONTEXT_EDIT} AND r.{BY_REFERENCE}"
            " AND r.event >= w.first AND r.event < w.behind"
            " CROSS JOIN events e ON e.event = r.event",
            [value for entry in some for value in entry],
        ):
            found[start + number].append(Edit(*edit))
    return found
