"""The neighbours of an event: what led to it and what followed, on its branch or in its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pi_event_search.access.view import View
from pi_event_search.services.evidence import timestamp_of
from pi_event_search.services.forks import forks_at
from pi_event_search.services.previews import node_preview
from pi_event_search.store.rows import EventRow
from pi_event_search.types.event import EventRef, ForkReceipt, Neighbors, Node
from pi_event_search.types.requests import ReadRequest
from pi_event_search.types.vocabulary import ForkKind


def neighbors_of(view: View, row: EventRow, request: ReadRequest) -> Neighbors:
    """The neighbours a read asks for, with a receipt for every fork crossed or met."""
    if request.order == "append":
        before = view.before_in_file(row, request.before)
        after = view.after_in_file(row, request.after)
        return Neighbors("append", _nodes(view, before), _nodes(view, after))
    before, crossed = _predecessors(view, row, request.before)
    after, met = _successors(view, row, request.after)
    return Neighbors("branch", _nodes(view, before), _nodes(view, after), (*crossed, *met))


def ref(view: View, row: EventRow) -> EventRef:
    """The identity of an event."""
    return EventRef(str(view.session(row).session_id), row.entry_id)


def node(view: View, row: EventRow) -> Node:
    """An event as seen from another one: metadata and a small preview."""
    states = view.states(row)
    return Node(
        session_id=str(view.session(row).session_id),
        entry_id=row.entry_id,
        entry_type=row.entry_type,
        timestamp=timestamp_of(row),
        branch_state=states.branch(row),
        selection_state=states.selection(row),
        preview=node_preview(view.first_fragment(row)),
    )


def _predecessors(
    view: View, row: EventRow, count: int
) -> tuple[list[EventRow], list[ForkReceipt]]:
    """The nearest ancestors, the farthest first, and the forks between them and the event."""
    found: list[EventRow] = []
    forks: list[ForkReceipt] = []
    at, seen = row, {row.event}
    while len(found) < count:
        parent = view.parent(at)
        if parent is None or parent.event in seen:
            break
        forks[:0] = _receipts(view, parent, view.children(parent), at)
        found.append(parent)
        seen.add(parent.event)
        at = parent
    return found[::-1], forks


def _successors(view: View, row: EventRow, count: int) -> tuple[list[EventRow], list[ForkReceipt]]:
    """The events that follow on the branch, and the forks on the way."""
    found: list[EventRow] = []
    forks: list[ForkReceipt] = []
    at, seen = row, {row.event}
    while len(found) < count:
        children = view.children(at)
        chosen = _continuation(view, at, children)
        forks += _receipts(view, at, children, chosen)
        if chosen is None or chosen.event in seen:
            break
        found.append(chosen)
        seen.add(chosen.event)
        at = chosen
    return found, forks


def _continuation(view: View, row: EventRow, children: Sequence[EventRow]) -> EventRow | None:
    """Where a branch read goes on: the child on the selected path, else a sole child.

    At a fork off the path nothing is chosen: reading on would guess.
    """
    if view.states(row).on_path(row):
        return view.towards_leaf(row)
    return children[0] if len(children) == 1 else None


def _receipts(
    view: View, at: EventRow, children: Sequence[EventRow], chosen: EventRow | None
) -> Iterator[ForkReceipt]:
    """The forks at an event: in its own session, then into others."""
    if len(children) > 1:
        yield _receipt(view, "in-session", at, children, chosen)
    for fork in forks_at(view, at, chosen):
        yield _receipt(view, "session-fork", *fork)


def _receipt(
    view: View,
    kind: ForkKind,
    at: EventRow,
    candidates: Sequence[EventRow],
    chosen: EventRow | None,
) -> ForkReceipt:
    return ForkReceipt(
        kind=kind,
        at=ref(view, at),
        candidates=tuple(ref(view, candidate) for candidate in candidates),
        chosen=None if chosen is None else ref(view, chosen),
    )


def _nodes(view: View, rows: Sequence[EventRow]) -> tuple[Node, ...]:
    return tuple(node(view, row) for row in rows)
