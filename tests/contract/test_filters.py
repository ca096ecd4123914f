"""Every filter alone and combined, with and without words, against a search by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pi_event_search import EventIndex, InvalidQuery, SearchPage
from pi_event_search.types import vocabulary

from tests.contract import naive
from tests.contract.place import EVERYWHERE, indexed
from tests.contract.writing import Pi, call
from tests.oracle import search as words
from tests.strategies import TIMES, SessionFile, sessions

CWDS = {"0199-a": "/w/a", "0199-b": "/w/ab", "0199-c": "/w/a/sub"}
TYPES = ["message", "compaction", "branch_summary", "custom_message", "session_info", "label"]
ROLES = ["user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "robot"]
QUERIES = ["lock", "tantivy commit", "src/main.rs", '"lock tantivy"', "naive", "検索", "E0308"]


def some(values: Any) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(list(values)), min_size=1, max_size=3, unique=True)


FILTERS: dict[str, st.SearchStrategy[Any]] = {
    "query": st.sampled_from(QUERIES),
    "kinds": some(vocabulary.SEMANTIC_KINDS),
    "entry_types": some(TYPES),
    "roles": some(ROLES),
    "tool_names": some(["bash", "read", "edit", "event_search", "nothing"]),
    "branch_states": some(vocabulary.BRANCH_STATES),
    "selection_states": some(vocabulary.SELECTION_STATES),
    "error_only": st.just(True),
    "time_from": st.sampled_from(TIMES),
    "time_to": st.sampled_from(TIMES),
    "session_id": st.sampled_from(list(CWDS)),
    "cwd": st.sampled_from(["/w", "/w/a", "/w/ab", "/w/a/sub", "/w/b"]),
    "file": st.sampled_from(["src/a.rs", "src/b.rs"]),
}


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """One to four of the filters."""
    names = draw(st.lists(st.sampled_from(list(FILTERS)), min_size=1, max_size=4, unique=True))
    asked = {name: draw(FILTERS[name]) for name in names}
    if asked.get("time_from", "") and asked.get("time_to", ""):
        asked["time_from"] = TIMES[2]  # the earliest of them
    return asked


def shown(page: SearchPage) -> dict[tuple[str, str], list[str]]:
    found = {(hit.session_id, hit.entry_id): list(hit.also_in) for hit in page.hits}
    assert len(found) == len(page.hits), "an event stands twice"
    return found


def check(index: EventIndex, corpus: list[naive.Event], asked: dict[str, Any]) -> None:
    page = index.search(invocation=EVERYWHERE, limit=200, **asked)
    assert len(page.hits) < 200
    assert (page.diagnostics is None) is bool(page.hits)
    found = shown(page)
    least = naive.search(corpus, asked, words.surely_matches)
    most = naive.search(corpus, asked, words.may_match)
    if "query" not in asked:
        assert found == least.hits
    assert set(least.hits) <= set(found) <= set(most.hits)
    by_id = {(event.session_id, event.entry_id): event for event in corpus}
    order = []
    for hit in page.hits:
        key = hit.session_id, hit.entry_id
        event = by_id[key]
        assert least.counts.get(key, 0) <= hit.matching_fragment_count <= most.counts[key]
        assert (hit.branch_state, hit.selection_state) == (event.branch, event.selection)
        assert (hit.entry_type, hit.role, hit.cwd) == (event.type, event.role, event.cwd)
        assert hit.is_error == event.is_error
        order.append((-hit.score, -event.ms, *key))
        if not hit.matching_fragment_id:
            assert (hit.semantic_kind, hit.matching_fragment_count) == ("", 0)
            assert event.silent
            continue
        kinds = [part for part in event.parts if part.kind == hit.semantic_kind]
        number = int(hit.matching_fragment_id.split(":")[1])
        assert hit.tool_name == kinds[number].tool
        assert not asked.get("kinds") or hit.semantic_kind in asked["kinds"]
    assert order == sorted(order)
    if "query" not in asked:
        assert {hit.score for hit in page.hits} <= {0.0}


@given(
    files=st.tuples(
        *(
            sessions(damaged=False, session_id=name, cwd=cwd, max_entries=20)
            for name, cwd in CWDS.items()
        )
    ),
    asked=st.lists(requests(), min_size=6, max_size=6),
)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_filters(files: tuple[SessionFile, ...], asked: list[dict[str, Any]]) -> None:
    contents = dict(zip(CWDS, (file.data for file in files), strict=True))
    corpus = [event for data in contents.values() for event in naive.events(data)]
    with indexed(contents) as index:
        for request in asked:
            check(index, corpus, request)


@given(
    file=sessions(damaged=False, session_id="0199-a", cwd="/w/a", max_entries=30),
    asked=requests().filter(lambda asked: asked.get("session_id") in (None, "0199-a")),
)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_sorted_by_time_exactly_over_all_matches(file: SessionFile, asked: dict[str, Any]) -> None:
    corpus = {event.entry_id: event for event in naive.events(file.data)}
    with indexed({"0199-a": file.data}) as index:
        for sort, sign in (("newest", -1), ("oldest", 1)):
            page = index.search(invocation=EVERYWHERE, limit=200, sort=sort, **asked)
            every = [hit.entry_id for hit in page.hits]
            assert every == sorted(every, key=lambda i: (sign * corpus[i].ms, i))
            first = index.search(invocation=EVERYWHERE, limit=3, sort=sort, **asked)
            assert [hit.entry_id for hit in first.hits] == every[:3]
            ranked = index.search(invocation=EVERYWHERE, limit=200, **asked)
            best = {hit.entry_id: (hit.score, hit.matching_fragment_id) for hit in ranked.hits}
            assert {h.entry_id: (h.score, h.matching_fragment_id) for h in page.hits} == best


def test_the_naive_search_agrees_on_a_known_case() -> None:
    """So that the comparison above is not one of two empty sets."""
    pi = Pi("0199-a", "/w/a")
    pi.user("lock here")
    pi.assistant("the lock", call("c", "bash", command="lock"), error="lock failed")
    pi.result("c", "bash", "lock out", failed=True)
    pi.bash("ls lock", "none", 2)
    pi.assistant(call("e", "event_search", query="lock"))
    pi.result("e", "event_search", "lock lock")
    corpus = naive.events(pi.data())
    cases: list[tuple[dict[str, Any], list[int], list[int]]] = [
        ({"query": "lock"}, [0, 1, 2, 3], [1, 3, 1, 1]),
        ({"error_only": True}, [1, 2, 3], [3, 1, 2]),
        ({"kinds": ["tool.call"]}, [1], [1]),
        ({"tool_names": ["event_search"]}, [4, 5], [1, 1]),
        ({"roles": ["user"]}, [0], [1]),
    ]
    with indexed({"0199-a": pi.data()}) as index:
        for asked, expected, counts in cases:
            page = index.search(invocation=EVERYWHERE, sort="oldest", **asked)
            assert [hit.entry_id for hit in page.hits] == [f"0199-a-{n}" for n in expected]
            assert [hit.matching_fragment_count for hit in page.hits] == counts
            assert naive.search(corpus, asked).hits.keys() == shown(page).keys()


@pytest.fixture(scope="module")
def files_touched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EventIndex]:
    pi = Pi("s", "/w/a")
    pi.assistant(call("1", "read", path="/w/a/src/main.rs"))
    pi.assistant(call("2", "edit", path="src/main.rs"))
    pi.assistant(call("3", "write", path="./src/../src//main.rs"))
    pi.assistant(call("4", "read", path="main.rs"))
    pi.assistant(call("5", "read", path="src/domain.rs"))
    pi.assistant(call("6", "bash", command="cat src/main.rs"))
    pi.assistant(call("7", "read", path="src/main.rs.bak"))
    pi.add(
        "compaction", summary="s", firstKeptEntryId="s-0", tokensBefore=1,
        details={"readFiles": ["lib/x.py"], "modifiedFiles": ["/w/a/src/main.rs"]},
    )  # fmt: skip
    with indexed({"s": pi.data()}) as index:
        yield index


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("src/main.rs", [0, 1, 2, 7]),
        ("./src/main.rs", [0, 1, 2, 7]),
        ("/w/a/src/main.rs", [0, 1, 2, 7]),
        ("/w/a/x/../src/main.rs", [0, 1, 2, 7]),
        ("/w/a/main.rs", [3]),
        ("a/main.rs", [3]),
        ("main.rs", [0, 1, 2, 3, 7]),
        ("/w/b/src/main.rs", []),
        ("/src/main.rs", []),
        ("../w/a/main.rs", [3]),
        ("lib/x.py", [7]),
        ("x.py", [7]),
        ("n.rs", []),
        ("src", []),
        ("SRC/main.rs", []),
        ("..", []),
        ("/", []),
        ("%", []),
        ("./", []),
        (" ", []),
        ("_ain.rs", []),
    ],
)
def test_files(files_touched: EventIndex, file: str, expected: list[int]) -> None:
    page = files_touched.search(invocation=EVERYWHERE, file=file, sort="oldest")
    assert [hit.entry_id for hit in page.hits] == [f"s-{n}" for n in expected]


def test_a_directory_is_seen_from_where_the_caller_works(tmp_path: Path) -> None:
    from pi_event_search import Invocation

    base = tmp_path.resolve()
    files = {}
    for name in ("a", "ab", "a/sub"):
        (base / name).mkdir()
        pi = Pi(name.replace("/", "-"), base / name)
        pi.user("wolf")
        files[pi.session_id] = pi.data()
    (base / "link").symlink_to(base / "a")
    with indexed(files) as index:

        def found(cwd: str, here: Path = base) -> set[str]:
            asked = Invocation(cwd=here, workspace_root="/")
            return {hit.session_id for hit in index.search(invocation=asked, cwd=cwd).hits}

        assert found(str(base / "a")) == {"a", "a-sub"}
        assert found("a") == found("./a/") == found("link") == found("a/sub/..") == {"a", "a-sub"}
        assert found(".", base / "a" / "sub") == {"a-sub"}
        assert found("nowhere") == found("a\0b") == set()


def test_without_words_and_filters_there_is_nothing_to_do() -> None:
    with indexed({}) as index, pytest.raises(InvalidQuery):
        index.search(invocation=EVERYWHERE)


def test_what_has_no_time_is_in_no_span_of_time() -> None:
    pi = Pi("s", "/w")
    pi.user("wolf")
    for number, recorded in enumerate([None, "yesterday", 17]):
        pi.user("wolf timeless")
        if recorded is None:
            del pi.entries[-1]["timestamp"]
        else:
            pi.entries[-1]["timestamp"] = recorded
        assert pi.entries[-1]["id"] == f"s-{number + 1}"
    with indexed({"s": pi.data()}) as index:

        def found(**asked: Any) -> list[str]:
            return [h.entry_id for h in index.search("wolf", invocation=EVERYWHERE, **asked).hits]

        assert len(found()) == 4
        assert found(time_to="2100-01-01") == found(time_from="1970-01-01") == ["s-0"]
        times = index.search("timeless", invocation=EVERYWHERE).hits
        assert sorted(hit.timestamp for hit in times) == ["", "", "yesterday"]
