"""With the root of one workspace nothing of another appears anywhere.

Two ways to see that: every byte of every answer is searched for what only the other workspace has,
and every answer is the same as if the other workspace's sessions had never existed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pi_event_search import EventIndex, EventSearchError, InvalidArgument, Invocation, NotFound

from tests.contract.place import EVERYWHERE, Answer, Place, indexed
from tests.contract.test_filters import requests
from tests.contract.writing import Pi, call
from tests.strategies import SessionFile, sessions

SECRET = re.compile("secret", re.IGNORECASE)
"""Stands in everything that only the other workspace has: ids, names, paths, texts, labels."""


def hidden(place: Place) -> list[Pi]:
    """Sessions of the other workspaces, related in every way to those of the caller's."""
    own = Pi("own", place.workspace("a"))
    own.user("wolf shared")
    own.assistant("wolf and bear", call("c1", "read", path="src/main.rs"))
    own.result("c1", "read", "wolf file")
    own.name("My wolf")
    own.write(place.sessions / "own")

    fork = own.fork("secret-fork", "own-2", place.workspace("ab"))
    fork.user("wolf secret zanzibar", entry_id="secret-1")
    fork.name("Secret name")
    fork.label("own-0", "secret label")
    fork.compaction("secret wolf summary", "own-1")
    fork.assistant(
        call("c1", "edit", path="secret/plan.txt"), call("c9", "event_search", query="q")
    )
    fork.result("c9", "event_search", "secret result")
    fork.write(place.sessions / "secret-ab")

    parent = Pi("secret-parent", place.workspace("b/secret"))
    parent.user("wolf secret zanzibar", entry_id="secret-2")
    parent.user("shared with a child wolf", entry_id="common")
    parent.write(place.sessions / "secret-b")
    child = parent.fork("child", "common", place.workspace("a/deep"))
    del child.entries[0]  # its own history begins with the shared entry
    child.entries[0]["parentId"] = None
    child.user("child wolf")
    child.write(place.sessions / "own")

    twin = Pi("own", place.workspace("b/secret"))
    for number in range(9):
        twin.user("wolf secret twin", entry_id=f"own-{number}")
    twin.write(place.sessions / "secret-b", "twin.jsonl")
    for name, cwd in (
        ("secret-none", ""),
        ("secret-rel", "w/a"),
        ("secret-up", f"{place.base}/w/a/.."),
    ):
        odd = Pi(name, cwd)
        odd.user("wolf secret")
        odd.write(place.sessions / "secret-b")

    damaged = place.sessions / "secret-b" / "secret-parent.jsonl"
    with damaged.open("ab") as file:
        file.write(b'{"secret": torn\n\xff\xfe\n17\n')
    (place.sessions / "secret-b" / "secret.jsonl").write_text("secret no session\n")
    (place.sessions / "secret-b" / "secret-gone.jsonl").symlink_to("/secret/nowhere.jsonl")
    os.mkfifo(place.sessions / "secret-b" / "secret-pipe.jsonl")
    return [own, fork, parent, child, twin]


@pytest.fixture
def world(place: Place) -> Place:
    hidden(place)
    place.sync()
    return place


IDS = ["secret-fork", "secret-parent", "secret-none", "secret-rel", "secret-up", "secret", "s"]
ENTRIES = ["secret-1", "secret-2", "own-0", "common", "secret", "secret-fork-5", "x"]


