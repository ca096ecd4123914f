"""One event read back, with its neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pi_event_search.types.coverage import Coverage
from pi_event_search.types.search import TextRange
from pi_event_search.types.shape import LOCAL, OPTIONAL, Shape
from pi_event_search.types.vocabulary import (
    BranchState,
    ContextRole,
    ForkKind,
    OmissionKind,
    Order,
    Scalar,
    SelectionState,
    SemanticKind,
    SourceState,
)


@dataclass(frozen=True, slots=True)
class EventRef(Shape):
    """The identity of an event; an entry id alone names nothing, forks copy them."""

    session_id: str
    entry_id: str


@dataclass(frozen=True, slots=True)
class TextPreview(Shape):
    """A bounded part of a text, with what is shown and what is not."""

    text: str
    """The shown ranges in order; a visible marker stands where one joins the next."""
    total_chars: int
    """Code points of the full source text, in which both kinds of ranges count."""
    shown_ranges: tuple[TextRange, ...]
    omitted_ranges: tuple[TextRange, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Fragment(Shape):
    """One searchable part of an event."""

    fragment_id: str
    """`<semantic kind>:<n>`, n counting that kind within the entry from 0."""
    semantic_kind: SemanticKind
    preview: TextPreview
    tool_name: str | None = field(default=None, metadata=OPTIONAL)
    is_error: bool = field(default=False, metadata=OPTIONAL)
    custom_type: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class FragmentCoverage(Shape):
    """How many fragments the event has, and how many of them the answer holds."""

    total: int
    returned: int
    omitted: int
    truncated: bool
    """`omitted` is not 0."""


@dataclass(frozen=True, slots=True)
class Omission(Shape):
    """Parts of the record that are never indexed nor returned."""

    kind: OmissionKind
    count: int


@dataclass(frozen=True, slots=True)
class Node(Shape):
    """An event as seen from another one."""

    session_id: str
    entry_id: str
    entry_type: str
    timestamp: str
    branch_state: BranchState
    selection_state: SelectionState
    preview: TextPreview
    """Empty for entries without text."""


@dataclass(frozen=True, slots=True)
class ForkReceipt(Shape):
    """A place where the history continues in more than one way."""

    kind: ForkKind
    at: EventRef
    """For `session-fork` the event of the parent session."""
    candidates: tuple[EventRef, ...]
    chosen: EventRef | None = field(default=None, metadata=OPTIONAL)
    """The candidate that `after` follows; None where it stops."""


@dataclass(frozen=True, slots=True)
class Neighbors(Shape):
    """What stands before and after the event, both in the order of reading."""

    order: Order
    before: tuple[Node, ...] = ()
    after: tuple[Node, ...] = ()
    forks: tuple[ForkReceipt, ...] = ()


@dataclass(frozen=True, slots=True)
class Source(Shape):
    """Where the record stands in its session file."""

    state: SourceState
    """`exact`: the texts come from the file just now; else from what the index holds of them."""
    byte_start: int
    byte_end: int
    """Exclusive."""
    line: int
    """From 1."""
    path: str | None = field(default=None, metadata=OPTIONAL | LOCAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Shape):
    """One event in full, within budgets."""

    session_id: str
    entry_id: str
    entry_type: str
    timestamp: str
    """ISO 8601 time as recorded; empty when the record has none."""
    parent_id: str | None
    branch_state: BranchState
    selection_state: SelectionState
    role: str | None
    context_role: ContextRole
    label: str | None = field(default=None, metadata=OPTIONAL)
    """The label the event carries now."""
    attributes: Mapping[str, Scalar]
    """Small values of the record under its own names: `model`, `exitCode`, `stopReason`, ..."""
    fragments: tuple[Fragment, ...]
    fragment_coverage: FragmentCoverage
    omissions: tuple[Omission, ...]
    neighbors: Neighbors
    source: Source
    coverage: Coverage
