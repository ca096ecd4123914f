"""What an answer covers, and what a sync did."""

from __future__ import annotations

from dataclasses import dataclass, field

from pi_event_search.types.shape import OPTIONAL, Shape
from pi_event_search.types.vocabulary import ChangeKind, CoverageState


@dataclass(frozen=True, slots=True)
class CoverageProblem(Shape):
    """How often one kind of loss occurred in the caller's scope."""

    kind: str
    """A kebab-case word such as `malformed`, `unreadable`, `duplicate-session`."""
    count: int


@dataclass(frozen=True, slots=True)
class Problem(Shape):
    """Something of one source that the index does not hold."""

    path: str
    kind: str
    detail: str
    count: int


@dataclass(frozen=True, slots=True)
class Coverage(Shape):
    """How much of the history in the caller's scope the answer could draw on."""

    state: CoverageState
    """`partial`: a source is not indexed or cannot be observed; skipped records alone do not."""
    indexed_sessions: int
    discovered_sessions: int
    last_reconciled_at: str | None
    """ISO 8601 UTC time of the last finished look at the directories; None before the first."""
    pending_bytes: int
    """Bytes of sources seen but not indexed yet."""
    skipped_records: int
    """Records that gave no event."""
    problems: tuple[CoverageProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class SyncReport(Shape):
    """What one sync did. The first six fields count sessions."""

    discovered: int
    unchanged: int
    appended: int
    rebuilt: int
    """Read from the start: new sessions, and known ones whose file did more than grow."""
    removed: int
    failed: int
    """Sources that could not be read; what the index held of them stays."""
    bytes_read: int
    """Bytes read in order to be parsed."""
    probed_bytes: int
    """Bytes of the fixed-size reads that verify a changed file, at most 64 KiB each."""
    events_added: int
    duration_ms: int
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Change(Shape):
    """What became of one session file."""

    change: ChangeKind
    path: str
    session_id: str | None
    """None where no header could be read."""
    events_added: int = field(default=0, metadata=OPTIONAL)
    detail: str = field(default="", metadata=OPTIONAL)
    """What is wrong with a file that failed."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running sync is; totals are final from the first call on."""

    sessions_done: int
    sessions_total: int
    bytes_done: int
    bytes_total: int
