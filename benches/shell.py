"""One search from the shell, beside ripgrep over the same files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pi_event_search

from benches.answers import Wrong
from benches.corpus.generate import Corpus
from benches.goals import Row, at
from benches.measure import in_turns
from benches.place import Place

ROUNDS = 7
QUERY = "zqrareword7f"


def rows(place: Place, corpus: Corpus, megabytes: float) -> Iterator[Row]:
    """Figures of a search that also looks whether anything changed, and of one that does not."""
    work = f"search from the shell, {megabytes:g} MB"
    ours = [
        *_program(),
        "search",
        QUERY,
        "--json",
        f"--index-dir={place.index_of(corpus)}",
        f"--sessions-dir={corpus.sessions_dir}",
        f"--root={corpus.work}",
    ]
    ripgrep = shutil.which("rg")
    grep = [ripgrep or "", "-c", QUERY, str(corpus.sessions_dir)]
    found = json.loads(_output(ours))["hits"]
    if len(found) != len(corpus.expected[QUERY]):
        raise Wrong(f"{ours}: {found}")
    ways = {
        "pi-event-search search": lambda: _output(ours),
        "the same, --no-sync": lambda: _output([*ours, "--no-sync"]),
        "python -c pass": lambda: _output([sys.executable, "-c", "pass"]),
    }
    if ripgrep:
        ways["rg -c"] = lambda: _output(grep)
    times = in_turns(ways, ROUNDS)
    slowest = times["rg -c"].median if ripgrep else None
    goal = None if slowest is None else at(megabytes, 1_000, slowest)
    for name, taken in times.items():
        yield Row(work, name, taken.median, goal=goal if name.startswith("pi-") else None)
    if not ripgrep:
        yield Row(work, "rg -c", None, note="ripgrep is not installed")


def _program() -> list[str]:
    script = Path(sys.executable).with_name("pi-event-search")
    return [str(script)] if script.exists() else [sys.executable, "-m", "pi_event_search"]


def _output(command: list[str]) -> bytes:
    package = Path(pi_event_search.__file__).parent.parent
    environment = os.environ | {"PYTHONPATH": str(package)}
    # As installed: with its bytecode kept from one run to the next.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=True)
    return done.stdout
