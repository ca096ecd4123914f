"""`watch`: one line a change until it is ended."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from pi_event_search.cli import main
from pi_event_search.cli.render.change import change_line
from pi_event_search.errors import IndexBusy, IndexProblem
from pi_event_search.types.coverage import Change

from tests.indexes import Place, passing_place
from tests.sessions import chain, header

CHANGES = {
    "added": Change("added", "/s/a.jsonl", "s1", 2),
    "appended": Change("appended", "/s/a.jsonl", "s1", 1),
    "rebuilt": Change("rebuilt", "/s/a.jsonl", "s1", 1_000),
    "removed": Change("removed", "/s/a.jsonl", "s1"),
    "failed": Change("failed", "/s/b\x1b[2J.jsonl", None, detail="No session\nat all."),
}
LINES = {
    "added": "09:30:05 added s1 with 2 events (/s/a.jsonl)",
    "appended": "09:30:05 appended 1 event to s1 (/s/a.jsonl)",
    "rebuilt": "09:30:05 rebuilt s1 with 1,000 events (/s/a.jsonl)",
    "removed": "09:30:05 removed s1 (/s/a.jsonl)",
    "failed": "09:30:05 failed no session: No session at all. (/s/b␛[2J.jsonl)",
}
SCRIPT = "import sys; from pi_event_search.cli import main; sys.exit(main())"


@pytest.fixture
def place() -> Iterator[Place]:
    """In memory where the system can do that."""
    with passing_place() as place:
        yield place


class WatchedIndex:
    """Tells of some changes, then does what the test wants."""

    def __init__(self, then: Callable[[Any], None] = lambda _: None) -> None:
        self.then = then

    @contextmanager
    def open(self, **_: Any) -> Iterator[Any]:
        yield self

    def watch(self, changed: Callable[[Change], None], **arguments: Any) -> None:
        for change in CHANGES.values():
            changed(change)
        self.then(arguments)

    def run(self, *argv: str) -> int:
        return main(["watch", *argv], open_index=self.open, zone=UTC)


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_is_a_line(kind: str) -> None:
    now = datetime(2026, 3, 14, 9, 30, 5, tzinfo=UTC)
    assert change_line(CHANGES[kind], now) == LINES[kind]


def test_lines_are_printed_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    assert WatchedIndex().run() == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line[9:] for line in printed] == [line[9:] for line in LINES.values()]


def test_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert WatchedIndex().run("--json") == 0
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert documents == [json.loads(change.to_json()) for change in CHANGES.values()]
    assert [d["change"] for d in documents] == list(CHANGES)


def test_a_busy_index_is_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    busy = IndexBusy("Another process has it.")
    assert WatchedIndex(lambda arguments: arguments["busy"](busy)).run() == 0
    assert capsys.readouterr().err == "pi-event-search: Another process has it.\n"


def test_a_terminating_signal_ends_it_well() -> None:
    def then(arguments: Any) -> None:
        stop: threading.Event = arguments["stop"]
        assert not stop.is_set()
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(60)

    before = signal.getsignal(signal.SIGTERM)
    assert WatchedIndex(then).run() == 0
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_interrupt_ends_it_as_any_command() -> None:
    def then(_: Any) -> None:
        raise KeyboardInterrupt

    assert WatchedIndex(then).run() == 130


def test_a_problem_of_the_index_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    def then(_: Any) -> None:
        raise IndexProblem("It is gone.")

    assert WatchedIndex(then).run("--json") == 4
    last = capsys.readouterr().out.splitlines()[-1]
    assert json.loads(last) == {"error": {"code": "INDEX_ERROR", "message": "It is gone."}}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_the_program_follows_a_file_until_a_signal_ends_it(
    number: signal.Signals, code: int, place: Place
) -> None:
    place.put("a", header("s1") + chain(0, 2, "hello"))
    command = [
        sys.executable,
        "-c",
        SCRIPT,
        "watch",
        "--json",
        "--index-dir",
        str(place.base / "index"),
    ]
    with subprocess.Popen(
        [*command, "--index-dir", place.base / "index", "--sessions-dir", place.sessions],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = json.loads(process.stdout.readline())
        assert (first["change"], first["sessionId"], first["eventsAdded"]) == ("added", "s1", 2)
        written = 2
        while True:  # the first one may be written before it listens; the next one is heard
            place.append("a", chain(written, 1, "more"))
            written += 1
            if select.select([process.stdout], [], [], 2)[0]:
                break
        second = json.loads(process.stdout.readline())
        assert (second["change"], second["sessionId"]) == ("appended", "s1")
        process.send_signal(number)
        process.stdout.read()
        assert process.stderr.read() == b""
        assert process.wait() == code
    with place.index() as index:
        report = index.sync()
        assert report.unchanged + report.appended == 1
