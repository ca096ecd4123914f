"""What child processes do in these tests."""

from __future__ import annotations

from pathlib import Path

from pi_event_search.store.lease import writer_lease

from tests.processes import say, wait_for_word


def hold(directory: str) -> None:
    """Holds the writer lock until it is told to let go."""
    with writer_lease(Path(directory)):
        say("held")
        wait_for_word()


def wait(directory: str) -> None:
    """Waits for the writer lock, says when it has it, and lets go."""
    say("waiting")
    with writer_lease(Path(directory), wait=60):
        say("held")
