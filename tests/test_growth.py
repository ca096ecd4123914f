"""What a question costs does not grow with what else there is, counted in statements, in steps of
SQLite and in looks at the file system. The first question after a change may cost more."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pi_event_search import EventIndex, Invocation
from pi_event_search.store import database

from tests.context.writing import Log
from tests.indexes import Place, passing_place

FEW, MANY = 12, 240
STEPS = 10
"""Instructions of SQLite's machine between two looks at the counter."""
SLACK = 60
"""Instructions by which two runs may differ, because trees of pages are of different heights."""
WORKSPACES = 3


@dataclass
class Work:
    """What was done while something was counted."""

    statements: list[str] = field(default_factory=list)
    steps: int = 0
    looks: int = 0

    def count_steps(self) -> int:
        self.steps += STEPS
        return 0


@dataclass
class Watched:
    """An index whose database and links are watched."""

    index: EventIndex
    work: Work
    caller: Invocation

    def cost(self, ask: Callable[[EventIndex, Invocation], Any]) -> tuple[Work, Any]:
        """What a question costs when it is asked again."""
        ask(self.index, self.caller)
        before = Work(list(self.work.statements), self.work.steps, self.work.looks)
        answer = ask(self.index, self.caller)
        work = self.work
        statements = work.statements[len(before.statements) :]
        return Work(statements, work.steps - before.steps, work.looks - before.looks), answer


def logs(count: int) -> Iterator[Log]:
    """Sessions of which a few hold the words that are asked for; every fifth is a fork."""
    for number in range(count):
        cwd = f"/work/{number % WORKSPACES}"
        log = Log(f"s{number:04}", cwd=cwd).chain(f"a{number}", f"b{number}")
        if number < FEW // 2:
            log.user(f"n{number}", f"b{number}", f"needle number {number}")
            log.calls(f"c{number}", f"n{number}", f"call{number}").result(
                f"r{number}", f"c{number}", f"call{number}"
            )
        if number >= FEW and number % 5 == 0:
            log.header["parentSession"] = f"/sessions/s{number - 1:04}.jsonl"
        yield log


@pytest.fixture(params=["everything", "one root", "a session asks"])
def watched(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Watched, Watched]]:
    """A small and a large index that answer the same, asked by the same caller."""
    caller = {
        "everything": Invocation(cwd="/", workspace_root="/"),
        "one root": Invocation(cwd="/work", workspace_root="/work"),
        "a session asks": Invocation(
            cwd="/work",
            workspace_root="/work",
            current_session_id="s0000",
            invocation_entry_id="r0",
        ),
    }[request.param]
    with passing_place() as few, passing_place() as many:
        yield (
            _watched(few, FEW, caller, monkeypatch),
            _watched(many, MANY, caller, monkeypatch),
        )


def _watched(place: Place, count: int, caller: Invocation, patch: pytest.MonkeyPatch) -> Watched:
    for log in logs(count):
        place.put(log.id, log.data)
    work = Work()
    connect, readlink = database.connect, os.readlink

    def watching(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        if path.is_relative_to(place.base):
            connection.set_trace_callback(work.statements.append)
            connection.set_progress_handler(work.count_steps, STEPS)
        return connection

    def looking(path: str) -> str:
        work.looks += 1
        return readlink(path)

    patch.setattr(database, "connect", watching)
    patch.setattr("pi_event_search.access.authorize.os.readlink", looking)
    index = place.index()
    index.sync()
    return Watched(index, work, caller)


QUESTIONS: dict[str, Callable[[EventIndex, Invocation], Any]] = {
    "words": lambda i, c: i.search("needle", invocation=c).hits,
    "a filter": lambda i, c: i.search("needle", invocation=c, kinds=["user.text"]).hits,
    "a state": lambda i, c: i.search("needle", invocation=c, branch_states=["selected"]).hits,
    "a directory": lambda i, c: i.search("needle", invocation=c, cwd="/work/1").hits,
    "a session": lambda i, c: i.search("needle", invocation=c, session_id="s0001").hits,
    "no hit": lambda i, c: i.search("needle absent", invocation=c).diagnostics,
    "read": lambda i, c: i.read("s0001", "n1", invocation=c).neighbors,
    "trace": lambda i, c: i.trace("s0001", "c1", invocation=c),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_number_of_sessions_costs_nothing(watched: tuple[Watched, Watched], name: str) -> None:
    (cheap, small), (dear, large) = (one.cost(QUESTIONS[name]) for one in watched)
    assert small
    assert _plain(small) == _plain(large)
    assert len(dear.statements) == len(cheap.statements), dear.statements
    assert dear.steps <= cheap.steps + SLACK
    assert dear.looks == cheap.looks
    for one in watched:
        one.index.close()


def _plain(answer: Any) -> list[str]:
    """What an answer shows, without scores, which depend on how rare words are, and paths."""
    if isinstance(answer, tuple):
        return [f"{hit.session_id} {hit.entry_id} {hit.snippet}" for hit in answer]
    return [answer.to_json(local=False).decode()]


def test_more_hits_are_no_more_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    caller = Invocation(cwd="/", workspace_root="/")
    with passing_place() as place:
        watched = _watched(place, MANY, caller, monkeypatch)
        one, _ = watched.cost(lambda i, c: i.search("needle", invocation=c, limit=1).hits)
        every, hits = watched.cost(lambda i, c: i.search("text", invocation=c, limit=200).hits)
        watched.index.close()
    assert len(hits) == 200
    assert len(every.statements) <= len(one.statements) + 1


def test_a_sync_with_nothing_changed_asks_for_all_files_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caller = Invocation(cwd="/", workspace_root="/")
    # Files that have just been written prove nothing by their times, so the first sync is later.
    later = time.time_ns() + 10_000_000_000
    clock = SimpleNamespace(time_ns=lambda: later)
    monkeypatch.setattr("pi_event_search.ingest.source.time", clock)

    def first_of_a_new_process(place: Place, count: int) -> list[str]:
        watched = _watched(place, count, caller, monkeypatch)
        watched.index.close()
        before = len(watched.work.statements)
        with place.index() as index:
            assert index.sync().unchanged == count
        return watched.work.statements[before:]

    with passing_place() as few, passing_place() as many:
        cheap, dear = first_of_a_new_process(few, FEW), first_of_a_new_process(many, MANY)
    assert [statement.split()[0] for statement in dear] == [
        statement.split()[0] for statement in cheap
    ]
    writing = {"INSERT", "UPDATE", "DELETE", "REPLACE"}
    assert [s.split()[0] for s in dear if s.split()[0] in writing] == ["REPLACE"]
