"""What the command line asks of the index, what it prints, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pi_event_search.errors import (
    EventSearchError,
    IndexBusy,
    IndexProblem,
    InvalidArgument,
    InvalidQuery,
    NotFound,
)

from tests.cli.made_up import OTHER, SESSION, MadeUpIndex, different

COMMAND_LINES = {
    "sync": ("sync",),
    "search": ("search", "lock"),
    "read": ("read", SESSION, "e"),
    "trace": ("trace", SESSION, "e"),
    "sessions": ("sessions",),
    "lineage": ("lineage", SESSION),
    "status": ("status",),
    "verify": ("verify",),
    "rebuild": ("rebuild",),
}
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def index() -> MadeUpIndex:
    return MadeUpIndex()


def error_of(capsys: Capture) -> dict[str, str]:
    """The one JSON document of a failure; nothing else may be on stdout."""
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"error"}
    assert set(document["error"]) == {"code", "message"}
    error: dict[str, str] = document["error"]
    return error


@pytest.mark.parametrize("name", COMMAND_LINES)
def test_json_is_the_result_and_nothing_else(
    name: str, index: MadeUpIndex, capsys: Capture
) -> None:
    assert index.run(*COMMAND_LINES[name], "--json") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == json.loads(index.answers[name].to_json())
    assert printed.out.count("\n") == 1
    assert printed.err == ""


@pytest.mark.parametrize("name", COMMAND_LINES)
def test_only_search_and_sync_bring_the_index_up_to_date(name: str, index: MadeUpIndex) -> None:
    assert index.run(*COMMAND_LINES[name]) == 0
    called = [called for called, _, _ in index.calls]
    assert called == (["refresh", "search"] if name == "search" else [name])


def test_search_passes_every_filter(index: MadeUpIndex) -> None:
    code = index.run(
        "search", "stale", "--limit", "5", "lock", "--session", "abc", "--cwd", "sub",
        "--kind", "tool.call", "--kind=tool.result", "--entry-type", "message", "--role", "user",
        "--tool", "bash", "--branch-state", "alternate", "--selection-state", "direct", "--errors",
        "--since", "7d", "--until", "2026-03-14", "--file", "src/a.py", "--sort", "newest",
    )  # fmt: skip
    assert code == 0
    _, query, _ = index.calls[-1]
    asked = index.asked("search")
    del asked["invocation"]
    assert asked.pop("query") == "stale lock"
    assert query == ()
    assert asked == {
        "limit": 5,
        "session_id": "abc",
        "cwd": str(Path.cwd() / "sub"),
        "kinds": ("tool.call", "tool.result"),
        "entry_types": ("message",),
        "roles": ("user",),
        "tool_names": ("bash",),
        "branch_states": ("alternate",),
        "selection_states": ("direct",),
        "error_only": True,
        "time_from": datetime(2026, 3, 7, 12, tzinfo=UTC),
        "time_to": datetime(2026, 3, 14, 23, 59, 59, 999_000, tzinfo=UTC),
        "file": "src/a.py",
        "sort": "newest",
    }


def test_what_is_not_given_is_left_to_the_service(index: MadeUpIndex) -> None:
    index.run("search", "x")
    assert set(index.asked("search")) == {"query", "invocation"}
    index.run("read", "s/e", "--offset", "0", "--before", "0", "--fragment", "user.text:0")
    asked = index.asked("read")
    assert {key: asked[key] for key in asked if key != "invocation"} == {
        "offset": 0,
        "before": 0,
        "fragment_id": "user.text:0",
    }


def test_a_busy_index_is_searched_as_it_is(index: MadeUpIndex, capsys: Capture) -> None:
    index.failures["refresh"] = IndexBusy()
    assert index.run("search", "x", "--json") == 0
    printed = capsys.readouterr()
    assert "hits" in json.loads(printed.out)
    assert "Another process" in printed.err


def test_no_sync_does_not(index: MadeUpIndex) -> None:
    assert index.run("search", "x", "--no-sync") == 0
    assert [called for called, _, _ in index.calls] == ["search"]


def test_places_and_roots(
    index: MadeUpIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    index.run(
        "--json", "--root", "a", "sessions", "--root", "/b/../c", "--sessions-dir", "~/s",
        "--sessions-dir", "t", "--index-dir", "i", "--exclude", "*.bak.jsonl",
    )  # fmt: skip
    assert index.opened == {
        "index_dir": str(tmp_path / "i"),
        "session_dirs": ["/home/me/s", str(tmp_path / "t")],
        "exclude": ("*.bak.jsonl",),
    }
    invocation = index.asked("sessions")["invocation"]
    assert (invocation.cwd, invocation.workspace_root) == (
        str(tmp_path),
        (str(tmp_path / "a"), "/c"),
    )


@pytest.mark.parametrize(("flags", "roots"), [((), None), (("--all-workspaces",), ("/",))])
def test_default_roots(index: MadeUpIndex, flags: tuple[str, ...], roots: Any) -> None:
    index.run("status", *flags)
    assert index.asked("status")["invocation"].workspace_root == roots
    assert index.opened == {"index_dir": None, "session_dirs": None, "exclude": ()}


@pytest.mark.parametrize("words", [("s", "e"), ("s/e",), ("s", "--depth", "2", "e"), ("s/e/f",)])
def test_one_event_in_one_word_or_two(index: MadeUpIndex, words: tuple[str, ...]) -> None:
    assert index.run("trace", *words) == 0
    assert index.calls[0][1] == ("s", "e/f" if words == ("s/e/f",) else "e")


FAILURES = [
    (InvalidQuery("q"), 2, "INVALID_QUERY"),
    (InvalidArgument("a"), 2, "INVALID_ARGUMENT"),
    (NotFound(), 3, "NOT_FOUND"),
    (IndexBusy(), 4, "INDEX_BUSY"),
    (IndexProblem("p"), 4, "INDEX_ERROR"),
    (PermissionError(13, "Permission denied", "/s"), 4, "INDEX_ERROR"),
    (EventSearchError("e"), 1, "INTERNAL"),
    (ZeroDivisionError("z"), 1, "INTERNAL"),
]


@pytest.mark.parametrize(("failure", "exit_code", "code"), FAILURES)
@pytest.mark.parametrize("name", COMMAND_LINES)
def test_failures(
    name: str, failure: Exception, exit_code: int, code: str, index: MadeUpIndex, capsys: Capture
) -> None:
    index.failures[name] = failure
    assert index.run(*COMMAND_LINES[name], "--json") == exit_code
    assert error_of(capsys)["code"] == code
    assert index.run(*COMMAND_LINES[name]) == exit_code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("pi-event-search: ")
    assert printed.err.count("\n") == 1


WRONG = [
    ((), "A command is missing"),
    (("serch", "x"), "did you mean search?"),
    (("\x1b[31m",), "There is no command"),
    (("search", "--limmit", "3"), "There is no option '--limmit'; did you mean --limit?"),
    (("search", "-x"), "put -- before a word"),
    (("search", "--lim", "3"), "There is no option '--lim'"),
    (("search", "x", "--limit"), "--limit needs a value. See: pi-event-search search --help"),
    (("search", "x", "--errors=yes"), "--errors takes no value, not 'yes'. See: "),
    (("search", "x", "--limit", "many"), "--limit must be a whole number, not 'many'"),
    (("search", "x", "--limit", "0"), "--limit must be from 1 to 200, not 0"),
    (("search", "x", "--kind", "tool"), "--kind must be one of user.text"),
    (("search", "x", "--since", "soon"), "--since must be a time such as"),
    (("search", "x", "--until", "soon"), "--until must be a time such as"),
    (("search", "x", "--since", "today", "--until", "3d"), "--since must not be later"),
    (("search", "x", "--sort", "best"), "--sort must be one of relevance"),
    (("search", "x", "--session", ""), "--session must be some text"),
    (("read", "s"), "SESSION ENTRY or SESSION/ENTRY"),
    (("read", "s/"), "SESSION ENTRY or SESSION/ENTRY"),
    (("read", "s", "e", "f"), "SESSION ENTRY or SESSION/ENTRY"),
    (("read", "s", "e", "--window", "4001"), "--window must be from 1 to 4,000"),
    (("read", "s", "e", "--offset", "-1"), "--offset must be 0 or more"),
    (("read", "s", "e", "--order", "time"), "--order must be one of branch, append"),
    (("trace", "s", "e", "--depth", "6"), "--depth must be from 1 to 5"),
    (("sessions", "--limit", "10001"), "--limit must be from 1 to 10,000"),
    (("sessions", "x"), "sessions takes no word"),
    (("lineage",), "lineage takes one session id"),
    (("sync", "/s/a.jsonl"), "sync takes no word"),
    (("status", "x"), "status takes no word"),
    (("verify", "x"), "verify takes no word"),
    (("rebuild", "x"), "rebuild takes no word"),
    (("watch", "x"), "watch takes no word"),
]


@pytest.mark.parametrize(("argv", "words"), WRONG)
def test_wrong_usage_is_one_sentence_and_opens_nothing(
    argv: tuple[str, ...], words: str, index: MadeUpIndex, capsys: Capture
) -> None:
    assert index.run(*argv) == 2
    message = capsys.readouterr().err
    assert words in message
    assert "\x1b" not in message
    assert index.run("--json", *argv) == 2
    assert error_of(capsys)["code"] == "INVALID_ARGUMENT"
    assert index.calls == []
    assert index.opened == {}


@pytest.mark.parametrize(
    ("argv", "called"),
    [(("read", "0", "e"), "SESSION"), (("trace", "0/e"), "SESSION"), (("lineage", "0"), "SESSION"),
     (("search", "x", "--session", "0"), "--session")],
)  # fmt: skip
def test_an_argument_is_called_as_it_was_given(
    argv: tuple[str, ...], called: str, index: MadeUpIndex, capsys: Capture
) -> None:
    index.failures[argv[0]] = InvalidArgument(
        "session_id '0' begins 3 session ids; give more of it.", argument="session_id"
    )
    assert index.run(*argv) == 2
    assert capsys.readouterr().err.startswith(f"pi-event-search: {called} '0' begins 3 ")


def test_no_words_and_no_filter_is_an_invalid_query(index: MadeUpIndex, capsys: Capture) -> None:
    assert index.run("search", "--json") == 2
    assert error_of(capsys)["code"] == "INVALID_QUERY"


@pytest.mark.parametrize(
    ("argv", "query"),
    [
        (("search", "--", "--flag", "--json"), "--flag --json"),
        (("search", "a", "--", "-b"), "a -b"),
        (("search", "--errors", "-1"), "-1"),
        (("search", '"a b" c'), '"a b" c'),
        (("--errors", "search"), None),
    ],
)
def test_words(index: MadeUpIndex, argv: tuple[str, ...], query: str | None) -> None:
    assert index.run(*argv) == (0 if query is not None or "--errors" in argv else 2)
    assert index.asked("search")["query"] == (query or "")


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_verify_ends_with_4_when_anything_differs(
    flags: tuple[str, ...], index: MadeUpIndex, capsys: Capture
) -> None:
    index.answers["verify"] = different()
    assert index.run("verify", *flags) == 4
    printed = capsys.readouterr()
    assert "misses 3" in printed.out
    assert printed.err == ""
    if flags:
        assert json.loads(printed.out) == json.loads(different().to_json())


def test_an_interrupt_ends_with_130(index: MadeUpIndex) -> None:
    index.failures["sync"] = KeyboardInterrupt()
    assert index.run("sync") == 130


def test_other_platforms_get_a_plain_sentence(
    index: MadeUpIndex, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert index.run("status") == 1
    assert capsys.readouterr().err == (
        "pi-event-search: pi-event-search runs on Linux and macOS, not on win32.\n"
    )
    assert index.run("status", "--json") == 1
    assert error_of(capsys)["code"] == "INTERNAL"


def test_the_traceback_is_there_for_the_asking(
    index: MadeUpIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.failures["status"] = ZeroDivisionError()
    monkeypatch.setenv("PI_EVENT_SEARCH_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        index.run("status")


def test_a_directory_that_is_gone(
    index: MadeUpIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        assert index.run("status", "--json") == 2
    finally:
        os.chdir(tmp_path)
    assert "current directory is gone" in error_of(capsys)["message"]


def test_version(index: MadeUpIndex, capsys: Capture) -> None:
    assert index.run("--version") == 0
    assert capsys.readouterr().out.startswith("pi-event-search ")


def test_hostile_text_in_json_is_escaped(index: MadeUpIndex, capsys: Capture) -> None:
    index.failures["lineage"] = InvalidArgument("\x9b2J\u202e修")
    index.run("lineage", OTHER, "--json")
    printed = capsys.readouterr().out
    assert "\\u009b2J\\u202e修" in printed


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from tests.cli.made_up import MadeUpIndex
code = MadeUpIndex().run(*sys.argv[1:])
heavy = [name for name in ("rich", "tantivy", "sqlite3") if name in sys.modules]
print("heavy:", heavy, file=sys.stderr)
sys.exit(code)
"""


def run_apart(*argv: str, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """Run in a process of its own."""
    script = SCRIPT.format(here=str(Path(__file__).parent))
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(
        [sys.executable, "-c", script, *argv],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "ascii"},
        check=False,
    )


def test_json_loads_no_terminal_library_nor_index() -> None:
    ran = run_apart("search", "x", "--json")
    assert (ran.returncode, ran.stderr) == (0, "heavy: []\n")


def test_a_reader_that_goes_away_is_no_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ran = run_apart("search", "x", stdout=writing)
    finally:
        os.close(writing)
    assert ran.returncode == 0
    assert ran.stderr == "heavy: ['rich']\n"


def test_output_without_unicode_is_replaced_not_refused() -> None:
    ran = run_apart("search", "x")
    assert ran.returncode == 0
    assert "??? was left behind" in ran.stdout
