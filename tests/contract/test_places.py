"""Where sessions and index are, what answers cover, and what is left out."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.contract.place import EVERYWHERE, Answer, Place
from tests.contract.writing import Pi


def one(session_id: str, cwd: Path | str, text: str = "wolf") -> Pi:
    pi = Pi(session_id, cwd)
    pi.user(text)
    return pi


def ids(answer: Answer) -> set[str]:
    return {session_id for session_id, _ in answer.hits()}


# The index directory


def assert_private(directory: Path) -> None:
    for path in [directory, *directory.rglob("*")]:
        expected = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == expected, path


@pytest.mark.parametrize("mask", [0o022, 0o000])
def test_the_index_is_private(place: Place, mask: int) -> None:
    before = os.umask(mask)
    try:
        one("a", place.base).write(place.sessions)
        with place.open() as index:
            assert_private(place.index)
            index.sync()
            assert_private(place.index)
            for number in range(12):  # enough commits for the engine to merge
                one(f"a{number}", place.base).write(place.sessions)
                index.sync()
                index.search("wolf", invocation=EVERYWHERE)
                assert_private(place.index)
        assert_private(place.index)
        empty = place.base / "empty"
        empty.mkdir(mode=0o777)
        place.bare("sync", "--sessions-dir", place.sessions, "--index-dir", empty)
        assert_private(empty)
    finally:
        os.umask(before)


def test_a_directory_of_somebody_s_files_keeps_its_mode(place: Place) -> None:
    place.index.mkdir()
    (place.index / "notes.txt").write_text("mine")
    place.index.chmod(0o755)
    assert place.all("sync").code == 0
    assert stat.S_IMODE(place.index.stat().st_mode) == 0o755
    for path in place.index.rglob("*"):
        if path.name != "notes.txt":
            assert stat.S_IMODE(path.stat().st_mode) in (0o700, 0o600)


def test_the_default_index_lies_in_pi_s_agent_directory(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def used() -> set[str]:
        found = place.base.rglob("*.sqlite")
        return {str(path.parent.relative_to(place.base)) for path in found}

    place.bare("sync")
    assert used() == {"home/.pi/agent/pi-event-search"}
    assert_private(place.base / "home/.pi/agent/pi-event-search")
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(place.base / "agent"))
    place.bare("sync")
    assert "agent/pi-event-search" in used()
    monkeypatch.setenv("PI_EVENT_SEARCH_INDEX_DIR", str(place.base / "elsewhere"))
    place.bare("sync")
    assert "elsewhere" in used()
    place.bare("sync", "--index-dir", place.base / "given")
    assert "given" in used()
    assert len(used()) == 4


# Session directories


def test_pi_s_directories_in_their_order(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> set[str]:
        return ids(place.bare("search", "wolf", "--json", "--all-workspaces"))

    home = Path(os.environ["HOME"])
    one("default", "/w").write(home / ".pi/agent/sessions/--w--")
    assert found() == {"default"}
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(place.base / "agent"))
    one("agent", "/w").write(place.base / "agent/sessions")
    assert found() == {"agent"}
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(place.base / "flat"))
    one("flat", "/w").write(place.base / "flat")
    assert found() == {"flat"}
    one("x1", "/w").write(place.base / "x1")
    one("x2", "/w").write(place.base / "x2")
    monkeypatch.setenv("PI_EVENT_SEARCH_EXTRA_DIRS", f"{place.base}/x1{os.pathsep}{place.base}/x2")
    assert found() == {"flat", "x1", "x2"}
    given = place.bare(
        "search", "wolf", "--json", "--all-workspaces", "--sessions-dir", place.base / "x2"
    )
    assert ids(given) == {"x2"}, "given directories replace the default and the extra ones"


def test_directories_given_are_covered_and_no_others(place: Place) -> None:
    for name in ("a", "b", "c"):
        one(name, "/w").write(place.base / name)

    def asked(*names: str, command: tuple[str, ...] = ("search", "wolf")) -> Answer:
        dirs = [word for name in names for word in ("--sessions-dir", str(place.base / name))]
        return place.bare(*command, "--json", "--all-workspaces", "--index-dir", place.index, *dirs)

    assert ids(asked("a")) == {"a"}
    assert ids(asked("b")) == {"b"}, "the index holds both, the answer covers one"
    assert ids(asked("a", "b")) == {"a", "b"}
    assert ids(asked("a", command=("search", "wolf", "--no-sync"))) == {"a"}
    listed = asked("b", command=("sessions",)).json
    assert [session["sessionId"] for session in listed["sessions"]] == ["b"]
    assert listed["coverage"]["discoveredSessions"] == 1
    assert asked("b", command=("read", "a", "a-0")).code == 3
    assert asked("b", command=("trace", "a", "a-0")).code == 3
    assert asked("b", command=("lineage", "a")).code == 3
    assert asked("b", command=("search", "wolf", "--session", "a")).code == 3
    nothing = asked("b", command=("search", "wolf", "--kind", "bash.output")).json
    assert nothing["diagnostics"]["withoutFilters"] == 1
    assert asked("a", command=("read", "a", "a-0")).code == 0, "it comes back when asked for"


def test_what_was_never_looked_through_is_no_ready_answer(place: Place) -> None:
    one("a", "/w").write(place.base / "a")
    one("b", "/w").write(place.base / "b")
    here = ("--json", "--all-workspaces", "--index-dir", place.index, "--no-sync")
    place.bare("sync", "--index-dir", place.index, "--sessions-dir", place.base / "a")
    known = place.bare("search", "wolf", *here, "--sessions-dir", place.base / "a").json
    assert known["coverage"]["state"] == "ready"
    assert known["coverage"]["lastReconciledAt"] is not None
    unknown = place.bare("search", "wolf", *here, "--sessions-dir", place.base / "b").json
    assert unknown["hits"] == []
    assert unknown["coverage"]["state"] == "partial"
    assert unknown["coverage"]["lastReconciledAt"] is None


def test_troubles_of_other_directories_stay_there(place: Place) -> None:
    one("a", "/w").write(place.base / "a")
    (place.base / "b").mkdir()
    (place.base / "b" / "gone.jsonl").symlink_to(place.base / "nowhere.jsonl")

    def status(name: str) -> Answer:
        place.bare("sync", "--index-dir", place.index, "--sessions-dir", place.base / name)
        return place.bare(
            "status", "--json", "--index-dir", place.index, "--sessions-dir", place.base / name,
            "--all-workspaces",
        )  # fmt: skip

    assert [p["kind"] for p in status("b").json["problems"]] == ["broken-link"]
    assert status("a").json["problems"] == []
    assert status("a").json["coverage"]["state"] == "ready"
    again = place.bare(
        "status", "--json", "--index-dir", place.index, "--sessions-dir", place.base / "b",
        "--root", "/",
    )  # fmt: skip
    assert [p["kind"] for p in again.json["problems"]] == ["broken-link"], "still not observed"


def test_explicitly_synced_files_are_covered_everywhere(place: Place) -> None:
    single = one("single", "/w").write(place.base / "somewhere")
    one("a", "/w").write(place.sessions)
    with place.open() as index:
        index.sync(single)
        index.sync()
    assert ids(place.all("search", "wolf")) == {"single", "a"}
    other = place.base / "other"
    other.mkdir()
    there = place.bare(
        "search", "wolf", "--json", "--all-workspaces", "--index-dir", place.index,
        "--sessions-dir", other,
    )  # fmt: skip
    assert ids(there) == {"single"}


def test_a_known_file_becomes_explicit_by_syncing_it(place: Place) -> None:
    path = one("a", "/w").write(place.sessions)
    other = place.base / "other"
    other.mkdir()
    with place.open() as index:
        index.sync()
        index.sync(path)
    there = place.bare(
        "search", "wolf", "--json", "--all-workspaces", "--index-dir", place.index,
        "--sessions-dir", other,
    )  # fmt: skip
    assert ids(there) == {"a"}


def test_a_link_that_is_taken_away_covers_nothing_any_more(place: Place) -> None:
    one("linked", "/w").write(place.base / "archive")
    one("both", "/w").write(place.base / "both")
    link = place.sessions / "old"
    link.symlink_to(place.base / "archive")
    (place.sessions / "first").symlink_to(place.base / "both")
    (place.sessions / "second").symlink_to(place.base / "both")
    assert ids(place.all("search", "wolf")) == {"linked", "both"}
    link.unlink()
    (place.sessions / "first").unlink()
    assert ids(place.all("search", "wolf")) == {"both"}
    assert place.all("sessions").json["coverage"]["discoveredSessions"] == 1
    there = place.bare(
        "search", "wolf", "--json", "--all-workspaces", "--index-dir", place.index,
        "--sessions-dir", place.base / "archive",
    )  # fmt: skip
    assert ids(there) == {"linked"}
    link.symlink_to(place.base / "archive")
    assert ids(place.all("search", "wolf")) == {"linked", "both"}


def test_behind_a_link_that_still_stands_nothing_is_proven(place: Place) -> None:
    one("linked", "/w").write(place.base / "archive")
    (place.sessions / "old").symlink_to(place.base / "archive")
    assert ids(place.all("search", "wolf")) == {"linked"}
    (place.base / "archive").rename(place.base / "unplugged")
    assert ids(place.all("search", "wolf")) == {"linked"}
    (place.base / "unplugged").rename(place.base / "archive")
    assert ids(place.all("search", "wolf")) == {"linked"}


# Excludes


EXCLUDES = [
    ("b.jsonl", {"a"}),
    ("[b].jsonl", {"a"}),
    ("--w-b--", {"a"}),
    ("--w-*", set()),
    ("--w-b--/*.jsonl", {"a"}),
    ("--w-b--/b", {"a", "b"}),
    ("**/--w-b--/**", {"a"}),
    ("{sessions}/--w-b--", {"a"}),
    ("{sessions}/*/b.jsonl", {"a"}),
    ("{sessions}", set()),
    ("/nowhere/**", {"a", "b"}),
    ("w-b", {"a", "b"}),
    ("", {"a", "b"}),
]


@pytest.fixture
def two(place: Place) -> Place:
    one("a", "/w/a").write(place.sessions / "--w-a--")
    one("b", "/w/b", "wolf bear").write(place.sessions / "--w-b--")
    place.sync()
    return place


@pytest.mark.parametrize(("pattern", "left"), EXCLUDES)
@pytest.mark.parametrize("option", [True, False])
def test_an_excluded_file_does_not_answer_though_it_is_indexed(
    two: Place, pattern: str, left: set[str], option: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    glob = pattern.replace("{sessions}", str(two.sessions))
    words = ("--exclude", glob) if option else ()
    if not option:
        monkeypatch.setenv("PI_EVENT_SEARCH_EXCLUDE", f"/x{os.pathsep}{glob}")
    for more in ((), ("--no-sync",)):
        assert ids(two.all("search", "wolf", *words, *more)) == left
    listed = two.all("sessions", *words).json
    assert {session["sessionId"] for session in listed["sessions"]} == left
    assert listed["coverage"]["indexedSessions"] == len(left)
    for session in ("a", "b"):
        code = 0 if session in left else 3
        assert two.all("read", session, f"{session}-0", *words).code == code
        assert two.all("trace", session, f"{session}-0", *words).code == code
        assert two.all("lineage", session, *words).code == code
    if option:
        assert ids(two.all("search", "wolf")) == {"a", "b"}, "without the pattern all is back"


def test_what_is_excluded_from_the_start_is_not_read(place: Place) -> None:
    one("a", "/w/a").write(place.sessions / "a")
    one("b", "/w/b").write(place.sessions / "b")
    report = place.all("sync", "--exclude", "b", "--exclude", "c").json
    assert (report["discovered"], report["rebuilt"]) == (1, 1)
    assert ids(place.all("search", "wolf", "--no-sync")) == {"a"}
    assert ids(place.all("search", "wolf")) == {"a", "b"}


def test_excluded_by_the_way_a_link_leads_to_it(place: Place) -> None:
    one("linked", "/w").write(place.base / "archive")
    (place.sessions / "old").symlink_to(place.base / "archive")
    one("here", "/w").write(place.sessions)
    place.sync()
    assert ids(place.all("search", "wolf", "--no-sync")) == {"here", "linked"}
    for pattern in ("old", "old/*.jsonl", f"{place.sessions}/old", f"{place.base}/archive"):
        for more in ((), ("--no-sync",)):
            assert ids(place.all("search", "wolf", "--exclude", pattern, *more)) == {"here"}
    assert ids(place.all("search", "wolf", "--exclude", "archive")) == {"here", "linked"}


def test_an_explicit_file_can_be_excluded(place: Place) -> None:
    path = one("single", "/w").write(place.base / "somewhere" / "deep")
    with place.open() as index:
        index.sync(path)
    assert ids(place.all("search", "wolf")) == {"single"}
    for pattern in ("single.jsonl", "deep", f"{place.base}/somewhere", str(path)):
        assert ids(place.all("search", "wolf", "--exclude", pattern)) == set()


def test_a_copy_that_is_excluded_is_not_named(place: Place) -> None:
    parent = one("parent", "/w/a", "wolf shared")
    parent.write(place.sessions / "--w-a--")
    parent.fork("child", "parent-0").write(place.sessions / "--w-b--")
    place.sync()
    assert place.all("search", "shared").json["hits"][0]["alsoIn"] == ["child"]
    hit = place.all("search", "shared", "--exclude", "--w-b--").json["hits"][0]
    assert hit["sessionId"] == "parent"
    assert "alsoIn" not in hit
    hit = place.all("search", "shared", "--exclude", "--w-a--").json["hits"][0]
    assert hit["sessionId"] == "child"


def test_settings_that_had_to_be_ignored_are_listed(place: Place) -> None:
    settings = place.base / "home/.pi/agent/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text("{ no json")
    status = place.bare("status", "--json", "--all-workspaces").json
    assert [(p["path"], p["kind"]) for p in status["problems"]] == [
        (str(settings), "invalid-settings")
    ]


# Roots


def test_the_default_root_is_the_git_worktree(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = place.workspace("tree")
    (tree / ".git").mkdir()
    (tree / "deep/er").mkdir(parents=True)
    one("top", tree).write(place.sessions)
    one("deep", tree / "deep").write(place.sessions)
    one("beside", place.workspace("beside")).write(place.sessions)
    monkeypatch.chdir(tree / "deep/er")
    assert ids(place.run("search", "wolf")) == {"top", "deep"}
    monkeypatch.chdir(place.workspace("beside"))
    assert ids(place.run("search", "wolf")) == {"beside"}
    monkeypatch.chdir(place.base / "w")
    assert ids(place.run("search", "wolf")) == {"top", "deep", "beside"}
    linked = place.workspace("linked")
    (linked / ".git").write_text("gitdir: /elsewhere\n")
    (linked / "sub").mkdir()
    one("linked", linked).write(place.sessions)
    monkeypatch.chdir(linked / "sub")
    assert ids(place.run("search", "wolf")) == {"linked"}


def test_roots_by_option_and_environment(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        one(name, place.workspace(name)).write(place.sessions)
    one("nowhere", "").write(place.sessions)
    place.sync()
    a, b = place.workspace("a"), place.workspace("b")
    assert ids(place.run("search", "wolf", "--root", a)) == {"a"}
    assert ids(place.run("search", "wolf", "--root", a, "--root", b)) == {"a", "b"}
    assert ids(place.run("search", "wolf", "--root", "w/a")) == {"a"}, "from where one is"
    assert ids(place.run("search", "wolf", "--root", "/")) == {"a", "b", "c", "nowhere"}
    assert ids(place.run("search", "wolf", "--all-workspaces")) == {"a", "b", "c", "nowhere"}
    assert ids(place.run("search", "wolf", "--all-workspaces", "--root", a)) == {
        "a", "b", "c", "nowhere",
    }  # fmt: skip
    monkeypatch.setenv("PI_EVENT_SEARCH_WORKSPACE_ROOT", f"{b}{os.pathsep}{place.base}/w/c")
    assert ids(place.run("search", "wolf")) == {"b", "c"}
    assert ids(place.run("search", "wolf", "--root", a)) == {"a"}
    monkeypatch.setenv("PI_EVENT_SEARCH_WORKSPACE_ROOT", "w/c")
    refused = place.run("search", "wolf")
    assert refused.code == 2
    assert refused.error["code"] == "INVALID_ARGUMENT"


def test_a_directory_that_is_gone(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = place.workspace("gone")
    one("gone", gone).write(place.sessions)
    one("other", place.workspace("other")).write(place.sessions)
    gone.rmdir()
    assert ids(place.run("search", "wolf", "--root", gone)) == {"gone"}
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    refused = place.run("search", "wolf")
    assert refused.code == 2
    assert refused.error["code"] == "INVALID_ARGUMENT"
    with place.open() as index:
        from pi_event_search import InvalidArgument, Invocation

        for invocation in (None, Invocation(cwd=".")):
            with pytest.raises(InvalidArgument):
                index.search("wolf", invocation=invocation)


# Two files with one session id


def test_the_owner_of_a_session_id(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    pi_dir, archive = place.base / "pi", place.base / "archive"
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(pi_dir))
    monkeypatch.setenv("PI_EVENT_SEARCH_EXTRA_DIRS", str(archive))

    def write(directory: Path, name: str, *texts: str, age: int = 0) -> Path:
        pi = Pi("same", "/w")
        for text in ("wolf", *texts):
            pi.user(text)
        path = pi.write(directory, name)
        os.utime(path, ns=(10**18 - age, 10**18 - age))
        return path

    def owner() -> str:
        answer = place.bare("search", "wolf", "--json", "--all-workspaces")
        assert len(answer.json["hits"]) == 1
        shown = Path(answer.json["hits"][0]["path"])
        status = place.bare("status", "--json", "--all-workspaces").json
        others = [p["path"] for p in status["problems"] if p["kind"] == "duplicate-session"]
        files = {str(path) for path in place.base.glob("*/*.jsonl")}
        assert sorted([*others, str(shown)]) == sorted(files)
        assert status["coverage"]["discoveredSessions"] == 1
        read = place.bare("read", "same", "same-0", "--json", "--all-workspaces").json
        assert read["source"]["path"] == str(shown)
        listed = place.bare("sessions", "--json", "--all-workspaces").json["sessions"]
        assert [session["path"] for session in listed] == [str(shown)]
        return str(shown.relative_to(place.base))

    write(archive, "longest.jsonl", "two", "three", age=5)
    write(pi_dir, "old.jsonl", "two", age=9)
    write(pi_dir, "new.jsonl", "two", age=1)
    write(pi_dir, "new-too.jsonl", "two", age=1)
    write(archive, "newest.jsonl", "two", age=0)
    for expected in ("archive/longest", "pi/new-too", "pi/new", "pi/old", "archive/newest"):
        assert owner() == f"{expected}.jsonl"
        (place.base / f"{expected}.jsonl").unlink()
    assert place.bare("search", "wolf", "--json", "--all-workspaces").hits() == []


def test_an_owner_that_another_workspace_hides_owns_nothing_here(place: Place) -> None:
    """A copy with another directory in its header, as an export leaves behind."""
    long = Pi("same", place.workspace("a"))
    long.user("wolf long")
    long.user("wolf more")
    long.write(place.sessions, "long.jsonl")
    short = Pi("same", place.workspace("b"))
    short.user("wolf short")
    short.write(place.sessions, "short.jsonl")
    a, b = place.workspace("a"), place.workspace("b")
    assert len(place.run("search", "wolf", "--root", a).hits()) == 2
    assert len(place.run("search", "wolf", "--root", b).hits()) == 1
    assert len(place.all("search", "wolf").hits()) == 2
    for root in (a, b):
        assert place.run("status", "--root", root).json["problems"] == []
    assert [p["kind"] for p in place.all("status").json["problems"]] == ["duplicate-session"]
