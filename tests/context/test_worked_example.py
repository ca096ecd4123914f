"""A conversation that was rewound once, and each field of what is said about it.

    A -> B -> C -> D     the old branch
          \\
           E -> F        the branch that came later
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pi_event_search import EventIndex

from tests.context.writing import Log
from tests.indexes import EVERYTHING, Place

SELECTED, ALTERNATE = ("selected", "direct"), ("alternate", "not-selected")
STATES = {entry: ALTERNATE if entry in "CD" else SELECTED for entry in "ABCDEF"}
PARENTS = {"A": None, "B": "A", "C": "B", "D": "C", "E": "B", "F": "E"}


@pytest.fixture
def index(place: Place) -> Iterator[EventIndex]:
    log = Log("story").chain("A", "B", "C", "D").chain("E", "F", parent="B")
    place.put("story", log.data)
    with place.index() as index:
        index.sync()
        yield index


def ref(entry: str) -> dict[str, str]:
    return {"sessionId": "story", "entryId": entry}


def preview(entry: str) -> dict[str, Any]:
    text = f"text of {entry}"
    shown = [{"start": 0, "end": len(text)}]
    return {
        "text": text, "totalChars": len(text), "shownRanges": shown, "omittedRanges": [],
        "truncated": False,
    }  # fmt: skip


def node(entry: str) -> dict[str, Any]:
    branch, selection = STATES[entry]
    return ref(entry) | {
        "entryType": "message",
        "timestamp": f"2026-01-05T09:00:0{'ABCDEF'.index(entry) + 1}.000Z",
        "branchState": branch,
        "selectionState": selection,
        "preview": preview(entry),
    }


def edge(kind: str, start: str, end: str, *, leads: bool) -> dict[str, Any]:
    return {
        "type": kind,
        "from": ref(start),
        "to": ref(end),
        "recorded": kind != "sibling",
        "derived": kind == "sibling",
        "inferred": False,
        "targetBranchState": STATES[end][0],
        "leadsToMaterializedLeaf": leads,
        "preview": preview(end),
    }


def fork(at: str, *candidates: str, chosen: str) -> dict[str, Any]:
    return {
        "kind": "in-session",
        "at": ref(at),
        "candidates": [ref(candidate) for candidate in candidates],
        "chosen": ref(chosen),
    }


@pytest.mark.parametrize(
    ("entry", "before", "after", "forks"),
    [
        ("B", ["A"], ["E"], [fork("B", "C", "E", chosen="E")]),
        ("C", ["B"], ["D"], [fork("B", "C", "E", chosen="C")]),
        ("E", ["B"], ["F"], [fork("B", "C", "E", chosen="E")]),
    ],
)
def test_read(
    index: EventIndex, entry: str, before: list[str], after: list[str], forks: list[Any]
) -> None:
    found = index.read("story", entry, invocation=EVERYTHING).to_plain()
    source, coverage = found.pop("source"), found.pop("coverage")
    branch, selection = STATES[entry]
    assert found == ref(entry) | {
        "entryType": "message",
        "timestamp": node(entry)["timestamp"],
        "parentId": PARENTS[entry],
        "branchState": branch,
        "selectionState": selection,
        "role": "user",
        "contextRole": "conversation",
        "attributes": {},
        "fragments": [
            {"fragmentId": "user.text:0", "semanticKind": "user.text", "preview": preview(entry)}
        ],
        "fragmentCoverage": {"total": 1, "returned": 1, "omitted": 0, "truncated": False},
        "omissions": [],
        "neighbors": {
            "order": "branch",
            "before": [node(name) for name in before],
            "after": [node(name) for name in after],
            "forks": forks,
        },
    }
    assert (source["state"], source["line"]) == ("exact", "ABCDEF".index(entry) + 2)
    assert coverage["state"] == "ready"


def test_append_order_crosses_branches(index: EventIndex) -> None:
    found = index.read("story", "E", invocation=EVERYTHING, order="append").neighbors.to_plain()
    assert found == {"order": "append", "before": [node("D")], "after": [node("F")], "forks": []}


def test_trace_of_the_fork(index: EventIndex) -> None:
    assert index.trace("story", "B", invocation=EVERYTHING).to_plain() == {
        "target": node("B"),
        "parent": edge("parent", "B", "A", leads=False),
        "children": [edge("child", "B", "C", leads=False), edge("child", "B", "E", leads=True)],
        "branchSiblings": [],
        "related": [],
        "truncated": False,
    }


def test_trace_of_a_branch(index: EventIndex) -> None:
    assert index.trace("story", "E", invocation=EVERYTHING).to_plain() == {
        "target": node("E"),
        "parent": edge("parent", "E", "B", leads=False),
        "children": [edge("child", "E", "F", leads=True)],
        "branchSiblings": [edge("sibling", "E", "C", leads=False)],
        "related": [],
        "truncated": False,
    }


def test_reading_past_an_unresolved_fork_stops_there(place: Place) -> None:
    log = Log("story").chain("A", "B", "C").user("D", "C").user("E", "C").user("F", "A")
    place.put("story", log.data)
    with place.index() as index:
        index.sync()
        found = index.read("story", "B", invocation=EVERYTHING, after=5).neighbors
    assert [node.entry_id for node in found.after] == ["C"]
    last = found.forks[-1].to_plain()
    assert last == {"kind": "in-session", "at": ref("C"), "candidates": [ref("D"), ref("E")]}
