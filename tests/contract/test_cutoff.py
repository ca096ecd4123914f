"""The session that asks: not searched unless asked for, and never beyond the entry that asks.

The measure is always the same: an answer must be the one that a file gives which ends with the
asking entry.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pi_event_search import EventIndex, EventSearchError, InvalidArgument, Invocation, NotFound

from tests.contract.place import EVERYWHERE, Place, indexed
from tests.contract.test_filters import FILTERS
from tests.contract.writing import START, Pi, call
from tests.strategies import SessionFile, dump, sessions

WORKSPACE = "/w/a"


def asking(call_id: str | None = "t1", **more: Any) -> Invocation:
    """The tool call of a session called `now`."""
    values: dict[str, Any] = {"current_session_id": "now", "tool_call_id": call_id, **more}
    return Invocation(WORKSPACE, WORKSPACE, **values)


def history() -> Pi:
    """A session up to the message whose two calls ask at the same time."""
    pi = Pi("now", WORKSPACE)
    first = pi.user("wolf asked")
    pi.assistant("wolf answered")
    pi.user("wolf aside")
    pi.rewind(first)
    pi.assistant("wolf answered anew")
    pi.name("Before")
    pi.label(first, "before")
    pi.user("search for the wolf")
    pi.assistant("wolf in the call", call("t1", "event_search"), call("t2", "event_search"))
    return pi


def aftermath(pi: Pi) -> Pi:
    """Everything that may come behind it and must not show, by word or by deed."""
    pi.result("t2", "event_search", "hidden wolf result")
    pi.assistant("hidden wolf", call("t3", "event_search"))
    pi.name("Hidden name")
    pi.label("now-0", "hidden label")
    pi.label("now-3", "hidden label")
    pi.edit("now-3", None)
    pi.bash("hidden wolf command", "hidden", 1)
    kept_on = pi.compaction("hidden wolf summary", "now-6")
    pi.rewind("now-0")
    pi.user("hidden wolf sibling")
    pi.rewind("now-2")
    pi.user("hidden wolf on the other branch")
    pi.rewind(kept_on)
    pi.user("hidden last wolf", at=datetime(2030, 1, 1, tzinfo=UTC))
    return pi


def outcome(ask: Any, *words: str, **values: Any) -> Any:
    """An answer as plain values, without what tells the state of the index itself."""
    try:
        plain = ask(*words, **values).to_plain()
    except EventSearchError as error:
        return type(error).__name__, str(error)
    document = json.loads(re.sub(r'/[^"]*/sessions/', "/sessions/", json.dumps(plain)))
    document.pop("coverage", None)
    for hit in document.get("hits", ()):
        del hit["score"]
    return document


def answers(index: EventIndex, caller: Invocation, entries: list[str]) -> list[Any]:
    """Whatever can be asked, about the current session and others."""
    found = []
    for session_id in (None, "current", "now", "no"):
        for asked in (
            {"query": "wolf"},
            {"query": "hidden"},
            {"kinds": ["session.name"]},
            {"branch_states": ["selected"]},
            {"branch_states": ["alternate"]},
            {"selection_states": ["direct"]},
            {"selection_states": ["summarized"]},
            {"selection_states": ["not-selected"]},
            {"error_only": True},
            {"query": "wolf", "kinds": ["bash.output"]},
            {"time_from": "2029-01-01"},
            {"tool_names": ["event_search"]},
        ):
            request = {**asked, "session_id": session_id, "sort": "newest", "limit": 200}
            found.append(outcome(index.search, invocation=caller, **request))
    for session_id in ("current", "now", "copy"):
        for entry_id in entries:
            for order in ("branch", "append"):
                read = {"order": order, "before": 5, "after": 5}
                found.append(outcome(index.read, session_id, entry_id, invocation=caller, **read))
            found.append(outcome(index.trace, session_id, entry_id, invocation=caller))
            deep = outcome(index.trace, session_id, entry_id, invocation=caller, depth=5)
            found.append(deep)
        found.append(outcome(index.lineage, session_id, invocation=caller))
    listed: list[dict[str, Any]] = [
        {},
        {"name": "hidden"},
        {"name": "before"},
        {"time_from": "2029-01-01"},
    ]
    found += [outcome(index.sessions, invocation=caller, **asked) for asked in listed]
    return found


def without_places(value: Any) -> Any:
    """Without what names the file's own size and places."""
    if isinstance(value, list):
        return [without_places(item) for item in value]
    if isinstance(value, dict):
        return {key: without_places(item) for key, item in value.items() if key != "score"}
    return value


