"""The thread that brings the index up to date while questions are answered."""

from __future__ import annotations

import threading
import time

from pi_event_search.errors import IndexBusy
from pi_event_search.serve.engine import Engine, Stopped
from pi_event_search.serve.log import Log
from pi_event_search.serve.memory import give_back

BETWEEN_SECONDS = 10.0
"""At least so long lies between two looks at the session directories."""
IDLE_SECONDS = 60.0
"""Without any question, the next look comes after so long."""


class CatchUp:
    """Looks at the session directories: at once, when something is asked, and now and then."""

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
            if not self._engine.stopping.wait(BETWEEN_SECONDS):
                self._asked.wait(IDLE_SECONDS)

    def _look(self) -> None:
        began = time.monotonic()
        try:
            self._engine.catch_up()
        except Stopped:
            self._log.write("catching up: stopped")
        except IndexBusy:
            self._log.write("catching up: another process is writing")
        except BaseException as error:  # the engine's panics are no Exception
            self._log.failure("catching up", error)
            self._engine.caught_up = True  # as far as it goes; the index says how far that is
        else:
            self._log.write(f"caught up in {(time.monotonic() - began) * 1000:.0f} ms")
        give_back()
