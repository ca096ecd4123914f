"""Every command's JSON over the sample sessions and a session with everything in it: the exact
keys, their types, and each optional key both there and not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pi_event_search import EventIndex
from pi_event_search.types.event import EventRef
from pi_event_search.types.shape import Shape

from tests.contract import shapes
from tests.contract.place import EVERYWHERE, Place
from tests.contract.writing import Pi, call

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "sessions"
IMAGE = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
THINKING = {"type": "thinking", "thinking": "private", "thinkingSignature": "s"}


def everything() -> list[Pi]:
    """A session with each kind of entry, and a fork of it."""
    pi = Pi("everything", "/w/a")
    first = pi.user("hello wolf")
    pi.assistant("the wolf", THINKING, call("c1", "bash", command="ls wolf"))
    pi.result("c1", "bash", "wolf.txt " + "x" * 5_000, failed=True)
    pi.message("toolResult", toolCallId="c1", toolName="bash", content=[IMAGE], details={"a": 1})
    pi.assistant("partly", error="wolf overloaded")
    pi.bash("cat wolf", "no such wolf", 1)
    pi.bash("!!wolf", "hidden", hidden=True)
    pi.message("custom", customType="note", content="a wolf note", display=False)
    pi.add("custom_message", customType="memo", content="a wolf memo", display=True)
    pi.add("custom", customType="state", data={"wolf": "never"})
    pi.message("system", sections={"preamble": "wolf"}, content="wolf")
    pi.name("About a wolf")
    pi.label(first, "start")
    pi.add("model_change", provider="p", modelId="m")
    pi.compaction("wolf summary", first)
    middle = pi.user("after the wolf")
    pi.edit(middle, None)
    pi.add("branch_summary", summary="left the wolf", fromId=middle)
    pi.rewind(middle)
    pi.user("another way of the wolf")
    pi.add("title", title="unknown type")
    return [pi]


@pytest.fixture
def asked(place: Place) -> Place:
    written = everything()[0]
    written.write(place.sessions)
    fork = written.fork("fork", written.entries[6]["id"])
    fork.user("wolf fork")
    fork.write(place.sessions)
    unnamed = Pi("unnamed", None)
    unnamed.add("message", message={"role": "user", "content": "lone wolf"}, entry_id="no-time")
    del unnamed.entries[0]["timestamp"]
    unnamed.write(place.sessions)
    (place.sessions / "other.jsonl").write_text("no session\n")
    for sample in SAMPLES.rglob("*.jsonl"):
        (place.sessions / sample.name).write_bytes(sample.read_bytes())
    return place


def test_sync(asked: Place) -> None:
    answer = asked.all("sync")
    assert answer.code == 0, "a file that fails is no failure of the sync"
    report = answer.json
    shapes.check(report, shapes.SYNC)
    assert report["discovered"] == len(list(asked.sessions.iterdir()))
    assert report["failed"] == 1
    assert report["eventsAdded"] > 60
    again = asked.all("sync").json
    shapes.check(again, shapes.SYNC)
    assert again["bytesRead"] == again["eventsAdded"] == 0


def test_search(asked: Place) -> None:
    documents = [
        asked.all("search", *words).json
        for words in (
            ["wolf"],
            ["lamp"],
            ["--kind", "session.name"],
            ["--since", "2000-01-01", "--limit", "200"],
            ["never written anywhere", "--kind", "user.text"],
        )
    ]
    for document in documents:
        shapes.check(document, shapes.SEARCH)
        assert ("diagnostics" in document) is (not document["hits"])
    for document in documents:
        for hit in document["hits"]:
            assert ("alsoIn" in hit) is ("alsoInTotal" in hit)
            assert hit["role"] is None or hit["entryType"] == "message"
            empty = [not hit[key] for key in ("matchingFragmentId", "semanticKind")]
            assert empty == [hit["matchingFragmentCount"] == 0] * 2
    lone = documents[0]["hits"][[h["entryId"] for h in documents[0]["hits"]].index("no-time")]
    assert lone["timestamp"] == ""
    assert lone["cwd"] == ""
    assert "sessionName" not in lone


def test_at_least_stands_where_counting_stopped(place: Place) -> None:
    pi = Pi("many", "/w")
    for _ in range(1_001):
        pi.user("wolf")
    pi.user("fox")
    pi.write(place.sessions)
    found = place.all("search", "wolf fox", "--kind", "bash.output").json
    shapes.check(found, shapes.SEARCH)
    assert found["diagnostics"]["terms"] == [
        {"term": "wolf", "events": 1_000, "atLeast": True},
        {"term": "fox", "events": 1},
    ]
    words = place.all("search", "wolf", "--kind", "bash.output").json["diagnostics"]
    assert words["withoutFilters"] == 1_000
    pi.entries.pop(0)
    pi.write(place.sessions)
    exact = place.all("search", "wolf", "--kind", "bash.output").json["diagnostics"]
    assert exact["terms"] == [{"term": "wolf", "events": 1_000}]


def events(place: Place) -> Iterator[tuple[str, str]]:
    for file in place.sessions.iterdir():
        lines = file.read_text().split("\n")
        header = lines[0] if lines[0].startswith("{") else "{}"
        for line in lines[1:] if "cwd" in header or "unnamed" in header else []:
            if line and "id" in json.loads(line):
                yield json.loads(header)["id"], json.loads(line)["id"]


def test_read_and_trace_of_every_event(asked: Place) -> None:
    asked.all("sync")
    reads, traces = [], []
    with asked.open() as index:
        for session_id, entry_id in events(asked):
            event = index.read(session_id, entry_id, invocation=EVERYWHERE, before=5, after=5)
            reads.append(json.loads(event.to_json()))
            shapes.check(reads[-1], shapes.READ)
            trace = index.trace(session_id, entry_id, invocation=EVERYWHERE)
            traces.append(json.loads(trace.to_json()))
            shapes.check(traces[-1], shapes.TRACE)
    assert len(reads) > 60
    seen = set().union(*map(shapes.present_keys, reads))
    assert shapes.optional_keys(shapes.READ) - seen == set()
    assert any("label" not in document for document in reads)
    assert all("parent" in t or t["target"]["entryId"] for t in traces)
    assert shapes.optional_keys(shapes.TRACE) & set().union(*map(shapes.present_keys, traces))


def test_read_and_trace_through_the_command_line(asked: Place) -> None:
    asked.all("sync")
    read = asked.all("read", "everything", "everything-2").json
    shapes.check(read, shapes.READ)
    assert read["source"]["state"] == "exact"
    shapes.check(
        asked.all("read", "everything/everything-2", "--order", "append").json, shapes.READ
    )
    shapes.check(asked.all("trace", "everything", "everything-2").json, shapes.TRACE)
    shapes.check(
        asked.all("trace", "everything", "everything-2", "--depth", "5").json, shapes.TRACE
    )


def test_sessions_and_lineage(asked: Place) -> None:
    asked.all("sync")
    listed = asked.all("sessions").json
    shapes.check(listed, shapes.SESSIONS)
    by_id = {session["sessionId"]: session for session in listed["sessions"]}
    assert by_id["everything"]["forkCount"] == 1
    assert by_id["everything"]["name"] == "About a wolf"
    assert by_id["fork"]["parentSessionId"] == "everything"
    assert "name" not in by_id["unnamed"]
    assert "parentSessionId" not in by_id["unnamed"]
    active = [session["lastActivityAt"] for session in listed["sessions"]]
    assert active == sorted(active, reverse=True)
    with_parent = asked.all("lineage", "fork").json
    shapes.check(with_parent, shapes.LINEAGE)
    assert with_parent == {
        "sessionId": "fork", "parentSessionId": "everything", "childSessionIds": [],
    }  # fmt: skip
    assert asked.all("lineage", "everything").json == {
        "sessionId": "everything",
        "childSessionIds": ["fork"],
    }


def test_status(asked: Place) -> None:
    before = asked.all("status").json
    shapes.check(before, shapes.STATUS)
    assert before["coverage"]["lastReconciledAt"] is None
    assert before["coverage"]["state"] == "partial"
    asked.all("sync")
    status = asked.all("status").json
    shapes.check(status, shapes.STATUS)
    assert status["index"]["path"] == str(asked.index)
    assert status["index"]["sessions"] == status["coverage"]["indexedSessions"]
    assert [problem["kind"] for problem in status["problems"]] == ["not-a-session"]
    assert status["problems"][0]["path"] == str(asked.sessions / "other.jsonl")
    assert status["coverage"]["state"] == "ready"


def test_the_same_through_python(asked: Place) -> None:
    """Attributes in snake case, and `to_json` with the shapes above."""

    def document(result: Shape) -> Any:
        return json.loads(result.to_json())

    with asked.open() as index:
        shapes.check(document(index.sync()), shapes.SYNC)
        page = index.search("wolf", invocation=EVERYWHERE)
        shapes.check(document(page), shapes.SEARCH)
        assert page.hits[0].session_id == document(page)["hits"][0]["sessionId"]
        hit = next(hit for hit in page.hits if hit.also_in)
        assert hit.also_in == ("fork",)
        event = index.read(hit.session_id, hit.entry_id, invocation=EVERYWHERE)
        assert event.branch_state == document(event)["branchState"]
        trace = index.trace(hit.session_id, hit.entry_id, invocation=EVERYWHERE)
        assert trace.children[0].from_.entry_id == hit.entry_id
        child = trace.children[0].to
        assert isinstance(child, EventRef)
        assert child.entry_id == document(trace)["children"][0]["to"]["entryId"]
        shapes.check(document(index.sessions(invocation=EVERYWHERE)), shapes.SESSIONS)
        shapes.check(document(index.lineage("fork", invocation=EVERYWHERE)), shapes.LINEAGE)
        shapes.check(document(index.status(invocation=EVERYWHERE)), shapes.STATUS)
        for result in (page, hit, event, trace):
            with pytest.raises((AttributeError, TypeError)):
                result.new_attribute = 1  # type: ignore[union-attr]
    without_paths = json.loads(page.to_json(local=False))
    assert not {"score", "path"} & set(without_paths["hits"][0])
    assert "path" not in json.loads(event.to_json(local=False))["source"]


def test_the_library_opens_pi_s_own_places(asked: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(asked.sessions))
    monkeypatch.setenv("PI_EVENT_SEARCH_INDEX_DIR", str(asked.index))
    with EventIndex.open() as index:
        assert index.sync().discovered > 3
        assert index.sync(asked.sessions / "fork.jsonl").unchanged == 1
        assert index.search("wolf", invocation=EVERYWHERE).hits
