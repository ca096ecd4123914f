"""From parameters of a frame to what the index takes: names, shapes, and who asks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from pi_event_search.errors import InvalidArgument
from pi_event_search.serve.protocol import INVALID_PARAMS, RpcError
from pi_event_search.types.requests import Invocation
from pi_event_search.types.shape import camel_case, whole_characters

_SEARCH = (
    "query", "limit", "session_id", "cwd", "kinds", "entry_types", "roles", "tool_names",
    "branch_states", "selection_states", "error_only", "file", "sort",
)  # fmt: skip
_READ = (
    "session_id", "entry_id", "fragment_id", "offset", "window", "order", "before", "after",
)  # fmt: skip
_TRACE = ("session_id", "entry_id", "depth")
_INVOCATION = (
    "cwd", "workspace_root", "current_session_id", "current_session_file", "tool_call_id",
    "invocation_entry_id",
)  # fmt: skip
_SPELLED = {"time_from": "time.from", "time_to": "time.to"}


def spelled(name: str) -> str:
    """How an argument of the index is called in a frame."""
    return _SPELLED.get(name, camel_case(name))


def search_arguments(params: Mapping[str, Any], invocation: Invocation) -> dict[str, Any]:
    """Keyword arguments of a search; a relative `cwd` counts from the caller's."""
    given = dict(_object(params, "arguments"))
    time = given.pop("time", None)
    arguments = _named(given, _SEARCH, also=("time",))
    if time is not None:
        if not isinstance(time, dict):
            raise InvalidArgument("time must be an object with from and to.", argument="time")
        bounds = _named(time, ("from", "to"), prefix="time.")
        arguments |= {f"time_{name}": value for name, value in bounds.items()}
    if isinstance(arguments.get("cwd"), str):
        directory = whole_characters(arguments["cwd"])
        arguments["cwd"] = os.path.join(invocation.cwd, os.path.expanduser(directory))  # noqa: PTH111
    return arguments


def read_arguments(params: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments of a read."""
    return _event(_named(_object(params, "arguments"), _READ))


def trace_arguments(params: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments of a trace."""
    return _event(_named(_object(params, "arguments"), _TRACE))


def session_id(params: Mapping[str, Any]) -> str:
    """The session a lineage is asked for, beside the invocation or among arguments."""
    given = params if "sessionId" in params else _object(params, "arguments")
    value = given.get("sessionId")
    if not isinstance(value, str) or not value:
        raise InvalidArgument("sessionId must be some text.", argument="session_id")
    return whole_characters(value)


def invocation_of(params: Mapping[str, Any], roots: tuple[str, ...] | None) -> Invocation:
    """Who asks. `roots`: what a caller sees that names no workspace itself.

    :raises RpcError: there is no invocation, or it is not one.
    """
    given = _object(params, "invocation")
    known = {camel_case(name): name for name in _INVOCATION}
    facts: dict[str, Any] = {}
    for key, value in given.items():
        if key not in known:
            raise _wrong(f"The invocation has no {_shown(key)}.")
        if value is None:
            continue
        if key == "workspaceRoot" and isinstance(value, list):
            facts[known[key]] = tuple(_path(key, item) for item in value)
        elif key in ("cwd", "workspaceRoot", "currentSessionFile"):
            facts[known[key]] = _path(key, value)
        else:
            facts[known[key]] = _text(key, value)
    if "cwd" not in facts:
        raise _wrong("The invocation must name the caller's cwd.")
    facts.setdefault("workspace_root", roots)
    return Invocation(**facts)


def session_file(params: Mapping[str, Any]) -> str:
    """The file a sync is asked for."""
    if params.get("sessionFile") is None:
        raise _wrong("sessionFile must name a session file.")
    return _path("sessionFile", params["sessionFile"])


def _object(params: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = params.get(name)
    if not isinstance(value, dict):
        raise _wrong(f"The parameters must hold {name} as an object.")
    return value


def _named(
    given: Mapping[str, Any],
    names: tuple[str, ...],
    *,
    prefix: str = "",
    also: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The given arguments under their names in Python; null counts as not given."""
    known = {camel_case(name): name for name in names}
    arguments: dict[str, Any] = {}
    for key, value in given.items():
        if key not in known:
            allowed = ", ".join(prefix + name for name in (*known, *also))
            raise InvalidArgument(f"There is no argument {_shown(key)}; there are {allowed}.")
        if value is not None:
            arguments[known[key]] = tuple(value) if isinstance(value, list) else value
    return arguments


def _event(arguments: dict[str, Any]) -> dict[str, Any]:
    for name in ("session_id", "entry_id"):
        if name not in arguments:
            raise InvalidArgument(f"{name} must be some text.", argument=name)
    return arguments


def _path(name: str, value: object) -> str:
    path = _text(name, value)
    if not path.startswith("/") or "\0" in path:
        raise _wrong(f"{name} must be an absolute path.")
    return path


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise _wrong(f"{name} must be some text.")
    return whole_characters(value)


def _shown(key: str) -> str:
    return repr(key if len(key) <= 40 else f"{key[:39]}…")


def _wrong(message: str) -> RpcError:
    return RpcError(INVALID_PARAMS, message, InvalidArgument.code)
