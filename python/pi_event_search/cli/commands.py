"""What each command does: from its values to a result, through the index."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_event_search.cli.facade import Index
from pi_event_search.cli.parser import Parsed, Values
from pi_event_search.cli.times import parse_time
from pi_event_search.errors import IndexBusy, InvalidArgument
from pi_event_search.types.coverage import Change, Progress, SyncReport
from pi_event_search.types.requests import (
    Invocation,
    ReadRequest,
    SearchRequest,
    SessionsRequest,
    TraceRequest,
)
from pi_event_search.types.shape import Shape

if TYPE_CHECKING:
    from pi_event_search.types.sessions import Verification


class Surroundings(NamedTuple):
    """What a command knows besides its values."""

    now: datetime
    """With an offset."""
    zone: tzinfo | None
    """What local time is; None: this machine's."""
    notice: Callable[[str], None]
    """Tells the user something beside the answer."""
    progress: Callable[[Progress], None] | None
    tell: Callable[[Change], None]
    """Says at once what has changed."""


def run(parsed: Parsed, index: Index, around: Surroundings) -> Shape | None:
    """Do what `parsed` says; None: everything has been said already."""
    return _RUNS[parsed.command.name](parsed, index, around)


def invocation(values: Values) -> Invocation:
    """Who asks: the user of this machine, from the current directory."""
    roots: tuple[str, ...] | None = tuple(_absolute(root) for root in values.root) or None
    return Invocation(
        cwd=_current_directory(), workspace_root=("/",) if values.all_workspaces else roots
    )


def places(values: Values) -> dict[str, Any]:
    """Where index and sessions are, as `EventIndex.open` takes it."""
    return {
        "index_dir": _absolute(values.index_dir) if values.index_dir else None,
        "session_dirs": [_absolute(path) for path in values.sessions_dir] or None,
        "exclude": tuple(values.exclude),
    }


def check(parsed: Parsed, around: Surroundings) -> None:
    """Refuse what can be refused before any index is opened or brought up to date."""
    name, words, values = parsed.command.name, parsed.words, parsed.values
    match name:
        case "search":
            request = SearchRequest(**_search_arguments(parsed, around))
            if request.has_words:
                from pi_event_search.services.query import parse  # loads the core

                parse(request.query)
        case "read":
            session_id, entry_id = _event_id(words)
            ReadRequest(session_id=session_id, entry_id=entry_id, **_given(values, *_READ))
        case "trace":
            session_id, entry_id = _event_id(words)
            TraceRequest(session_id=session_id, entry_id=entry_id, **_given(values, "depth"))
        case "lineage" if len(words) != 1:
            raise InvalidArgument("lineage takes one session id.")
        case "sync" | "status" | "verify" | "rebuild" | "watch":
            refuse_words(parsed)
        case "sessions":
            refuse_words(parsed)
            SessionsRequest(**_sessions_arguments(parsed, around))


def refuse_words(parsed: Parsed) -> None:
    """For a command that is followed by nothing but options."""
    if parsed.words:
        name, word = parsed.command.name, parsed.words[0]
        raise InvalidArgument(f"{name} takes no word such as {word!r}, only options.")


_SEARCH = (
    "limit",
    "session_id",
    "kinds",
    "entry_types",
    "roles",
    "tool_names",
    "branch_states",
    "selection_states",
    "error_only",
    "file",
    "sort",
)
_READ = ("fragment_id", "offset", "window", "order", "before", "after")


def _sync(parsed: Parsed, index: Index, around: Surroundings) -> SyncReport:
    return index.sync(progress=around.progress)


def _search(parsed: Parsed, index: Index, around: Surroundings) -> Shape:
    values = parsed.values
    if not values.no_sync:
        try:
            index.refresh(progress=around.progress)
        except IndexBusy:
            around.notice("Another process is updating the index; this is what it holds so far.")
    return index.search(**_search_arguments(parsed, around), invocation=invocation(values))


