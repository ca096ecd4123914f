"""Frames: lines of bytes with a bound, read from one descriptor and written whole to another."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterator
from queue import SimpleQueue

MAX_FRAME = 8 << 20
"""Bytes of a frame, without the LF that ends it."""


class TooLong:
    """Stands for a frame over the bound, whose bytes were dropped as they came."""


TOO_LONG = TooLong()


class FrameReader:
    """Cuts what comes in pieces into frames. Holds at most one frame and one piece."""

    def __init__(self, limit: int = MAX_FRAME) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._length = 0
        self._dropping = False

    def feed(self, piece: bytes) -> Iterator[bytes | TooLong]:
        """The frames that end in this piece. A refused one is reported where it ends."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._take(part)
            yield self._end()
        self._take(rest)

    def rest(self) -> bytes:
        """What stands behind the last LF; empty where it is over the bound."""
        return b"".join(self._parts)

    def _take(self, part: bytes) -> None:
        self._length += len(part)
        if self._length > self._limit:
            self._parts.clear()
            self._dropping = True
        elif part:
            self._parts.append(part)

    def _end(self) -> bytes | TooLong:
        frame = TOO_LONG if self._dropping else b"".join(self._parts)
        self._parts.clear()
        self._length, self._dropping = 0, False
        return frame


class FrameWriter:
    """Writes frames to a descriptor in their order, in a thread of its own.

    So whoever has an answer is never held up by a reader that does not read, and a process that
    is told to end can.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._frames: SimpleQueue[bytes | None] = SimpleQueue()
        self._lock = threading.Lock()
        self.backlog = 0
        """Bytes that wait to be written."""
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def write(self, frame: bytes) -> None:
        """Has one frame written."""
        with self._lock:
            self.backlog += len(frame)
        self._frames.put(frame)

    def close(self, grace: float) -> bool:
        """Waits up to `grace` seconds for what is still to be written; returns whether it was."""
        self._frames.put(None)
        self._thread.join(max(grace, 0))
        return not self._thread.is_alive()

    def _run(self) -> None:
        closed = False
        while (frame := self._frames.get()) is not None:
            try:
                if not closed:
                    self._write(frame + b"\n")
            except OSError:  # the other side has gone: what is still to be said is dropped
                closed = True
            with self._lock:
                self.backlog -= len(frame)

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(self._descriptor, left) :]
            except BlockingIOError:  # a descriptor that was handed over not to block
                select.select([], [self._descriptor], [])
