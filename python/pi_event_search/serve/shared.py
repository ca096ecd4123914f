"""One action that many want done: who comes while it runs needs the next run, and shares it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class SharedRuns(Generic[_T]):
    """Runs of one action, one at a time. Everybody gets the outcome of a run that began after
    they had asked, an exception included."""

    def __init__(self, action: Callable[[], _T]) -> None:
        self._action = action
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._begun = self._ended = 0
        self._outcome: Callable[[], _T] = action
        self.waiting = 0
        """Threads that wait for their turn."""

    def run(self) -> _T:
        """The outcome of a run that begins now or later."""
        with self._lock:
            needed = self._begun + 1
            self.waiting += 1
        with self._turn:
            with self._lock:
                self.waiting -= 1
            if self._ended < needed:
                self._begun += 1
                self._outcome = self._run()
                self._ended = self._begun
            outcome = self._outcome
        return outcome()

    def _run(self) -> Callable[[], _T]:
        try:
            result = self._action()
        except Exception as error:
            failure = error  # the name of the clause ends with it

            def fail() -> _T:
                raise failure

            return fail
        return lambda: result