@pytest.mark.parametrize("call_id", ["t1", "t2", "t1/2", "t2/1/3"])
def test_nothing_at_or_behind_the_asking_entry_shows(call_id: str) -> None:
    before, after = history(), aftermath(history())
    copy = before.fork("copy", "now-3")
    copy.user("wolf in a fork")
    entries = [str(record["id"]) for record in after.entries]
    shown = []
    for pi in (before, after):
        with indexed({"now": pi.data(), "copy": copy.data()}) as index:
            shown.append(answers(index, asking(call_id), entries))
    assert len(shown[0]) > 150
    for alone, together in zip(*shown, strict=True):
        assert without_places(together) == without_places(alone)
        assert "hidden" not in json.dumps(together).replace('"query": "hidden"', "").replace(
            '"term": "hidden"', ""
        )


def test_the_calling_entry_itself_is_hidden() -> None:
    with indexed({"now": history().data()}) as index:
        for session_id in ("current", "now"):
            page = index.search("wolf", invocation=asking(), session_id=session_id, sort="oldest")
            assert [hit.entry_id for hit in page.hits] == [
                "now-0", "now-1", "now-2", "now-3", "now-6",
            ]  # fmt: skip
            with pytest.raises(NotFound):
                index.read(session_id, "now-7", invocation=asking())
            with pytest.raises(NotFound):
                index.trace(session_id, "now-7", invocation=asking())
        event = index.read("current", "now-6", invocation=asking(), after=5)
        assert event.neighbors.after == ()
        assert event.branch_state == "selected"
        assert index.trace("current", "now-6", invocation=asking()).children == ()
        found = index.search("call", invocation=asking(), session_id="current")
        assert found.hits == ()
        assert found.diagnostics is not None
        assert found.diagnostics.without_filters == 0


def test_states_are_those_of_the_asking() -> None:
    """A compaction, an edit and a turn to another branch that came later do not count."""
    pi = aftermath(history())
    with indexed({"now": pi.data()}) as index:

        def states(caller: Invocation) -> dict[str, tuple[str, str]]:
            page = index.search(
                invocation=caller, session_id="now", kinds=["user.text", "assistant.text"]
            )
            return {hit.entry_id: (hit.branch_state, hit.selection_state) for hit in page.hits}

        asked = states(asking())
        assert asked["now-0"] == asked["now-3"] == asked["now-6"] == ("selected", "direct")
        assert asked["now-1"] == asked["now-2"] == ("alternate", "not-selected")
        later = states(EVERYWHERE)
        assert later["now-0"] == later["now-3"] == ("selected", "summarized")
        event = index.read("now", "now-0", invocation=asking())
        assert event.label == "before"
        (session,) = index.sessions(invocation=asking()).sessions
        assert (session.name, session.event_count) == ("Before", 7)
        assert session.last_activity_at == "2026-03-01T09:07:00.000Z"


def test_a_turn_to_another_branch_after_the_asking() -> None:
    pi = history()
    pi.rewind("now-2")
    pi.user("hidden wolf on the other branch")
    by_entry = asking(None, invocation_entry_id="now-7")
    with indexed({"now": pi.data()}) as index:
        page = index.search("wolf", invocation=by_entry, session_id="current", sort="oldest")
        states = {hit.entry_id: hit.branch_state for hit in page.hits}
        assert states == {
            "now-0": "selected", "now-1": "alternate", "now-2": "alternate",
            "now-3": "selected", "now-6": "selected",
        }  # fmt: skip
        gone = index.search("wolf", invocation=EVERYWHERE, session_id="now", sort="oldest")
        assert {hit.entry_id for hit in gone.hits if hit.branch_state == "selected"} == {
            "now-0", "now-1", "now-2", "now-8",
        }  # fmt: skip


def test_a_leaf_that_nobody_can_name_after_the_asking() -> None:
    pi = history()
    pi.user("hidden, without id")
    del pi.entries[-1]["id"]
    with indexed({"now": pi.data()}) as index:
        page = index.search(
            "wolf", invocation=asking(None, invocation_entry_id="now-7"), session_id="now"
        )
        assert {hit.branch_state for hit in page.hits} == {"selected", "alternate"}
        lost = index.search("wolf", invocation=EVERYWHERE, session_id="now")
        assert {hit.branch_state for hit in lost.hits} == {"unknown"}


