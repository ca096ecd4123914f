"""What each method does, and how its failures are told."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pi_event_search.errors import (
    EventSearchError,
    IndexBusy,
    IndexProblem,
    InvalidArgument,
    NotFound,
)
from pi_event_search.serve.arguments import (
    invocation_of,
    read_arguments,
    search_arguments,
    session_file,
    session_id,
    spelled,
    trace_arguments,
)
from pi_event_search.serve.engine import Engine
from pi_event_search.serve.protocol import (
    FAILED,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RpcError,
    internal,
)
from pi_event_search.serve.schemas import tools
from pi_event_search.types.shape import dump

PROTOCOL_VERSION = 1

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Methods:
    """The methods of one server. Each gives its result as JSON, or raises."""

    engine: Engine
    roots: tuple[str, ...] | None
    """What a caller sees that names no workspace root; None: as the index decides."""

    def call(self, method: str, params: Params) -> bytes:
        """Carries out one method.

        :raises RpcError: there is no such method, or its parameters make no sense.
        :raises EventSearchError: the index refuses.
        """
        action = _METHODS.get(method)
        if action is None:
            raise RpcError(METHOD_NOT_FOUND, "There is no such method.")
        return action(self, params)

    def initialize(self, params: Params) -> bytes:
        """Version and tools. Needs no index, so it is answered before there is one."""
        version = params.get("protocolVersion")
        if isinstance(version, bool) or version != PROTOCOL_VERSION:
            raise RpcError(
                INVALID_PARAMS,
                f"This server speaks protocolVersion {PROTOCOL_VERSION} only.",
                InvalidArgument.code,
            )
        if params.get("invocation") is not None:
            file = invocation_of(params, self.roots).current_session_file
            self.engine.current = None if file is None else os.fspath(file)
        return dump(
            {
                "protocolVersion": PROTOCOL_VERSION,
                "serverVersion": _server_version(),
                "tools": tools(),
            }
        )

    def search(self, params: Params) -> bytes:
        """`event/search`."""
        invocation = invocation_of(params, self.roots)
        arguments = search_arguments(params, invocation)
        page = self.engine.ask("search", invocation, **arguments)
        return bytes(page.to_json(local=False))

    def read(self, params: Params) -> bytes:
        """`event/read`."""
        invocation = invocation_of(params, self.roots)
        event = self.engine.ask("read", invocation, **read_arguments(params))
        return bytes(event.to_json(local=False))

    def trace(self, params: Params) -> bytes:
        """`event/trace`."""
        invocation = invocation_of(params, self.roots)
        trace = self.engine.ask("trace", invocation, **trace_arguments(params))
        return bytes(trace.to_json(local=False))

    def lineage(self, params: Params) -> bytes:
        """`session/lineage`."""
        invocation = invocation_of(params, self.roots)
        lineage = self.engine.ask("lineage", invocation, session_id=session_id(params))
        return bytes(lineage.to_json(local=False))

    def status(self, params: Params) -> bytes:
        """`index/status`: the coverage of the caller's scope."""
        invocation = invocation_of(params, self.roots)
        coverage = self.engine.ask("coverage", invocation)
        return bytes(coverage.to_json(local=False))

    def sync(self, params: Params) -> bytes:
        """`session/sync`. Says whether there is such a file and nothing about what it holds."""
        return dump({"synced": self.engine.sync_session(session_file(params))})


_METHODS: dict[str, Callable[[Methods, Params], bytes]] = {
    "initialize": Methods.initialize,
    "event/search": Methods.search,
    "event/read": Methods.read,
    "event/trace": Methods.trace,
    "session/lineage": Methods.lineage,
    "session/sync": Methods.sync,
    "index/status": Methods.status,
}


def told(error: BaseException) -> RpcError:
    """A failure as the caller learns of it: without paths and without anything unforeseen."""
    match error:
        case RpcError():
            return error
        case IndexBusy():
            message = "Another process is updating the index; try again in a moment."
        case IndexProblem():
            message = "The index cannot be used; `pi-event-search status` says why."
        case InvalidArgument(argument="workspace_root"):
            message = "The caller's working directory or workspace root cannot be resolved."
        case InvalidArgument(argument=str(name)) if error.message.startswith(name):
            message = spelled(name) + error.message.removeprefix(name)
        case NotFound() | EventSearchError():
            message = error.message
        case _:
            return internal()
    return RpcError(FAILED, message, error.code)


def _server_version() -> str:
    package = Path(__file__).parent.parent
    for installed in package.parent.glob(f"{package.name}-*.dist-info"):
        return installed.name.removesuffix(".dist-info").partition("-")[2]

    from importlib.metadata import PackageNotFoundError, version  # slow to load

    try:
        return version("pi-event-search")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"
