"""The progress bar of a sync, on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from pi_event_search.types import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

PATIENCE = 0.3
"""Seconds of work before a bar is worth showing."""
INTERVAL = 0.1
"""Seconds between two repaints."""


class ProgressBar:
    """Shows a bar with rate and remaining time for syncs that take long, and nothing for others.

    Use as a context manager; call it with each `Progress`.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._begin = clock()
        self._painted = self._begin
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the bar from the terminal."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __call__(self, progress: Progress) -> None:
        if progress.sessions_done >= progress.sessions_total:
            self.close()
            return
        now = self._clock()
        if self._bar is None:
            if now - self._begin < PATIENCE:
                return
            self._bar = self._start(progress)
        elif now - self._painted < INTERVAL:
            return
        self._painted = now
        assert self._task is not None
        self._bar.update(
            self._task,
            completed=progress.bytes_done,
            total=progress.bytes_total,
            sessions=f"{progress.sessions_done:,}/{progress.sessions_total:,} sessions",
        )
        self._bar.refresh()

    def _start(self, progress: Progress) -> RichProgress:
        # Imported here: most syncs are over before rich is loaded.
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )
        from rich.progress import Progress as RichProgress

        bar = RichProgress(
            TextColumn("Indexing {task.fields[sessions]}"),
            BarColumn(bar_width=None),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(file=self._stream, force_terminal=True),
            auto_refresh=False,  # repainted by the calls; no thread beside the work
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            get_time=self._clock,
            expand=True,
        )
        self._task = bar.add_task("", total=progress.bytes_total, sessions="")
        bar.start()
        return bar