# Locating


def test_the_newest_call_of_an_id_on_the_branch_asks() -> None:
    pi = Pi("now", WORKSPACE)
    pi.assistant("wolf one", call("call_0", "event_search"))
    first = pi.result("call_0", "event_search", "x")
    pi.assistant("wolf two", call("call_0", "event_search"))
    pi.result("call_0", "event_search", "x")
    pi.rewind(first)
    pi.assistant("wolf three", call("call_0", "event_search"))
    pi.rewind(first)
    pi.user("wolf four")
    pi.rewind("now-4")
    pi.label(first, "the leaf is here again")
    with indexed({"now": pi.data()}) as index:
        page = index.search("wolf", invocation=asking("call_0"), session_id="now", sort="oldest")
        assert [hit.entry_id for hit in page.hits] == ["now-0", "now-2"]


def test_sequential_calls_end_at_the_message_that_holds_them() -> None:
    pi = history()
    pi.result("t1", "event_search", "wolf of the first call")
    with indexed({"now": pi.data()}) as index:
        for tools in ((), ("event_search",)):
            page = index.search("wolf", invocation=asking("t2"), session_id="now", tool_names=tools)
            assert not {"now-7", "now-8"} & {hit.entry_id for hit in page.hits}


def test_an_id_with_a_slash_of_its_own() -> None:
    pi = Pi("now", WORKSPACE)
    pi.user("wolf one")
    pi.assistant("wolf two", call("fc/1", "event_search"))
    pi.user("wolf three")
    with indexed({"now": pi.data()}) as index:
        page = index.search("wolf", invocation=asking("fc/1"), session_id="now")
        assert [hit.entry_id for hit in page.hits] == ["now-0"]


LOST = [
    asking(None),
    asking("nothing"),
    asking("t"),
    asking(""),
    asking("/t1"),
    asking(None, invocation_entry_id="nothing"),
    asking("t1", invocation_entry_id="nothing"),
    asking(None, invocation_entry_id=""),
    asking("aside"),
]


@pytest.mark.parametrize("caller", LOST)
def test_a_cutoff_that_cannot_be_located_hides_the_session(caller: Invocation) -> None:
    pi = history()
    pi.entries[2]["message"]["content"].append(call("aside", "event_search"))
    other = pi.fork("other", "now-3")
    other.user("wolf elsewhere")
    nest = Pi("nowhere", WORKSPACE)
    nest.user("wolf nowhere")
    files = {p.session_id: p.data() for p in (pi, other, nest)}
    with indexed(files) as index:
        for ask in (
            lambda: index.search("wolf", invocation=caller, session_id="now"),
            lambda: index.search("wolf", invocation=caller, session_id="current"),
            lambda: index.read("now", "now-0", invocation=caller),
            lambda: index.read("current", "now-0", invocation=caller),
            lambda: index.trace("now", "now-0", invocation=caller),
            lambda: index.lineage("now", invocation=caller),
            lambda: index.lineage("current", invocation=caller),
        ):
            with pytest.raises(NotFound):
                ask()
        page = index.search("wolf", invocation=caller, limit=200)
        assert {hit.session_id for hit in page.hits} == {"other", "nowhere"}
        assert not any("now" in hit.also_in for hit in page.hits)
        assert index.lineage("no", invocation=caller).session_id == "nowhere"
        listed = index.sessions(invocation=caller).sessions
        assert {session.session_id for session in listed} == {"other", "nowhere"}
        assert index.lineage("other", invocation=caller).parent_session_id is None


def test_an_invocation_of_no_session_hides_none() -> None:
    with indexed({"now": history().data()}) as index:
        caller = Invocation(WORKSPACE, WORKSPACE, tool_call_id="t1")
        assert index.search("wolf", invocation=caller).hits
        with pytest.raises(InvalidArgument):
            index.search("wolf", invocation=caller, session_id="current")
        with pytest.raises(InvalidArgument):
            index.lineage("current", invocation=caller)


def test_current_where_it_is_not_to_be_seen() -> None:
    with indexed({"now": history().data()}) as index:
        for caller in (
            Invocation("/w/b", "/w/b", current_session_id="now", tool_call_id="t1"),
            Invocation(WORKSPACE, WORKSPACE, current_session_id="unknown", tool_call_id="t1"),
        ):
            with pytest.raises(NotFound):
                index.search("wolf", invocation=caller, session_id="current")


