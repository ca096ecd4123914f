"""A session forked 36 times: each shared event once, its copies named, in each authorized scope."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pi_event_search import EventIndex, Invocation, SearchPage

from tests.quality.history import EVERYTHING, START, Story, call, indexed

FORKS = 36
SHARED = 12
PLACES = ("/w/harbour", "/w/harbour/docs", "/w/yard")


def place_of(number: int) -> str:
    """Where the fork of that number works; 0 is the session they were all forked from."""
    return PLACES[number % len(PLACES)]


def family(directory: Path) -> list[Story]:
    """The parent, and forks of its whole path, each of which goes on in its own words."""
    parent = Story("session-00", cwd=place_of(0))
    parent.add("model_change", provider="p", modelId="m")
    for number in range(SHARED):
        parent.user(f"anchor {number} holds", f"chain {number}")
    parent.assistant(call("c1", "edit", path="/w/anchor.txt", newText="x"))
    members = [parent]
    for number in range(1, FORKS + 1):
        fork = Story(
            f"session-{number:02d}",
            cwd=place_of(number),
            start=START + timedelta(days=number),
            parent=directory / "sessions" / "session-00.jsonl",
        )
        fork.records = list(parent.records)
        fork.leaf = parent.leaf
        fork.user(f"anchor of fork {number} alone", id=f"own-{number:02d}")
        members.append(fork)
    return members


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EventIndex]:
    place = tmp_path_factory.mktemp("forks")
    with indexed(place, *family(place)) as index:
        yield index


def seen_from(*roots: str, current: int | None = None) -> Invocation:
    """Somebody who may see these directories, perhaps asking from within a fork."""
    session = None if current is None else f"session-{current:02d}"
    return Invocation(cwd=roots[0], workspace_root=roots, current_session_id=session)


def visible(*roots: str) -> list[str]:
    """Ids of the sessions at or below these roots."""
    return [
        f"session-{number:02d}"
        for number in range(FORKS + 1)
        if any(
            place_of(number) == root or place_of(number).startswith(root + "/") for root in roots
        )
    ]


SCOPES: dict[str, tuple[Invocation, list[str]]] = {
    "everything": (EVERYTHING, visible("/w")),
    "harbour and below": (seen_from("/w/harbour"), visible("/w/harbour")),
    "docs": (seen_from("/w/harbour/docs"), visible("/w/harbour/docs")),
    "two roots": (seen_from("/w/yard", "/w/harbour/docs"), visible("/w/yard", "/w/harbour/docs")),
    "from the parent itself": (seen_from("/w", current=0), visible("/w")[1:]),
    "from a fork": (seen_from("/w/yard", current=5), [
        name for name in visible("/w/yard") if name != "session-05"
    ]),
    "nowhere": (seen_from("/elsewhere"), []),
}  # fmt: skip


def shown(page: SearchPage) -> dict[str, tuple[str, tuple[str, ...], int]]:
    """Entry id -> where it stands, where else it is, and in how many sessions."""
    entry_ids = [hit.entry_id for hit in page.hits]
    assert len(entry_ids) == len(set(entry_ids)), "each event once"
    return {hit.entry_id: (hit.session_id, hit.also_in, hit.also_in_total) for hit in page.hits}


@pytest.mark.parametrize("ask", [
    {"query": "anchor"}, {"query": "anchor holds"}, {"query": "anchor", "sort": "oldest"},
    {"entry_types": ["message", "model_change"]}, {"query": '"anchor 3"', "limit": 1},
])  # fmt: skip
@pytest.mark.parametrize("scope", SCOPES)
def test_each_shared_event_once(index: EventIndex, scope: str, ask: dict[str, Any]) -> None:
    who, sessions = SCOPES[scope]
    found = shown(index.search(invocation=who, **{"limit": 200, **ask}))
    shared = {key: value for key, value in found.items() if not key.startswith("own-")}
    if sessions:
        assert len(shared) >= min(ask.get("limit", SHARED), SHARED)
    for owner, also_in, total in shared.values():
        assert owner == sessions[0], "the oldest that may be seen"
        assert sorted(also_in) == sessions[1:]
        assert total == len(sessions) - 1
    for key in found.keys() - shared.keys():
        assert found[key] == (f"session-{key[4:]}", (), 0)


def test_a_session_asked_for_shows_its_own(index: EventIndex) -> None:
    found = shown(index.search("anchor holds", invocation=EVERYTHING, session_id="session-07"))
    for owner, also_in, _ in found.values():
        assert owner == "session-07"
        assert sorted(also_in) == [name for name in visible("/w") if name != "session-07"]


def test_the_current_session_is_never_a_copy(index: EventIndex) -> None:
    who = seen_from("/w", current=9)
    for owner, also_in, _ in shown(index.search("anchor", invocation=who, limit=200)).values():
        assert "session-09" not in (owner, *also_in)


def test_filters_hold_for_copies_too(index: EventIndex) -> None:
    page = index.search("anchor holds", invocation=EVERYTHING, cwd="/w/yard")
    for owner, also_in, _ in shown(page).values():
        assert [owner, *sorted(also_in)] == visible("/w/yard")


def test_a_file_touched_in_the_shared_prefix(index: EventIndex) -> None:
    ((owner, also_in, _),) = shown(index.search(invocation=EVERYTHING, file="anchor.txt")).values()
    assert owner == "session-00"
    assert len(also_in) == FORKS
