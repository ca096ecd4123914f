"""Sessions that Pi itself generated: every fact of the index against Pi's answer, every marker.

A small fixed set in the ordinary run; `make test-long` takes a hundred seeds of larger sets.
"""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pi_event_search import EventIndex, Invocation
from pi_event_search.types.event import EventRef

from tests.indexes import EVERYTHING
from tests.pi.compare import Facts, compare
from tests.pi.indexed import indexed_facts
from tests.pi.program import Oracle, run
from tests.pi.tally import TALLY

LONG = os.environ.get("PI_EVENT_SEARCH_LONG") == "1"
SEEDS = range(1, 101) if LONG else range(1, 4)
SESSIONS, STEPS = (20, 80) if LONG else (12, 40)
READ_EVERY = 16 if LONG else 4
"""Entries are read one by one; a part of them is enough to hold the face to the facts."""

TOOLS = ("event_search", "event_read", "event_trace")
SHOWN_AS = {"assistant.error": "assistant.text"}

pytestmark = pytest.mark.timeout(600)


@dataclass
class Generated:
    """A set of session files with an index over it."""

    place: Path
    manifest: dict[str, Any]
    index: EventIndex
    facts: dict[Path, Facts]


@pytest.fixture(scope="module", params=SEEDS, ids=lambda seed: f"seed{seed}")
def generated(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, pi: None
) -> Iterator[Generated]:
    place = tmp_path_factory.mktemp("generated").resolve()
    run(
        *("generate.mjs", "--seed", request.param, "--out", place),
        *("--sessions", SESSIONS, "--steps", STEPS, "--mixed-cwd"),
    )
    sessions = place / "agent" / "sessions"
    with EventIndex.open(index_dir=place / "index", session_dirs=[sessions]) as index:
        report = index.sync()
        assert (report.failed, report.coverage.skipped_records) == (0, 0)
        manifest = json.loads((place / "manifest.json").read_text())
        yield Generated(place, manifest, index, indexed_facts(index))
    shutil.rmtree(place)


def test_every_fact_is_what_pi_says(generated: Generated, oracle: Oracle) -> None:
    assert len(generated.facts) == SESSIONS
    differences = {}
    for path, facts in generated.facts.items():
        answer = oracle.ask(path)
        assert "error" not in answer
        found = compare(answer, facts)
        if found:
            differences[path.name] = found
        TALLY.sessions += 1
        TALLY.entries += len(facts.order)
    assert not differences


def test_answers_show_the_facts(generated: Generated) -> None:
    for facts in generated.facts.values():
        parents = {child: key for key, keys in facts.children.items() for child in keys}
        for key in list(facts.states)[::READ_EVERY]:
            event = generated.index.read(facts.session_id, key, invocation=EVERYTHING)
            assert (event.branch_state, event.selection_state) == facts.states[key]
            assert event.label == facts.labels.get(key)
            assert event.parent_id == parents.get(key)
            assert event.source.state == "exact"
            trace = generated.index.trace(facts.session_id, key, invocation=EVERYTHING)
            children = facts.children.get(key, [])[:20]
            assert [edge.to for edge in trace.children] == [
                EventRef(facts.session_id, child) for child in children
            ]
            assert [edge.leads_to_materialized_leaf for edge in trace.children] == [
                child in facts.branch for child in children
            ]


def test_markers_are_found_where_they_are_and_nowhere_else(generated: Generated) -> None:
    wrong = []
    for marker in generated.manifest["markers"]:
        for word in [marker["marker"], *marker.get("aliases", [])]:
            complaint = _complaint(generated.index, marker, word)
            if complaint:
                wrong.append(complaint)
            TALLY.markers += 1
    assert not wrong


def _complaint(index: EventIndex, marker: dict[str, Any], word: str) -> object:
    """What is wrong with the answer to one word, if anything."""
    events: dict[tuple[str, str], set[str]] = {}
    suppressed = set()
    for at in marker["locations"]:
        event = at["sessionId"], at["entryId"]
        if at["suppressed"]:
            suppressed.add(event)
        elif _searchable(at["kind"]):
            events.setdefault(event, set()).add(SHOWN_AS.get(at["kind"], at["kind"]))
    found = _found(index, word)
    expect = marker["expect"]
    if expect == "found":
        good = set(found) == set(events) and all(
            found[event] in kinds for event, kinds in events.items()
        )
    elif expect == "maybe-omitted":
        good = set(found) <= set(events)
    elif expect == "suppressed":
        asked = _found(index, word, tool_names=TOOLS)
        good = set(found) <= set(events) and suppressed <= set(asked)
    else:
        assert expect == "absent"
        good = not found
    return None if good else (expect, word, marker["kind"], found, events)


def _searchable(kind: str) -> bool:
    public = kind.split(".")[0] in ("user", "assistant", "tool", "summary", "custom", "session")
    return public or kind in ("bash.command", "bash.output")


def _found(index: EventIndex, word: str, **filters: Any) -> dict[tuple[str, str], str]:
    """Every event found, fork copies too, with the kind of what matched."""
    page = index.search(word, invocation=EVERYTHING, limit=200, **filters)
    return {
        (session, hit.entry_id): hit.semantic_kind
        for hit in page.hits
        for session in (hit.session_id, *hit.also_in)
    }


def test_a_workspace_sees_its_own_sessions(generated: Generated) -> None:
    project = generated.place / "project"
    caller = Invocation(cwd=project, workspace_root=project)
    seen = generated.index.sessions(invocation=caller, limit=1000).sessions
    assert {session.session_id for session in seen} == {
        session["sessionId"]
        for session in generated.manifest["sessions"]
        if session["cwdClass"] in ("same", "descendant")
    }


def test_lineage_is_what_the_headers_say(generated: Generated) -> None:
    ids = {s["file"]: s["sessionId"] for s in generated.manifest["sessions"]}
    for session in generated.manifest["sessions"]:
        lineage = generated.index.lineage(session["sessionId"], invocation=EVERYTHING)
        assert lineage.parent_session_id == ids.get(session.get("parentSession"))
