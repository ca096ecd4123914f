"""Every option, its bounds, where it may stand, and how each kind of failure ends."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pi_event_search.store import lease

from tests.contract.place import EVERYWHERE, Answer, Capture, Place
from tests.contract.writing import Pi, call

REPOSITORY = Path(__file__).resolve().parents[2]


def fill(place: Place) -> Place:
    pi = Pi("0199aaaa-1", place.workspace("a"))
    pi.user("wolf one", at=datetime(2026, 1, 31, 23, 59, 59, 999_000, tzinfo=UTC))
    pi.user("wolf two", at=datetime(2026, 2, 1, tzinfo=UTC))
    pi.assistant(call("c", "read", path="src/a.py"))
    pi.result("c", "read", "wolf in a file", failed=True)
    pi.bash("grep wolf", "wolf: fine")
    pi.write(place.sessions)
    Pi("0199aaab-2", place.workspace("a")).write(place.sessions)
    other = Pi("other", place.workspace("a"))
    other.user("wolf other")
    other.write(place.sessions)
    place.sync()
    return place


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return fill(Place(tmp_path_factory.mktemp("options").resolve()))


@pytest.fixture
def asked(shared: Place, capsys: Capture) -> Place:
    """The same for all tests, to be asked only."""
    shared.capture = capsys
    return shared


@pytest.fixture
def changing(place: Place) -> Place:
    """A place of the test's own."""
    return fill(place)


def refused(answer: Answer, code: str = "INVALID_ARGUMENT") -> str:
    assert answer.code == 2
    assert answer.error["code"] == code
    assert answer.err == ""
    return answer.error["message"]


# Bounds


@pytest.mark.parametrize("limit", ["1", "200"])
def test_limit_within_bounds(asked: Place, limit: str) -> None:
    assert len(asked.all("search", "wolf", "--limit", limit).hits()) == min(int(limit), 5)


@pytest.mark.parametrize("limit", ["0", "201", "-1", "x", "", "1.5", "99999999999999999999"])
def test_limit_out_of_bounds(asked: Place, limit: str) -> None:
    assert "--limit" in refused(asked.all("search", "wolf", f"--limit={limit}"))
    assert "--limit" in refused(asked.all("search", "wolf", "--limit", limit))


def test_the_default_limit_is_twenty(place: Place) -> None:
    pi = Pi("s", place.base)
    for _ in range(30):
        pi.user("wolf")
    pi.write(place.sessions)
    assert len(place.run("search", "wolf").hits()) == 20


@pytest.mark.parametrize(
    ("option", "good", "bad"),
    [
        ("--limit", ["1", "10000"], ["0", "10001", "-3"]),
    ],
)
def test_bounds_of_sessions(asked: Place, option: str, good: list[str], bad: list[str]) -> None:
    for value in good:
        assert asked.all("sessions", option, value).code == 0
    for value in bad:
        assert option in refused(asked.all("sessions", option, value))


@pytest.mark.parametrize(
    ("option", "good", "bad"),
    [
        ("--offset", ["0", "5", "1000000"], ["-1", "x"]),
        ("--window", ["1", "4000"], ["0", "4001", "-1"]),
        ("--before", ["0", "5"], ["-1", "6"]),
        ("--after", ["0", "5"], ["-1", "6"]),
        ("--order", ["branch", "append"], ["", "tree", "BRANCH"]),
    ],
)
def test_bounds_of_read(asked: Place, option: str, good: list[str], bad: list[str]) -> None:
    event = ("read", "0199aaaa-1", "0199aaaa-1-0")
    for value in good:
        assert asked.all(*event, option, value).code == 0
    for value in bad:
        assert option in refused(asked.all(*event, f"{option}={value}"))


