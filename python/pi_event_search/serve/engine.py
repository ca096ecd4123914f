"""The index behind the server: opened beside the first answers, kept current, asked."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pi_event_search.errors import EventSearchError, IndexBusy
from pi_event_search.serve.log import Log
from pi_event_search.serve.shared import SharedRuns
from pi_event_search.types.coverage import Change, Coverage, Progress
from pi_event_search.types.requests import Invocation

if TYPE_CHECKING:
    from pi_event_search.index import EventIndex

PATIENCE = 1.0
"""Seconds for which a question waits for its session to be synced; then it is answered without."""
LONG_PATIENCE = 10.0
"""Seconds for which somebody waits who wants nothing but the sync."""
_MANY_FILES = 100
"""Files that were asked about, after which those are forgotten."""


class Stopped(Exception):  # noqa: N818 - no failure
    """The server ends."""


class Engine:
    """Opens the index when it is first needed, and once more after that failed."""

    def __init__(self, open_index: Callable[[], EventIndex], log: Log) -> None:
        self._open_index = open_index
        self._log = log
        self._lock = threading.Lock()
        self._index: EventIndex | None = None
        self._syncs: dict[tuple[str, float], SharedRuns[bool]] = {}
        self.stopping = threading.Event()
        self.caught_up = False
        """Whether the session directories were looked through since the server began."""
        self.current: str | None = None
        """The session file that was last asked about: it is caught up with first."""

    @property
    def index(self) -> EventIndex:
        """The index; the first to ask opens it, the others wait for that.

        :raises EventSearchError: it cannot be opened.
        """
        with self._lock:
            if self._index is None:
                self._index = self._open_index()
            return self._index

    def ask(self, method: str, invocation: Invocation, **arguments: Any) -> Any:
        """Asks the index, after the caller's own session was brought up to date."""
        if invocation.current_session_file is not None:
            self._try_sync(os.fspath(invocation.current_session_file))
        caught_up = self.caught_up  # as of before the answer, which may be older than the end of it
        answer = getattr(self.index, method)(**arguments, invocation=invocation)
        return answer if caught_up else _not_yet_looked(answer)

    def sync_session(self, path: str) -> bool:
        """Brings one session file up to date; returns whether there is such a file.

        :raises IndexBusy: another process is writing.
        """
        return self._sync(path, LONG_PATIENCE)

    def _try_sync(self, path: str) -> None:
        """Where it cannot be done, the coverage says so, and what is not there is not shown."""
        try:
            self._sync(path, PATIENCE)
        except IndexBusy:
            self._log.write("a question did not wait for its session: another writer is at work")
        except EventSearchError as error:
            self._log.failure("syncing before a question", error)

    def _sync(self, path: str, patience: float) -> bool:
        self.current = path
        with self._lock:
            if len(self._syncs) >= _MANY_FILES:
                self._syncs.clear()
            sync = self._syncs.get((path, patience))
            if sync is None:
                refresh = partial(self._refresh, path, patience)
                sync = self._syncs[path, patience] = SharedRuns(refresh)
        return sync.run()

    def _refresh(self, path: str, patience: float) -> bool:
        return self.index.refresh(path, patience=patience)

    def catch_up(self) -> None:
        """Brings the index up to date with the session directories.

        :raises Stopped: the server ends.
        """

        if self.current is not None:
            self.sync_session(self.current)
        self.index.catch_up(self._check)
        self.caught_up = True

    def audit(self, changed: Callable[[Change], None]) -> None:
        """Compares a piece of what is indexed with the session files.

        :raises Stopped: the server ends.
        """
        self.index.audit(progress=self._check, changed=changed)

    def _check(self, _: Progress) -> None:
        if self.stopping.is_set():
            raise Stopped

    def close(self) -> None:
        """Closes the index, if it was ever opened."""
        with self._lock:
            index, self._index = self._index, None
        if index is not None:
            try:
                index.close()
            except EventSearchError as error:
                self._log.failure("closing", error)


def _not_yet_looked(answer: Any) -> Any:
    """The answer, as of an index that nobody has compared with the directories yet."""
    coverage = answer if isinstance(answer, Coverage) else getattr(answer, "coverage", None)
    if coverage is None or coverage.state == "error" or coverage.problems:
        return answer
    coverage = replace(coverage, state="catching-up")
    return coverage if isinstance(answer, Coverage) else replace(answer, coverage=coverage)
