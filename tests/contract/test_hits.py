"""What a hit shows: one an event, its strongest evidence, its place among equals, its copies."""

from __future__ import annotations

import json
import random
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pi_event_search import EventIndex, Hit, SearchPage
from pi_event_search._core import parse_query

from tests.contract.place import EVERYWHERE, Place, indexed
from tests.contract.writing import START, Pi, call, iso, line
from tests.strategies import TEXTS, dump


def find(index: EventIndex, query: str = "", **asked: Any) -> SearchPage:
    return index.search(query, invocation=EVERYWHERE, **{"limit": 200, **asked})


def keys(page: SearchPage) -> list[tuple[str, str]]:
    return [(hit.session_id, hit.entry_id) for hit in page.hits]


# Coalescing


def test_fragments_of_one_event_are_one_hit_with_the_strongest_as_evidence() -> None:
    pi = Pi("s", "/w")
    pi.assistant(
        "wolf " + "and more words " * 50,
        "wolf wolf wolf",
        "no match",
        call("c", "read", path="wolf.txt"),
    )
    pi.bash("cat wolf", "the wolf output " + "filler " * 200)
    with indexed({"s": pi.data()}) as index:
        hits = {hit.entry_id: hit for hit in find(index, "wolf").hits}
        assert len(hits) == 2
        assert hits["s-0"].matching_fragment_id == "assistant.text:1"
        assert hits["s-0"].matching_fragment_count == 3
        assert hits["s-1"].matching_fragment_id == "bash.command:0"
        assert hits["s-1"].matching_fragment_count == 2
        only = find(index, "wolf", kinds=["tool.call"]).hits[0]
        assert (only.matching_fragment_id, only.matching_fragment_count) == ("tool.call:0", 1)
        for sort in ("newest", "oldest"):
            again = {hit.entry_id: hit for hit in find(index, "wolf", sort=sort).hits}
            for entry_id, hit in hits.items():
                assert again[entry_id].matching_fragment_id == hit.matching_fragment_id
                assert again[entry_id].score == hit.score


def test_words_of_one_query_must_stand_in_one_fragment() -> None:
    pi = Pi("s", "/w")
    pi.assistant("the wolf", "the bear")
    pi.assistant("the wolf and the bear")
    with indexed({"s": pi.data()}) as index:
        assert keys(find(index, "wolf bear")) == [("s", "s-1")]


def test_many_fragments_do_not_use_up_the_page() -> None:
    pi = Pi("s", "/w")
    pi.assistant(*[f"wolf {n}" for n in range(300)])
    for n in range(5):
        pi.user(f"wolf {n} " + "filler " * 30)
    with indexed({"s": pi.data()}) as index:
        page = find(index, "wolf", limit=6)
        assert len(page.hits) == 6
        assert page.hits[0].matching_fragment_count == 300


# Snippets


SPACE = "[\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"


def plain(text: str) -> str:
    """White space runs as one space, as Unicode has white space (Python has a little more)."""
    return re.sub(SPACE, " ", text).strip(" ")


def as_read_back(text: str) -> str:
    """Halves of characters become whole ones, or the replacement character."""
    decoded: str = json.loads(dump({"": text}))[""]
    return re.sub("[\ud800-\udfff]", "\ufffd", decoded)


def check_snippet(hit: Hit, source: str, query: str) -> None:
    snippet = hit.snippet
    assert len(snippet) <= 240
    assert plain(snippet) == snippet
    shown = snippet.strip("…")
    assert shown in plain(source), "a snippet is a piece of the source"
    assert snippet.startswith("…") or plain(source).startswith(shown)
    at = 0
    for mark in hit.highlights:
        assert at <= mark.start < mark.end <= len(snippet)
        at = mark.end
    if query:
        wanted = {token for clause in parse_query(query).clauses for token in clause}
        marked = " ".join(snippet[m.start : m.end] for m in hit.highlights)
        found = {token for clause in parse_query(marked).clauses for token in clause}
        assert wanted <= found


@given(before=TEXTS, after=TEXTS, gap=st.integers(0, 600))
@settings(max_examples=10, deadline=None)
def test_snippets_are_pieces_of_the_text(before: str, after: str, gap: int) -> None:
    text = f"{before} {'word ' * gap}\n\n\twolf   bear\u2028{'more ' * gap}{after}"
    pi = Pi("s", "/w")
    pi.user(text)
    with indexed({"s": pi.data()}) as index:
        repaired = as_read_back(text)
        for query in ("wolf", "bear wolf", '"wolf bear"'):
            (hit,) = find(index, query).hits
            check_snippet(hit, repaired, query)
        (hit,) = find(index, roles=["user"]).hits
        check_snippet(hit, repaired, "")
        assert hit.highlights == ()


