"""Keeping an index current while sessions are written.

Notifications of the file system only say that it is worth to look. What has changed is found by
comparing, and is looked for from time to time even if nothing is heard: notifications are missed,
merged, or do not exist at all, as on some network disks.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from pi_event_search.errors import IndexBusy
from pi_event_search.types.coverage import Change, Progress

PERIOD_SECONDS = 15.0
"""How long nothing is heard before a look is taken all the same."""
GATHER_MS = 500
"""How long changes that follow one another closely are gathered before a look."""
QUIET_MS = 50
"""Silence after which a look is taken."""


class Work(Protocol):
    """``EventIndex.sync`` and ``EventIndex.audit``, as far as they are used here."""

    def __call__(
        self, *, progress: Callable[[Progress], None], changed: Callable[[Change], None]
    ) -> object: ...


class _Ended(BaseException):
    """Leaves a running sync; the stores do not take it for a failure of their own."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


def keep_current(
    sync: Work,
    audit: Work,
    wakeups: Iterable[object],
    *,
    changed: Callable[[Change], None],
    busy: Callable[[IndexBusy], None] | None,
    stop: threading.Event,
) -> None:
    """Syncs at every wake-up, until there are no more or ``stop`` is set. Where nothing has
    happened, a piece of what is indexed is audited instead.

    ``stop`` also ends a sync that is running, between two files. While another process has the
    index, ``busy`` is told, and the next wake-up tries again. What ``changed`` raises ends the
    loop and comes out here.
    """

    def progress(_: Progress) -> None:
        if stop.is_set():
            raise _Ended

    told = 0

    def tell(change: Change) -> None:
        nonlocal told
        told += 1
        try:
            changed(change)
        except Exception as error:
            raise _Ended(error) from error

    try:
        for _ in wakeups:
            if not stop.is_set():
                before = told
                try:
                    sync(progress=progress, changed=tell)
                    if told == before:
                        audit(progress=progress, changed=tell)
                except IndexBusy as error:
                    if busy is not None:
                        busy(error)
            if stop.is_set():
                return
    except _Ended as ended:
        if ended.error is not None:
            raise ended.error from None


class Notifications:
    """Wake-ups by the file system: one at once, one after every change, one a period in silence."""

    def __init__(
        self,
        directories: Sequence[Path],
        index_dir: Path,
        stop: threading.Event,
        period: float = PERIOD_SECONDS,
    ) -> None:
        self._directories = directories
        self._index_dir = os.path.join(os.path.realpath(index_dir), "")
        self._stop = stop
        self._period = period

    def __iter__(self) -> Iterator[None]:
        yield
        while not self._stop.is_set():
            standing = self._standing()
            if not standing:
                self._stop.wait(self._period)
                yield
                continue
            for _ in self._heard([path for path, _ in standing]):
                yield
                if self._standing() != standing:
                    break  # a directory has come, gone, or is another one now

    def _heard(self, directories: Sequence[Path]) -> Iterator[object]:
        from watchfiles import watch  # loaded by nothing else

        try:
            yield from watch(
                *directories,
                watch_filter=lambda _, path: self._matters(path),
                debounce=GATHER_MS,
                step=QUIET_MS,
                stop_event=self._stop,
                rust_timeout=int(self._period * 1000),
                yield_on_timeout=True,
                ignore_permission_denied=True,
            )
        except OSError:
            # Too many watches, or a directory that has gone under our eyes: silence will do.
            self._stop.wait(self._period)
            yield None

    def _matters(self, path: str) -> bool:
        # Somebody may keep the index among the sessions; our own writing is no news.
        return not os.path.join(path, "").startswith(self._index_dir)

    def _standing(self) -> list[tuple[Path, tuple[int, int]]]:
        """The directories that exist, and which ones they are."""
        found = []
        for directory in self._directories:
            try:
                status = directory.stat()
            except OSError:
                continue
            found.append((directory, (status.st_dev, status.st_ino)))
        return found
