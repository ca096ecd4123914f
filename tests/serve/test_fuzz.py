"""Whatever comes in: the server neither ends nor hangs, and the next question is answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.serve.client import Client
from tests.serve.conftest import CALLER, write_history

METHODS = (
    "initialize", "event/search", "event/read", "event/trace", "session/sync", "session/lineage",
    "index/status", "$/cancel", "nothing", "",
)  # fmt: skip
NAMES = (
    "arguments", "invocation", "query", "sessionId", "entryId", "cwd", "time", "limit", "kinds",
    "sessionFile", "protocolVersion", "id", "fragmentId", "offset", "window", "depth",
)  # fmt: skip
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from(["current", "lake-one", "lake-one-1", "/w/lake", "/", "\0", "\ud800"])
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=10,
)
PARAMS = VALUES | st.fixed_dictionaries({"arguments": VALUES, "invocation": st.just(CALLER)})
REQUESTS = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": st.sampled_from(METHODS) | VALUES},
    optional={"id": SCALARS, "params": PARAMS},
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One server, which has to stand all of it."""
    place = tmp_path_factory.mktemp("fuzz")
    write_history(place / "sessions")
    with Client(place / "index", place / "sessions") as client:
        client.caught_up(CALLER, 2)
        yield client
        assert client.end() == 0


def _still_answers(client: Client) -> None:
    """Asks something, and reads whatever else comes until its answer is there."""
    client.send(b"\n")  # ends what may have been begun
    request = {"jsonrpc": "2.0", "id": "marker", "method": "event/search"}
    params = {"arguments": {"query": "flange"}, "invocation": CALLER}
    client.send(json.dumps({**request, "params": params}).encode() + b"\n")
    while True:
        frame = client.frame()
        assert frame is not None, "the server ended"
        if isinstance(frame, dict) and frame["id"] == "marker":
            assert len(frame["result"]["hits"]) == 4
            return


def _frame(value: Any) -> bytes:
    return json.dumps(value).encode()


FRAMES = st.one_of(
    st.binary(max_size=200),
    REQUESTS.map(_frame),
    st.lists(REQUESTS | VALUES, max_size=4).map(_frame),
    REQUESTS.map(_frame).flatmap(lambda f: st.integers(0, len(f)).map(lambda cut: f[:cut])),
    REQUESTS.map(_frame).map(lambda f: f + f),
).filter(lambda frame: b'"shutdown"' not in frame)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(FRAMES, min_size=1, max_size=20))
def test_any_frames(server: Client, frames: list[bytes]) -> None:
    server.send(b"\n".join(frames))
    _still_answers(server)


def test_a_frame_of_a_hundred_megabytes(server: Client) -> None:
    piece = b'{"x":"' + b"y" * (1 << 20)
    for _ in range(100):
        server.send(piece)
    _still_answers(server)
    status = server.result("index/status", {"invocation": CALLER})
    assert status["indexedSessions"] == 2


def test_deep_and_long_values(server: Client) -> None:
    for value in ("[" * 1_000_000, '{"a":' * 100_000, '"' + "x" * 8_000_000, "9" * 1_000_000):
        server.send(
            b'{"jsonrpc":"2.0","id":1,"method":"event/search","params":' + value.encode() + b"\n"
        )
    _still_answers(server)
