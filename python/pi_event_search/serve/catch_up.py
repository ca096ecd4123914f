"""The thread that brings the index up to date while questions are answered."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pi_event_search.errors import IndexBusy
from pi_event_search.memory import give_back
from pi_event_search.serve.engine import Engine, Stopped
from pi_event_search.serve.log import Log
from pi_event_search.types.coverage import Change

BETWEEN_SECONDS = 10.0
"""At least so long lies between two looks at the session directories."""
IDLE_SECONDS = 60.0
"""Without any question, the next look comes after so long."""


class CatchUp:
    """Looks at the session directories: at once, when something is asked, and now and then. Where
    nothing is asked, what is indexed is audited, a piece at a time."""

    def __init__(self, engine: Engine, log: Log) -> None:
        self._engine = engine
        self._log = log
        self._asked = threading.Event()
        self._thread = threading.Thread(target=self._run, name="catch-up", daemon=True)
        self._started = False

    def wake(self) -> None:
        """Has the directories looked at soon; the first call starts the thread."""
        self._asked.set()
        if not self._started:
            self._started = True
            self._thread.start()

    def stop(self, grace: float) -> bool:
        """Waits up to `grace` seconds for the thread to end; returns whether it did."""
        self._asked.set()
        if self._started:
            self._thread.join(max(grace, 0))
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._engine.stopping.is_set():
            self._asked.clear()
            self._look()
            if self._engine.stopping.wait(BETWEEN_SECONDS):
                return
            if not self._asked.wait(IDLE_SECONDS):
                self._audit()

    def _look(self) -> None:
        began = time.monotonic()
        try:
            with self._logged("catching up"):
                self._engine.catch_up()
                self._log.write(f"caught up in {(time.monotonic() - began) * 1000:.0f} ms")
        except BaseException:
            self._engine.caught_up = True  # as far as it goes; the index says how far that is
        give_back()

    def _audit(self) -> None:
        def changed(change: Change) -> None:
            self._log.write(f"a session file was edited in place: {change.path} {change.change}")

        with suppress(BaseException), self._logged("an audit"):
            self._engine.audit(changed)

    @contextmanager
    def _logged(self, what: str) -> Iterator[None]:
        """Notes why something ended early; failures come out, the engine's panics too, which are
        no exceptions."""
        try:
            yield
        except Stopped:
            self._log.write(f"{what}: stopped")
        except IndexBusy:
            self._log.write(f"{what}: another process is writing")
        except BaseException as error:
            self._log.failure(what, error)
            raise
