"""A client of the server as a process: sends frames, keeps every byte that comes back."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
WAIT = 60
"""Seconds after which a test fails rather than hangs."""


class Client:
    """A running server. Use in a `with` statement, which ends it."""

    def __init__(
        self,
        index_dir: Path,
        sessions: Path | str,
        *options: str,
        program: Sequence[str] = ("-m", "pi_event_search", "serve"),
        pass_fds: Iterable[int] = (),
        deaf: bool = False,
    ) -> None:
        """`deaf`: nothing that comes back is read."""
        places = ("--index-dir", str(index_dir), "--sessions-dir", str(sessions))
        path = os.pathsep.join((str(ROOT / "python"), str(ROOT)))
        self.process = subprocess.Popen(
            [sys.executable, *program, *places, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=os.environ | {"PYTHONPATH": path},
            pass_fds=tuple(pass_fds),
        )
        self.received = bytearray()
        """Everything the server ever wrote."""
        self._next = 0
        self._frames: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._early: dict[Any, Any] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        if deaf:
            self._frames.put(None)
        else:
            self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        rest = b""
        while piece := os.read(self.process.stdout.fileno(), 1 << 16):
            self.received += piece
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                self._frames.put(json.loads(line))  # a line that is no frame ends the thread
        self._frames.put(None)

    def send(self, data: bytes) -> None:
        """Sends bytes as they are."""
        assert self.process.stdin is not None
        left = memoryview(data)
        while left:
            left = left[os.write(self.process.stdin.fileno(), left) :]

    def begin(self, method: str, params: Any = None, **more: Any) -> int:
        """Sends a request and returns its id."""
        self._next += 1
        request = {"jsonrpc": "2.0", "id": self._next, "method": method, **more}
        if params is not None:
            request["params"] = params
        self.send(json.dumps(request).encode() + b"\n")
        return self._next

    def frame(self) -> Any:
        """The next frame, whatever it answers; None at the end of the output."""
        return self._frames.get(timeout=WAIT)

    def answer(self, call_id: Any) -> Any:
        """The answer with this id; others that come before are kept."""
        while call_id not in self._early:
            frame = self.frame()
            assert frame is not None, "the server ended"
            self._early[frame["id"]] = frame
        return self._early.pop(call_id)

    def ask(self, method: str, params: Any = None) -> Any:
        """The answer to a request, with `result` or `error`."""
        return self.answer(self.begin(method, params))

    def result(self, method: str, params: Any = None) -> Any:
        """The result of a request that succeeds."""
        answer = self.ask(method, params)
        assert "error" not in answer, answer
        return answer["result"]

    def error(self, method: str, params: Any = None) -> tuple[int, str | None]:
        """Code and word of a request that fails."""
        error = self.ask(method, params)["error"]
        return error["code"], error.get("data", {}).get("code")

    def caught_up(self, invocation: dict[str, Any], sessions: int) -> Any:
        """Asks until the server has caught up, and returns the coverage: of so many sessions."""
        coverage: Any = {"state": "catching-up"}
        while coverage["state"] == "catching-up":
            coverage = self.result("index/status", {"invocation": invocation})
        assert coverage["indexedSessions"] == sessions, coverage
        return coverage

    def end(self) -> int:
        """Closes the input and returns the exit code."""
        assert self.process.stdin is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self._ended()

    def signal(self, number: signal.Signals) -> int:
        """Sends a signal and returns the exit code."""
        self.process.send_signal(number)
        return self._ended()

    def _ended(self) -> int:
        code = self.process.wait(WAIT)
        if self._reader.ident is not None:
            self._reader.join(WAIT)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self._ended()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
