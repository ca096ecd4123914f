"""The server as a bridge meets it: methods, errors, order, ends."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pi_event_search.serve.protocol import (
    FAILED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
)
from pi_event_search.serve.schemas import tools

from tests.serve.client import Client
from tests.serve.conftest import CALLER, History


def _hits(client: Client, query: str, invocation: Any = None, **arguments: Any) -> set[str]:
    page = client.result(
        "event/search",
        {"arguments": {"query": query, **arguments}, "invocation": invocation or CALLER},
    )
    return {hit["entryId"] for hit in page["hits"]}


def test_search_then_read_then_trace(client: Client) -> None:
    page = client.result(
        "event/search", {"arguments": {"query": "flange", "errorOnly": True}, "invocation": CALLER}
    )
    (hit,) = page["hits"]
    assert "score" not in hit
    assert "path" not in hit
    assert hit["sessionName"] == "Why the pump leaks"
    event = client.result(
        "event/read",
        {
            "arguments": {
                "sessionId": hit["sessionId"],
                "entryId": hit["entryId"],
                "fragmentId": hit["matchingFragmentId"],
            },
            "invocation": CALLER,
        },
    )
    assert event["source"]["state"] == "exact"
    assert "path" not in event["source"]
    assert event["fragments"][0]["preview"]["text"] == "flange: no such file"
    trace = client.result(
        "event/trace",
        {
            "arguments": {"sessionId": hit["sessionId"], "entryId": hit["entryId"]},
            "invocation": CALLER,
        },
    )
    assert trace["parent"]["to"] == {"sessionId": "lake-one", "entryId": event["parentId"]}


def test_initialize_gives_the_tools(client: Client) -> None:
    answer = client.result("initialize", {"protocolVersion": 1, "client": {"name": "test"}})
    assert answer["protocolVersion"] == 1
    assert answer["serverVersion"]
    assert answer["tools"] == tools()
    for wrong in (0, 2, "1", True, None):
        assert client.error("initialize", {"protocolVersion": wrong}) == (
            INVALID_PARAMS,
            "INVALID_ARGUMENT",
        )


def test_other_methods(client: Client, history: History) -> None:
    lineage = {"sessionId": "lake-one", "invocation": CALLER}
    assert client.result("session/lineage", lineage) == {
        "sessionId": "lake-one",
        "childSessionIds": [],
    }
    sync = {"sessionFile": str(history.first.path), "invocation": CALLER}
    assert client.result("session/sync", sync) == {"synced": True}
    gone = {"sessionFile": str(history.first.path) + "x", "invocation": CALLER}
    assert client.result("session/sync", gone) == {"synced": False}
    assert client.caught_up(CALLER, 2)["state"] == "ready"


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("nothing", {}, (METHOD_NOT_FOUND, None)),
        ("event/search", {}, (INVALID_PARAMS, "INVALID_ARGUMENT")),
        ("event/search", {"arguments": {"query": "x"}}, (INVALID_PARAMS, "INVALID_ARGUMENT")),
        ("event/search", {"invocation": CALLER}, (INVALID_PARAMS, "INVALID_ARGUMENT")),
        ("index/status", {}, (INVALID_PARAMS, "INVALID_ARGUMENT")),
        ("session/sync", {}, (INVALID_PARAMS, "INVALID_ARGUMENT")),
        (
            "event/search",
            {"arguments": {"query": "***"}, "invocation": CALLER},
            (FAILED, "INVALID_QUERY"),
        ),
        (
            "event/search",
            {"arguments": {"query": "x", "limit": 201}, "invocation": CALLER},
            (FAILED, "INVALID_ARGUMENT"),
        ),
        (
            "event/read",
            {"arguments": {"sessionId": "nope", "entryId": "x"}, "invocation": CALLER},
            (FAILED, "NOT_FOUND"),
        ),
        (
            "event/trace",
            {"arguments": {"sessionId": "lake-one", "entryId": "x"}, "invocation": CALLER},
            (FAILED, "NOT_FOUND"),
        ),
        ("session/lineage", {"sessionId": "nope", "invocation": CALLER}, (FAILED, "NOT_FOUND")),
    ],
)
def test_failures(
    history: History, shared: Client, method: str, params: Any, expected: Any
) -> None:
    assert shared.error(method, params) == expected


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One server for everything that cannot change it."""
    from tests.serve.conftest import write_history

    place = tmp_path_factory.mktemp("shared")
    write_history(place / "sessions")
    with Client(place / "index", place / "sessions") as running:
        running.caught_up(CALLER, 2)
        yield running


