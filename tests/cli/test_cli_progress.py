"""The progress bar."""

from __future__ import annotations

import io

import pytest
from pi_event_search.cli.progress import INTERVAL, PATIENCE, ProgressBar, remaining
from pi_event_search.types.coverage import Progress


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


def test_rate_and_remaining_time_are_those_of_the_whole_sync(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for columns in (100, 70, 40):
        monkeypatch.setenv("COLUMNS", str(columns))
        stream, clock = io.StringIO(), Clock()
        with ProgressBar(stream, clock) as bar:
            clock.time += 10
            bar(Progress(1, 10, 1_000_000, 4_000_000))
            shown = stream.getvalue()
            assert "1/10 sessions" in shown
            assert ("1.0 MB of 4.0 MB" in shown) == (columns == 100)
            assert ("100.0 kB/s" in shown) == (columns > 40)
            assert "30 s left" in shown
            clock.time += 30
            bar(Progress(2, 10, 2_000_000, 4_000_000))
            assert ("50.0 kB/s" in stream.getvalue()) == (columns > 40)
            assert "40 s left" in stream.getvalue()


def test_nothing_is_foretold_before_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream, clock = io.StringIO(), Clock()
    with ProgressBar(stream, clock) as bar:
        clock.time += 10
        bar(Progress(0, 10, 0, 4_000_000))
        assert "0/10 sessions" in stream.getvalue()
        assert "left" not in stream.getvalue()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s left"), (59, "59 s left"), (61, "2 min left"), (3_599, "60 min left"),
     (3_601, "2 h left"), (0, "0 s left")],
)  # fmt: skip
def test_remaining_time_in_words(seconds: float, words: str) -> None:
    assert remaining(seconds) == words


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