def test_bounds_of_trace(asked: Place) -> None:
    for depth in ("1", "5"):
        assert asked.all("trace", "other", "other-0", "--depth", depth).code == 0
    for depth in ("0", "6", "-1", "x"):
        assert "--depth" in refused(asked.all("trace", "other", "other-0", f"--depth={depth}"))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--kind", "user"),
        ("--kind", ""),
        ("--branch-state", "current"),
        ("--selection-state", "omitted"),
        ("--sort", "best"),
        ("--since", "soon"),
        ("--until", "2026-13-01"),
        ("--session", ""),
        ("--role", ""),
        ("--tool", ""),
        ("--entry-type", ""),
        ("--file", ""),
        ("--cwd", ""),
        ("--root", ""),
        ("--sessions-dir", ""),
        ("--index-dir", ""),
    ],
)
def test_values_that_are_refused(asked: Place, option: str, value: str) -> None:
    assert option in refused(asked.all("search", "wolf", f"{option}={value}"))


def test_since_behind_until(asked: Place) -> None:
    refused(asked.all("search", "wolf", "--since", "2026-02-02", "--until", "2026-02-01"))


# Times


def test_until_includes_its_day(asked: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")

    def found(*times: str) -> set[str]:
        return {entry for _, entry in asked.all("search", '"wolf one" wolf', *times).hits()} | {
            entry for _, entry in asked.all("search", '"wolf two"', *times).hits()
        }

    one, two = "0199aaaa-1-0", "0199aaaa-1-1"
    assert found("--until", "2026-01-31T23:59:59.999Z") == {one}
    assert found("--until", "2026-01-31T23:59:59.998Z") == set()
    assert found("--since", "2026-01-31T23:59:59.999Z", "--until", "2026-02-01T00:00:00Z") == {
        one, two,
    }  # fmt: skip
    assert found("--since", "2026-02-01T00:00:00.001Z", "--until", "2026-02-02T00:00:00Z") == set()
    assert found("--until", "2026-02-01T01:00:00+01:00") == {one, two}
    local = {
        entry
        for entry, moment in ((one, "2026-01-31T23:59:59.999"), (two, "2026-02-01T00:00:00"))
        if datetime.fromisoformat(moment + "+00:00").astimezone().date().isoformat() <= "2026-01-31"
    }
    assert found("--until", "2026-01-31") == local


def test_sessions_by_time_and_name(changing: Place) -> None:
    def ids(*options: str) -> set[str]:
        return {s["sessionId"] for s in changing.all("sessions", *options).json["sessions"]}

    pi = Pi("named", changing.workspace("a"), started=datetime(2026, 5, 5, 12, tzinfo=UTC))
    pi.name("Big BAD wolf")
    pi.write(changing.sessions)
    changing.all("sync")
    assert ids("--name", "bad") == {"named"}
    assert ids("--name", "fox") == set()
    assert ids("--since", "2026-05-05T00:00:00Z") == {"named"}
    assert ids("--until", "2026-05-04T00:00:00Z") == {"0199aaaa-1", "0199aaab-2", "other"}
    assert len(ids("--limit", "2")) == 2


# Positions


@pytest.mark.parametrize(
    "words",
    [
        ["search", "wolf", "one", "--limit", "3"],
        ["search", "--limit", "3", "wolf", "one"],
        ["search", "wolf", "--limit=3", "one"],
        ["--limit", "3", "search", "wolf", "one"],
        ["--json", "search", "wolf", "one"],
        ["search", "--", "wolf", "one"],
    ],
)
def test_options_may_stand_anywhere(asked: Place, words: list[str]) -> None:
    here = ["--sessions-dir", str(asked.sessions), "--index-dir", str(asked.index)]
    for argv in ([*here, *words], [*words[:1], *here, *words[1:]]):
        if words[0].startswith("--limit") and argv is not words and argv[0] == "--limit":
            continue
        options = [] if "--json" in argv else ["--json"]
        answer = asked.bare(*options, "--all-workspaces", *argv)
        assert answer.hits() == [("0199aaaa-1", "0199aaaa-1-0")]


def test_behind_two_dashes_everything_is_a_word(changing: Place) -> None:
    pi = Pi("dashes", changing.base)
    pi.user("use --json --errors now")
    pi.write(changing.sessions)
    found = changing.all("search", "--errors", "--", "--json", "--errors")
    assert found.hits() == []
    assert changing.all("search", "--", "--json", "--errors").hits() == [("dashes", "dashes-0")]
    assert "--" in refused(changing.all("search", "--verbose"))


def test_a_query_is_one_however_its_words_are_given(asked: Place) -> None:
    assert asked.all("search", "wolf one").hits() == asked.all("search", "wolf", "one").hits()
    assert asked.all("search", '"wolf one"').hits() == [("0199aaaa-1", "0199aaaa-1-0")]
    assert asked.all("search", '"one wolf"').hits() == []


# Failures


@pytest.mark.parametrize(
    "query", ["--- ... !", "=>", '""', "\u200b", "🙂", "a" * 1_001, "a " * 501]
)
def test_queries_that_cannot_be_searched_for(asked: Place, query: str) -> None:
    refused(asked.all("search", "--", query), "INVALID_QUERY")
    refused(asked.all("search", "--errors", "--", query), "INVALID_QUERY")


def test_queries_at_the_edge_are_not_refused(asked: Place) -> None:
    for query in ("a" * 1_000, " ".join(f"w{n}" for n in range(32)), "修", "٣", "a\0b", "\ud800x"):
        assert asked.all("search", "--", query).code == 0
    too_many = " ".join(f"w{n}" for n in range(33))
    refused(asked.all("search", too_many), "INVALID_QUERY")


def test_nothing_to_search_for(asked: Place) -> None:
    for words in ([], [""], ["  "]):
        refused(asked.all("search", *words), "INVALID_QUERY")
    for words in (["--errors"], ["--session", "other"], ["--cwd", "."], [" ", "--role", "user"]):
        assert asked.all("search", *words).code == 0


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["serch", "x"],
        ["search", "x", "--nope"],
        ["search", "x", "--limit"],
        ["read", "other"],
        ["read"],
        ["read", "a", "b", "c"],
        ["read", "/b"],
        ["trace", "other"],
        ["lineage"],
        ["lineage", "a", "b"],
        ["sync", "now"],
        ["status", "all"],
        ["sessions", "all"],
        ["status", "--limit", "3"],
    ],
)
def test_wrong_usage(asked: Place, words: list[str]) -> None:
    refused(asked.bare("--json", *words))
    plain = asked.bare(*words)
    assert plain.code == 2
    assert plain.out == ""
    assert plain.err.startswith("pi-event-search: ")
    assert plain.err.count("\n") == 1


