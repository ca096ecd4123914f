"""The command: from its options to a running server."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pi_event_search.memory import share_heap
from pi_event_search.serve.engine import Engine
from pi_event_search.serve.log import Log
from pi_event_search.serve.methods import Methods
from pi_event_search.serve.server import Server, signals_as_bytes, take_standard_output

if TYPE_CHECKING:
    from pi_event_search.index import EventIndex

_SWITCH_SECONDS = 0.001
"""How long a thread keeps the interpreter: a question must not wait for the catching up."""


def serve(
    index_dir: str | None,
    session_dirs: Sequence[str] | None,
    exclude: Sequence[str],
    roots: tuple[str, ...] | None,
) -> int:
    """Serves standard input and output until the input ends; returns the exit code."""
    frames = take_standard_output()
    sys.setswitchinterval(_SWITCH_SECONDS)
    share_heap()

    def open_index() -> EventIndex:
        from pi_event_search.index import EventIndex  # the engines; slow to load

        return EventIndex.open(index_dir, session_dirs, exclude, bridged=True)

    log = Log(_index_dir(index_dir))
    engine = Engine(open_index, log)
    server = Server(Methods(engine, roots), log, 0, frames)
    with signals_as_bytes() as signals:
        ended = server.run(signals)
    if not ended:
        os._exit(0)  # a thread still works or waits; the index stands whatever it leaves half done
    engine.close()
    log.close()
    return 0


def _index_dir(given: str | None) -> Path:
    from pi_event_search import config

    return config.load(index_dir=given, session_dirs=()).index_dir
