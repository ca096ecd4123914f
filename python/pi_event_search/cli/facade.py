"""What the command line needs of an index, so that it can be tested against a made-up one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from pi_event_search.errors import IndexBusy
from pi_event_search.types.coverage import Change, Progress, SyncReport
from pi_event_search.types.requests import Invocation
from pi_event_search.types.search import SearchPage

if TYPE_CHECKING:
    from pi_event_search.types.event import Event
    from pi_event_search.types.sessions import Lineage, SessionPage, Status, Verification
    from pi_event_search.types.trace import Trace


class Index(Protocol):
    """The services of `EventIndex` behind the commands."""

    def sync(
        self, path: str | None = None, *, progress: Callable[[Progress], None] | None = None
    ) -> SyncReport: ...

    def refresh(self, *, progress: Callable[[Progress], None] | None = None) -> bool: ...

    def watch(
        self,
        changed: Callable[[Change], None],
        *,
        stop: threading.Event | None = None,
        busy: Callable[[IndexBusy], None] | None = None,
    ) -> None: ...

    def search(
        self,
        query: str = "",
        *,
        invocation: Invocation,
        limit: int = ...,
        session_id: str | None = None,
        cwd: str | None = None,
        kinds: Sequence[str] = (),
        entry_types: Sequence[str] = (),
        roles: Sequence[str] = (),
        tool_names: Sequence[str] = (),
        branch_states: Sequence[str] = (),
        selection_states: Sequence[str] = (),
        error_only: bool = False,
        time_from: datetime | None = None,
        time_to: datetime | None = None,
        file: str | None = None,
        sort: str = ...,
    ) -> SearchPage: ...

    def read(
        self,
        session_id: str,
        entry_id: str,
        *,
        invocation: Invocation,
        fragment_id: str | None = None,
        offset: int | None = None,
        window: int | None = None,
        order: str = ...,
        before: int = ...,
        after: int = ...,
    ) -> Event: ...

    def trace(
        self, session_id: str, entry_id: str, *, invocation: Invocation, depth: int = ...
    ) -> Trace: ...

    def sessions(
        self,
        *,
        invocation: Invocation,
        limit: int = ...,
        name: str | None = None,
        time_from: datetime | None = None,
        time_to: datetime | None = None,
    ) -> SessionPage: ...

    def lineage(self, session_id: str, *, invocation: Invocation) -> Lineage: ...

    def status(self, *, invocation: Invocation) -> Status: ...

    def verify(self, *, progress: Callable[[Progress], None] | None = None) -> Verification: ...

    def rebuild(self, *, progress: Callable[[Progress], None] | None = None) -> SyncReport: ...


class OpenIndex(Protocol):
    """`EventIndex.open`."""

    def __call__(
        self,
        *,
        index_dir: str | None,
        session_dirs: Sequence[str] | None,
        exclude: Sequence[str],
    ) -> AbstractContextManager[Index]: ...


def open_event_index(
    *, index_dir: str | None, session_dirs: Sequence[str] | None, exclude: Sequence[str]
) -> AbstractContextManager[Index]:
    """The real index; imported late, so that help and usage errors do not wait for it."""
    event_index = import_module("pi_event_search.index").EventIndex
    opened = event_index.open(index_dir=index_dir, session_dirs=session_dirs, exclude=exclude)
    return cast("AbstractContextManager[Index]", opened)
