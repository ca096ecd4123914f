"""Results of a search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pi_event_search.types.coverage import Coverage
from pi_event_search.types.shape import LOCAL, OPTIONAL, Shape
from pi_event_search.types.vocabulary import BranchState, SelectionState, SemanticKind


@dataclass(frozen=True, slots=True)
class TextRange(Shape):
    """Code points `start` (inclusive) to `end` (exclusive) of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Shape):
    """One event that matches, with its strongest fragment as evidence."""

    session_id: str
    session_name: str | None = field(default=None, metadata=OPTIONAL)
    cwd: str
    """Working directory recorded in the session's header; empty in old files without one."""
    entry_id: str
    entry_type: str
    """`type` as the record has it (`message`, `compaction`, ...)."""
    role: str | None = None
    """Role of a message; None for other entries."""
    matching_fragment_id: str
    """`<semantic kind>:<n>`, for `read` as `fragment_id`; empty for an event without text."""
    semantic_kind: SemanticKind | Literal[""]
    """Of the matching fragment; empty for an event without text."""
    tool_name: str | None = field(default=None, metadata=OPTIONAL)
    is_error: bool = field(default=False, metadata=OPTIONAL)
    custom_type: str | None = field(default=None, metadata=OPTIONAL)
    timestamp: str
    """ISO 8601 time as recorded; empty when the record has none."""
    branch_state: BranchState
    selection_state: SelectionState
    snippet: str
    """At most 240 code points of the fragment, white space runs made one space, `…` at cuts. Of an
    event without text the label it sets, or nothing."""
    highlights: tuple[TextRange, ...] = ()
    """What matched, in code points of `snippet`, ascending and disjoint."""
    matching_fragment_count: int
    """Fragments of this event that match, the shown one included; 0 for an event without text."""
    score: float = field(metadata=LOCAL)
    """Relevance; comparable within one page only. 0 for a search without words."""
    path: str = field(metadata=LOCAL)
    """The session file."""
    also_in: tuple[str, ...] = field(default=(), metadata=OPTIONAL)
    """At most 50 other sessions holding a fork copy of this same event."""
    also_in_total: int = field(default=0, metadata=OPTIONAL)
    """How many such sessions there are."""


@dataclass(frozen=True, slots=True)
class DiagnosticTerm(Shape):
    """How many events hold one term of the query by itself."""

    term: str
    """As typed."""
    events: int
    at_least: bool = field(default=False, metadata=OPTIONAL)
    """The count stopped at 1,000."""


@dataclass(frozen=True, slots=True)
class Diagnostics(Shape):
    """Why a search gave nothing, counted inside the caller's scope."""

    terms: tuple[DiagnosticTerm, ...]
    without_filters: int
    """Events that the words alone match, counted up to 1,000."""
    current_session_excluded: bool


@dataclass(frozen=True, slots=True)
class SearchPage(Shape):
    """The best hits of one search."""

    hits: tuple[Hit, ...]
    coverage: Coverage
    diagnostics: Diagnostics | None = field(default=None, metadata=OPTIONAL)
    """Only where there are no hits."""
