"""Sessions, their lineage, and the index itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from pi_event_search.types.coverage import Coverage, Problem
from pi_event_search.types.shape import LOCAL, OPTIONAL, Shape
from pi_event_search.types.vocabulary import SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary(Shape):
    """One session of the list."""

    session_id: str
    name: str | None = field(default=None, metadata=OPTIONAL)
    cwd: str
    path: str = field(metadata=LOCAL)
    created_at: str
    last_activity_at: str
    event_count: int
    parent_session_id: str | None = field(default=None, metadata=OPTIONAL)
    fork_count: int
    """Sessions that name this one as their parent, among those the caller may see."""
    state: SessionState
    """`stale`: the file changed and is not indexed anew yet. `error`: it cannot be read."""


@dataclass(frozen=True, slots=True)
class SessionPage(Shape):
    """Sessions, the newest activity first."""

    sessions: tuple[SessionSummary, ...]
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Lineage(Shape):
    """Where a session was forked from, and what was forked from it."""

    session_id: str
    child_session_ids: tuple[str, ...]
    parent_session_id: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class IndexFacts(Shape):
    """What the index is and holds, whatever the caller's scope."""

    path: str
    schema_version: int
    projector_version: int
    size_bytes: int
    sessions: int
    events: int
    fragments: int


@dataclass(frozen=True, slots=True)
class Status(Shape):
    """What is indexed, and what is not and why."""

    index: IndexFacts
    coverage: Coverage
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification(Shape):
    """The index compared with one built afresh."""

    equal: bool
    sessions: int
    events: int
    differences: tuple[str, ...] = ()
    """One sentence each."""
