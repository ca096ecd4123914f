"""A made-up index and results for the tests of the command line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pi_event_search.cli import main
from pi_event_search.types.coverage import Coverage, CoverageProblem, Problem, Progress, SyncReport
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
from pi_event_search.types.trace import Edge, FileRef, Trace

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
SESSION = "0195a1c2-1111-7000-8000-00000000000a"
OTHER = "0195a1c2-2222-7000-8000-00000000000b"
GOLDEN = Path(__file__).parent.parent / "golden"

READY = Coverage("ready", 3, 3, "2026-03-14T11:59:00.000Z", 0, 0)
PARTIAL = Coverage(
    "partial", 2, 3, "2026-03-14T11:59:00.000Z", 4_096, 2, (CoverageProblem("malformed", 2),)
)


def check_golden(name: str, text: str) -> None:
    """Compare with a file under tests/golden; with UPDATE_GOLDEN set, write it."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def whole(text: str) -> TextPreview:
    """A preview that shows everything."""
    ranges = (TextRange(0, len(text)),) if text else ()
    return TextPreview(text, len(text), ranges, (), False)


def hit(**changes: Any) -> Hit:
    """A hit of a failed tool call."""
    fields: dict[str, Any] = {
        "session_id": SESSION,
        "session_name": "Fix the stale lock",
        "cwd": "/w/a",
        "entry_id": "a1b2c3d4",
        "entry_type": "message",
        "role": "toolResult",
        "matching_fragment_id": "tool.result:0",
        "semantic_kind": "tool.result",
        "tool_name": "bash",
        "is_error": True,
        "timestamp": "2026-03-14T09:00:00.000Z",
        "branch_state": "selected",
        "selection_state": "summarized",
        "snippet": "…error: the index lock is stale: remove /w/a/.lock and run the build again…",
        "highlights": (TextRange(18, 22), TextRange(26, 31)),
        "matching_fragment_count": 1,
        "score": 7.5,
        "path": "/s/a.jsonl",
    }
    return Hit(**(fields | changes))


def page() -> SearchPage:
    """Two hits under partial coverage."""
    second = hit(
        session_name=None,
        entry_id="b2c3d4e5",
        role="assistant",
        matching_fragment_id="assistant.text:1",
        semantic_kind="assistant.text",
        tool_name=None,
        is_error=False,
        timestamp="2025-11-02T10:00:00.000Z",
        branch_state="alternate",
        selection_state="not-selected",
        snippet="锁文件 was left behind by a crash",
        highlights=(TextRange(0, 3),),
        matching_fragment_count=3,
        also_in=(OTHER,),
        also_in_total=36,
    )
    return SearchPage((hit(), second), PARTIAL)


def no_hits() -> SearchPage:
    """Nothing found, and why."""
    terms = (DiagnosticTerm("lock", 1_000, at_least=True), DiagnosticTerm("stael", 0))
    return SearchPage((), READY, Diagnostics(terms, 12, True))


def node(entry_id: str, text: str, **changes: Any) -> Node:
    """A message of the conversation."""
    fields: dict[str, Any] = {
        "session_id": SESSION,
        "entry_id": entry_id,
        "entry_type": "message",
        "timestamp": "2026-03-14T08:59:00.000Z",
        "branch_state": "selected",
        "selection_state": "direct",
        "preview": whole(text),
    }
    return Node(**(fields | changes))


def event() -> Event:
    """A tool result cut in the middle, with neighbours, a fork and omissions."""
    head = "$ make\nerror: stale lock"
    cut = TextPreview(
        f"{head}\n[… 99,000 characters omitted …]\nmake: *** failed",
        100_000,
        (TextRange(0, 500), TextRange(99_500, 100_000)),
        (TextRange(500, 99_500),),
        True,
    )
    fork = ForkReceipt(
        "in-session",
        EventRef(SESSION, "a1b2c3d4"),
        (EventRef(SESSION, "c1"), EventRef(SESSION, "c2"), EventRef(OTHER, "c3")),
        EventRef(SESSION, "c1"),
    )
    return Event(
        session_id=SESSION,
        entry_id="a1b2c3d4",
        entry_type="message",
        timestamp="2026-03-14T09:00:00.000Z",
        parent_id="99aa",
        branch_state="selected",
        selection_state="summarized",
        role="toolResult",
        context_role="conversation",
        label="the culprit",
        attributes={"toolCallId": "call_1", "exitCode": 2, "excluded": False},
        fragments=(Fragment("tool.result:0", "tool.result", cut, "bash", True),),
        fragment_coverage=FragmentCoverage(3, 1, 2, True),
        omissions=(Omission("image", 1), Omission("thinking", 2)),
        neighbors=Neighbors(
            "branch",
            (node("99aa", "Please run the build\nand tell me what fails"),),
            (node("c1", "The lock is stale. " + "It must go. " * 30),),
            (fork,),
        ),
        source=Source("exact", 1_024, 101_500, 7, "/s/a.jsonl"),
        coverage=READY,
    )


