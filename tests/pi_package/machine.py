"""The real Pi in a home of its own, without a network, with a model that answers from a script."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from tests.pi.program import HOME, NODE, PACKAGE

HERE = Path(__file__).parent
TREE = HERE.parents[1]
EXTENSION = TREE / "python" / "pi_event_search" / "pi_extension" / "src" / "extension.ts"
CLI = HOME / "node_modules" / PACKAGE / "dist" / "bundle" / "cli.js"
WAIT = 100
"""Seconds after which a test fails rather than hangs."""

Step = dict[str, Any]


def call(name: str, call_id: str | None = None, **arguments: Any) -> dict[str, Any]:
    """A tool call of the scripted model."""
    return {"name": name, "arguments": arguments} | ({"id": call_id} if call_id else {})


def calls(*several: dict[str, Any], text: str = "") -> Step:
    """A step in which the model calls tools, all at once."""
    return {"calls": list(several), "text": text}


SESSION = "{{event_search~sessionId: ([^,]+)}}"
ENTRY = "{{event_search~entryId: ([^,]+)}}"


class Run(NamedTuple):
    """What came of one run of Pi."""

    output: str
    shown: list[str]
    """The last message that the model was shown, at each request."""
    tools: list[list[str]]
    """Which of the three tools the model was told of, at each request."""


class Machine:
    """A home directory, a project, and Pi."""

    def __init__(self, place: Path) -> None:
        self.agent = place / "agent"
        self.project = place / "project"
        self.index = self.agent / "pi-event-search"
        self._place = place
        for directory in (self.agent, self.project, place / "home", place / "tmp"):
            directory.mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(place / "home"),
            "TMPDIR": str(place / "tmp"),
            "PYTHONPATH": str(TREE / "python") + os.pathsep + str(TREE),
            "PI_CODING_AGENT_DIR": str(self.agent),
            "PI_EVENT_SEARCH_PYTHON": sys.executable,
            "PI_OFFLINE": "1",
            "PI_SKIP_VERSION_CHECK": "1",
            "PI_TELEMETRY": "0",
            "SCRIPT": str(place / "script.json"),
            "SHOWN": str(place / "shown.jsonl"),
        }

    def command(self, *arguments: str) -> list[str]:
        """Pi's command line, in an empty network namespace where the machine allows one."""
        return [*_without_network(), str(NODE), str(CLI), *arguments]

    def run(
        self,
        *steps: Step,
        prompt: str = "go on",
        options: Sequence[str] = (),
        cwd: Path | None = None,
        extension: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> Run:
        """Runs `pi -p` with a script to its end."""
        self._prepare(steps)
        done = subprocess.run(
            self.command(*_isolated(extension), *options, "-p", prompt),
            cwd=cwd or self.project,
            env=self.env | dict(env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "rror" not in done.stderr, done.stderr
        return Run(done.stdout.strip(), *self._shown())

    @contextmanager
    def conversation(self, *steps: Step, options: Sequence[str] = ()) -> Iterator[Conversation]:
        """A Pi that is spoken to over its RPC mode."""
        self._prepare(steps)
        command = self.command(*_isolated(True), *options, "--mode", "rpc")
        process = subprocess.Popen(
            command,
            cwd=self.project,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                yield Conversation(process, self)
                assert process.stdin is not None
                process.stdin.close()
                assert process.wait(WAIT) == 0
            finally:
                process.kill()

    def wrapped_python(self, line: str) -> str:
        """An interpreter for the setting that runs a line of shell instead of the server."""
        path = self._place / "python"
        path.write_text(f"#!/bin/sh\n{line.format(python=sys.executable)}\n")
        path.chmod(0o755)
        return str(path)

    def last(self) -> str:
        """What the model was last shown."""
        return self._shown()[0][-1]

    def sessions(self) -> list[Path]:
        """The session files, the oldest first."""
        return sorted(self.agent.glob("sessions/*/*.jsonl"))

    def server_log(self) -> str:
        """The log of the servers."""
        return (self.index / "serve.log").read_text()

    def _prepare(self, steps: Sequence[Step]) -> None:
        Path(self.env["SCRIPT"]).write_text(json.dumps({"steps": steps}))
        Path(self.env["SHOWN"]).write_text("")

    def _shown(self) -> tuple[list[str], list[list[str]]]:
        lines = [json.loads(line) for line in Path(self.env["SHOWN"]).read_text().splitlines()]
        return [line["last"] for line in lines], [line["tools"] for line in lines]


class Conversation:
    """A running Pi: commands in, and everything that happens out."""

    def __init__(self, process: subprocess.Popen[str], machine: Machine) -> None:
        self._process = process
        self._machine = machine
        self._events: SimpleQueue[Any] = SimpleQueue()
        self._next = 0
        self.notices: list[str] = []
        """What the person was told."""
        threading.Thread(target=self._read, daemon=True).start()

    def prompt(self, message: str) -> str:
        """Says something, and returns what the model was last shown."""
        started = self.send("prompt", message=message)
        if started.get("disposition") == "started":
            while self._event()["type"] != "agent_settled":
                pass
        return self._machine.last()

    def command(self, message: str) -> str:
        """Gives a slash command and returns what the person is told."""
        self.send("prompt", message=message)
        return self.notices[-1]

    def send(self, kind: str, **more: Any) -> Any:
        """Sends an RPC command and returns the data of its answer."""
        self._next += 1
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"id": str(self._next), "type": kind, **more}) + "\n")
        self._process.stdin.flush()
        while True:
            event = self._event()
            if event["type"] == "response" and event.get("id") == str(self._next):
                assert event["success"], event
                return event.get("data") or {}

    def _event(self) -> Any:
        event = self._events.get(timeout=WAIT)
        assert event is not None, "Pi has ended"
        if event["type"] == "extension_ui_request" and event["method"] == "notify":
            self.notices.append(event["message"])
        return event

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._events.put(json.loads(line))
        self._events.put(None)


def _isolated(extension: bool) -> list[str]:
    """Options that keep everything of this machine out, but for the model and the extension."""
    options = ["--offline", "-ne", "-ns", "-np", "--no-themes", "-nc", "-na"]
    if not extension:
        options.remove("-ne")
        options.append("--no-mcp")
    for file in (HERE / "scripted_model.ts", *([EXTENSION] if extension else [])):
        options += ["-e", str(file)]
    return [*options, "--model", "scripted/model"]


@cache
def _without_network() -> tuple[str, ...]:
    if shutil.which("unshare") is None:
        return ()
    allowed = subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False)
    return ("unshare", "-n", "--") if allowed.returncode == 0 else ()