def attempts() -> Iterator[list[str]]:
    """Everything a caller might try in order to see more."""
    for words in ("wolf", "zanzibar", "shared", "twin", "summary", "torn", "result", '"wolf and"'):
        yield ["search", words]
        yield ["search", words, "--kind", "bash.output"]
        yield ["search", words, "--sort", "newest", "--limit", "1"]
    for option, values in {
        "--kind": ["user.text", "session.name", "summary.compaction"],
        "--entry-type": ["label", "session_info", "compaction"],
        "--tool": ["read", "edit", "event_search"],
        "--branch-state": ["selected", "alternate", "unknown"],
        "--selection-state": ["summarized", "direct"],
        "--role": ["user", "toolResult"],
        "--cwd": ["w/ab", "w/b", "w/b/secret", "/", "w"],
        "--file": ["secret/plan.txt", "plan.txt", "src/main.rs"],
        "--since": ["2000-01-01"],
        "--session": [*IDS, "own", "o", "c", "child"],
    }.items():
        for value in values:
            yield ["search", option, value]
            yield ["search", "wolf", option, value]
    for session_id, entry_id in product([*IDS, "own", "o", "child"], ENTRIES):
        yield ["read", session_id, entry_id]
        yield ["trace", session_id, entry_id]
    for entry in ("own-0", "own-1", "own-2", "own-3"):
        for order in ("branch", "append"):
            yield ["read", "own", entry, "--order", order, "--before", "5", "--after", "5"]
        yield ["trace", "own", entry, "--depth", "5"]
    for offset in ("0", "5", "1000"):
        yield ["read", "secret-fork", "secret-1", "--fragment", "user.text:0", "--offset", offset]
        yield ["read", "own", "own-0", "--fragment", "user.text:0", "--offset", offset]
    for session_id in [*IDS, "own", "child"]:
        yield ["lineage", session_id]
    yield ["sessions"]
    yield ["sessions", "--name", "name"]
    yield ["sessions", "--limit", "1"]
    yield ["status"]


def test_no_byte_of_another_workspace(world: Place) -> None:
    root = world.workspace("a")
    tried = 0
    for words in attempts():
        answer = world.run(words[0], "--no-sync", *words[1:], "--root", root) if (
            words[0] == "search"
        ) else world.run(*words, "--root", root)  # fmt: skip
        assert answer.code in (0, 3), (words, answer.out)
        assert not SECRET.search(answer.out + answer.err), (words, answer.out)
        tried += 1
    assert tried > 250
    everything = world.all("search", "wolf", "--limit", "200").out
    assert SECRET.search(everything), "there is something to be hidden"


def test_the_same_as_if_the_others_had_never_been(world: Place, tmp_path: Path) -> None:
    alone_base = tmp_path.resolve() / "alone"
    alone_base.mkdir()
    alone = Place(alone_base, world.capture)
    hidden_root = world.workspace("a")
    for path in (world.sessions / "own").iterdir():
        target = alone.sessions / "own" / path.name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(path.read_bytes())
    (alone.sessions / "secret-b").mkdir()
    alone.sync()
    for words in attempts():
        if words[0] == "status":
            continue  # what the index is as a whole; its coverage and problems are compared below
        extra = ["--no-sync"] if words[0] == "search" else []
        answers = [
            comparable(where, where.run(*words, *extra, "--root", hidden_root))
            for where in (world, alone)
        ]
        assert answers[0] == answers[1], words
    mine, theirs = (
        comparable(where, where.run("status", "--root", hidden_root)) for where in (world, alone)
    )
    # Files that no header tells the workspace of are counted, without a name.
    unknown = {"broken-link": 1, "not-a-regular-file": 1, "not-a-session": 1}
    assert {p["kind"]: p["count"] for p in mine[1]["problems"]} == unknown
    assert {p["path"] for p in mine[1]["problems"]} == {"BASE/sessions"}
    assert theirs[1]["problems"] == []


def comparable(place: Place, answer: Answer) -> tuple[int, Any]:
    """An answer without what measures the index or tells when it was made."""

    def strip(value: Any) -> Any:
        if isinstance(value, list):
            return [strip(item) for item in value]
        if not isinstance(value, dict):
            return value
        left_out = {"score", "index", "coverage"} if "kind" not in value else set()
        return {key: strip(item) for key, item in value.items() if key not in left_out}

    text = answer.out.replace(str(place.base), "BASE").replace(str(Path.cwd().resolve()), "BASE")
    document = json.loads(text)
    if "hits" in document:
        document["hits"].sort(key=lambda hit: (hit["sessionId"], hit["entryId"]))
    coverage = document.get("coverage", {})
    for key in ("discoveredSessions", "indexedSessions", "pendingBytes", "skippedRecords"):
        document[key] = coverage.get(key)
    return answer.code, strip(document)


