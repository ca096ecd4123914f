"""Damaged and unusual files: where Pi has an answer it is ours; elsewhere we claim no knowledge.

The golden cases are small and named; hypothesis mixes their damage at random.
"""

import json
import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.indexes import EVERYTHING
from tests.pi.compare import answered, compare
from tests.pi.indexed import indexed_facts
from tests.pi.naive import naive_facts
from tests.pi.program import Oracle
from tests.pi.room import Room
from tests.pi.tally import TALLY
from tests.strategies import SessionFile, appends, sessions

LONG = os.environ.get("PI_EVENT_SEARCH_LONG") == "1"
GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*/*/session.jsonl"))
UNKNOWN = ("unknown", "unknown")


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.parent.name)
def test_golden_case(golden: Path, room: Room, oracle: Oracle) -> None:
    expected = json.loads(golden.with_name("expect.json").read_text())
    path = room.write("session.jsonl", golden.read_bytes())
    room.index.sync()
    facts = indexed_facts(room.index).get(path.resolve())
    answer = oracle.ask(path)
    receipts = room.receipts()
    TALLY.sessions += 1
    TALLY.entries += len(facts.order) if facts else 0

    match expected["pi"]:
        case "agrees":
            assert compare(answer, facts) == []
        case "refuses":
            assert "not a valid pi session" in answer["error"]
            assert facts is None or receipts["bom"] == 1
        case "hangs":
            assert "Pi never returns" in answer["error"]
            assert facts is not None
            assert facts.leaf is None
            assert set(facts.states.values()) == {UNKNOWN}
        case "starts anew":
            assert answer["openChangedFile"] == "rewritten"
            assert facts is None
        case "differs":
            # Pi takes ids that are no text; the differences are about those and nothing else.
            assert facts is not None
            assert compare(answer, facts) != []
            assert facts.leaf == answer["leafId"]
        case other:
            pytest.fail(f"unknown verdict {other!r}")
    if expected["pi"] != "refuses":
        _check_malformed(answer, receipts)
    if facts is not None:
        _check_findable(room, expected["session"], facts.session_id)


def _check_malformed(answer: dict[str, Any], receipts: dict[str, int]) -> None:
    """Each line that Pi cannot read has left a receipt, and no other line has."""
    broken = {"malformed", "torn", "glued", "nul-filled"} & receipts.keys()
    # A tail that may still grow is nobody's damage yet.
    malformed = answer["malformedLines"] - (answer["trailing"] == "partial")
    assert bool(broken) == (malformed > 0)


def _check_findable(room: Room, session: dict[str, Any], session_id: str) -> None:
    """Every entry is an event that can be read, but for those that a later record supersedes."""
    alive = [entry for entry in session["entries"] if not entry.get("superseded")]
    (summary,) = room.index.sessions(invocation=EVERYTHING).sessions
    assert summary.event_count == len(alive)
    for entry in alive:
        if not entry["key"].startswith(("~", "#")):
            event = room.index.read(session_id, entry["key"], invocation=EVERYTHING)
            assert event.entry_type == entry["type"]
            assert (event.branch_state, event.selection_state) == (
                entry["branchState"],
                entry["selectionState"],
            )


@pytest.mark.timeout(7200)
@settings(
    max_examples=5000 if LONG else 60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data(), file=sessions(version=None))
def test_any_damage(data: st.DataObject, file: SessionFile, room: Room, oracle: Oracle) -> None:
    # The index is that of the examples before; each is a file of its own, which then goes again.
    path = room.write(f"{uuid4()}.jsonl", b"")
    try:
        for chunk in data.draw(appends(file.data, max_cuts=2)):
            with path.open("ab") as growing:
                growing.write(chunk)
            room.index.sync()
        facts = indexed_facts(room.index).get(path.resolve())
        answer = oracle.ask(path)
        assert compare(answer, facts) == []
        # The naive readers that other tests trust are held to Pi as well.
        assert compare(answer, naive_facts(file.data)) == []
        if answered(answer) and facts is not None:
            _check_malformed(answer, room.receipts())
            TALLY.sessions += 1
            TALLY.entries += len(facts.order)
    finally:
        path.unlink()
