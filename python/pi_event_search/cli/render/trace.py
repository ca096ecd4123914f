"""The relationships of one event as a small tree."""

from __future__ import annotations

from collections.abc import Sequence

from pi_event_search.cli.render.event import brief
from pi_event_search.cli.render.screen import FAINT, ID, STRONG, Part, Screen
from pi_event_search.cli.render.words import when
from pi_event_search.types.event import EventRef, Node
from pi_event_search.types.trace import Edge, FileRef, Trace


def render_trace(trace: Trace, screen: Screen) -> None:
    """The event, and under it its edges by group."""
    target = trace.target
    screen.line(
        (target.entry_type, STRONG),
        f" · {when(target.timestamp, screen.now, screen.zone)}",
        (f" · {target.branch_state}, {target.selection_state}", FAINT),
        hang=2,
    )
    screen.ids((target.session_id, ID), " ", (target.entry_id, ID))
    if target.preview.text:
        screen.row(brief(target.preview))
    groups = [
        ("parent", (trace.parent,) if trace.parent else ()),
        ("children", trace.children),
        ("siblings, by the same parent", trace.branch_siblings),
        ("related", trace.related),
    ]
    filled = [(title, edges) for title, edges in groups if edges]
    for at, (title, edges) in enumerate(filled):
        _group(title, edges, target, screen, last=at == len(filled) - 1)
    if not filled:
        screen.line(("└─ nothing is related to it", FAINT))
    if trace.truncated:
        screen.line(("There are more; only the first of them are listed.", FAINT))


def _group(title: str, edges: Sequence[Edge], target: Node, screen: Screen, *, last: bool) -> None:
    screen.line(("└─ " if last else "├─ ", FAINT), (title, STRONG))
    trunk = "   " if last else "│  "
    for number, edge in enumerate(edges, start=1):
        branch = "└─ " if number == len(edges) else "├─ "
        screen.row((trunk + branch, FAINT), *_edge(edge, target))


def _edge(edge: Edge, target: Node) -> list[Part]:
    here = EventRef(target.session_id, target.entry_id)
    parts: list[Part] = []
    if edge.type not in ("parent", "child", "sibling", "branch-sibling"):
        parts.append(f"{edge.type} ")
    if edge.from_ == here:
        parts.append(_end(edge.to, here))
    elif edge.to == here:
        parts += [("from ", FAINT), _end(edge.from_, here)]
    else:
        parts += [_end(edge.from_, here), (" → ", FAINT), _end(edge.to, here)]
    if edge.inferred:
        parts.append((" inferred", FAINT))
    if edge.target_branch_state and edge.to != here:
        parts.append((f" · {edge.target_branch_state}", FAINT))
    if edge.leads_to_materialized_leaf:
        parts.append((" · towards the leaf", FAINT))
    if edge.detail:
        parts.append((f" · {edge.detail}", FAINT))
    if edge.preview is not None and edge.preview.text:
        parts.append(f"  {brief(edge.preview, 100)}")
    return parts


def _end(end: EventRef | FileRef, here: EventRef) -> Part:
    if isinstance(end, FileRef):
        return end.file_ref, STRONG
    same = end.session_id == here.session_id
    return (end.entry_id if same else f"{end.session_id} {end.entry_id}"), ID
