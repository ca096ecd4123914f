"""JSON-RPC 2.0: what stands in a frame, and the frames that answer it.

Ids come back exactly as they were sent, so they are kept as parsed by the standard library, which
knows integers of any size; results are bytes already and are put in as they are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pi_event_search.errors import EventSearchError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
FAILED = -32000

Id = str | int | float | None


class RpcError(Exception):
    """A failure as it is sent: a JSON-RPC code, one sentence, and a word for programs."""

    def __init__(self, code: int, message: str, word: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.word = word


@dataclass(frozen=True, slots=True)
class Call:
    """A request, or a notification where nobody waits for an answer."""

    method: str
    params: Mapping[str, Any]
    id: Id = None
    notification: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """Something in a frame that is no call; it is answered with its error."""

    error: RpcError
    id: Id = None


Message = Call | Refused


@dataclass(frozen=True, slots=True)
class Batch:
    """Several messages of one frame, which are answered in one frame."""

    messages: Sequence[Message]


def parse_frame(frame: bytes) -> Message | Batch | None:
    """What a frame says; None for an empty line."""
    if not frame.strip():
        return None
    try:
        value = json.loads(frame.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return Refused(RpcError(PARSE_ERROR, "The frame is not JSON."))
    if not isinstance(value, list):
        return _message(value)
    if not value:
        return Refused(RpcError(INVALID_REQUEST, "A batch must hold at least one request."))
    return Batch([_message(item) for item in value])


def result_frame(call_id: Id, result: bytes) -> bytes:
    """The answer of a request that was carried out; `result` is JSON."""
    return b'{"jsonrpc":"2.0","id":' + _id(call_id) + b',"result":' + result + b"}"


def error_frame(call_id: Id, error: RpcError) -> bytes:
    """The answer of a request that was not."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.word is not None:
        body["data"] = {"code": error.word}
    text = json.dumps(body, separators=(",", ":"))
    return b'{"jsonrpc":"2.0","id":' + _id(call_id) + b',"error":' + text.encode() + b"}"


def batch_frame(answers: Sequence[bytes]) -> bytes:
    """The answers of a batch in one frame."""
    return b"[" + b",".join(answers) + b"]"


def internal() -> RpcError:
    """What a caller learns of a failure that nobody foresaw."""
    message = "Something unforeseen happened; the log of the server has the details."
    return RpcError(FAILED, message, EventSearchError.code)


def _message(value: object) -> Message:
    if not isinstance(value, dict):
        return _refused("A request must be a JSON object.")
    call_id = value.get("id")
    if not _is_id(call_id):
        return _refused("The id of a request must be text, a number or null.")
    if value.get("jsonrpc") != "2.0":
        return _refused('A request must say "jsonrpc": "2.0".', call_id)
    method = value.get("method")
    if not isinstance(method, str):
        return _refused("A request must name its method.", call_id)
    params = value.get("params", {})
    if params is None:
        params = {}
    if not isinstance(params, dict):
        error = RpcError(INVALID_PARAMS, "Parameters must be a JSON object with names.")
        return Refused(error, call_id) if "id" in value else Call(method, {}, notification=True)
    return Call(method, params, call_id, notification="id" not in value)


def _refused(message: str, call_id: Id = None) -> Refused:
    return Refused(RpcError(INVALID_REQUEST, message), call_id)


def _is_id(value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | int)


def _id(call_id: Id) -> bytes:
    return json.dumps(call_id).encode()


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
