"""A history in two workspaces, and a server over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.serve.client import Client
from tests.serve.history import Session


class History(NamedTuple):
    """Two sessions of the workspace `/w/lake`, and one of another."""

    sessions: Path
    first: Session
    second: Session
    other: Session


CALLER: dict[str, Any] = {"cwd": "/w/lake", "workspaceRoot": "/w/lake"}


def write_history(sessions: Path) -> History:
    """Writes the three sessions."""
    first = Session(sessions / "lake", "lake-one", "/w/lake", hour=9)
    first.name("Why the pump leaks")
    first.user("The pump leaks at the flange")
    first.assistant("Let me look", [{"id": "c1", "name": "bash", "arguments": {"command": "ls"}}])
    first.result("c1", "bash", "flange: no such file", is_error=True)
    first.assistant("The flange is missing")
    second = Session(sessions / "lake", "lake-two", "/w/lake/sub", hour=10)
    second.user("Did the pump ever leak before?")
    second.assistant("Yes: the flange, 漏水")
    other = Session(sessions / "secret", "other-one", "/w/vault", hour=11)
    other.user("The pump of the vault leaks too")
    return History(sessions, first, second, other)


@pytest.fixture
def history(tmp_path: Path) -> History:
    """A fresh history."""
    return write_history(tmp_path / "sessions")


@pytest.fixture
def client(history: History, tmp_path: Path) -> Iterator[Client]:
    """A server that has caught up with the history."""
    with Client(tmp_path / "index", history.sessions) as running:
        running.caught_up(CALLER, 2)
        yield running
