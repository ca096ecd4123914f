"""Frames and what stands in them."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pi_event_search.serve.frames import TOO_LONG, FrameReader, FrameWriter, TooLong
from pi_event_search.serve.protocol import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    Batch,
    Call,
    Refused,
    RpcError,
    batch_frame,
    error_frame,
    parse_frame,
    result_frame,
)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.lists(st.integers(0, 60)), st.integers(1, 20))
def test_any_cutting_gives_the_same_frames(data: bytes, cuts: list[int], limit: int) -> None:
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    reader = FrameReader(limit)
    frames = [frame for start, end in pairwise(edges) for frame in reader.feed(data[start:end])]
    *ended, rest = data.split(b"\n")
    assert frames == [line if len(line) <= limit else TOO_LONG for line in ended]
    assert reader.rest() == (rest if len(rest) <= limit else b"")


def test_a_refused_frame_is_not_kept() -> None:
    reader = FrameReader(10)
    for _ in range(1_000):
        assert not list(reader.feed(b"x" * 1_000))
        assert len(reader.rest()) <= 10
    assert [type(frame) for frame in reader.feed(b"\nnext\n")] == [TooLong, bytes]


def test_what_nobody_reads_is_dropped_when_the_reader_goes() -> None:
    reading, writing = os.pipe()
    writer = FrameWriter(writing)
    for _ in range(100):
        writer.write(b"x" * 10_000)
    os.close(reading)
    assert writer.close(30)
    assert writer.backlog == 0
    os.close(writing)


def test_a_descriptor_that_does_not_block_is_waited_for() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    writer = FrameWriter(writing)
    frame = b"x" * 1_000_000
    writer.write(frame)
    received = b""
    while len(received) <= len(frame):
        received += os.read(reading, 1 << 16)
    assert received == frame + b"\n"
    assert writer.close(30)
    os.close(reading)
    os.close(writing)


CALL = {"jsonrpc": "2.0", "id": 1, "method": "m"}


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"{", PARSE_ERROR),
        (b"nonsense", PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"m"}', PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', PARSE_ERROR),
        (b"[" * 100_000, PARSE_ERROR),
        (b"1" * 5_000, PARSE_ERROR),
        (b"[]", INVALID_REQUEST),
        (b"7", INVALID_REQUEST),
        (b'"text"', INVALID_REQUEST),
        (b"null", INVALID_REQUEST),
        (b"{}", INVALID_REQUEST),
        (b'{"jsonrpc":"1.0","id":1,"method":"m"}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":{},"method":"m"}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":true,"method":"m"}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"m"}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}', INVALID_PARAMS),
    ],
)
def test_what_is_no_call_is_refused(frame: bytes, code: int) -> None:
    message = parse_frame(frame)
    assert isinstance(message, Refused)
    assert message.error.code == code


def test_calls_notifications_and_batches() -> None:
    assert parse_frame(b" \r") is None
    assert parse_frame(json.dumps(CALL).encode() + b"\r") == Call("m", {}, 1)
    assert parse_frame(b'{"jsonrpc":"2.0","method":"m","params":{"a":1}}') == Call(
        "m", {"a": 1}, None, notification=True
    )
    assert parse_frame(b'{"jsonrpc":"2.0","id":null,"method":"m","params":null}') == Call("m", {})
    batch = parse_frame(json.dumps([CALL, 7]).encode())
    assert isinstance(batch, Batch)
    assert [type(message) for message in batch.messages] == [Call, Refused]


@pytest.mark.parametrize("call_id", ["a", "\ud800", 0, -1, 10**30, 1.5, None, "x" * 100])
def test_an_id_comes_back_as_it_was_sent(call_id: Any) -> None:
    message = parse_frame(json.dumps({**CALL, "id": call_id}).encode())
    assert isinstance(message, Call)
    error = RpcError(-1, "sentence", "WORD")
    for frame in (result_frame(message.id, b"{}"), error_frame(message.id, error)):
        answer = json.loads(frame)
        assert answer["id"] == call_id
        assert type(answer["id"]) is type(call_id)
    assert json.loads(error_frame(None, error))["error"] == {
        "code": -1,
        "message": "sentence",
        "data": {"code": "WORD"},
    }
    assert json.loads(batch_frame([b"1", b"2"])) == [1, 2]


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
REQUESTS = st.fixed_dictionaries(
    {}, optional={"jsonrpc": st.just("2.0"), "id": VALUES, "method": VALUES, "params": VALUES}
)


@settings(max_examples=200, deadline=None)
@given(st.binary() | (VALUES | REQUESTS).map(lambda v: json.dumps(v).encode()))
def test_no_bytes_raise(frame: bytes) -> None:
    parsed = parse_frame(frame)
    messages = parsed.messages if isinstance(parsed, Batch) else [parsed]
    for message in messages:
        if isinstance(message, Call):
            assert "\n" not in result_frame(message.id, b"null").decode()
        elif isinstance(message, Refused):
            json.loads(error_frame(message.id, message.error))