def test_a_snippet_never_bridges_an_omission() -> None:
    pi = Pi("s", "/w")
    pi.user("head " * 5_000 + "wolf " + "x " * 20_000 + "y " * 20_000 + "bear " + "tail " * 5_000)
    with indexed({"s": pi.data()}) as index:
        assert find(index, '"x y"').hits == ()
        for query, marked in (("wolf", "wolf"), ("bear", "bear"), ("wolf bear", "wolf")):
            (hit,) = find(index, query).hits
            assert [hit.snippet[m.start : m.end] for m in hit.highlights] == [marked]
            assert len(hit.snippet) <= 240
            assert hit.snippet[0] == hit.snippet[-1] == "…"


# Order


def test_equals_are_ordered_by_time_then_ids_in_every_index(tmp_path: Path) -> None:
    """However the index came to be: epochs and keys must not show."""
    sessions = []
    for name in ("d", "b", "a", "c"):
        pi = Pi(name, "/w")
        for entry in ("2", "10", "1"):
            pi.user("wolf", entry_id=f"{name}{entry}", at=START)
        pi.user("wolf", entry_id=f"{name}-late", at=START + timedelta(hours=1))
        sessions.append(pi)
    late = [(n, f"{n}-late") for n in "abcd"]
    rest = [(n, f"{n}{e}") for n in "abcd" for e in ("1", "10", "2")]
    for number in range(4):
        random.Random(number).shuffle(sessions)
        base = tmp_path / str(number)
        with EventIndex.open(index_dir=base / "i", session_dirs=[base / "s"]) as index:
            for pi in sessions:
                pi.write(base / "s")
                index.sync()
            for asked in (
                {"query": "wolf"},
                {"roles": ["user"]},
                {"query": "wolf", "sort": "newest"},
            ):
                assert keys(find(index, **asked)) == late + rest
                for limit in (1, 2, 5, 7, 11):
                    assert keys(find(index, **asked, limit=limit)) == (late + rest)[:limit]
            assert keys(find(index, "wolf", sort="oldest")) == rest + late


def test_score_comes_before_time() -> None:
    pi = Pi("s", "/w")
    pi.user("wolf wolf wolf")
    pi.user("wolf among many other words that are no wolves at all")
    with indexed({"s": pi.data()}) as index:
        page = find(index, "wolf")
        assert [hit.entry_id for hit in page.hits] == ["s-0", "s-1"]
        assert page.hits[0].score > page.hits[1].score


# Copies


@pytest.fixture
def family(place: Place) -> Place:
    """A session with 36 forks; the oldest of all is the parent."""
    parent = Pi("parent", place.workspace("a"))
    parent.user("wolf shared")
    parent.label("parent-0", "mark")
    parent.assistant("wolf answer")
    parent.user("wolf alone")
    parent.write(place.sessions)
    for number in range(36):
        where = place.workspace("a" if number % 3 else "b")
        fork = parent.fork(f"fork-{number:02}", "parent-2", where, days=100 - number)
        fork.user(f"wolf number {number}")
        fork.write(place.sessions)
    place.sync()
    return place


def test_copies_are_one_hit_under_the_oldest_owner(family: Place) -> None:
    page = family.all("search", "wolf", "--limit", "200").json["hits"]
    shared = {hit["entryId"]: hit for hit in page if hit.get("alsoIn")}
    assert set(shared) == {"parent-0", "parent-2"}
    by_age = [f"fork-{number:02}" for number in reversed(range(36))]
    for hit in shared.values():
        assert hit["sessionId"] == "parent"
        assert hit["alsoIn"] == by_age
        assert hit["alsoInTotal"] == 36
    assert len(page) == 2 + 1 + 36
    assert len(family.all("search", "wolf", "--limit", "5").json["hits"]) == 5


def test_copies_in_the_authorized_scope_only(family: Place) -> None:
    page = family.run("search", "shared", "--root", family.workspace("b")).json["hits"]
    in_b = [f"fork-{number:02}" for number in reversed(range(36)) if number % 3 == 0]
    assert [(hit["sessionId"], hit["alsoIn"]) for hit in page] == [(in_b[0], in_b[1:])]
    assert page[0]["alsoInTotal"] == 11


def test_a_copy_under_the_session_that_is_asked_for(family: Place) -> None:
    hit = family.all("search", "shared", "--session", "fork-07").json["hits"]
    assert [(h["sessionId"], h["alsoInTotal"]) for h in hit] == [("fork-07", 36)]
    assert hit[0]["alsoIn"][0] == "parent"
    assert "fork-07" not in hit[0]["alsoIn"]


