"""`serve` with something changed inside: `python -m tests.serve.tampered CHANGE FD,FD OPTIONS`.

The two descriptors are for a conversation with the test: this process writes to the first where
it says that something happened, and reads from the second where it waits.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from pi_event_search.cli import main
from pi_event_search.index import EventIndex
from pi_event_search.serve import server
from pi_event_search.serve.engine import Engine
from pi_event_search.store.text_index import TextIndex


def _stop(say: int, hear: int) -> None:
    os.write(say, b"!")
    os.read(hear, 1)


def change(what: str, say: int, hear: int) -> None:
    """Changes one thing in this process."""
    opened, searched, committed = EventIndex.open, EventIndex.search, TextIndex.commit

    def open_later(*args: Any, **kwargs: Any) -> EventIndex:
        _stop(say, hear)
        return opened(*args, **kwargs)

    def search_later(self: EventIndex, *args: Any, **kwargs: Any) -> Any:
        _stop(say, hear)
        return searched(self, *args, **kwargs)

    def commit_later(self: TextIndex) -> None:
        _stop(say, hear)
        committed(self)

    def print_and_search(self: EventIndex, *args: Any, **kwargs: Any) -> Any:
        print("a library prints")
        os.write(1, b"and another one writes\n")
        return searched(self, *args, **kwargs)

    def never_catch_up(self: Engine) -> None:
        self.stopping.wait()

    def fail(self: EventIndex, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("/secret/place/of/a/session.jsonl")

    match what:
        case "slow-open":
            EventIndex.open = open_later  # type: ignore[method-assign]
        case "slow-search":
            EventIndex.search = search_later  # type: ignore[method-assign]
        case "slow-commit" | "patient":
            if what == "patient":  # however slow this machine is just now
                server.ANSWER_SECONDS = server.GRACE_SECONDS = 100.0
            TextIndex.commit = commit_later  # type: ignore[method-assign]
        case "printing":
            EventIndex.search = print_and_search  # type: ignore[method-assign]
        case "behind":
            Engine.catch_up = never_catch_up  # type: ignore[method-assign]
        case "failing":
            EventIndex.search = fail  # type: ignore[method-assign]
        case _:
            raise SystemExit(f"nothing known as {what}")


if __name__ == "__main__":
    say, hear = map(int, sys.argv[2].split(","))
    change(sys.argv[1], say, hear)
    sys.exit(main(["serve", *sys.argv[3:]]))