def test_what_is_no_request_is_answered_and_the_stream_goes_on(shared: Client) -> None:
    refused: list[tuple[bytes, int]] = [
        (b"nonsense\n", PARSE_ERROR),
        (b"[]\n", INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","method":7}\n', INVALID_REQUEST),
        (b"x" * (9 << 20) + b"\n", INVALID_REQUEST),
    ]
    for data, code in refused:
        shared.send(data)
        frame = shared.frame()
        assert (frame["id"], frame["error"]["code"]) == (None, code)
    assert _hits(shared, "flange")


def test_notifications_and_empty_lines_are_not_answered(shared: Client) -> None:
    shared.send(b"\n \r\n")
    for method in ("nothing", "event/search", "$/cancel", "index/status"):
        shared.send(json.dumps({"jsonrpc": "2.0", "method": method}).encode() + b"\n")
    call = shared.begin("index/status", {"invocation": CALLER})
    assert shared.frame()["id"] == call


def test_a_frame_in_pieces_and_two_in_one(shared: Client) -> None:
    request = json.dumps(
        {"jsonrpc": "2.0", "id": "p", "method": "index/status", "params": {"invocation": CALLER}}
    ).encode()
    for byte in request:
        shared.send(bytes([byte]))
    shared.send(b"\n" + request + b"\n" + request + b"\n")
    assert [shared.frame()["id"] for _ in range(3)] == ["p"] * 3


def test_a_batch_is_answered_in_one_frame(shared: Client) -> None:
    call = {"jsonrpc": "2.0", "method": "index/status", "params": {"invocation": CALLER}}
    shared.send(json.dumps([{**call, "id": 1000}, call, 7, {**call, "id": 1001}]).encode() + b"\n")
    frame = shared.frame()
    assert {answer["id"] for answer in frame} == {1000, None, 1001}
    assert len(frame) == 3
    shared.send(json.dumps([{**call, "id": n} for n in range(101)]).encode() + b"\n")
    assert shared.frame()["error"]["code"] == INVALID_REQUEST
    shared.send(json.dumps([call, call]).encode() + b"\n")  # nothing but notifications
    assert _hits(shared, "flange")


def test_an_own_session_is_synced_before_it_is_asked_about(
    client: Client, history: History
) -> None:
    session = history.first
    asking = session.assistant("And now?", [{"id": "c9", "name": "event_search", "arguments": {}}])
    caller = {
        **CALLER,
        "currentSessionId": session.id,
        "currentSessionFile": str(session.path),
        "toolCallId": "c9",
    }
    newest = session.user("The flange again, said later")
    found = _hits(client, "", caller, sessionId="current", roles=["user", "assistant"])
    assert "lake-one-4" in found
    assert not {asking, newest} & found
    assert _hits(client, "flange", caller) == {"lake-two-1"}


def test_a_session_that_is_not_there_yet_hides_nothing_and_breaks_nothing(
    client: Client, history: History
) -> None:
    caller = {
        **CALLER,
        "currentSessionId": "new",
        "currentSessionFile": str(history.sessions / "new.jsonl"),
        "toolCallId": "c1",
    }
    assert _hits(client, "flange", caller) == {
        "lake-one-1",
        "lake-one-3",
        "lake-one-4",
        "lake-two-1",
    }


def test_options_hold_for_callers_without_a_workspace(history: History, tmp_path: Path) -> None:
    anywhere = {"cwd": "/nowhere"}
    with Client(tmp_path / "i", history.sessions, "--all-workspaces") as client:
        client.caught_up(anywhere, 3)
        assert len(_hits(client, "pump", anywhere)) == 3 + 1
        assert _hits(client, "pump", {**anywhere, "workspaceRoot": "/w/vault"}) == {"other-one-0"}
    with Client(tmp_path / "i", history.sessions, "--root", "/w/vault") as client:
        assert _hits(client, "pump", anywhere) == {"other-one-0"}


def test_the_index_is_closed_to_others(client: Client, tmp_path: Path) -> None:
    client.end()
    for path in tmp_path.joinpath("index").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
    assert "caught up" in tmp_path.joinpath("index", "serve.log").read_text()


def test_shutdown_finishes_what_was_asked_and_answers(client: Client) -> None:
    calls = [client.begin("index/status", {"invocation": CALLER}) for _ in range(50)]
    calls.append(client.begin("shutdown"))
    client.begin("index/status", {"invocation": CALLER})
    assert all(client.answer(call)["result"] is not False for call in calls)
    assert client.process.wait(60) == 0
    assert client.frame() is None


def test_closed_input_finishes_what_was_asked(client: Client) -> None:
    calls = [client.begin("index/status", {"invocation": CALLER}) for _ in range(50)]
    request = {"jsonrpc": "2.0", "id": "last", "method": "index/status"}
    client.send(json.dumps({**request, "params": {"invocation": CALLER}}).encode())
    assert client.end() == 0
    for call in [*calls, "last"]:
        assert client.answer(call)["result"]


def test_half_a_frame_before_the_end_is_nothing(client: Client) -> None:
    client.send(b'{"jsonrpc":"2.0","id":"half","met')
    assert client.end() == 0
    assert client.frame() is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it(client: Client, number: signal.Signals) -> None:
    assert client.signal(number) == 0


@pytest.mark.parametrize("how", ["closed input", "signal", "closed output"])
def test_an_output_that_nobody_reads_does_not_keep_it_alive(
    history: History, tmp_path: Path, how: str
) -> None:
    with Client(tmp_path / "i", history.sessions, deaf=True) as client:
        for _ in range(300):  # 900 KB of answers: more than any pipe holds
            client.begin("initialize", {"protocolVersion": 1})
        assert client.process.stdout is not None
        assert os.read(client.process.stdout.fileno(), 1) == b"{"
        if how == "closed output":
            client.process.stdout.close()
        assert (client.signal(signal.SIGTERM) if how == "signal" else client.end()) == 0
