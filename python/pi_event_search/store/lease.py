"""One writer at a time: an OS file lock, freed by the kernel when its holder dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pi_event_search.errors import IndexBusy

FILE_NAME = "writer.lock"
WAIT_SECONDS = 10.0
"""How long a writer waits for another one before it says that the index is busy."""
_RETRY_SECONDS = 0.02


@contextmanager
def writer_lease(directory: Path, wait: float = WAIT_SECONDS) -> Iterator[None]:
    """Holds the writer lock of an index directory while the block runs.

    Every call opens the lock file anew, so threads of one process exclude each other too.

    :raises IndexBusy: another writer kept the lock for ``wait`` seconds.
    """
    descriptor = os.open(directory / FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _lock(descriptor, directory, wait)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, directory: Path, wait: float) -> None:
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise IndexBusy(
                    f"Another process is writing the index in {directory} and did not finish"
                    f" within {wait:g} seconds; try again, or search what is indexed already."
                ) from None
            time.sleep(_RETRY_SECONDS)
