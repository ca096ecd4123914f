"""Trace: the bounded local relationship graph of one event."""

from __future__ import annotations

from pi_event_search.access.view import View
from pi_event_search.services.neighbors import node, ref
from pi_event_search.services.previews import node_preview
from pi_event_search.services.relations import Relation, relations_of
from pi_event_search.store.rows import EventRow
from pi_event_search.types.requests import TraceRequest
from pi_event_search.types.trace import Edge, FileRef, Trace

MAX_CHILDREN = 20
MAX_SIBLINGS = 20
MAX_RELATED = 50


def trace_event(view: View, request: TraceRequest) -> Trace:
    """Parent, children and branch siblings of an event, and what else it is related to.

    :raises NotFound: the session or entry does not exist or must not be seen.
    """
    session = view.scope.resolve(request.session_id)
    row = view.find(session, request.entry_id)
    parent = view.parent(row)
    children, more_children = _family(view, row, None, MAX_CHILDREN)
    siblings, more_siblings = _family(view, parent, row, MAX_SIBLINGS)
    related, more_related = _related(view, row, request.depth)
    return Trace(
        target=node(view, row),
        parent=None if parent is None else _adjacent(view, "parent", row, parent),
        children=tuple(_adjacent(view, "child", row, child) for child in children),
        branch_siblings=tuple(_adjacent(view, "sibling", row, sibling) for sibling in siblings),
        related=related,
        truncated=more_children or more_siblings or more_related,
    )


def _family(
    view: View, parent: EventRow | None, without: EventRow | None, limit: int
) -> tuple[list[EventRow], bool]:
    """The first children of an event, and whether there are more than are given.

    The one towards the materialized leaf is always among them.
    """
    if parent is None:
        return [], False
    spared = None if without is None else without.event
    found = [row for row in view.children(parent, limit + 2) if row.event != spared]
    if len(found) <= limit:
        return found, False
    leading = view.towards_leaf(parent)
    shown = found[:limit]
    if leading is not None and leading.event != spared and leading not in shown:
        shown[-1] = leading
    return shown, True


def _adjacent(view: View, kind: str, row: EventRow, other: EventRow) -> Edge:
    """An edge of the tree. Parents are recorded; that two events share one is derived.

    Towards the materialized leaf one goes down, so a parent never leads there.
    """
    states = view.states(other)
    return Edge(
        type=kind,
        from_=ref(view, row),
        to=ref(view, other),
        recorded=kind != "sibling",
        derived=kind == "sibling",
        inferred=False,
        target_branch_state=states.branch(other),
        leads_to_materialized_leaf=kind != "parent" and states.on_path(other),
        preview=node_preview(view.first_fragment(other)),
    )


def _related(view: View, row: EventRow, depth: int) -> tuple[tuple[Edge, ...], bool]:
    """Related edges up to some steps away, and whether there are more than are given.

    The nearest come first. Each event is looked at once, so that cycles end.
    """
    edges: list[Edge] = []
    listed: set[tuple[str, int, int | str]] = set()
    reached = {row.event}
    frontier = [row]
    for _ in range(depth):
        following: list[EventRow] = []
        for at in frontier:
            for relation in relations_of(view, at, MAX_RELATED + 1):
                if relation.key in listed:
                    continue
                if len(edges) == MAX_RELATED:
                    return tuple(edges), True
                listed.add(relation.key)
                edges.append(_edge(view, relation, at))
                other = relation.other_than(at)
                if other is not None and other.event not in reached:
                    reached.add(other.event)
                    following.append(other)
        frontier = following
    return tuple(edges), False


def _edge(view: View, relation: Relation, seen_from: EventRow) -> Edge:
    """A related edge, with the beginning of the event at its far end."""
    other = relation.other_than(seen_from)
    target = relation.target
    return Edge(
        type=relation.type,
        from_=ref(view, relation.source),
        to=FileRef(target) if isinstance(target, str) else ref(view, target),
        recorded=relation.known == "recorded",
        derived=relation.known == "derived",
        inferred=relation.known == "inferred",
        detail=relation.detail,
        target_branch_state=(
            None if isinstance(target, str) else view.states(target).branch(target)
        ),
        preview=None if other is None else node_preview(view.first_fragment(other)),
    )
