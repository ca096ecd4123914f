"""JSON shapes of results."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from pi_event_search.types import coverage, event, requests, search, sessions, trace
from pi_event_search.types.coverage import Change, Coverage, CoverageProblem, Problem, SyncReport
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
from pi_event_search.types.search import Diagnostics, DiagnosticTerm, Hit, SearchPage, TextRange
from pi_event_search.types.sessions import (
    IndexFacts,
    Lineage,
    SessionPage,
    SessionSummary,
    Status,
    Verification,
)
from pi_event_search.types.shape import Shape, camel_case
from pi_event_search.types.trace import Edge, FileRef, Trace

KINDS: list[Any] = [
    kind
    for module in (coverage, event, requests, search, sessions, trace)
    for kind in vars(module).values()
    if dataclasses.is_dataclass(kind) and kind.__module__ == module.__name__
]
COVERAGE = Coverage("partial", 1, 2, None, 30, 4, (CoverageProblem("malformed", 4),))
COVERAGE_JSON = {
    "state": "partial",
    "indexedSessions": 1,
    "discoveredSessions": 2,
    "lastReconciledAt": None,
    "pendingBytes": 30,
    "skippedRecords": 4,
    "problems": [{"kind": "malformed", "count": 4}],
}
PREVIEW = TextPreview("ab", 9, (TextRange(0, 2),), (TextRange(2, 9),), True)
PREVIEW_JSON = {
    "text": "ab",
    "totalChars": 9,
    "shownRanges": [{"start": 0, "end": 2}],
    "omittedRanges": [{"start": 2, "end": 9}],
    "truncated": True,
}
NODE = Node("s", "e", "message", "t", "selected", "direct", PREVIEW)
NODE_JSON = {
    "sessionId": "s",
    "entryId": "e",
    "entryType": "message",
    "timestamp": "t",
    "branchState": "selected",
    "selectionState": "direct",
    "preview": PREVIEW_JSON,
}
BARE_HIT = Hit(
    session_id="s",
    cwd="/w",
    entry_id="e",
    entry_type="compaction",
    matching_fragment_id="summary.compaction:0",
    semantic_kind="summary.compaction",
    timestamp="t",
    branch_state="unknown",
    selection_state="unknown",
    snippet="x",
    matching_fragment_count=1,
    score=0.5,
    path="/s/a.jsonl",
)
BARE_HIT_JSON: dict[str, Any] = {
    "sessionId": "s",
    "cwd": "/w",
    "entryId": "e",
    "entryType": "compaction",
    "role": None,
    "matchingFragmentId": "summary.compaction:0",
    "semanticKind": "summary.compaction",
    "timestamp": "t",
    "branchState": "unknown",
    "selectionState": "unknown",
    "snippet": "x",
    "highlights": [],
    "matchingFragmentCount": 1,
    "score": 0.5,
    "path": "/s/a.jsonl",
}
FULL_HIT = dataclasses.replace(
    BARE_HIT,
    session_name="n",
    role="toolResult",
    tool_name="bash",
    is_error=True,
    custom_type="c",
    highlights=(TextRange(0, 1),),
    also_in=("o",),
    also_in_total=2,
)
FULL_HIT_JSON = BARE_HIT_JSON | {
    "sessionName": "n",
    "role": "toolResult",
    "toolName": "bash",
    "isError": True,
    "customType": "c",
    "highlights": [{"start": 0, "end": 1}],
    "alsoIn": ["o"],
    "alsoInTotal": 2,
}
HERE, THERE = EventRef("s", "e"), EventRef("s", "f")
HERE_JSON, THERE_JSON = ({"sessionId": "s", "entryId": key} for key in "ef")
EDGE = Edge(type="child", from_=HERE, to=THERE, recorded=True, derived=False, inferred=False)
EDGE_JSON = {
    "type": "child",
    "from": HERE_JSON,
    "to": THERE_JSON,
    "recorded": True,
    "derived": False,
    "inferred": False,
}
BARE_EVENT = Event(
    session_id="s",
    entry_id="e",
    entry_type="message",
    timestamp="t",
    parent_id=None,
    branch_state="selected",
    selection_state="direct",
    role=None,
    context_role="conversation",
    attributes={"exitCode": 1, "snake_key": True},
    fragments=(Fragment("user.text:0", "user.text", PREVIEW),),
    fragment_coverage=FragmentCoverage(2, 1, 1, True),
    omissions=(Omission("image", 1),),
    neighbors=Neighbors("append", (NODE,), (), (ForkReceipt("in-session", HERE, (THERE,)),)),
    source=Source("exact", 1, 2, 3),
    coverage=COVERAGE,
)
BARE_EVENT_JSON = {
    "sessionId": "s",
    "entryId": "e",
    "entryType": "message",
    "timestamp": "t",
    "parentId": None,
    "branchState": "selected",
    "selectionState": "direct",
    "role": None,
    "contextRole": "conversation",
    "attributes": {"exitCode": 1, "snake_key": True},
    "fragments": [
        {"fragmentId": "user.text:0", "semanticKind": "user.text", "preview": PREVIEW_JSON}
    ],
    "fragmentCoverage": {"total": 2, "returned": 1, "omitted": 1, "truncated": True},
    "omissions": [{"kind": "image", "count": 1}],
    "neighbors": {
        "order": "append",
        "before": [NODE_JSON],
        "after": [],
        "forks": [{"kind": "in-session", "at": HERE_JSON, "candidates": [THERE_JSON]}],
    },
    "source": {"state": "exact", "byteStart": 1, "byteEnd": 2, "line": 3},
    "coverage": COVERAGE_JSON,
}
BARE_SESSION = SessionSummary(
    session_id="s",
    cwd="/w",
    path="/s/a.jsonl",
    created_at="t",
    last_activity_at="u",
    event_count=1,
    fork_count=0,
    state="ready",
)
BARE_SESSION_JSON = {
    "sessionId": "s",
    "cwd": "/w",
    "path": "/s/a.jsonl",
    "createdAt": "t",
    "lastActivityAt": "u",
    "eventCount": 1,
    "forkCount": 0,
    "state": "ready",
}
SYNC = SyncReport(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, COVERAGE)
SYNC_JSON: dict[str, Any] = {
    "discovered": 1,
    "unchanged": 2,
    "appended": 3,
    "rebuilt": 4,
    "removed": 5,
    "failed": 6,
    "bytesRead": 7,
    "probedBytes": 8,
    "eventsAdded": 9,
    "durationMs": 10,
    "coverage": COVERAGE_JSON,
}
INDEX_JSON = {
    "path": "/i",
    "schemaVersion": 1,
    "projectorVersion": 2,
    "sizeBytes": 3,
    "sessions": 4,
    "events": 5,
    "fragments": 6,
}

SHAPES: list[tuple[Shape, dict[str, Any]]] = [
    (SYNC, SYNC_JSON),
    (SearchPage((BARE_HIT,), COVERAGE), {"hits": [BARE_HIT_JSON], "coverage": COVERAGE_JSON}),
    (FULL_HIT, FULL_HIT_JSON),
    (
        SearchPage((), COVERAGE, Diagnostics((DiagnosticTerm("a", 2),), 3, False)),
        {
            "hits": [],
            "coverage": COVERAGE_JSON,
            "diagnostics": {
                "terms": [{"term": "a", "events": 2}],
                "withoutFilters": 3,
                "currentSessionExcluded": False,
            },
        },
    ),
    (DiagnosticTerm("a", 1_000, True), {"term": "a", "events": 1_000, "atLeast": True}),
    (BARE_EVENT, BARE_EVENT_JSON),
    (dataclasses.replace(BARE_EVENT, label="l"), BARE_EVENT_JSON | {"label": "l"}),
    (
        Fragment("tool.result:0", "tool.result", PREVIEW, "bash", True, "c"),
        {
            "fragmentId": "tool.result:0",
            "semanticKind": "tool.result",
            "preview": PREVIEW_JSON,
            "toolName": "bash",
            "isError": True,
            "customType": "c",
        },
    ),
    (
        ForkReceipt("session-fork", HERE, (HERE, THERE), THERE),
        {
            "kind": "session-fork",
            "at": HERE_JSON,
            "candidates": [HERE_JSON, THERE_JSON],
            "chosen": THERE_JSON,
        },
    ),
    (
        Source("missing", 1, 2, 3, "/s/a.jsonl"),
        {"state": "missing", "byteStart": 1, "byteEnd": 2, "line": 3, "path": "/s/a.jsonl"},
    ),
    (
        Trace(NODE),
        {
            "target": NODE_JSON,
            "children": [],
            "branchSiblings": [],
            "related": [],
            "truncated": False,
        },
    ),
    (
        Trace(NODE, EDGE, (EDGE,), (EDGE,), (EDGE,), True),
        {
            "target": NODE_JSON,
            "parent": EDGE_JSON,
            "children": [EDGE_JSON],
            "branchSiblings": [EDGE_JSON],
            "related": [EDGE_JSON],
            "truncated": True,
        },
    ),
    (
        dataclasses.replace(
            EDGE,
            to=FileRef("a.py"),
            detail="d",
            target_branch_state="alternate",
            leads_to_materialized_leaf=False,
            preview=PREVIEW,
        ),
        EDGE_JSON
        | {
            "to": {"fileRef": "a.py"},
            "detail": "d",
            "targetBranchState": "alternate",
            "leadsToMaterializedLeaf": False,
            "preview": PREVIEW_JSON,
        },
    ),
    (
        SessionPage((BARE_SESSION,), COVERAGE),
        {"sessions": [BARE_SESSION_JSON], "coverage": COVERAGE_JSON},
    ),
    (
        dataclasses.replace(BARE_SESSION, name="n", parent_session_id="p"),
        BARE_SESSION_JSON | {"name": "n", "parentSessionId": "p"},
    ),
    (Lineage("s", ()), {"sessionId": "s", "childSessionIds": []}),
    (
        Lineage("s", ("c",), "p"),
        {"sessionId": "s", "childSessionIds": ["c"], "parentSessionId": "p"},
    ),
    (
        Status(IndexFacts("/i", 1, 2, 3, 4, 5, 6), COVERAGE, (Problem("/f", "torn", "d", 1),)),
        {
            "index": INDEX_JSON,
            "coverage": COVERAGE_JSON,
            "problems": [{"path": "/f", "kind": "torn", "detail": "d", "count": 1}],
        },
    ),
    (
        Change("appended", "/s/a.jsonl", "s", 3),
        {"change": "appended", "path": "/s/a.jsonl", "sessionId": "s", "eventsAdded": 3},
    ),
    (
        Change("failed", "/s/b.jsonl", None, detail="no header"),
        {"change": "failed", "path": "/s/b.jsonl", "sessionId": None, "detail": "no header"},
    ),
    (
        Verification(False, 1, 2, ("x",)),
        {"equal": False, "sessions": 1, "events": 2, "differences": ["x"]},
    ),
]


@pytest.mark.parametrize(
    ("shape", "expected"),
    SHAPES,
    ids=[f"{n}-{type(s).__name__}" for n, (s, _) in enumerate(SHAPES)],
)
def test_json_is_exactly_the_shape(shape: Shape, expected: dict[str, Any]) -> None:
    assert json.loads(shape.to_json()) == expected


def test_every_result_type_is_covered_above() -> None:
    seen: set[type] = set()
    waiting: list[object] = [shape for shape, _ in SHAPES]
    while waiting:
        item = waiting.pop()
        if isinstance(item, tuple):
            waiting.extend(item)
        elif isinstance(item, Shape):
            seen.add(type(item))
            waiting.extend(getattr(item, field.name) for field in dataclasses.fields(item))
    assert seen == {kind for kind in KINDS if issubclass(kind, Shape)}


@pytest.mark.parametrize("kind", KINDS)
def test_types_are_frozen_and_slotted(kind: Any) -> None:
    assert kind.__dataclass_params__.frozen
    assert "__slots__" in vars(kind)
    assert kind.__doc__


def test_paths_and_scores_stay_here_when_asked() -> None:
    plain = SearchPage((FULL_HIT,), COVERAGE).to_plain(local=False)
    assert "score" not in plain["hits"][0]
    assert "path" not in plain["hits"][0]
    source = Source("exact", 1, 2, 3, "/s/a.jsonl")
    assert (
        "path" not in dataclasses.replace(BARE_EVENT, source=source).to_plain(local=False)["source"]
    )
    assert b"jsonl" not in SessionPage((BARE_SESSION,), COVERAGE).to_json(local=False)


def test_undecodable_paths_do_not_lose_the_answer() -> None:
    page = SearchPage((dataclasses.replace(BARE_HIT, path="/s/\udcff.jsonl"),), COVERAGE)
    assert json.loads(page.to_json())["hits"][0]["path"] == "/s/\ufffd.jsonl"


@pytest.mark.parametrize(
    ("name", "key"), [("from_", "from"), ("byte_start", "byteStart"), ("role", "role")]
)
def test_camel_case(name: str, key: str) -> None:
    assert camel_case(name) == key