def test_a_session_that_is_called_current() -> None:
    odd = Pi("current", WORKSPACE)
    odd.user("wolf of an odd name")
    with indexed({"now": history().data(), "odd": odd.data()}) as index:
        page = index.search("wolf", invocation=asking(), session_id="current")
        assert {hit.session_id for hit in page.hits} == {"now"}
        page = index.search("wolf", invocation=EVERYWHERE, session_id="current")
        assert {hit.session_id for hit in page.hits} == {"current"}


# Naming the session


def test_the_session_by_its_file(place: Place) -> None:
    path = history().write(place.sessions)
    link = place.base / "link.jsonl"
    link.symlink_to(path)
    place.sync()
    with place.open() as index:
        for file in (path, str(path), link, Path("sessions") / path.name):
            caller = Invocation(WORKSPACE, WORKSPACE, current_session_file=file, tool_call_id="t1")
            assert index.search("wolf", invocation=caller).hits == ()
            found = index.search("wolf", invocation=caller, session_id="current").hits
            assert len(found) == 5
        both = asking(current_session_file=place.base / "gone.jsonl")
        assert index.search("wolf", invocation=both).hits == ()
        unknown_id = Invocation(
            WORKSPACE, WORKSPACE, current_session_id="not yet", current_session_file=path,
            tool_call_id="t1",
        )  # fmt: skip
        assert index.search("wolf", invocation=unknown_id).hits == ()
        for odd in ("", "\0", "/nowhere/x.jsonl"):
            caller = Invocation(WORKSPACE, WORKSPACE, current_session_file=odd)
            assert index.search("wolf", invocation=caller).hits


def test_a_file_that_another_file_stands_for(place: Place) -> None:
    """An export with more records owns the id; what asks is the session all the same."""
    path = history().write(place.sessions)
    aftermath(history()).write(place.sessions, "longer.jsonl")
    place.sync()
    with place.open() as index:
        caller = Invocation(WORKSPACE, WORKSPACE, current_session_file=path, tool_call_id="t1")
        assert index.search("wolf", invocation=caller).hits == ()
        page = index.search("hidden", invocation=caller, session_id="current")
        assert page.hits == ()
        assert len(index.search("wolf", invocation=caller, session_id="current").hits) == 5


def test_copies_of_the_current_session_answer_in_their_own_name() -> None:
    pi = history()
    files = {"now": pi.data()}
    for name in ("b", "c"):
        files[name] = pi.fork(name, "now-3").data()
    with indexed(files) as index:
        page = index.search("answered anew", invocation=asking())
        assert [(hit.session_id, hit.also_in) for hit in page.hits] == [("b", ("c",))]
        page = index.search("answered anew", invocation=asking(), session_id="current")
        assert [(hit.session_id, hit.also_in) for hit in page.hits] == [("now", ("b", "c"))]
        page = index.search("answered anew", invocation=asking(), session_id="c")
        assert [(hit.session_id, hit.also_in) for hit in page.hits] == [("c", ("b",))]


def test_a_new_record_is_hidden_before_and_after_it_is_synced(place: Place) -> None:
    pi = history()
    pi.write(place.sessions)
    with place.open() as index:
        index.sync()
        before = outcome(index.search, "wolf", invocation=asking(), session_id="current")
        pi.result("t1", "event_search", "hidden wolf")
        pi.assistant("hidden wolf", call("t9", "event_search"))
        pi.flush()
        assert outcome(index.search, "wolf", invocation=asking(), session_id="current") == before
        index.sync()
        assert outcome(index.search, "wolf", invocation=asking(), session_id="current") == before
        later = index.search("hidden", invocation=asking("t9"), session_id="current")
        assert later.hits == (), "a result of retrieval stays suppressed"
        seen = index.search(
            "hidden", invocation=asking("t9"), session_id="current", tool_names=["event_search"]
        )
        assert [hit.entry_id for hit in seen.hits] == ["now-8"]


# Any history


CURRENT_FILTERS = {name: FILTERS[name] for name in FILTERS if name not in ("session_id", "cwd")}


