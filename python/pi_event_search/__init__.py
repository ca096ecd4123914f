"""Find out what happened in your Pi coding-agent history: events with provenance.

    with EventIndex.open() as index:
        index.sync()
        page = index.search("tantivy lock", invocation=Invocation(cwd="."))

Results are frozen objects with ``to_json()``; failures are drawn in
:mod:`pi_event_search.errors`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pi_event_search.errors import (
    EventSearchError,
    IndexBusy,
    IndexProblem,
    InvalidArgument,
    InvalidQuery,
    NotFound,
)

if TYPE_CHECKING:
    from pi_event_search.index import EventIndex
    from pi_event_search.types.coverage import Change, Coverage, Progress, SyncReport
    from pi_event_search.types.event import Event
    from pi_event_search.types.requests import Invocation
    from pi_event_search.types.search import Hit, SearchPage
    from pi_event_search.types.sessions import Lineage, SessionPage, Status
    from pi_event_search.types.trace import Trace

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


_HOMES = {
    "index": ("EventIndex",),
    "types.coverage": ("Change", "Coverage", "Progress", "SyncReport"),
    "types.event": ("Event",),
    "types.requests": ("Invocation",),
    "types.search": ("Hit", "SearchPage"),
    "types.sessions": ("Lineage", "SessionPage", "Status"),
    "types.trace": ("Trace",),
}


def __getattr__(name: str) -> Any:
    """Loads a public name when it is first asked for: the command line needs few of them, and
    answers mistakes without the engines."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
