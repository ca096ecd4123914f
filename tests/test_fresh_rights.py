"""What is kept between questions never outlives the rights it follows from: links and work trees
change without anything being published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pi_event_search import EventIndex, Invocation, NotFound

from tests.context.writing import Log
from tests.indexes import Place

Ask = Callable[[EventIndex, Invocation], Any]


def found(index: EventIndex, caller: Invocation) -> set[str]:
    """The sessions that each of the questions shows."""
    shown = {hit.session_id for hit in index.search("text", invocation=caller, limit=200).hits}
    listed = {session.session_id for session in index.sessions(invocation=caller).sessions}
    readable = set()
    for session in ("one", "two"):
        try:
            readable.add(index.read(session, f"{session}-a", invocation=caller).session_id)
            trace = index.trace(session, f"{session}-a", invocation=caller)
            assert trace.target.session_id == session
        except NotFound:
            continue
    counted = index.coverage(invocation=caller).indexed_sessions
    assert shown == listed == readable
    assert counted == len(shown)
    return shown


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Two sessions, one recorded in a directory, one through a link."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("here")
    place = Place(tmp_path)
    for log in (
        Log("one", cwd=str(tmp_path / "here")).chain("one-a", "one-b"),
        Log("two", cwd=str(tmp_path / "link" / "deep")).chain("two-a", "two-b"),
    ):
        place.put(log.id, log.data)
    return place


def test_a_link_that_moves(place: Place) -> None:
    base = place.base
    caller = Invocation(cwd=str(base), workspace_root=str(base / "here"))
    other = Invocation(cwd=str(base), workspace_root=str(base / "there"))
    with place.index() as index:
        index.sync()
        for _ in range(2):
            assert found(index, caller) == {"one", "two"}
            assert found(index, other) == set()
            (base / "link").unlink()
            (base / "link").symlink_to("there")
            assert found(index, caller) == {"one"}
            assert found(index, other) == {"two"}
            (base / "link").unlink()
            (base / "link").symlink_to("here")


def test_a_root_that_moves(place: Place) -> None:
    base = place.base
    (base / "root").symlink_to("here")
    caller = Invocation(cwd=str(base), workspace_root=str(base / "root"))
    with place.index() as index:
        index.sync()
        assert found(index, caller) == {"one", "two"}
        (base / "root").unlink()
        (base / "root").symlink_to("there")
        assert found(index, caller) == set()


def test_a_work_tree_that_comes_and_goes(place: Place) -> None:
    base = place.base
    caller = Invocation(cwd=str(base / "here"))
    (base / "link").unlink()
    (base / "link").symlink_to("there")
    with place.index() as index:
        index.sync()
        assert found(index, caller) == {"one"}
        (base / ".git").mkdir()
        assert found(index, caller) == {"one", "two"}
        (base / ".git").rmdir()
        assert found(index, caller) == {"one"}


def test_callers_in_turns(place: Place) -> None:
    base = place.base
    callers = {
        "/": {"one", "two"},
        str(base): {"one", "two"},
        str(base / "here" / "deep"): {"two"},
        str(base / "there"): set[str](),
    }
    with place.index() as index:
        index.sync()
        for _ in range(3):
            for root, sessions in callers.items():
                assert found(index, Invocation(cwd="/", workspace_root=root)) == sessions
        place.append("one", Log("one").user("c", "one-b", "text later").tail(1))
        index.sync()
        for root, sessions in callers.items():
            assert found(index, Invocation(cwd="/", workspace_root=root)) == sessions
            hits = index.search("later", invocation=Invocation(cwd="/", workspace_root=root)).hits
            assert {hit.session_id for hit in hits} == sessions & {"one"}
