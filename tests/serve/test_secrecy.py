"""Nothing about sessions of other workspaces leaves the server: no path, no title, no count.

Two servers are asked the same, one over a history with such sessions in every condition, one over a
history without them. They must say the same, byte for byte where order does not depend on scores.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serve.client import Client
from tests.serve.conftest import CALLER, History, write_history
from tests.serve.history import Session

SECRETS = ("vault", "Vaulttitle", "vaultword", "other-", "/w/vault", "secret")
"""Parts of the ids, names, words, directories and files of the sessions that must not be seen."""


def _write_secrets(history: History) -> None:
    """Adds what can be hidden: forks of what may be seen, duplicates, damage, shared ids."""
    directory = history.sessions / "secret"
    fork = Session(directory, "other-fork", "/w/vault", hour=12, parent=str(history.first.path))
    for line in history.first.path.read_text().splitlines()[1:]:
        fork.raw(json.loads(line))
    fork.name("Vaulttitle")
    fork.user("vaultword flange")
    with fork.path.open("a") as file:
        file.write('{"type":"message","id":"broken vaultword\n{"type":"vault_type"}\n')
    child = Session(history.sessions / "lake", "lake-child", "/w/lake", parent=str(fork.path))
    child.user("of a hidden parent")
    shadow = Session(directory, history.second.id, "/w/vault", hour=13)
    shadow.user("vaultword in another file of a session id that may be seen")
    beside = Session(history.sessions / "lake", "other-beside", "/w/lakeside", hour=14)
    beside.user("vaultword in a directory whose name begins alike")
    (directory / "empty-vault.jsonl").write_text("")


def _plain(history: History) -> None:
    """What the other history has of it: the visible child, whose parent cannot be seen anyway."""
    child = Session(history.sessions / "lake", "lake-child", "/w/lake", parent="/gone.jsonl")
    child.user("of a hidden parent")


def _requests(history: History) -> Iterator[tuple[str, Any]]:
    """Everything a caller could try."""
    caller = CALLER
    spying = {**CALLER, "currentSessionId": "other-one", "toolCallId": "c1"}
    claiming = {**CALLER, "currentSessionFile": str(history.other.path), "toolCallId": "c1"}
    for invocation in (caller, spying, claiming):
        for query in ("vaultword", "pump vault", "flange", "pump", "vault_type", "Vaulttitle"):
            yield "event/search", {"arguments": {"query": query}, "invocation": invocation}
        for arguments in (
            {"query": "pump", "cwd": "/w/vault"},
            {"query": "pump", "sort": "newest"},
            {"kinds": ["session.name"]},
            {"entryTypes": ["vault_type"]},
            {"query": "pump", "sessionId": "other-one"},
            {"query": "pump", "sessionId": "other"},
            {"query": "pump", "sessionId": "current"},
            {"query": "pump", "sessionId": "lake-two"},
        ):
            yield "event/search", {"arguments": arguments, "invocation": invocation}
        for session, entry in (
            ("other-one", "other-one-0"), ("other-fork", "lake-one-1"), ("lake-one", "lake-one-1"),
            ("lake-two", "lake-two-0"), ("other-beside", "other-beside-0"), ("other", "x"),
        ):  # fmt: skip
            event = {"sessionId": session, "entryId": entry}
            yield "event/read", {"arguments": event, "invocation": invocation}
            yield "event/trace", {"arguments": {**event, "depth": 5}, "invocation": invocation}
        for session in ("lake-one", "lake-child", "other-fork", "other-one", "o", ""):
            yield "session/lineage", {"sessionId": session, "invocation": invocation}
        yield "index/status", {"invocation": invocation}
    yield "session/sync", {"sessionFile": str(history.first.path), "invocation": caller}
    yield "index/status", {"invocation": caller}


def _answers(client: Client, history: History) -> list[Any]:
    answers = []
    for method, params in _requests(history):
        answer = client.ask(method, params)
        del answer["id"]
        answers.append(_settled(answer))
    return answers


def _settled(value: Any) -> Any:
    """Without what depends on when a server looks at its directories, and hits in an order that no
    score decides."""
    if value == "catching-up":
        return "ready"
    if isinstance(value, dict):
        value = {key: _settled(item) for key, item in value.items() if key != "lastReconciledAt"}
        if "hits" in value:
            value["hits"].sort(key=lambda hit: (hit["sessionId"], hit["entryId"]))
        return value
    return [_settled(item) for item in value] if isinstance(value, list) else value


def test_answers_are_those_of_a_history_without_them(tmp_path: Path) -> None:
    history = write_history(tmp_path / "here" / "sessions")
    _write_secrets(history)
    bare = write_history(tmp_path / "bare" / "sessions")
    _plain(bare)
    bare.other.path.unlink()
    with (
        Client(tmp_path / "here" / "index", history.sessions) as client,
        Client(tmp_path / "bare" / "index", bare.sessions) as other,
    ):
        client.caught_up(CALLER, 3)
        other.caught_up(CALLER, 3)
        assert _answers(client, history) == _answers(other, bare)
        assert client.end() == 0
        _assert_silent(client, history)


def _assert_silent(client: Client, history: History) -> None:
    """No byte that ever came back names what is hidden, but for words that the caller gave."""
    echoed = (
        b'"term":"vaultword"',
        b'"term":"vault"',
        b'"term":"vault_type"',
        b'"term":"Vaulttitle"',
    )
    received = bytes(client.received)
    for term in echoed:
        received = received.replace(term, b"")
    for part in (*SECRETS, str(history.sessions), ".jsonl", "Traceback", os.sep + "index"):
        assert part.encode() not in received, part


@pytest.mark.parametrize("how", ["no header", "a directory", "a pipe"])
def test_what_belongs_to_nobody_is_not_counted(tmp_path: Path, how: str) -> None:
    history = write_history(tmp_path / "sessions")
    before = len(list(history.sessions.rglob("*")))
    for number in range(3):
        path = history.sessions / "secret" / f"vault-{number}.jsonl"
        if how == "no header":
            path.write_text('{"type":"session","id":7}\n')
        elif how == "a directory":
            path.mkdir()
        else:
            os.mkfifo(path)
    assert len(list(history.sessions.rglob("*"))) == before + 3
    with Client(tmp_path / "index", history.sessions) as client:
        coverage = client.caught_up(CALLER, 2)
        assert coverage["discoveredSessions"] == 2
        assert coverage["problems"] == []
        assert (coverage["pendingBytes"], coverage["skippedRecords"]) == (0, 0)
        assert client.end() == 0
        _assert_silent(client, history)
