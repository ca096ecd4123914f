"""The real Pi: where it is, and its scripts as objects to talk to."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.pi.compare import Answer

HERE = Path(__file__).parent
HOME = Path(os.environ.get("PI_HOME") or HERE.parents[1] / ".cache" / "pi")
"""Where ``make pi`` puts Node and Pi."""
PACKAGE = "@earendil-works/pi-coding-agent"
NODE = HOME / "node_modules" / ".bin" / "node"


def pinned() -> str:
    """The version of Pi that everything here is compared with."""
    return str(json.loads((HERE / "package.json").read_text())["dependencies"][PACKAGE])


def installed() -> str | None:
    """The version of Pi in the cache, if it can be started."""
    package = HOME / "node_modules" / PACKAGE / "package.json"
    if not NODE.exists() or not package.exists():
        return None
    return str(json.loads(package.read_text())["version"])


def run(script: str, *arguments: object) -> str:
    """Runs a script to its end and returns what it printed."""
    done = subprocess.run(
        [NODE, HERE / script, *map(str, arguments)],
        env=_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class Script:
    """A running script, spoken to in lines."""

    def __init__(self, script: str, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [NODE, HERE / script, *map(str, arguments)],
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.process.kill()
        with self.process:
            self.end_input()
        assert kind is not None or self.process.returncode == 0

    def send(self, data: bytes) -> None:
        """Writes to the script's input."""
        assert self.process.stdin is not None
        os.write(self.process.stdin.fileno(), data)

    def end_input(self) -> None:
        """Closes the script's input, if it is open."""
        assert self.process.stdin is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()

    def lines(self) -> Iterator[Any]:
        """What the script prints, as it comes, until it ends."""
        assert self.process.stdout is not None
        return (json.loads(line) for line in self.process.stdout)

    def line(self) -> Any:
        """The next line the script prints."""
        return next(self.lines())


class Oracle(Script):
    """Says what Pi makes of a file."""

    def __init__(self) -> None:
        super().__init__("oracle.mjs")

    def ask(self, path: Path) -> Answer:
        self.send(f"{path}\n".encode())
        answer: Answer = self.line()
        return answer


class Driver(Script):
    """Lets Pi open, copy, export and import sessions; see ``drive.mjs`` for the commands."""

    def __init__(self) -> None:
        super().__init__("drive.mjs")

    def do(self, command: str, **arguments: object) -> Any:
        """Carries a command out. Returns file, session id and leaf of the session then open."""
        self._send(command, arguments)
        return self._done(self.line())

    @contextmanager
    def steps(self, command: str, *, torn: bool = False, **arguments: object) -> Iterator[Steps]:
        """Carries a command out change by change of the session file."""
        self.do("step", torn=torn)
        self._send(command, arguments)
        steps = Steps(self)
        try:
            yield steps
        finally:
            steps.finish()
            self.do("run")

    def _send(self, command: str, arguments: dict[str, object]) -> None:
        self.send(json.dumps({"do": command, **arguments}, default=str).encode() + b"\n")

    def _done(self, answer: Any) -> Any:
        assert "done" in answer, answer
        return answer["done"]


class Steps:
    """Iterates over the pauses of a command; `result` is its answer at the end."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._answer = driver.line()
        self.result: Any = None

    def __iter__(self) -> Iterator[str]:
        while "paused" in self._answer:
            yield self._answer["paused"]
            self._go_on()
        self.result = self._driver._done(self._answer)

    def finish(self) -> None:
        """Lets Pi do what is left, so that the driver can be used again."""
        while "paused" in self._answer:
            self._go_on()

    def _go_on(self) -> None:
        self._driver.send(b"\n")
        self._answer = self._driver.line()


class Appender(Script):
    """Pi appending to a session as fast as it is allowed to; see ``append.mjs``."""

    def __init__(self, path: Path, steps: int, seed: int, options: Sequence[object]) -> None:
        arguments = ("--steps", steps, "--seed", seed, *options)
        super().__init__("append.mjs", path, *arguments)
        assert self.line()["ready"]
        self.told: list[Any] = []
        """What it has said so far; grows in the background."""
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    @property
    def running(self) -> bool:
        """False once it has done everything, or failed."""
        return self.process.poll() is None

    def allow(self, writes: int) -> None:
        """Lets that many further writes happen, or as many as it still has to do."""
        with suppress(BrokenPipeError):
            self.send(b"." * writes)

    def wait(self) -> None:
        """Lets it run to its end."""
        self.end_input()
        self._listener.join()

    def _listen(self) -> None:
        for line in self.lines():
            self.told.append(line)


def _environment() -> dict[str, str]:
    return {**os.environ, "PI_HOME": str(HOME)}
