"""What a caller must not see might as well not exist: no answer differs, down to its errors.

Each test asks an index that holds everything, as somebody who may see part of it, and an index over
just that part, as somebody who may see all of it. Whatever one can ask must be answered alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pi_event_search import EventIndex, EventSearchError, Invocation
from pi_event_search.types.shape import Shape

from tests.context.histories import Part, histories
from tests.context.writing import Log
from tests.indexes import EVERYTHING, passing_place

FEW = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
WORKER = Invocation(cwd="/work", workspace_root="/work")
Answers = dict[str, Any]
_LOCAL = ("path", "lastReconciledAt", "score", "pendingBytes")
"""Where the two indexes lie, and when they were made."""


def answers(parts: Iterable[Part], caller: Invocation, asked: list[tuple[str, str]]) -> Answers:
    """Everything that an index over these files says to a caller about some events."""
    with passing_place() as place, place.index() as index:
        for part in parts:
            place.put(part.name, part.data)
        index.sync()
        return {question: _told(ask) for question, ask in _questions(index, caller, asked)}


def _questions(
    index: EventIndex, caller: Invocation, asked: list[tuple[str, str]]
) -> Iterator[tuple[str, Callable[[], Shape]]]:
    yield "sessions", partial(index.sessions, invocation=caller)
    yield "coverage", lambda: index.status(invocation=caller).coverage
    for session in sorted({*dict(asked), "s", "none"}):
        yield f"lineage {session}", partial(index.lineage, session, invocation=caller)
    for session, entry in asked:
        read = partial(index.read, session, entry, invocation=caller, before=3, after=3)
        yield f"read {session} {entry}", read
        yield f"file {session} {entry}", partial(read, order="append")
        trace = partial(index.trace, session, entry, invocation=caller, depth=3)
        yield f"trace {session} {entry}", trace


def _told(ask: Callable[[], Shape]) -> Any:
    try:
        return _public(ask().to_plain())
    except EventSearchError as error:
        return type(error).__name__, str(error)


def _public(plain: Any) -> Any:
    if isinstance(plain, dict):
        return {key: _public(value) for key, value in plain.items() if key not in _LOCAL}
    return [_public(item) for item in plain] if isinstance(plain, list) else plain


def everything(parts: Iterable[Part]) -> list[tuple[str, str]]:
    """All entries, and those of each session asked for in every other one."""
    ids = [record["id"] for part in parts for record in part.records]
    own = [(part.name, record["id"]) for part in parts for record in part.records]
    across = [(part.name, entry) for part in parts for entry in (*ids[-3:], "none")]
    return list(dict.fromkeys(own + across))


def alike(found: Answers, expected: Answers) -> None:
    """Whether all questions were answered alike."""
    differ = [question for question in expected if found[question] != expected[question]]
    assert not differ, [(q, found[q], expected[q]) for q in differ[:3]]


def without_coverage(told: Answers) -> Answers:
    """What is indexed is no secret of a session that the caller may see part of."""
    del told["coverage"]
    for answer in told.values():
        if isinstance(answer, dict):
            answer.pop("coverage", None)
    return told


@FEW
@given(st.data(), histories())
def test_sessions_recorded_elsewhere(data: st.DataObject, parts: list[Part]) -> None:
    places = data.draw(st.lists(st.sampled_from(["/work/a", "/secret"]), min_size=4, max_size=4))
    parts = [
        replace(part, header=part.header | {"cwd": cwd})
        for part, cwd in zip(parts, places, strict=False)
    ]
    own = [part for part in parts if part.header["cwd"] != "/secret"]
    asked = everything(parts)
    alike(answers(parts, WORKER, asked), answers(own, EVERYTHING, asked))


@FEW
@given(st.data(), histories())
def test_what_was_written_since_the_call(data: st.DataObject, parts: list[Part]) -> None:
    at, current = data.draw(_calls(parts))
    before = [replace(p, records=p.records[:at]) if p is current else p for p in parts]
    caller = replace(
        EVERYTHING,
        current_session_id=current.name,
        invocation_entry_id=current.records[at]["id"],
    )
    asked = everything(parts)
    found, expected = answers(parts, caller, asked), answers(before, EVERYTHING, asked)
    alike(without_coverage(found), without_coverage(expected))


@st.composite
def _calls(draw: st.DrawFn, parts: list[Part]) -> tuple[int, Part]:
    """A session, and an entry in it that was appended behind the leaf of its time."""
    places = [
        (at, part)
        for part in parts
        for at in range(1, len(part.records))
        if part.records[at]["parentId"] == part.records[at - 1]["id"]
    ]
    assume(places)
    return draw(st.sampled_from(places))


@FEW
@given(st.data(), histories())
def test_a_call_that_cannot_be_found_closes_the_session(
    data: st.DataObject, parts: list[Part]
) -> None:
    current = data.draw(st.sampled_from(parts))
    call = data.draw(st.sampled_from([{}, {"tool_call_id": "none"}, {"invocation_entry_id": "no"}]))
    caller = replace(EVERYTHING, current_session_id=current.name, **call)
    others = [part for part in parts if part is not current]
    asked = everything(parts)
    found, expected = answers(parts, caller, asked), answers(others, EVERYTHING, asked)
    alike(without_coverage(found), without_coverage(expected))


# --- the call that asks, as Pi has it on disk ----------------------------------------------------


def asking() -> Log:
    """An agent at work: parallel calls, their results, a call that is asking, what came since."""
    log = Log("s").user("A", None).calls("B", "A", "c1", "c2")
    log.result("C", "B", "c1").result("D", "C", "c2").user("E", "D")
    log.calls("ask", "E", "c3", "c4").result("F", "ask", "c3")
    log.entry("G", "F", "label", targetId="A", label="since")
    return log.entry("H", "G", "session_info", name="since").user("I", "A", "another branch")


@pytest.mark.parametrize("call", ["c3", "c4", "c3/2"])
@pytest.mark.parametrize("named", ["current", "s"])
def test_calls_in_parallel_and_in_sequence(call: str, named: str) -> None:
    log = asking()
    del log.entries[-1]  # the call must lie on the branch where Pi is
    with passing_place() as place, place.index() as index:
        place.put("s", log.data)
        index.sync()
        caller = replace(EVERYTHING, current_session_id="s", tool_call_id=call)
        last = index.read(named, "E", invocation=caller, after=5)
        assert last.neighbors.after == ()
        assert last.branch_state == "selected"
        assert index.read(named, "A", invocation=caller).label is None
        for entry in ("ask", "F", "G", "H"):
            with pytest.raises(EventSearchError, match="No such session or event"):
                index.trace(named, entry, invocation=caller)
        (listed,) = index.sessions(invocation=caller).sessions
        assert (listed.name, listed.event_count) == (None, 5)
        assert listed.last_activity_at == last.timestamp


def test_a_call_on_an_abandoned_branch_is_not_the_one_that_asks() -> None:
    with passing_place() as place, place.index() as index:
        place.put("s", asking().data)
        index.sync()
        caller = replace(EVERYTHING, current_session_id="s", tool_call_id="c3")
        with pytest.raises(EventSearchError, match="No such session or event"):
            index.read("s", "A", invocation=caller)


def test_the_file_of_the_current_session_says_which_it_is() -> None:
    with passing_place() as place, place.index() as index:
        log = asking()
        del log.entries[-1]
        here = place.put("s", log.data)
        place.put("archive/s", log.data)  # whichever of the two answers
        index.sync()
        for path in (here, place.path("archive/s")):
            caller = replace(EVERYTHING, current_session_file=path, tool_call_id="c3")
            assert index.read("current", "E", invocation=caller, after=5).neighbors.after == ()
            with pytest.raises(EventSearchError, match="No such session or event"):
                index.read("s", "ask", invocation=caller)
