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
    """`parent`, `child`, `sibling`, `tool-result-for`, `compacts`, `labels`, `file-read`, ..."""
    from_: EventRef
    to: EventRef | FileRef
    recorded: bool
    """A record says so."""
    derived: bool
    """It follows from records, as two events sharing a parent are siblings."""
    inferred: bool
    """It is a reading of the evidence, as a file touched by a tool call."""
    detail: str | None = field(default=None, metadata=OPTIONAL)
    target_branch_state: BranchState | None = field(default=None, metadata=OPTIONAL)
    leads_to_materialized_leaf: bool | None = field(default=None, metadata=OPTIONAL)
    preview: TextPreview | None = field(default=None, metadata=OPTIONAL)


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
