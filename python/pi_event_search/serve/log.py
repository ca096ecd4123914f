"""The log of the server: a file beside the index, readable by its owner only, and bounded.

Several servers may write one log, one a running Pi. Lines are appended whole, and whoever makes
the file too long renames it; the others notice that and go on in the new one.
"""

from __future__ import annotations

import os
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path

FILE_NAME = "serve.log"
MAX_BYTES = 1_000_000
"""Length at which the file becomes `serve.log.1`, replacing an older one of that name."""
_MAX_LINE = 16_000


class Log:
    """Appends lines, or drops them where that is impossible: a log never fails its caller."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME
        self._lock = threading.Lock()
        self._descriptor: int | None = None

    def write(self, what: str) -> None:
        """Appends one entry with time and process; line ends inside it are indented."""
        now = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        text = what.replace("\n", "\n    ")[:_MAX_LINE]
        line = f"{now} [{os.getpid()}] {text}\n".encode("utf-8", "backslashreplace")
        with self._lock, suppress(OSError):
            os.write(self._open(), line)

    def failure(self, what: str, error: BaseException) -> None:
        """Appends an entry with the traceback of an error."""
        trace = "".join(traceback.format_exception(error)).rstrip()
        self.write(f"{what}\n{trace}")

    def close(self) -> None:
        """Closes the file; a later entry opens it again."""
        with self._lock:
            self._forget()

    def _open(self) -> int:
        if self._descriptor is not None:
            ours = os.fstat(self._descriptor)
            if ours.st_size >= MAX_BYTES and self._is_at_path(ours):
                self._path.replace(self._path.with_name(f"{FILE_NAME}.1"))
            if not self._is_at_path(ours):
                self._forget()
        if self._descriptor is None:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(self._path, flags, 0o600)
        return self._descriptor

    def _is_at_path(self, ours: os.stat_result) -> bool:
        try:
            there = self._path.stat()
        except FileNotFoundError:
            return False
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)

    def _forget(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
