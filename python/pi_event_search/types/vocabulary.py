"""The closed sets of words in requests and results, as types and as the tuples checks use."""

from __future__ import annotations

from typing import Literal, get_args

SemanticKind = Literal[
    "user.text",
    "assistant.text",
    "tool.call",
    "tool.result",
    "bash.command",
    "bash.output",
    "summary.compaction",
    "summary.branch",
    "custom.message",
    "session.name",
]
BranchState = Literal["selected", "alternate", "unknown"]
"""`selected`: on the path from the root to the last materialized leaf."""
SelectionState = Literal["direct", "summarized", "not-selected", "not-applicable", "unknown"]
"""How the event takes part in the context of the selected path."""
ContextRole = Literal["conversation", "summary", "control", "metadata"]
Sort = Literal["relevance", "newest", "oldest"]
Order = Literal["branch", "append"]
"""`branch` follows parents and children; `append` the order of the records in the file."""
CoverageState = Literal["ready", "catching-up", "partial", "error"]
ChangeKind = Literal["added", "appended", "rebuilt", "removed", "failed"]
SessionState = Literal["ready", "stale", "error"]
SourceState = Literal["exact", "modified", "missing"]
OmissionKind = Literal["thinking", "image", "details", "system", "custom-state"]
ForkKind = Literal["in-session", "session-fork"]
Scalar = str | int | float | bool

SEMANTIC_KINDS: tuple[str, ...] = get_args(SemanticKind)
BRANCH_STATES: tuple[str, ...] = get_args(BranchState)
SELECTION_STATES: tuple[str, ...] = get_args(SelectionState)
SORTS: tuple[str, ...] = get_args(Sort)
ORDERS: tuple[str, ...] = get_args(Order)
