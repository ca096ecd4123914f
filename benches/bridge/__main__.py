"""`make bench-bridge`: prints how long the server and Pi take over a long history."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from pi_event_search import EventIndex

from benches.bridge import history
from tests.pi_package.machine import Machine, call, calls
from tests.serve.client import Client

RUNS = 5
GOALS = {"initialize": 300, "session_start": 10, "agent_settled": 10, "to the end": 1000}
"""Milliseconds; the answer to `initialize` is the first one."""
TIMED = Path(__file__).with_name("timed.ts")
Times = dict[str, list[float]]


def main() -> int:
    """The exit status: 1 when a goal is missed."""
    megabytes = int(os.environ.get("MB", "500"))
    with TemporaryDirectory() as place:
        machine = Machine(Path(place))
        sessions = machine.agent / "sessions"
        count = history.write(sessions / "old", machine.project, megabytes)
        print(f"{count} sessions, {megabytes} MB; milliseconds, the worst of {RUNS} in brackets\n")
        missed = _report("no index yet", _server(machine, fresh=True), _pi(machine, fresh=True))
        with EventIndex.open(machine.index, [sessions]) as index:
            index.sync()
        missed += _report("complete index", _server(machine), _pi(machine))
    print("\nmissed:" if missed else "\nEvery goal is met.", *missed)
    return 1 if missed else 0


def _server(machine: Machine, *, fresh: bool = False) -> Times:
    """From the start of a server to its first answers."""
    times: Times = defaultdict(list)
    caller = {"cwd": str(machine.project)}
    asked = {"query": "scheduler stop"}
    for _ in range(RUNS):
        if fresh:
            shutil.rmtree(machine.index, ignore_errors=True)
        begun = time.perf_counter()
        with Client(machine.index, machine.agent / "sessions") as client:
            client.result("initialize", {"protocolVersion": 1, "invocation": caller})
            times["initialize"].append(_since(begun))
            client.result("index/status", {"invocation": caller})
            times["index/status"].append(_since(begun))
            client.result("event/search", {"arguments": asked, "invocation": caller})
            times["event/search"].append(_since(begun))
    return times


def _pi(machine: Machine, *, fresh: bool = False) -> Times:
    """What the handlers take in a Pi that searches once."""
    times: Times = defaultdict(list)
    log = machine.agent.parent / "times.jsonl"
    for _ in range(RUNS):
        if fresh:
            shutil.rmtree(machine.index, ignore_errors=True)
        log.write_text("")
        machine.run(
            calls(call("bash", command="true")),  # what was put off happens before the search
            calls(call("event_search", query="scheduler stop")),
            {"text": "done"},
            options=["-e", str(TIMED)],
            extension=False,
            env={"TIMES": str(log)},
        )
        ended = time.time() * 1000
        for line in map(json.loads, log.read_text().splitlines()):
            times[line["what"]].append(line["ms"])
            if line["what"] == "session_shutdown":
                times["to the end"].append(ended - line["at"])
    return times


def _report(title: str, *tables: Mapping[str, Sequence[float]]) -> list[str]:
    """Prints the times; gives what missed its goal."""
    missed = []
    print(title)
    for what, times in (item for table in tables for item in table.items()):
        goal = GOALS.get(what)
        aim = f"   goal {goal:,}" if goal else ""
        print(f"  {what:28}{median(times):9.1f}  ({max(times):.1f}){aim}")
        if goal and median(times) > goal:
            missed.append(f"{what} ({title})")
    sys.stdout.flush()
    return missed


def _since(begun: float) -> float:
    return (time.perf_counter() - begun) * 1000


if __name__ == "__main__":
    raise SystemExit(main())