@st.composite
def about_the_current(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(
        st.lists(st.sampled_from(list(CURRENT_FILTERS)), min_size=1, max_size=2, unique=True)
    )
    return {name: draw(CURRENT_FILTERS[name]) for name in names}


@given(
    file=sessions(damaged=False, session_id="now", cwd=WORKSPACE, max_entries=24),
    place=st.floats(0, 1),
    asked=st.lists(about_the_current(), min_size=3, max_size=3),
)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_as_if_the_file_ended_with_the_asking_entry(
    file: SessionFile, place: float, asked: list[dict[str, Any]]
) -> None:
    assume(len(file.records) > 1)
    for request in asked:
        assume(request.get("time_from", "") <= request.get("time_to", "~"))
    number = int(place * (len(file.records) - 1))
    cut = file.records[: number + 1]
    short = b"".join(dump(record) + b"\n" for record in [file.header, *cut])
    caller = asking(None, invocation_entry_id=str(cut[-1]["id"]))
    fork = Pi(
        "fork", WORKSPACE, started=START + timedelta(days=1), parent=Path("/sessions/now.jsonl")
    )
    fork.entries = [dict(record) for record in file.records]
    entries = [str(record["id"]) for record in file.records]

    def everything(data: bytes) -> list[Any]:
        found = []
        with indexed({"now": data, "fork": fork.data()}) as index:
            for request, session_id in zip(asked * 3, ("now", "current", None) * 3, strict=True):
                values = {**request, "session_id": session_id, "sort": "newest", "limit": 200}
                found.append(outcome(index.search, invocation=caller, **values))
            for entry_id in entries:
                read = {"before": 3, "after": 3}
                found.append(outcome(index.read, "now", entry_id, invocation=caller, **read))
                found.append(outcome(index.trace, "now", entry_id, invocation=caller, depth=2))
                found.append(outcome(index.trace, "fork", entry_id, invocation=caller))
            found.append(outcome(index.sessions, invocation=caller))
        return found

    for alone, together in zip(everything(short), everything(file.data), strict=True):
        assert together == alone


def test_an_asking_entry_whose_parent_comes_behind_it() -> None:
    """At its time it hung nowhere, so nothing can be said of the branch it was on."""

    def entry(entry_id: str, parent_id: str | None) -> dict[str, Any]:
        message = {"role": "user", "content": f"needle {entry_id}"}
        own = {"id": entry_id, "parentId": parent_id, "timestamp": "2026-01-05T09:00:00.000Z"}
        return {"type": "message", "message": message, **own}

    header = {"type": "session", "version": 3, "id": "now", "cwd": WORKSPACE}
    records = [header, entry("a0", None), entry("a1", "a2"), entry("a2", "a0")]
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    caller = asking(None, invocation_entry_id="a1")
    with indexed({"now": data}) as index:
        [hit] = index.search("needle", invocation=caller, session_id="now").hits
    assert (hit.entry_id, hit.branch_state, hit.selection_state) == ("a0", "unknown", "unknown")


@given(
    file=sessions(session_id="now", cwd=WORKSPACE, max_entries=24),
    place=st.floats(0, 1),
)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_in_damaged_files_nothing_shows_that_was_not_there(file: SessionFile, place: float) -> None:
    """Where a later record changed what earlier ones are, nothing is told of it but `unknown`."""
    assume(len(file.records) > 1)
    named = [record for record in file.records if "id" in record]
    assume(named)
    asked_by = str(named[int(place * (len(named) - 1))]["id"])
    caller = asking(None, invocation_entry_id=asked_by)
    with indexed({"now": file.data}) as index:
        whole = index.search(invocation=EVERYWHERE, time_from="1900-01-01", limit=200).hits
        try:
            cut = index.search(
                invocation=caller, session_id="now", time_from="1900-01-01", limit=200
            ).hits
        except NotFound:
            return
        lines = {hit.entry_id: index.read("now", hit.entry_id, invocation=EVERYWHERE).source.line
                 for hit in whole}  # fmt: skip
        end = index.read("now", asked_by, invocation=EVERYWHERE).source.line
        assert {hit.entry_id for hit in cut} == {i for i, line in lines.items() if line < end}
        ended = file.data.split(b"\n")[:end]
    with indexed({"now": b"\n".join(ended) + b"\n"}) as index:
        try:
            then = index.search(
                invocation=caller, session_id="now", time_from="1900-01-01", limit=200
            ).hits
        except NotFound:
            return
        states = {hit.entry_id: (hit.branch_state, hit.selection_state) for hit in then}
        for hit in cut:
            state = hit.branch_state, hit.selection_state
            assert state in (states.get(hit.entry_id), ("unknown", "unknown"))