def test_at_most_fifty_copies_are_named(place: Place) -> None:
    parent = Pi("parent", "/w")
    parent.user("wolf")
    parent.write(place.sessions)
    for number in range(60):
        parent.fork(f"fork-{number:02}", "parent-0").write(place.sessions)
    (hit,) = place.all("search", "wolf").json["hits"]
    assert hit["alsoIn"] == [f"fork-{number:02}" for number in range(50)]
    assert hit["alsoInTotal"] == 60


def test_copies_must_pass_the_filters_too() -> None:
    """The state of a copy is that of its own session."""
    parent = Pi("parent", "/w/a")
    first = parent.user("wolf root")
    shared = parent.user("wolf shared")
    parent.rewind(first)
    parent.user("wolf other way")
    fork = parent.fork("fork", shared, "/w/b")
    cases: list[tuple[dict[str, Any], list[tuple[str, list[str]]]]] = [
        ({}, [("parent", ["fork"])]),
        ({"branch_states": ["selected"]}, [("fork", [])]),
        ({"branch_states": ["alternate"]}, [("parent", [])]),
        ({"selection_states": ["direct"]}, [("fork", [])]),
        ({"cwd": "/w/b"}, [("fork", [])]),
        ({"cwd": "/w"}, [("parent", ["fork"])]),
        ({"session_id": "fork"}, [("fork", ["parent"])]),
        ({"session_id": "fork", "branch_states": ["selected"]}, [("fork", [])]),
        ({"session_id": "parent", "branch_states": ["selected"]}, []),
    ]
    with indexed({"parent": parent.data(), "fork": fork.data()}) as index:
        for asked, expected in cases:
            page = find(index, "shared", **asked)
            assert [(hit.session_id, list(hit.also_in)) for hit in page.hits] == expected, asked


@pytest.mark.parametrize(
    ("change", "copy"),
    [
        ({"parentId": "elsewhere"}, True),
        ({"firstKeptEntryId": "elsewhere"}, True),
        ({"timestamp": "2026-03-01T09:01:00.001Z"}, False),
        ({"summary": "wolf summary."}, False),
        ({"id": "other"}, False),
        ({"type": "branch_summary"}, False),
        ({"tokensBefore": 10}, False),
    ],
)
def test_what_makes_a_copy(change: dict[str, Any], copy: bool) -> None:
    one, two = Pi("one", "/w"), Pi("two", "/w")
    one.add("compaction", summary="wolf summary", firstKeptEntryId="x", tokensBefore=9)
    two.entries.append({**one.entries[0], **change})
    with indexed({"one": one.data(), "two": two.data()}) as index:
        page = find(index, "wolf")
        assert [list(hit.also_in) for hit in page.hits] == ([["two"]] if copy else [[], []])


def test_a_copy_named_by_ids_sorts_where_it_stands(tmp_path: Path) -> None:
    """Equal hits are ordered by the ids shown, not by those of whichever copy came first."""
    old = Pi("z-old", "/w")
    old.user("wolf", entry_id="shared", at=START)
    young = old.fork("a-young", "shared")
    middle = Pi("m", "/w", started=START)
    middle.user("wolf", entry_id="between", at=START)
    files = {pi.session_id: pi.data() for pi in (old, young, middle)}
    with indexed(files) as index:
        assert keys(find(index, "wolf")) == [("m", "between"), ("z-old", "shared")]
        assert keys(find(index, "wolf", limit=1)) == [("m", "between")]


def test_one_identity_is_one_event() -> None:
    """A whole record behind a torn one is searchable unless Pi wrote another with its id."""
    pi = Pi("s", "/w")
    pi.user("wolf first")
    glued = line({"type": "message", "id": "s-1", "parentId": "s-0", "timestamp": iso(START),
                  "message": {"role": "user", "content": "wolf glued"}})  # fmt: skip
    data = pi.data() + b'{"type":"mess' + glued
    with indexed({"s": data}) as index:
        assert keys(find(index, "glued")) == [("s", "s-1")]
        assert find(index, "glued").hits[0].branch_state == "unknown"
    pi.user("wolf again", entry_id="s-1")
    with indexed({"s": data + line(pi.entries[-1])}) as index:
        assert keys(find(index, "glued")) == []
        assert keys(find(index, "again")) == [("s", "s-1")]
        event = index.read("s", "s-1", invocation=EVERYWHERE)
        assert event.fragments[0].preview.text == "wolf again"
    same = data + glued
    with indexed({"s": same}) as index:
        (hit,) = find(index, "glued").hits
        assert hit.also_in == ()


# Suppression


RETRIEVAL = ["event_search", "event_read", "event_trace"]
COMMANDS = [
    "pi-event-search search wolf",
    "cd /w && pi-event-search read a b | head",
    "/usr/local/bin/pi-event-search sessions --name wolf",
]


