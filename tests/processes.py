"""Child processes that are cheap to start and to kill.

A `Nursery` is a process that has imported everything and opened nothing. For each job it forks a
child, so that a child costs milliseconds; engines are opened in the child only. What a child says
comes back line by line, and so does how it ended.

    with Nursery() as nursery:
        child = nursery.start("tests.crash.jobs:sync", base=str(place.base))
        assert child.heard() == "publish.commit"
        child.kill()
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from types import TracebackType
from typing import Any, NoReturn, Self

SAY, HEAR = 1, 0
"""Descriptors on which a child speaks to the test and hears from it."""
_OURS = "#"
"""How a line of the nursery itself begins; the others are the child's."""


@dataclass(frozen=True)
class Ended:
    """How a child ended: by itself with an exit code, or by a signal (negative)."""

    code: int


class Child:
    """A running job."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self._nursery = nursery
        self.pid = pid

    def heard(self) -> str:
        """The next line it says; fails when it ends before it says anything."""
        line = self._nursery.line()
        assert not line.startswith(_OURS), f"the child has ended: {line}"
        return line

    def tell(self) -> None:
        """Lets a child that waits at a point go on."""
        self._nursery.write(b"\n")

    def speaks_within(self, seconds: float) -> bool:
        """Whether it says something, or ends, before the time is over."""
        return self._nursery.speaks_within(seconds)

    def stop(self) -> None:
        """Stops it, and returns when it has stopped."""
        os.kill(self.pid, signal.SIGSTOP)
        assert self._nursery.line() == f"{_OURS}stopped"

    def go_on(self) -> None:
        """Lets a stopped child run."""
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> list[str]:
        """Kills it without any warning; returns what it had said before."""
        os.kill(self.pid, signal.SIGKILL)
        said, ended = self.end()
        assert ended.code == -signal.SIGKILL or ended.code == 0, ended
        return said

    def end(self) -> tuple[list[str], Ended]:
        """Waits until it ends; returns what it said meanwhile, and how it ended."""
        said = []
        while not (line := self._nursery.line()).startswith(_OURS):
            said.append(line)
        word, _, code = line.removeprefix(_OURS).partition(" ")
        assert word == "ended", line
        return said, Ended(int(code))

    def finish(self) -> list[str]:
        """Waits until it has done its job; returns what it said meanwhile."""
        said, ended = self.end()
        assert ended == Ended(0), said
        return said


class Nursery:
    """Starts children, one at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.processes"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        self._buffer = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the nursery, and a child that is still running."""
        self._process.kill()
        self._process.communicate()

    def start(self, job: str, **arguments: Any) -> Child:
        """Starts a job, which is a function named as ``module:function``."""
        self.write(json.dumps([job, arguments]).encode() + b"\n")
        word, pid = self.line().split()
        assert word == f"{_OURS}started"
        return Child(self, int(pid))

    def line(self) -> str:
        """The next line of child or nursery."""
        while b"\n" not in self._buffer:
            more = os.read(self._out, 4_096)
            assert more, "the nursery has ended"
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode()

    def write(self, data: bytes) -> None:
        """Sends bytes to whoever reads: a child that waits, or the nursery."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)

    def speaks_within(self, seconds: float) -> bool:
        """Whether a line comes before the time is over."""
        return b"\n" in self._buffer or bool(select.select([self._out], [], [], seconds)[0])

    @property
    def _out(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()


def say(line: str) -> None:
    """In a child: says a line to the test."""
    os.write(SAY, f"{line}\n".encode())


def wait_for_word() -> None:
    """In a child: waits until the test tells it to go on."""
    os.read(HEAR, 1)


def _main() -> NoReturn:
    """The nursery: jobs come in as lines and are done by children."""
    import_module("pi_event_search.index")
    while (line := _read_line()) is not None:
        job, arguments = json.loads(line)
        module, _, function = job.partition(":")
        run = getattr(import_module(module), function)
        born, told = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(told)
            os.read(born, 1)  # nothing may be said before the birth is told
            os.close(born)
            _work(run, arguments)
        say(f"{_OURS}started {pid}")
        os.close(born)
        os.close(told)
        _watch(pid)
    os._exit(0)


def _work(run: Any, arguments: dict[str, Any]) -> NoReturn:
    code = 1
    try:
        run(**arguments)
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(code)


def _watch(pid: int) -> None:
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            say(f"{_OURS}stopped")
            continue
        say(f"{_OURS}ended {os.waitstatus_to_exitcode(status)}")
        return


def _read_line() -> str | None:
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(HEAR, 1)
        if not byte:
            return None
        line += byte
    return line.decode()


if __name__ == "__main__":
    _main()
