"""Trace: the bounded local relationship graph of one event."""

from __future__ import annotations

from pi_event_search.evidence import EMPTY_PREVIEW, NODE_PREVIEW_CHARS, stored_preview
from pi_event_search.neighbors import node, ref
from pi_event_search.store.rows import EventRow
from pi_event_search.types import Edge, Trace, TraceRequest
from pi_event_search.view import View

MAX_CHILDREN = 20
MAX_SIBLINGS = 20


def trace_event(view: View, request: TraceRequest) -> Trace:
    """Parent, children and branch siblings of an event.

    Parent and child edges are recorded (``parentId``); that two events share a parent is derived.

    :raises NotFound: the session or entry does not exist or must not be seen.
    """
    session = view.scope.resolve(request.session_id)
    row = view.find(session, request.entry_id)
    parent = view.parent(row)
    children = view.children(row, MAX_CHILDREN + 1)
    siblings = [] if parent is None else _siblings(view, parent, row)
    return Trace(
        target=node(view, row),
        parent=None if parent is None else _edge(view, "parent", row, parent),
        children=tuple(_edge(view, "child", row, child) for child in children[:MAX_CHILDREN]),
        branch_siblings=tuple(
            _edge(view, "sibling", row, sibling) for sibling in siblings[:MAX_SIBLINGS]
        ),
        related=(),
        truncated=len(children) > MAX_CHILDREN or len(siblings) > MAX_SIBLINGS,
    )


def _siblings(view: View, parent: EventRow, row: EventRow) -> list[EventRow]:
    family = view.children(parent, MAX_SIBLINGS + 2)
    return [sibling for sibling in family if sibling.event != row.event]


def _edge(view: View, kind: str, row: EventRow, other: EventRow) -> Edge:
    states = view.states(other)
    fragments = view.fragments(other)
    return Edge(
        type=kind,
        from_=ref(view, row),
        to=ref(view, other),
        recorded=kind != "sibling",
        derived=kind == "sibling",
        inferred=False,
        target_branch_state=states.branch(other),
        leads_to_materialized_leaf=states.branch(other) == "selected",
        preview=stored_preview(fragments[0], NODE_PREVIEW_CHARS) if fragments else EMPTY_PREVIEW,
    )