def retrieval_session() -> Pi:
    pi = Pi("s", "/w")
    pi.user("wolf asked for")
    for number, tool in enumerate(RETRIEVAL):
        pi.assistant(f"looking for a wolf {number}", call(f"t{number}", tool, query="wolf"))
        pi.result(f"t{number}", tool, "wolf found")
    for number, command in enumerate(COMMANDS):
        pi.assistant(call(f"b{number}", "bash", command=command, note="wolf"))
        pi.result(f"b{number}", "bash", "wolf listed")
    pi.assistant(call("other", "bash", command="grep wolf pi-event-search.txt"))
    pi.result("other", "bash", "wolf in a file")
    pi.bash("pi-event-search search wolf", "wolf by hand")
    return pi


def check_suppression(index: EventIndex) -> None:
    found = find(index, "wolf", sort="oldest").hits
    assert [(hit.entry_id, hit.semantic_kind) for hit in found] == [
        ("s-0", "user.text"),
        ("s-1", "assistant.text"),
        ("s-3", "assistant.text"),
        ("s-5", "assistant.text"),
        ("s-13", "tool.call"),
        ("s-14", "tool.result"),
    ]
    assert all(hit.matching_fragment_count == 1 for hit in found)
    page = find(index, tool_names=RETRIEVAL, sort="oldest")
    assert [hit.entry_id for hit in page.hits] == [f"s-{n}" for n in range(1, 7)]
    assert {hit.semantic_kind for hit in page.hits} == {"tool.call", "tool.result"}
    page = find(index, "wolf", tool_names=["bash"], sort="oldest")
    assert [hit.entry_id for hit in page.hits] == [f"s-{n}" for n in range(7, 15)]
    assert find(index, "listed").hits == ()
    diagnostics = find(index, "listed").diagnostics
    assert diagnostics is not None
    assert diagnostics.terms[0].events == diagnostics.without_filters == 0
    everything = find(index, time_from="2000-01-01").hits
    assert "s-8" not in [hit.entry_id for hit in everything]


def test_retrieval_is_suppressed_unless_a_tool_is_asked_for() -> None:
    with indexed({"s": retrieval_session().data()}) as index:
        check_suppression(index)


@pytest.mark.parametrize("step", [1, 2, 3])
def test_also_when_a_result_arrives_later_than_its_call(place: Place, step: int) -> None:
    whole = retrieval_session()
    pi = Pi("s", "/w")
    pi.write(place.sessions)
    with place.open() as index:
        index.sync()
        for start in range(0, len(whole.entries), step):
            pi.entries += whole.entries[start : start + step]
            pi.flush()
            assert index.sync().appended == 1
        check_suppression(index)


@pytest.mark.parametrize("deltas", [False, True])
def test_the_last_call_of_an_id_decides(place: Place, deltas: bool) -> None:
    """Some providers count calls anew each turn."""
    pi = Pi("s", "/w")
    pi.write(place.sessions)
    with place.open() as index:
        for command, said_back in (
            ("pi-event-search search x", "wolf hidden"),
            ("ls", "wolf shown"),
            ("pi-event-search read a b", "wolf hidden again"),
            ("ls -l", "wolf shown again"),
        ):
            pi.assistant(call("call_0", "bash", command=command))
            if deltas:
                pi.flush()
                index.sync()
            pi.result("call_0", "bash", said_back)
            if deltas:
                pi.flush()
                index.sync()
        pi.flush()
        index.sync()
        found = find(index, "wolf", sort="oldest").hits
        assert [hit.snippet for hit in found] == ["wolf shown", "wolf shown again"]


def test_a_copy_whose_call_is_missing_stays_suppressed_where_it_is_known() -> None:
    whole = Pi("whole", "/w")
    whole.assistant(call("c", "bash", command="pi-event-search search x"))
    whole.result("c", "bash", "wolf")
    part = Pi("part", "/w", started=START + timedelta(days=1))
    part.entries = [{**whole.entries[1], "parentId": None}]
    with indexed({"whole": whole.data(), "part": part.data()}) as index:
        (hit,) = find(index, "wolf").hits
        assert (hit.session_id, hit.also_in) == ("part", ())


def test_the_name_of_a_session_is_that_of_now(place: Place) -> None:
    pi = Pi("s", "/w")
    pi.user("wolf")
    pi.name("  First\n name ")
    pi.write(place.sessions)
    assert place.all("search", "wolf").json["hits"][0]["sessionName"] == "First name"
    pi.name("Second")
    pi.flush()
    assert place.all("search", "wolf").json["hits"][0]["sessionName"] == "Second"
    pi.name("")
    pi.flush()
    assert "sessionName" not in place.all("search", "wolf").json["hits"][0]