def _search_arguments(parsed: Parsed, around: Surroundings) -> dict[str, Any]:
    arguments = _given(parsed.values, *_SEARCH) | _times(parsed.values, around)
    if parsed.values.cwd is not None:
        arguments["cwd"] = _absolute(parsed.values.cwd)
    return {"query": " ".join(parsed.words), **arguments}


def _read(parsed: Parsed, index: Index, around: Surroundings) -> Shape:
    session_id, entry_id = _event_id(parsed.words)
    given = _given(parsed.values, *_READ)
    return index.read(session_id, entry_id, invocation=invocation(parsed.values), **given)


def _trace(parsed: Parsed, index: Index, around: Surroundings) -> Shape:
    session_id, entry_id = _event_id(parsed.words)
    given = _given(parsed.values, "depth")
    return index.trace(session_id, entry_id, invocation=invocation(parsed.values), **given)


def _sessions(parsed: Parsed, index: Index, around: Surroundings) -> Shape:
    arguments = _sessions_arguments(parsed, around)
    return index.sessions(invocation=invocation(parsed.values), **arguments)


def _sessions_arguments(parsed: Parsed, around: Surroundings) -> dict[str, Any]:
    return _given(parsed.values, "limit", "name") | _times(parsed.values, around)


def _lineage(parsed: Parsed, index: Index, around: Surroundings) -> Shape:
    return index.lineage(parsed.words[0], invocation=invocation(parsed.values))


def _status(parsed: Parsed, index: Index, around: Surroundings) -> Shape:
    return index.status(invocation=invocation(parsed.values))


def _verify(parsed: Parsed, index: Index, around: Surroundings) -> Verification:
    return index.verify(progress=around.progress)


def _rebuild(parsed: Parsed, index: Index, around: Surroundings) -> SyncReport:
    return index.rebuild(progress=around.progress)


def _watch(parsed: Parsed, index: Index, around: Surroundings) -> None:
    import signal  # these two only for the one command that does not end by itself
    import threading

    stop = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: stop.set())
    try:
        index.watch(around.tell, stop=stop, busy=lambda error: around.notice(error.message))
    finally:
        signal.signal(signal.SIGTERM, before)


_RUNS: dict[str, Callable[[Parsed, Index, Surroundings], Shape | None]] = {
    "sync": _sync,
    "search": _search,
    "read": _read,
    "trace": _trace,
    "sessions": _sessions,
    "lineage": _lineage,
    "status": _status,
    "verify": _verify,
    "rebuild": _rebuild,
    "watch": _watch,
}


def _given(values: Values, *names: str) -> dict[str, Any]:
    """The options that were given; for the others the defaults of the services hold."""
    found: dict[str, Any] = {}
    for name in names:
        value = getattr(values, name)
        if isinstance(value, list):
            value = tuple(value)
        if value is not None and value is not False and value != ():
            found[name] = value
    return found


def _times(values: Values, around: Surroundings) -> dict[str, Any]:
    return {
        name: parse_time(
            text, end=name == "time_to", now=around.now, argument=name, zone=around.zone
        )
        for name in ("time_from", "time_to")
        if (text := getattr(values, name)) is not None
    }


def _event_id(words: tuple[str, ...]) -> tuple[str, str]:
    """Session and entry, from two words or from `SESSION/ENTRY`."""
    if len(words) == 1:
        session, slash, entry = words[0].partition("/")
        if slash:
            words = (session, entry)
    if len(words) != 2 or not all(words):
        raise InvalidArgument(
            "Name one event as SESSION ENTRY or SESSION/ENTRY; search shows both."
        )
    return words[0], words[1]


def _current_directory() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        raise InvalidArgument("The current directory is gone; change to another one.") from None


def _absolute(path: str) -> str:
    # Not Path.resolve: symlinks are followed where paths are compared, not where they are named.
    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111
