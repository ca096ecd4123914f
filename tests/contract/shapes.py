"""The JSON shapes of the contract, and a check that a document is exactly one of them.

A shape is a dict of keys; a key that ends in ``?`` may be absent, and is then absent rather than
null. Leaves are types, tuples of allowed values, or functions that say whether a value is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Shape = Any
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def optional_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def time(value: object) -> bool:
    return isinstance(value, str) and (value == "" or _ISO.fullmatch(value) is not None)


def optional_time(value: object) -> bool:
    return value is None or time(value)


def scalars(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str) and isinstance(item, str | int | float | bool)
        for name, item in value.items()
    )


KINDS = (
    "user.text", "assistant.text", "tool.call", "tool.result", "bash.command", "bash.output",
    "summary.compaction", "summary.branch", "custom.message", "session.name",
)  # fmt: skip
BRANCH = ("selected", "alternate", "unknown")
SELECTION = ("direct", "summarized", "not-selected", "not-applicable", "unknown")

RANGE = {"start": count, "end": count}
PREVIEW = {
    "text": str, "totalChars": count, "shownRanges": [RANGE], "omittedRanges": [RANGE],
    "truncated": bool,
}  # fmt: skip
COVERAGE = {
    "state": ("ready", "catching-up", "partial", "error"),
    "indexedSessions": count,
    "discoveredSessions": count,
    "lastReconciledAt": optional_time,
    "pendingBytes": count,
    "skippedRecords": count,
    "problems": [{"kind": str, "count": count}],
}
HIT = {
    "sessionId": str,
    "sessionName?": str,
    "cwd": str,
    "entryId": str,
    "entryType": str,
    "role": optional_text,
    # Both are empty for an event without text, which only filters can find.
    "matchingFragmentId": lambda v: v == "" or re.fullmatch(r"[a-z.]+:\d+", v) is not None,
    "semanticKind": ("", *KINDS),
    "toolName?": str,
    "isError?": (True,),
    "customType?": str,
    "timestamp": time,
    "branchState": BRANCH,
    "selectionState": SELECTION,
    "snippet": lambda v: isinstance(v, str) and len(v) <= 240,
    "highlights": [RANGE],
    "matchingFragmentCount": count,
    "score": number,
    "path": str,
    "alsoIn?": [str],
    "alsoInTotal?": count,
}
SEARCH = {
    "hits": [HIT],
    "coverage": COVERAGE,
    "diagnostics?": {
        "terms": [{"term": str, "events": count, "atLeast?": (True,)}],
        "withoutFilters": count,
        "currentSessionExcluded": bool,
    },
}
NODE = {
    "sessionId": str, "entryId": str, "entryType": str, "timestamp": time, "branchState": BRANCH,
    "selectionState": SELECTION, "preview": PREVIEW,
}  # fmt: skip
REF = {"sessionId": str, "entryId": str}
FORK = {
    "kind": ("in-session", "session-fork"), "at": REF, "candidates": [REF], "chosen?": REF,
}  # fmt: skip
READ = {
    "sessionId": str,
    "entryId": str,
    "entryType": str,
    "timestamp": time,
    "parentId": optional_text,
    "branchState": BRANCH,
    "selectionState": SELECTION,
    "role": optional_text,
    "contextRole": ("conversation", "summary", "control", "metadata"),
    "label?": str,
    "attributes": scalars,
    "fragments": [
        {
            "fragmentId": str,
            "semanticKind": KINDS,
            "toolName?": str,
            "isError?": (True,),
            "customType?": str,
            "preview": PREVIEW,
        }
    ],
    "fragmentCoverage": {"total": count, "returned": count, "omitted": count, "truncated": bool},
    "omissions": [
        {"kind": ("thinking", "image", "details", "system", "custom-state"), "count": count}
    ],
    "neighbors": {
        "order": ("branch", "append"), "before": [NODE], "after": [NODE], "forks": [FORK],
    },
    "source": {
        "state": ("exact", "modified", "missing"), "byteStart": count, "byteEnd": count,
        "line": count, "path": str,
    },
    "coverage": COVERAGE,
}  # fmt: skip
EDGE = {
    "type": str,
    "from": REF,
    "to": lambda v: set(v) in ({"sessionId", "entryId"}, {"fileRef"}),
    "recorded": bool,
    "derived": bool,
    "inferred": bool,
    "detail?": str,
    "targetBranchState?": BRANCH,
    "leadsToMaterializedLeaf?": bool,
    "preview?": PREVIEW,
}
TRACE = {
    "target": NODE, "parent?": EDGE, "children": [EDGE], "branchSiblings": [EDGE],
    "related": [EDGE], "truncated": bool,
}  # fmt: skip
SESSIONS = {
    "sessions": [
        {
            "sessionId": str,
            "name?": str,
            "cwd": str,
            "path": str,
            "createdAt": time,
            "lastActivityAt": time,
            "eventCount": count,
            "parentSessionId?": str,
            "forkCount": count,
            "state": ("ready", "stale", "error"),
        }
    ],
    "coverage": COVERAGE,
}
LINEAGE = {"sessionId": str, "parentSessionId?": str, "childSessionIds": [str]}
STATUS = {
    "index": {
        "path": str, "schemaVersion": count, "projectorVersion": count, "sizeBytes": count,
        "sessions": count, "events": count, "fragments": count,
    },
    "coverage": COVERAGE,
    "problems": [{"path": str, "kind": str, "detail": str, "count": count}],
}  # fmt: skip
SYNC = {
    "discovered": count, "unchanged": count, "appended": count, "rebuilt": count, "removed": count,
    "failed": count, "bytesRead": count, "probedBytes": count, "eventsAdded": count,
    "durationMs": count, "coverage": COVERAGE,
}  # fmt: skip


def check(document: Any, shape: Shape, at: str = "$") -> None:
    """Fails with the place of the first thing that is not as the shape says."""
    if isinstance(shape, dict):
        assert isinstance(document, dict), at
        required = {key for key in shape if not key.endswith("?")}
        allowed = {key.rstrip("?") for key in shape}
        assert required <= set(document) <= allowed, (
            f"{at}: {sorted(set(document) ^ required)} beside what is required"
        )
        for key, value in document.items():
            check(value, shape.get(key, shape.get(f"{key}?")), f"{at}.{key}")
    elif isinstance(shape, list):
        assert isinstance(document, list), at
        for place, item in enumerate(document):
            check(item, shape[0], f"{at}[{place}]")
    elif isinstance(shape, tuple):
        assert document in shape, f"{at}: {document!r}"
    elif isinstance(shape, type):
        assert type(document) is shape, f"{at}: {document!r}"
    else:
        test: Callable[[Any], bool] = shape
        assert test(document), f"{at}: {document!r}"


def optional_keys(shape: Shape, at: str = "$") -> set[str]:
    """The places of all keys that may be absent."""
    if isinstance(shape, list):
        return optional_keys(shape[0], at)
    if not isinstance(shape, dict):
        return set()
    own = {f"{at}.{key.rstrip('?')}" for key in shape if key.endswith("?")}
    below = (optional_keys(value, f"{at}.{key.rstrip('?')}") for key, value in shape.items())
    return own.union(*below)


def present_keys(document: Any, at: str = "$") -> set[str]:
    """The places of all keys a document has."""
    if isinstance(document, list):
        return set[str]().union(*(present_keys(item, at) for item in document))
    if not isinstance(document, dict):
        return set()
    own = {f"{at}.{key}" for key in document}
    return own.union(*(present_keys(value, f"{at}.{key}") for key, value in document.items()))
