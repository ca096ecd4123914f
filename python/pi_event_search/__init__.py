"""Find out what happened in your Pi coding-agent history: events with provenance.

    with EventIndex.open() as index:
        index.sync()
        page = index.search("tantivy lock", invocation=Invocation(cwd="."))

Results are frozen objects with ``to_json()``; failures are drawn in
:mod:`pi_event_search.errors`.
"""

from typing import TYPE_CHECKING, Any

from pi_event_search.errors import (
    EventSearchError,
    IndexBusy,
    IndexProblem,
    InvalidArgument,
    InvalidQuery,
    NotFound,
)
from pi_event_search.types import (
    Change,
    Coverage,
    Event,
    Hit,
    Invocation,
    Lineage,
    Progress,
    SearchPage,
    SessionPage,
    Status,
    SyncReport,
    Trace,
)

if TYPE_CHECKING:
    from pi_event_search.index import EventIndex

__all__ = [
    "Change",
    "Coverage",
    "Event",
    "EventIndex",
    "EventSearchError",
    "Hit",
    "IndexBusy",
    "IndexProblem",
    "InvalidArgument",
    "InvalidQuery",
    "Invocation",
    "Lineage",
    "NotFound",
    "Progress",
    "SearchPage",
    "SessionPage",
    "Status",
    "SyncReport",
    "Trace",
]


def __getattr__(name: str) -> Any:
    """Loads the engines only when an index is used: the command line answers errors without."""
    if name == "EventIndex":
        from pi_event_search.index import EventIndex

        return EventIndex
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
