"""The progress bar of a sync, on standard error."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

from pi_event_search.types.coverage import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

PATIENCE = 0.3
"""Seconds of work before a bar is worth showing."""
INTERVAL = 0.1
"""Seconds between two repaints."""
NARROW, ROOMY = 60, 80
"""Columns from which on there is room for the bar, and for the amounts in bytes."""


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
            **self._words(progress, now - self._begin),
        )
        self._bar.refresh()

    def _words(self, progress: Progress, seconds: float) -> dict[str, Any]:
        """What stands beside the bar: how far, how fast, how much longer."""
        from pi_event_search.cli.render.words import size  # loads the terminal library too

        done, total = progress.bytes_done, progress.bytes_total
        rate = done / seconds if seconds > 0 else 0.0
        return {
            "sessions": f"{progress.sessions_done:,}/{progress.sessions_total:,} sessions",
            "amount": f"{size(done)} of {size(total)}",
            "rate": f"{size(int(rate))}/s" if rate >= 1 else "",
            "left": remaining((total - done) / rate) if rate >= 1 else "",
        }

    def _start(self, progress: Progress) -> RichProgress:
        # Imported here: most syncs are over before rich is loaded.
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        console = Console(file=self._stream, force_terminal=True)
        shown = [TextColumn("Indexing {task.fields[sessions]}")]
        bar_column = BarColumn(bar_width=None)
        details = ["left"]
        if console.width >= NARROW:
            details = ["rate", "left"] if console.width < ROOMY else ["amount", "rate", "left"]
        words = [TextColumn(f"{{task.fields[{name}]}}") for name in details]
        columns = [*shown, *([bar_column] if console.width >= NARROW else []), *words]
        bar = RichProgress(
            *columns,
            console=console,
            auto_refresh=False,  # repainted by the calls; no thread beside the work
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            get_time=self._clock,
            expand=console.width >= NARROW,
        )
        now = self._clock() - self._begin
        self._task = bar.add_task("", total=progress.bytes_total, **self._words(progress, now))
        bar.start()
        return bar


def remaining(seconds: float) -> str:
    """`5 s left`, `3 min left`, `2 h left`: rounded up, since waiting longer than told is worse."""
    if seconds < 60:
        return f"{math.ceil(seconds)} s left"
    if seconds < 3_600:
        return f"{math.ceil(seconds / 60)} min left"
    return f"{math.ceil(seconds / 3_600)} h left"
