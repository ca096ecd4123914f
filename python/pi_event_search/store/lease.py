"""One writer at a time: an OS file lock, freed by the kernel when its holder dies.

Two files of the index directory carry locks and nothing else is trusted, neither clocks nor
process numbers:

``writer.lock``
    exclusive: who has it writes. One byte in it says that a holder is at work; a new holder that
    still finds it so knows that the last one was killed.
``waiting.lock``
    shared by everybody who waits. The holder looks, between two batches, whether somebody is
    there, and if so leaves and queues again behind them (see ``Lease.wanted``).

A holder that was stopped keeps the lock, and nobody may take it away: others say that the index
is busy after a stated wait. A stopped waiter costs a holder a moment a batch, nothing else.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from pi_event_search.errors import IndexBusy, IndexProblem
from pi_event_search.faults import point

FILE_NAME = "writer.lock"
WAITING_NAME = "waiting.lock"
WAIT_SECONDS = 10.0
"""How long a writer waits for another one before it says that the index is busy."""
RETRY_SECONDS = 0.01
POLITE_TRIES = 20
"""How often somebody who has just had the lock looks whether a waiter has taken it."""

_AT_WORK, _AT_REST = b"\1", b"\0"


class Lease(NamedTuple):
    """The right to write, while the block of :func:`writer_lease` runs."""

    directory: Path
    unclean: bool
    """The last holder was killed: what it began may be half there."""

    def wanted(self) -> bool:
        """Whether somebody waits for the lock. Two system calls; ask between batches."""
        return is_waited_for(self.directory)


@contextmanager
def writer_lease(
    directory: Path,
    wait: float = WAIT_SECONDS,
    *,
    after_others: bool = False,
    at_work: bool = True,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[Lease]:
    """Holds the writer lock of an index directory while the block runs.

    Every call opens the lock file anew, so threads of one process exclude each other too.
    ``after_others``: for a holder that has just left because it was wanted; those who wait get
    the lock first. ``at_work``: false for a holder that changes nothing answers could lack; nobody
    learns of it, and what a killed holder left is left to the next one.

    :raises IndexBusy: another writer kept the lock for ``wait`` seconds.
    :raises IndexProblem: the directory cannot be written to.
    """
    with _writable(directory / FILE_NAME) as writer:
        if after_others:
            _let_others_in(directory, pause)
        if not _locked(writer, fcntl.LOCK_EX):
            _queue(writer, directory, wait, pause)
        unclean = os.pread(writer, 1, 0) == _AT_WORK
        if at_work:
            _mark(writer, _AT_WORK)
        try:
            point("lease.taken")
            yield Lease(directory, unclean)
        finally:
            if at_work:
                _mark(writer, _AT_REST)


def is_held(directory: Path) -> bool:
    """Whether somebody is writing just now.

    While nobody is, only a byte is read: a look must not be in the way of who comes to write.
    """
    with suppress(OSError), _readable(directory / FILE_NAME) as descriptor:
        return os.pread(descriptor, 1, 0) == _AT_WORK and not _locked(descriptor, fcntl.LOCK_SH)
    return False


def is_waited_for(directory: Path) -> bool:
    """Whether somebody waits for the right to write."""
    with suppress(OSError), _readable(directory / WAITING_NAME) as descriptor:
        return not _locked(descriptor, fcntl.LOCK_EX)
    return False


def _queue(writer: int, directory: Path, wait: float, pause: Callable[[float], None]) -> None:
    """Waits for the lock and says so meanwhile."""
    deadline = time.monotonic() + wait
    with _writable(directory / WAITING_NAME) as waiting:
        announced = False
        while not _locked(writer, fcntl.LOCK_EX):
            # A holder that looks for waiters may be in the way for an instant.
            announced = announced or _locked(waiting, fcntl.LOCK_SH)
            if time.monotonic() >= deadline:
                raise IndexBusy(
                    f"Another process is writing the index in {directory} and did not finish"
                    f" within {wait:g} seconds; try again, or search what is indexed already."
                )
            pause(RETRY_SECONDS)


def _let_others_in(directory: Path, pause: Callable[[float], None]) -> None:
    """Waits until a waiter has the lock or none is left; not for long: one may be stopped."""
    for _ in range(POLITE_TRIES):
        if not is_waited_for(directory) or is_held(directory):
            return
        pause(RETRY_SECONDS)


@contextmanager
def _writable(path: Path) -> Iterator[int]:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise IndexProblem(
            f"The index directory {path.parent} cannot be written to ({error.strerror});"
            " make it writable, or name another with --index-dir."
        ) from error
    try:
        yield descriptor
    finally:
        # Closing alone would leave the lock with a child that was forked meanwhile.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


@contextmanager
def _readable(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _mark(descriptor: int, byte: bytes) -> None:
    # A full disk may refuse the byte of a new file; then the next holder takes one look less.
    with suppress(OSError):
        os.pwrite(descriptor, byte, 0)


def _locked(descriptor: int, kind: int) -> bool:
    """Tries to lock, without waiting."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
