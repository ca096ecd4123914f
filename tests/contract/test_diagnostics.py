"""Zero hits explained: "filtered away" never reads as "never happened"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pi_event_search import EventIndex, Invocation
from pi_event_search.types.search import Diagnostics

from tests.contract.place import EVERYWHERE, indexed
from tests.contract.writing import Pi, call


@pytest.fixture(scope="module")
def index() -> Iterator[EventIndex]:
    one = Pi("one", "/w/a")
    one.user("wolf and bear")
    one.user("wolf alone")
    one.assistant(call("c", "event_search", query="wolf"))
    one.result("c", "event_search", "wolf found")
    two = Pi("two", "/w/b")
    two.user("bear alone")
    asking = Pi("asking", "/w/a")
    asking.user("wolf in the asking session")
    asking.assistant(call("t1", "event_search", query="wolf"))
    with indexed({pi.session_id: pi.data() for pi in (one, two, asking)}) as opened:
        yield opened


def diagnose(
    index: EventIndex, query: str = "", invocation: Invocation = EVERYWHERE, **asked: Any
) -> Diagnostics:
    page = index.search(query, invocation=invocation, **asked)
    assert page.hits == ()
    assert page.diagnostics is not None
    return page.diagnostics


def counts(found: Diagnostics) -> tuple[dict[str, int], int]:
    assert not any(term.at_least for term in found.terms)
    return {term.term: term.events for term in found.terms}, found.without_filters


def test_terms_that_never_stand_together(index: EventIndex) -> None:
    found = diagnose(index, 'bear "asking session" nowhere')
    assert counts(found) == ({"bear": 2, '"asking session"': 1, "nowhere": 0}, 0)
    assert found.current_session_excluded is False


@pytest.mark.parametrize(
    "asked",
    [
        {"kinds": ["bash.output"]},
        {"entry_types": ["compaction"]},
        {"roles": ["toolResult"]},
        {"branch_states": ["alternate"]},
        {"selection_states": ["summarized"]},
        {"error_only": True},
        {"time_to": "2000-01-01"},
        {"time_from": "2100-01-01"},
        {"session_id": "two"},
        {"cwd": "/w/b"},
        {"cwd": "/nowhere"},
        {"file": "src/x.py"},
        {"kinds": ["bash.output"], "session_id": "two", "cwd": "/w/b"},
    ],
)
def test_whatever_filtered_it_away(index: EventIndex, asked: dict[str, Any]) -> None:
    assert counts(diagnose(index, "wolf", **asked)) == ({"wolf": 3}, 3)


def test_retrieval_counts_only_where_a_tool_is_asked_for(index: EventIndex) -> None:
    assert counts(diagnose(index, "found")) == ({"found": 0}, 0)
    asked: dict[str, Any] = {"tool_names": ["read"]}
    assert counts(diagnose(index, "found", **asked)) == ({"found": 1}, 1)


def test_without_words(index: EventIndex) -> None:
    found = diagnose(index, kinds=["bash.output"])
    assert counts(found) == ({}, 4)


def test_inside_the_scope_only(index: EventIndex) -> None:
    caller = Invocation(cwd="/", workspace_root="/w/b")
    assert counts(diagnose(index, "wolf bear", caller)) == ({"wolf": 0, "bear": 1}, 0)
    elsewhere = Invocation(cwd="/", workspace_root="/w/c")
    found = diagnose(index, "wolf", elsewhere, kinds=["bash.output"])
    assert counts(found) == ({"wolf": 0}, 0)


def test_the_current_session_is_said_to_be_excluded(index: EventIndex) -> None:
    caller = Invocation("/w/a", "/w/a", current_session_id="asking", tool_call_id="t1")
    found = diagnose(index, "asking", caller)
    assert counts(found) == ({"asking": 0}, 0)
    assert found.current_session_excluded is True
    found = diagnose(index, "asking", caller, session_id="one")
    assert found.current_session_excluded is True
    found = diagnose(index, "asking", caller, session_id="current", kinds=["bash.output"])
    assert counts(found) == ({"asking": 1}, 1)
    assert found.current_session_excluded is False
    lost = Invocation("/w/a", "/w/a", current_session_id="asking", tool_call_id="nothing")
    found = diagnose(index, "asking", lost)
    assert counts(found) == ({"asking": 0}, 0)
    assert found.current_session_excluded is True
    hidden = Invocation("/w/b", "/w/b", current_session_id="asking", tool_call_id="t1")
    assert diagnose(index, "asking", hidden).current_session_excluded is False


def test_a_term_is_shown_as_typed(index: EventIndex) -> None:
    found = diagnose(index, 'Nowhere src/x.py nowhere "not here" 修改')
    assert [term.term for term in found.terms] == ["Nowhere", "src/x.py", '"not here"', "修改"]


def test_hits_need_no_explanation(index: EventIndex) -> None:
    assert index.search("wolf", invocation=EVERYWHERE).diagnostics is None