MISSING = [
    ["read", "nobody", "x"],
    ["read", "other", "nothing"],
    ["read", "other", "other-0", "--fragment", "user.text:7"],
    ["read", "other", "other-0", "--fragment", "tool.call:0"],
    ["trace", "nobody", "x"],
    ["trace", "other", "nothing"],
    ["lineage", "nobody"],
    ["search", "wolf", "--session", "nobody"],
]


@pytest.mark.parametrize("words", MISSING)
def test_not_found(asked: Place, words: list[str]) -> None:
    answer = asked.all(*words)
    assert answer.code == 3
    assert answer.error["code"] == "NOT_FOUND"
    assert answer.out == asked.all(*MISSING[0]).out
    plain = asked.bare(
        *words, "--sessions-dir", asked.sessions, "--index-dir", asked.index, "--root", "/"
    )
    assert (plain.code, plain.out) == (3, "")
    assert plain.err.count("\n") == 1


def test_current_has_no_meaning_for_a_person(asked: Place) -> None:
    refused(asked.all("search", "wolf", "--session", "current"))
    refused(asked.all("read", "current", "x"))


def test_an_index_that_cannot_be_used(asked: Place) -> None:
    in_the_way = asked.base / "file"
    in_the_way.write_text("no directory")
    for name in ("file", "file/below"):
        answer = asked.bare("search", "x", "--json", "--index-dir", asked.base / name)
        assert answer.code == 4
        assert answer.error["code"] == "INDEX_ERROR"
    broken = asked.base / "broken"
    broken.mkdir()
    (broken / "index.sqlite").write_bytes(b"this is no database " * 500)
    answer = asked.bare("status", "--json", "--index-dir", broken)
    assert answer.code == 4
    assert answer.error["code"] == "INDEX_ERROR"