def test_missing_and_hidden_are_one_answer(world: Place) -> None:
    root = world.workspace("a")
    missing = world.run("read", "nobody", "nothing", "--root", root)
    assert missing.code == 3
    here = ("--root", root, "--sessions-dir", world.sessions, "--index-dir", world.index)
    said = world.bare("read", "nobody", "nothing", *here).err
    for words in (
        ["read", "secret-fork", "secret-1"],
        ["read", "secret", "x"],
        ["read", "own", "own-8"],
        ["trace", "secret-parent", "common"],
        ["lineage", "secret-fork"],
        ["lineage", ""],
        ["search", "wolf", "--session", "secret-fork"],
        ["search", "wolf", "--session", "secret"],
    ):
        answer = world.run(*words, "--root", root)
        if words[-1] == "":
            assert answer.code == 2 or answer.out == missing.out
            continue
        assert (answer.code, answer.out, answer.err) == (3, missing.out, "")
        plain = world.bare(*words, *here)
        assert (plain.code, plain.out, plain.err) == (3, "", said)
    caller = Invocation(cwd=root, workspace_root=str(root))
    with world.open() as index:
        messages = set()
        for session_id, entry_id in product([*IDS, "nobody"], [*ENTRIES, "nothing"]):
            for ask in (index.read, index.trace):
                with pytest.raises(NotFound) as caught:
                    ask(session_id, entry_id, invocation=caller)
                messages.add((str(caught.value), repr(caught.value), caught.value.args))
        assert len(messages) == 1


def test_prefixes_know_nothing_of_hidden_sessions(place: Place) -> None:
    for session_id, name in (("abc-1", "a"), ("abc-2", "b"), ("abc-3", "b")):
        pi = Pi(session_id, place.workspace(name))
        pi.user("wolf")
        pi.write(place.sessions)
    place.sync()
    root = place.workspace("a")
    assert place.run("search", "wolf", "--session", "abc", "--root", root).hits() == [
        ("abc-1", "abc-1-0")
    ]
    assert place.run("lineage", "ab", "--root", root).json["sessionId"] == "abc-1"
    assert place.run("lineage", "abc-2", "--root", root).code == 3
    assert place.all("lineage", "abc").code == 2


CWDS = [
    ("a", ["a"], True),
    ("a/", ["a"], True),
    ("a/deep/er", ["a"], True),
    ("a/../a", ["a"], True),
    ("a//deep/.", ["a"], True),
    ("ab", ["a"], False),
    ("a b", ["a"], False),
    ("a.", ["a"], False),
    ("A", ["a"], False),
    ("a/../b", ["a"], False),
    ("a/../a/../b", ["a"], False),
    (".", ["a"], False),
    ("link-to-a", ["a"], True),
    ("link-to-a/deep", ["a"], True),
    ("link-to-b", ["a"], False),
    ("a/link-out", ["a"], False),
    ("a/link-out/../x", ["a"], False),
    ("gone/deep", ["gone"], True),
    ("gone", ["a"], False),
    ("a/gone", ["a"], True),
    ("loop", ["a"], False),
    ("b", ["a", "b"], True),
    ("a", ["link-to-a"], True),
    ("b", ["link-to-a"], False),
    ("file/below", ["a"], False),
]


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EventIndex, Path]]:
    base = tmp_path_factory.mktemp("directories").resolve() / "w"
    for name in ("a/deep", "ab", "b"):
        (base / name).mkdir(parents=True)
    (base / "link-to-a").symlink_to(base / "a")
    (base / "link-to-b").symlink_to("b")
    (base / "a" / "link-out").symlink_to(base / "b")
    (base / "loop").symlink_to("loop")
    (base / "file").write_text("")
    files = {}
    for number, cwd in enumerate(dict.fromkeys(cwd for cwd, _, _ in CWDS)):
        pi = Pi(f"s{number}", f"{base}/{cwd}")
        pi.user("wolf")
        files[pi.session_id] = pi.data()
    for name, odd in (("empty", ""), ("relative", "w/a"), ("dot", "."), ("none", None)):
        pi = Pi(name, odd)
        pi.user("wolf")
        files[name] = pi.data()
    with indexed(files) as index:
        yield index, base


@pytest.mark.parametrize(("cwd", "roots", "expected"), CWDS)
def test_directories(
    directories: tuple[EventIndex, Path], cwd: str, roots: list[str], expected: bool
) -> None:
    index, base = directories
    caller = Invocation(cwd="/", workspace_root=[f"{base}/{root}" for root in roots])
    page = index.search("wolf", invocation=caller, limit=200)
    assert (f"{base}/{cwd}" in {hit.cwd for hit in page.hits}) is expected
    number = list(dict.fromkeys(c for c, _, _ in CWDS)).index(cwd)
    session_id = f"s{number}"
    for ask in (
        lambda: index.read(session_id, f"{session_id}-0", invocation=caller),
        lambda: index.trace(session_id, f"{session_id}-0", invocation=caller),
        lambda: index.lineage(session_id, invocation=caller),
    ):
        if expected:
            ask()
        else:
            with pytest.raises(NotFound):
                ask()


