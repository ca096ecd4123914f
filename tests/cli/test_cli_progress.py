"""The progress bar."""

from __future__ import annotations

import io

import pytest
from pi_event_search.cli.progress import INTERVAL, PATIENCE, ProgressBar
from pi_event_search.types import Progress


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def test_a_short_sync_shows_nothing() -> None:
    stream, clock = io.StringIO(), Clock()
    with ProgressBar(stream, clock) as bar:
        bar(Progress(0, 10, 0, 1_000))
        clock.time += PATIENCE / 2
        bar(Progress(10, 10, 1_000, 1_000))
    assert stream.getvalue() == ""


def test_a_long_one_shows_how_far_it_is_and_clears_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream, clock = io.StringIO(), Clock()
    with ProgressBar(stream, clock) as bar:
        clock.time += 2 * PATIENCE
        bar(Progress(1, 10, 1_000_000, 4_000_000))
        first = stream.getvalue()
        assert "1/10 sessions" in first
        clock.time += INTERVAL / 2
        bar(Progress(2, 10, 2_000_000, 4_000_000))
        assert stream.getvalue() == first
        clock.time += INTERVAL
        bar(Progress(3, 10, 3_000_000, 4_000_000))
        assert "3/10 sessions" in stream.getvalue()
        bar(Progress(10, 10, 4_000_000, 4_000_000))
        assert stream.getvalue().endswith("\x1b[1A\x1b[2K")