def test_an_unforeseen_failure(asked: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("nobody thought of this")

    monkeypatch.setattr("pi_event_search.index.coverage_of", fail)
    answer = asked.all("status")
    assert answer.code == 1
    assert answer.error["code"] == "INTERNAL"


def test_a_busy_index(changing: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    pi = Pi("more", changing.base)
    pi.user("wolf more")
    pi.write(changing.sessions)
    queue = lease._queue
    monkeypatch.setattr(
        lease, "_queue", lambda file, directory, _, pause: queue(file, directory, 0, pause)
    )
    with lease.writer_lease(changing.index):
        answer = changing.all("sync")
        assert answer.code == 4
        assert answer.error["code"] == "INDEX_BUSY"
        searched = changing.all("search", "wolf")
        assert searched.code == 0
        assert ("more", "more-0") not in searched.hits()
    assert ("more", "more-0") in changing.all("search", "wolf").hits()


# Sessions by prefix


def test_a_session_by_the_beginning_of_its_id(asked: Place) -> None:
    whole = asked.all("search", "wolf", "--session", "0199aaaa-1").hits()
    assert whole
    assert asked.all("search", "wolf", "--session", "0199aaaa").hits() == whole
    assert asked.all("search", "wolf", "--session", "0199aaab").hits() == []
    assert "0199aaa" in refused(asked.all("search", "wolf", "--session", "0199aaa"))
    assert asked.all("read", "oth", "other-0").json["sessionId"] == "other"
    assert asked.all("read", "oth/other-0").json["sessionId"] == "other"
    assert asked.all("trace", "oth", "other-0").json["target"]["sessionId"] == "other"
    assert asked.all("lineage", "oth").json["sessionId"] == "other"
    assert asked.all("lineage", "ther").code == 3


def test_a_whole_id_is_not_the_beginning_of_another(changing: Place) -> None:
    longer = Pi("other-longer", changing.base)
    longer.user("wolf longer")
    longer.write(changing.sessions)
    assert changing.all("search", "wolf", "--session", "other").hits() == [("other", "other-0")]


# Syncing


def test_search_brings_the_index_up_to_date_unless_told_not_to(changing: Place) -> None:
    pi = Pi("new", changing.base)
    pi.user("fox")
    pi.write(changing.sessions)
    assert changing.all("search", "fox", "--no-sync").hits() == []
    assert changing.all("search", "fox").hits() == [("new", "new-0")]
    pi.user("fox again")
    pi.flush()
    assert len(changing.all("search", "fox", "--no-sync").hits()) == 1
    assert len(changing.all("search", "fox").hits()) == 2


def test_only_search_and_sync_bring_the_index_up_to_date(changing: Place) -> None:
    pi = Pi("new", changing.base)
    pi.user("fox")
    pi.write(changing.sessions)
    for words in (["sessions"], ["status"], ["lineage", "other"], ["trace", "other", "other-0"]):
        assert changing.all(*words).code == 0
    assert changing.all("read", "new", "new-0").code == 3
    changing.all("sync")
    assert changing.all("read", "new", "new-0").code == 0


# The real program


def program(place: Place, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PI_")}
    return subprocess.run(
        [sys.executable, "-c", "import sys; from pi_event_search.cli import main; sys.exit(main())",
         *words],
        env={**kept, "PI_EVENT_SEARCH_INDEX_DIR": str(place.index), **env},
        cwd=place.base,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )  # fmt: skip


def test_as_a_process(asked: Place) -> None:
    sessions = {"PI_CODING_AGENT_SESSION_DIR": str(asked.sessions)}
    found = program(asked, "search", "wolf", "--json", **sessions)
    answer = Answer(found.returncode, found.stdout, found.stderr)
    assert len(answer.hits()) == 5
    assert answer.err == ""
    usage = program(asked, "search", "--limit", "0", "x", "--json", **sessions)
    refused(Answer(usage.returncode, usage.stdout, usage.stderr))
    missing = program(asked, "read", "nobody", "x", **sessions)
    assert (missing.returncode, missing.stdout) == (3, "")
    page = program(asked, "search", "wolf", **sessions)
    assert page.returncode == 0
    assert "\033" not in page.stdout


def test_the_library_takes_what_the_command_line_takes(asked: Place) -> None:
    with asked.open() as index:
        page = index.search("wolf", invocation=EVERYWHERE, limit=2, session_id="0199aaaa")
        assert len(page.hits) == 2