def test_without_a_directory_only_for_the_root_of_all(
    directories: tuple[EventIndex, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    index, base = directories
    monkeypatch.chdir(base.parent)
    odd = {"empty", "relative", "dot", "none"}
    for root in (str(base), str(base.parent), str(base / "a")):
        caller = Invocation(cwd="/", workspace_root=root)
        listed = {s.session_id for s in index.sessions(invocation=caller).sessions}
        assert not odd & listed
    for caller in (EVERYWHERE, Invocation(cwd="/")):
        assert odd <= {s.session_id for s in index.sessions(invocation=caller).sessions}


def test_links_are_followed_anew_for_every_call(place: Place) -> None:
    a, b = place.workspace("a"), place.workspace("b")
    link = place.base / "w" / "link"
    link.symlink_to(a)
    pi = Pi("s", link)
    pi.user("wolf")
    pi.write(place.sessions)
    in_a, in_b = (Invocation(cwd=root, workspace_root=str(root)) for root in (a, b))
    with place.open() as index:
        index.sync()
        assert index.search("wolf", invocation=in_a).hits
        assert not index.search("wolf", invocation=in_b).hits
        link.unlink()
        link.symlink_to(b)
        assert not index.search("wolf", invocation=in_a).hits
        assert index.search("wolf", invocation=in_b).hits
        link.unlink()
        assert not index.search("wolf", invocation=in_b).hits


def test_a_root_must_be_absolute(place: Place) -> None:
    with place.open() as index:
        for root in ("a", "", "./a", [], ["/w", "a"]):
            with pytest.raises(InvalidArgument):
                index.search("wolf", invocation=Invocation(cwd="/", workspace_root=root))


@given(
    own=st.tuples(
        sessions(session_id="s-1", cwd="/w/a", max_entries=12),
        sessions(session_id="s-2", cwd="/w/a/sub", max_entries=8),
    ),
    others=st.tuples(
        sessions(session_id="s-1", cwd="/w/ab", max_entries=16),
        sessions(session_id="s-3", cwd="/w", max_entries=8),
        sessions(session_id="s-2-more", cwd="", max_entries=8),
    ),
    asked=st.lists(requests(), min_size=4, max_size=4),
    ids=st.lists(st.sampled_from(["s-1", "s-2", "s-3", "s-2-more", "s"]), min_size=2, max_size=2),
)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_other_workspaces_change_nothing(
    own: tuple[SessionFile, ...],
    others: tuple[SessionFile, ...],
    asked: list[dict[str, Any]],
    ids: list[str],
) -> None:
    caller = Invocation(cwd="/", workspace_root="/w/a")
    mine = {f"own-{n}": file.data for n, file in enumerate(own)}
    theirs = {f"other-{n}": file.data for n, file in enumerate(others)}
    entries = [str(record.get("id", "x")) for file in own for record in file.records][:6]

    def outcomes(index: EventIndex) -> list[Any]:
        def outcome(ask: Any, *words: str, **values: Any) -> Any:
            try:
                plain = ask(*words, invocation=caller, **values).to_plain()
            except EventSearchError as error:
                return type(error), str(error)
            text = json.dumps(plain, sort_keys=True)
            text = re.sub(r"/[^\"]*/sessions/", "/sessions/", text)
            document = json.loads(text)
            document.pop("coverage", None)
            for hit in document.get("hits", ()):
                del hit["score"]
            return document

        found = [outcome(index.search, sort="newest", limit=200, **request) for request in asked]
        found.append(outcome(index.sessions))
        for session_id, entry_id in product(["s-1", "s-2", *ids], entries):
            found.append(outcome(index.read, session_id, entry_id, before=3, after=3))
            found.append(outcome(index.trace, session_id, entry_id))
        found += [outcome(index.lineage, session_id) for session_id in ids]
        coverage = index.status(invocation=caller).to_plain()["coverage"]
        coverage["lastReconciledAt"] = None
        return [*found, coverage]

    with indexed(mine) as index:
        alone = outcomes(index)
    with indexed(mine | theirs) as index:
        together = outcomes(index)
    assert together == alone
