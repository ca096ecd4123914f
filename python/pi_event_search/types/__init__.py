"""Everything that goes into the services and comes out of them."""

from pi_event_search.types.coverage import Change, Coverage, CoverageProblem, Progress, SyncReport
from pi_event_search.types.event import (
    Event,
    EventRef,
    ForkReceipt,
    Fragment,
    FragmentCoverage,
    Neighbors,
    Node,
    Omission,
    Source,
    TextPreview,
)
from pi_event_search.types.requests import (
    Invocation,
    ReadRequest,
    SearchRequest,
    SessionsRequest,
    TraceRequest,
)
from pi_event_search.types.search import (
    Diagnostics,
    DiagnosticTerm,
    Hit,
    SearchPage,
    TextRange,
)
from pi_event_search.types.sessions import (
    IndexFacts,
    Lineage,
    Problem,
    SessionPage,
    SessionSummary,
    Status,
    Verification,
)
from pi_event_search.types.trace import Edge, FileRef, Trace

__all__ = [
    "Change",
    "Coverage",
    "CoverageProblem",
    "DiagnosticTerm",
    "Diagnostics",
    "Edge",
    "Event",
    "EventRef",
    "FileRef",
    "ForkReceipt",
    "Fragment",
    "FragmentCoverage",
    "Hit",
    "IndexFacts",
    "Invocation",
    "Lineage",
    "Neighbors",
    "Node",
    "Omission",
    "Problem",
    "Progress",
    "ReadRequest",
    "SearchPage",
    "SearchRequest",
    "SessionPage",
    "SessionSummary",
    "SessionsRequest",
    "Source",
    "Status",
    "SyncReport",
    "TextPreview",
    "TextRange",
    "Trace",
    "TraceRequest",
    "Verification",
]
