"""Reading ahead: the core parses the next file while the stores take in the one before.

Only files that are read from their beginning: what else there is to read depends on what is stored,
and that may change until it is their turn.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from pi_event_search import _core

READ_BYTES = 8_000_000
"""Bytes of records parsed at once; bounds the memory of one reading."""


@dataclass(slots=True)
class Opened:
    """A session file that is being read, perhaps with its first records read already."""

    reader: _core.SessionReader
    ahead: _core.Batch | None = None

    def next_batch(self, dictionary: _core.Dictionary | None) -> _core.Batch | None:
        """The next records; ``None`` at the end.

        ``dictionary``: what their texts are compressed with, unless they were read already.

        :raises _core.SourceChanged: the file was replaced while it was read.
        """
        ahead, self.ahead = self.ahead, None
        return self.reader.next_batch(READ_BYTES, dictionary) if ahead is None else ahead


class ReadAhead:
    """Has one file begun in another thread. To be used in a ``with`` statement."""

    def __init__(self) -> None:
        self._begun: _Beginning | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._begun is not None:
            self._begun.join()

    def begin(self, path: bytes, dictionary: _core.Dictionary | None) -> None:
        """Begins a file, which is to be taken before another one is begun."""
        self._begun = _Beginning(path, dictionary)
        self._begun.start()

    def take(self, path: bytes) -> Opened | None:
        """The file that was begun; ``None`` when it was another one, or when it cannot be read:
        then whoever opens it learns why."""
        begun, self._begun = self._begun, None
        if begun is None:
            return None
        begun.join()
        return begun.opened if begun.path == path else None


class _Beginning(threading.Thread):
    def __init__(self, path: bytes, dictionary: _core.Dictionary | None) -> None:
        super().__init__(name="read-ahead")
        self.path = path
        self._dictionary = dictionary
        self.opened: Opened | None = None

    def run(self) -> None:
        with suppress(OSError, _core.NotASession, _core.SourceChanged):
            reader = _core.SessionReader(self.path, None, None, time.time_ns())
            self.opened = Opened(reader, reader.next_batch(READ_BYTES, self._dictionary))
