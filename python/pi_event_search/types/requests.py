"""What a caller asks, checked once, at the border.

Each request is valid by construction: `__post_init__` refuses what the services would have to guess
about, with one sentence that names the argument, the value and what is allowed. Lone surrogates in
texts (undecodable bytes of a command line) become U+FFFD, so that no store stumbles over them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from pi_event_search.errors import InvalidArgument, InvalidQuery
from pi_event_search.types import vocabulary
from pi_event_search.types.instants import iso_instant, to_utc, unix_ms
from pi_event_search.types.shape import whole_characters

PathText = str | os.PathLike[str]
Moment = str | datetime
"""ISO 8601 text (local time unless it has an offset) or a datetime (likewise)."""

DEFAULT_HITS, MAX_HITS = 20, 200
DEFAULT_SESSIONS, MAX_SESSIONS = 50, 10_000
DEFAULT_WINDOW, MAX_WINDOW = 2_000, 4_000
DEFAULT_NEIGHBORS, MAX_NEIGHBORS = 1, 5
MAX_DEPTH = 5


@dataclass(frozen=True, slots=True)
class Invocation:
    """Who asks, and from where: the caller's own facts, which no request can widen."""

    cwd: PathText
    workspace_root: PathText | Sequence[PathText] | None = None
    """One or several authorization roots; None: as configured, else the git worktree of `cwd`."""
    current_session_id: str | None = None
    current_session_file: PathText | None = None
    tool_call_id: str | None = None
    """The tool call that asks; a search of its own session ends before it."""
    invocation_entry_id: str | None = None
    """The entry that holds that tool call, where the caller knows it."""


class _Request:
    """What all requests do before they are checked."""

    __slots__: tuple[str, ...] = ()

    def _repair(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, str):
                object.__setattr__(self, name, whole_characters(value))
            elif isinstance(value, tuple):
                whole = (whole_characters(v) if isinstance(v, str) else v for v in value)
                object.__setattr__(self, name, tuple(whole))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest(_Request):
    """One search."""

    query: str = ""
    """Words and quoted phrases that must all occur; empty: by filters alone, the newest first."""
    limit: int = DEFAULT_HITS
    session_id: str | None = None
    """A session id, a unique prefix of one, or `current`."""
    cwd: str | None = None
    kinds: tuple[str, ...] = ()
    entry_types: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    tool_names: tuple[str, ...] = ()
    branch_states: tuple[str, ...] = ()
    selection_states: tuple[str, ...] = ()
    error_only: bool = False
    time_from: Moment | None = None
    """Inclusive."""
    time_to: Moment | None = None
    """Inclusive; a date without a time includes that day."""
    file: str | None = None
    sort: str = "relevance"

    def __post_init__(self) -> None:
        self._repair()
        _text("query", self.query, empty=True)
        _whole("limit", self.limit, 1, MAX_HITS)
        for name in ("session_id", "cwd", "file"):
            _optional_text(name, getattr(self, name))
        for name in ("entry_types", "roles", "tool_names"):
            _words(name, getattr(self, name))
        _words("kinds", self.kinds, vocabulary.SEMANTIC_KINDS)
        _words("branch_states", self.branch_states, vocabulary.BRANCH_STATES)
        _words("selection_states", self.selection_states, vocabulary.SELECTION_STATES)
        _flag("error_only", self.error_only)
        _one_of("sort", self.sort, vocabulary.SORTS)
        _time_range(self.from_ms, self.to_ms)
        if not self.has_words and not self.has_filters:
            raise InvalidQuery("Give words to search for, or at least one filter.")

    @property
    def has_words(self) -> bool:
        """Whether there is query text (the query parser says whether it can be searched for)."""
        return bool(self.query.strip())

    @property
    def has_filters(self) -> bool:
        """Whether anything but the query narrows the answer."""
        return any(getattr(self, name) not in _NO_FILTER for name in _FILTERS)

    @property
    def from_ms(self) -> int | None:
        """Start of the time range in ms since 1970 UTC, inclusive."""
        return _moment_ms("time_from", self.time_from, end=False)

    @property
    def to_ms(self) -> int | None:
        """End of the time range in ms since 1970 UTC, inclusive."""
        return _moment_ms("time_to", self.time_to, end=True)


