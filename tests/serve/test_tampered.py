"""The server while something inside is slow, noisy or broken."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pi_event_search import EventIndex, Invocation
from pi_event_search.serve.protocol import FAILED

from tests.serve.client import Client
from tests.serve.conftest import CALLER, History

SEARCH = {"arguments": {"query": "flange"}, "invocation": CALLER}


class Tampered(Client):
    """A server with one change inside; see `tampered.py`."""

    said = told = -1

    def happened(self) -> None:
        """Waits until the place that was changed is reached."""
        assert os.read(self.said, 1) == b"!"

    def go_on(self, times: int = 1) -> None:
        """Lets the server go on from there."""
        os.write(self.told, b"." * times)


@contextmanager
def tampered(change: str, place: Path, history: History) -> Iterator[Tampered]:
    """Starts one."""
    said, say = os.pipe()
    hear, told = os.pipe()
    program = ("-m", "tests.serve.tampered", change, f"{say},{hear}")
    try:
        with Tampered(place, history.sessions, program=program, pass_fds=(say, hear)) as client:
            client.said, client.told = said, told
            yield client
    finally:
        for descriptor in (said, say, hear, told):
            os.close(descriptor)


def test_it_answers_before_the_index_is_open(history: History, tmp_path: Path) -> None:
    with tampered("slow-open", tmp_path / "i", history) as client:
        search = client.begin("event/search", SEARCH)
        client.happened()
        assert client.result("initialize", {"protocolVersion": 1})["tools"]
        assert client.error("nothing")  # methods are looked at in threads, and there is one left
        client.go_on()
        assert "result" in client.answer(search)
        assert client.end() == 0


def test_what_is_printed_is_no_frame(history: History, tmp_path: Path) -> None:
    with tampered("printing", tmp_path / "i", history) as client:
        client.caught_up(CALLER, 2)
        assert len(client.result("event/search", SEARCH)["hits"]) == 4
        assert client.end() == 0
        assert b"prints" not in client.received


def test_what_nobody_foresaw_is_told_to_the_log_only(history: History, tmp_path: Path) -> None:
    with tampered("failing", tmp_path / "i", history) as client:
        assert client.error("event/search", SEARCH) == (FAILED, "INTERNAL")
        client.caught_up(CALLER, 2)
        assert client.end() == 0
        assert b"secret" not in client.received
        assert "/secret/place" in (tmp_path / "i" / "serve.log").read_text()


def test_a_cancelled_request_is_answered_at_once_and_only_once(
    history: History, tmp_path: Path
) -> None:
    with tampered("slow-search", tmp_path / "i", history) as client:
        client.caught_up(CALLER, 2)
        running = [client.begin("event/search", SEARCH) for _ in range(8)]
        for _ in running:
            client.happened()
        waiting = client.begin("event/search", SEARCH)
        for call in (running[3], waiting):
            assert client.result("$/cancel", {"id": call}) is None
            assert client.answer(call)["error"]["message"] == "The request was cancelled."
        client.result("$/cancel", {"id": "of nobody"})
        client.go_on(8)
        for call in running[:3] + running[4:]:
            assert len(client.answer(call)["result"]["hits"]) == 4
        assert client.end() == 0
        assert client.frame() is None


def test_a_signal_in_the_middle_of_a_commit_ends_it_and_harms_nothing(
    history: History, tmp_path: Path
) -> None:
    EventIndex.open(tmp_path / "i", [history.sessions]).close()  # making it is a commit too
    with tampered("slow-commit", tmp_path / "i", history) as client:
        client.begin("event/search", SEARCH)
        client.happened()
        assert client.signal(signal.SIGTERM) == 0
    everything = Invocation(cwd="/", workspace_root="/")
    with EventIndex.open(tmp_path / "i", [history.sessions]) as index:
        assert not index.search("flange", invocation=everything).hits
        report = index.sync()
        assert (report.rebuilt, report.coverage.state) == (3, "ready")
        assert len(index.search("flange", invocation=everything).hits) == 4


def test_closed_input_lets_a_commit_finish(history: History, tmp_path: Path) -> None:
    with tampered("patient", tmp_path / "i", history) as client:
        sync = client.begin("session/sync", {"sessionFile": str(history.first.path)})
        client.happened()
        assert client.process.stdin is not None
        client.process.stdin.close()
        client.go_on(10)
        assert client.answer(sync)["result"] == {"synced": True}
        assert client.end() == 0
