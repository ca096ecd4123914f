"""Whatever is looked up by what records refer to is found in an index, never by reading all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pi_event_search import Invocation
from pi_event_search.store import database

from tests.lifecycle.world import EVERYTHING, SESSION, World, header, line, said, talk


@contextmanager
def noted(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """The statements that connections run which are opened meanwhile, values and all."""
    statements: set[str] = set()
    connect = database.connect

    def tracing(*arguments: object) -> sqlite3.Connection:
        connection = connect(*arguments)  # type: ignore[arg-type]
        connection.set_trace_callback(statements.add)
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(database, "connect", tracing)
        yield statements


def call(number: int, name: str, **arguments: object) -> bytes:
    """An assistant message with a tool call, and the result."""
    block = {"type": "toolCall", "id": f"call{number}", "name": name, "arguments": arguments}
    result = {"role": "toolResult", "toolCallId": f"call{number}", "toolName": name,
              "content": [{"type": "text", "text": "done"}], "isError": False}  # fmt: skip
    said = {"role": "assistant", "content": [block]}
    return b"".join(
        line(
            {
                "type": "message",
                "id": f"{at:08x}",
                "parentId": f"{at - 1:08x}",
                "timestamp": "2026-03-01T10:00:00.000Z",
                "message": message,
            }
        )
        for at, message in ((number, said), (number + 1, result))
    )


def test_lookups_of_relationships(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    label = {"type": "label", "id": "000000ff", "parentId": "00000004", "targetId": "00000002",
             "label": "here", "timestamp": "2026-03-01T11:00:00.000Z"}  # fmt: skip
    edits = call(3, "edit", path="src/main.rs") + call(
        5, "bash", command="pi-event-search search x"
    )
    world.write(header() + talk("walrus", "octopus") + edits + line(label))
    asking = Invocation(
        cwd="/", workspace_root="/", current_session_id=SESSION, tool_call_id="call5"
    )
    with noted(monkeypatch) as statements:
        world.reopen()
        world.sync()
        world.append(said(7, "eel") + call(8, "edit", path="src/main.rs"))
        world.sync()
        for invocation in (EVERYTHING, asking):
            world.index.search("walrus", invocation=invocation)
            world.index.search(file="main.rs", invocation=invocation)
            world.index.search("walrus", selection_states=["direct"], invocation=invocation)
            for entry in ("00000002", "00000003", "00000004"):
                world.index.read(SESSION, entry, invocation=invocation)
                world.index.trace(SESSION, entry, invocation=invocation)
            world.index.sessions(invocation=invocation)
    with world.index._store.database.connection() as connection:
        plans = {
            statement: [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
            for statement in statements
            if "relationships" in statement and statement.startswith(("SELECT", "WITH"))
        }
    assert len(plans) > 10
    steps = {step for plan in plans.values() for step in plan}
    for index in ("relationships_by_reference", "relationships_by_file"):
        assert any(index in step for step in steps)
    for statement, plan in plans.items():
        for step in plan:
            _, name, *how = step.split(" ", 2)
            if name in ("r", "relationships"):
                assert "INDEX relationships_by_" in how[0] or "(event=?" in how[0], statement