_FILTERS = (
    "session_id",
    "cwd",
    "kinds",
    "entry_types",
    "roles",
    "tool_names",
    "branch_states",
    "selection_states",
    "error_only",
    "time_from",
    "time_to",
    "file",
)
_NO_FILTER: tuple[object, ...] = (None, (), False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest(_Request):
    """One event to read back."""

    session_id: str
    """A session id, a unique prefix of one, or `current`."""
    entry_id: str
    fragment_id: str | None = None
    """`<semantic kind>:<n>`: only this fragment."""
    offset: int | None = None
    """First code point of a contiguous window, in the full text of the fragment."""
    window: int | None = None
    """Code points of that window; None with an offset: 2,000."""
    order: str = "branch"
    before: int = DEFAULT_NEIGHBORS
    after: int = DEFAULT_NEIGHBORS

    def __post_init__(self) -> None:
        self._repair()
        _text("session_id", self.session_id)
        _text("entry_id", self.entry_id)
        _optional_text("fragment_id", self.fragment_id)
        if self.offset is not None:
            _whole("offset", self.offset, 0, None)
        if self.window is not None:
            _whole("window", self.window, 1, MAX_WINDOW)
        _one_of("order", self.order, vocabulary.ORDERS)
        _whole("before", self.before, 0, MAX_NEIGHBORS)
        _whole("after", self.after, 0, MAX_NEIGHBORS)

    @property
    def window_range(self) -> tuple[int, int] | None:
        """Start and length of the window asked for, in code points; None: head and tail."""
        if self.offset is None and self.window is None:
            return None
        return self.offset or 0, self.window or DEFAULT_WINDOW


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRequest(_Request):
    """One event whose relationships are asked for."""

    session_id: str
    entry_id: str
    depth: int = 1
    """How many steps to follow related edges."""

    def __post_init__(self) -> None:
        self._repair()
        _text("session_id", self.session_id)
        _text("entry_id", self.entry_id)
        _whole("depth", self.depth, 1, MAX_DEPTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsRequest(_Request):
    """Which sessions to list."""

    limit: int = DEFAULT_SESSIONS
    name: str | None = None
    """Part of the session's name, in any case."""
    time_from: Moment | None = None
    """Last activity at or after it."""
    time_to: Moment | None = None
    """Last activity at or before it; a date without a time includes that day."""

    def __post_init__(self) -> None:
        self._repair()
        _whole("limit", self.limit, 1, MAX_SESSIONS)
        _optional_text("name", self.name)
        _time_range(self.from_ms, self.to_ms)

    @property
    def from_ms(self) -> int | None:
        """Start of the time range in ms since 1970 UTC, inclusive."""
        return _moment_ms("time_from", self.time_from, end=False)

    @property
    def to_ms(self) -> int | None:
        """End of the time range in ms since 1970 UTC, inclusive."""
        return _moment_ms("time_to", self.time_to, end=True)


def words(name: str, values: Iterable[str]) -> tuple[str, ...]:
    """A list argument as the tuple a request holds; a bare string is a mistake, not a list."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise _refused(name, values, "a list of words")
    return tuple(values)


def _refused(name: str, value: object, allowed: str) -> InvalidArgument:
    shown = repr(value)
    if len(shown) > 100:
        shown = f"{shown[:99]}…"
    return InvalidArgument(f"{name} must be {allowed}, not {shown}.", argument=name)


def _whole(name: str, value: object, least: int, most: int | None) -> None:
    allowed = f"{least:,} or more" if most is None else f"from {least:,} to {most:,}"
    if not isinstance(value, int) or isinstance(value, bool):
        raise _refused(name, value, f"a whole number {allowed}")
    if value < least or (most is not None and value > most):
        raise _refused(name, value, allowed)


def _text(name: str, value: object, *, empty: bool = False) -> None:
    if not isinstance(value, str):
        raise _refused(name, value, "text")
    if not value and not empty:
        raise _refused(name, value, "some text")


def _optional_text(name: str, value: object) -> None:
    if value is not None:
        _text(name, value)


def _flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise _refused(name, value, "true or false")


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise _refused(name, value, f"one of {', '.join(allowed)}")


def _words(name: str, values: object, allowed: tuple[str, ...] = ()) -> None:
    if not isinstance(values, tuple):
        raise _refused(name, values, "a tuple of words")
    for value in values:
        if allowed:
            _one_of(name, value, allowed)
        else:
            _text(name, value)


def _moment_ms(name: str, value: object, *, end: bool) -> int | None:
    if value is None:
        return None
    moment: datetime | None = None
    if isinstance(value, datetime):
        moment = to_utc(value)
    elif isinstance(value, str):
        moment = iso_instant(value, end=end)
    if moment is None:
        raise _refused(name, value, "an ISO 8601 date or time such as 2026-01-31T09:30:00Z")
    return unix_ms(moment)


def _time_range(from_ms: int | None, to_ms: int | None) -> None:
    if from_ms is not None and to_ms is not None and from_ms > to_ms:
        raise InvalidArgument("time_from must not be later than time_to.", argument="time_from")