def edge(kind: str, start: str, end: EventRef | FileRef | str, **changes: Any) -> Edge:
    """A recorded edge unless told otherwise."""
    fields: dict[str, Any] = {
        "type": kind,
        "from_": EventRef(SESSION, start),
        "to": EventRef(SESSION, end) if isinstance(end, str) else end,
        "recorded": True,
        "derived": False,
        "inferred": False,
    }
    return Edge(**(fields | changes))


def trace() -> Trace:
    """An event with every kind of edge."""
    guess = {"recorded": False, "inferred": True}
    return Trace(
        node("a1b2c3d4", "error: stale lock"),
        edge("parent", "a1b2c3d4", "99aa", preview=whole("Please run the build")),
        (
            edge("child", "a1b2c3d4", "c1", leads_to_materialized_leaf=True),
            edge("child", "a1b2c3d4", "c2", target_branch_state="alternate"),
        ),
        (edge("sibling", "a1b2c3d4", "s1", recorded=False, derived=True),),
        (
            edge("tool-result-for", "a1b2c3d4", "99aa", detail="call_1"),
            edge("labels", "1abe1", "a1b2c3d4", detail="the culprit"),
            edge("file-changed", "a1b2c3d4", FileRef("src/lock.py"), **guess),
            edge("session-fork", "a1b2c3d4", EventRef(OTHER, "c3"), derived=True, recorded=False),
        ),
        truncated=True,
    )


def sessions() -> SessionPage:
    """Two sessions, one of them unreadable."""
    first = SessionSummary(
        session_id=SESSION,
        name="Fix the stale lock, 修复锁文件, and then a name that goes on for very long",
        cwd="/w/a",
        path="/s/a.jsonl",
        created_at="2026-03-14T08:00:00.000Z",
        last_activity_at="2026-03-14T11:30:00.000Z",
        event_count=1_234,
        fork_count=2,
        state="ready",
    )
    second = SessionSummary(
        session_id=OTHER,
        cwd="/w/a/sub",
        path="/s/b.jsonl",
        created_at="2026-03-01T08:00:00.000Z",
        last_activity_at="2026-03-10T11:30:00.000Z",
        event_count=7,
        parent_session_id=SESSION,
        fork_count=0,
        state="error",
    )
    return SessionPage((first, second), READY)


def status() -> Status:
    """An index that misses one file."""
    facts = IndexFacts("/i", 1, 2, 12_345_678, 3, 4_567, 8_901)
    problems = (
        Problem("/s/bad.jsonl", "malformed", "a record is not JSON, line 7", 2),
        Problem("/s/locked.jsonl", "unreadable", "permission denied", 1),
    )
    return Status(facts, PARTIAL, problems)


def report() -> SyncReport:
    """A sync that did a bit of everything."""
    return SyncReport(6, 2, 1, 2, 0, 1, 123_456, 789, 55, 1_250, PARTIAL)


def equal() -> Verification:
    """An index that is what it should be."""
    return Verification(True, 1_234, 56_789)


def different() -> Verification:
    """An index that lost something."""
    differences = (
        "/s/a.jsonl: event (17,): value 3 is 'user' and should be 'assistant'.",
        "A search for 'lock' finds 0 fragments that do not have it and misses 3.",
    )
    return Verification(False, 2, 40, differences)


class MadeUpIndex:
    """Answers with the results above and records what it was asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.opened: dict[str, Any] = {}
        self.failures: dict[str, BaseException] = {}
        self.answers: dict[str, Any] = {
            "sync": report(),
            "refresh": True,
            "search": page(),
            "read": event(),
            "trace": trace(),
            "sessions": sessions(),
            "lineage": Lineage(SESSION, (OTHER,)),
            "status": status(),
            "verify": equal(),
            "rebuild": report(),
        }

    @contextmanager
    def open(self, **places: Any) -> Iterator[Any]:
        """Stands in for `EventIndex.open`."""
        self.opened = places
        yield self

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls.append((name, args, kwargs))
            if name in self.failures:
                raise self.failures[name]
            if name in ("sync", "refresh") and kwargs.get("progress"):
                kwargs["progress"](Progress(1, 2, 50, 100))
            return self.answers[name]

        return call

    def run(self, *argv: str) -> int:
        """Run the command line against this index at a fixed time in UTC."""
        return main(argv, open_index=self.open, now=NOW, zone=UTC)

    def asked(self, name: str) -> dict[str, Any]:
        """Keyword arguments of the one call of `name`."""
        (kwargs,) = [kwargs for called, _, kwargs in self.calls if called == name]
        return kwargs
