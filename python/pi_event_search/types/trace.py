"""The relationships around one event."""

from __future__ import annotations

from dataclasses import dataclass, field

from pi_event_search.types.event import EventRef, Node, TextPreview
from pi_event_search.types.shape import OPTIONAL, Shape
from pi_event_search.types.vocabulary import BranchState


@dataclass(frozen=True, slots=True)
class FileRef(Shape):
    """A file that an event touched."""

    file_ref: str
    """The path as the record has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge(Shape):
    """One relationship, and how it is known: just one of the three flags is usually set."""

    type: str
    """`parent`, `child`, `sibling`, `tool-result-for`, `compacts`, `branch-summary-from`,
    `context-edit`, `labels`, `session-parent`, `session-fork`, `file-changed` or `file-read`."""
    from_: EventRef
    """Of related edges, the event whose record refers to `to`; of a fork, where it began."""
    to: EventRef | FileRef
    recorded: bool
    """A record says so."""
    derived: bool
    """It follows from records, as two events sharing a parent are siblings."""
    inferred: bool
    """It is a reading of the evidence, as a file touched by a tool call."""
    detail: str | None = field(default=None, metadata=OPTIONAL)
    """Id of the tool call, text of the label (empty: cleared), `omit` or `replace` of an edit."""
    target_branch_state: BranchState | None = field(default=None, metadata=OPTIONAL)
    """Of `to`, unless it is a file."""
    leads_to_materialized_leaf: bool | None = field(default=None, metadata=OPTIONAL)
    """Of parent, children and siblings: whether reading on there arrives at the newest entry."""
    preview: TextPreview | None = field(default=None, metadata=OPTIONAL)
    """Of the end that is not the event the edge was reached from."""


@dataclass(frozen=True, slots=True)
class Trace(Shape):
    """The graph around one event: at most 20 children, 20 siblings and 50 related edges."""

    target: Node
    parent: Edge | None = field(default=None, metadata=OPTIONAL)
    children: tuple[Edge, ...] = ()
    """In append order."""
    branch_siblings: tuple[Edge, ...] = ()
    related: tuple[Edge, ...] = ()
    truncated: bool = False
    """A bound cut at least one list."""
