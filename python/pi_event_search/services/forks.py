"""Forks from one session file into another, worked out when they are asked for.

Pi's fork and clone copy entries with their ids into a file whose header names the one they came
from. Where the copy of an event continues with an entry that the parent session lacks, history
forked: there and nowhere else. An event of the parent session is the one identity of such a place,
whichever of the files it is seen from; a fork of a fork has its own parent. Copies may hang on
another parent, because labels are left out of a clone's path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pi_event_search.access.view import View
from pi_event_search.store.rows import EventRow, SessionRow

LABEL = "label"
"""The entry type that a clone leaves out."""


class SessionFork(NamedTuple):
    """A place where the history of a session continues in other files too."""

    at: EventRow
    candidates: list[EventRow]
    chosen: EventRow | None


class Link(NamedTuple):
    """An event of a forked session with the one of its parent session that it stands for."""

    fork: EventRow
    parent: EventRow
    recorded: bool
    """The header says so of the sessions; for single events it follows from equal content."""


def forks_at(view: View, row: EventRow, chosen: EventRow | None) -> Iterator[SessionFork]:
    """The forks at an event and at the events it is a copy of, its own session's first.

    :param chosen: the entry that is read behind the event, if reading goes on.
    """
    at: EventRow | None = row
    seen: set[int] = set()
    while at is not None and at.epoch not in seen:
        seen.add(at.epoch)
        grown = view.grown_elsewhere(at, view.lineage.children(at.epoch))
        if grown:
            candidates = view.children(at) + grown
            known = {candidate.event for candidate in candidates}
            picked = chosen if chosen is not None and chosen.event in known else None
            yield SessionFork(at, candidates, picked)
        parent = view.lineage.parent(at.epoch)
        above = None if parent is None else view.twin(at, parent)
        if above is not None and chosen is not None and chosen.epoch == at.epoch:
            chosen = _child_above(view, above, chosen) or chosen
        at = above


def grown_from(view: View, row: EventRow) -> EventRow | None:
    """The event of the parent session behind which a fork began with this entry, if one did."""
    session = view.lineage.parent(row.epoch)
    before = None if session is None else view.parent(row)
    if session is None or before is None or view.twin(row, session) is not None:
        return None
    return view.twin(before, session)


def parent_link(view: View, row: EventRow) -> Link | None:
    """What a fork's first entry, or an entry behind which it grew, is in the parent session."""
    session = view.lineage.parent(row.epoch)
    if session is None:
        return None
    twin = view.twin(row, session)
    first = view.first(view.session(row))
    if first is not None and first.event == row.event:
        origin = view.first(session) if twin is None else twin
        return None if origin is None else Link(row, origin, recorded=True)
    if twin is None or not view.grown_elsewhere(twin, [view.session(row)]):
        return None
    return Link(row, twin, recorded=False)


def fork_links(view: View, row: EventRow, grown: list[EventRow]) -> Iterator[Link]:
    """The same links as seen from the parent session: from its forks to one of its events.

    :param grown: the entries with which forks continue the event.
    """
    forks = view.lineage.children(row.epoch)
    grew = {entry.epoch for entry in grown}
    begun = {entry.epoch: entry for entry in view.begun_with(row, forks)}
    first = view.first(view.session(row))
    for fork in forks:
        entry = begun.get(fork.epoch or 0)
        if entry is None and first is not None and first.event == row.event:
            entry = _begun_anew(view, fork, view.session(row))
        if entry is not None:
            yield Link(entry, row, recorded=True)
        copy = view.twin(row, fork) if fork.epoch in grew else None
        if copy is not None and (entry is None or copy.event != entry.event):
            yield Link(copy, row, recorded=False)


def _begun_anew(view: View, fork: SessionRow, session: SessionRow) -> EventRow | None:
    """The first entry of a fork, if it is none of the parent session's."""
    entry = view.first(fork)
    return None if entry is None or view.twin(entry, session) is not None else entry


def _child_above(view: View, above: EventRow, chosen: EventRow) -> EventRow | None:
    """The child of an event of the parent session through which the copy of an entry is reached.

    Between the two the parent session may have labels, which the fork left out.
    """
    at = view.twin(chosen, view.session(above))
    seen: set[int] = set()
    while at is not None and at.event not in seen:
        seen.add(at.event)
        before = view.parent(at)
        if before is None or before.event == above.event:
            return None if before is None else at
        at = before if before.entry_type == LABEL else None
    return None
