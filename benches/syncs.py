"""How often an append waits for the disk, counted from outside.

`python -m benches.syncs DIRECTORY` appends to a session there and calls `getpgid` before each
append and at the end; `rows` runs that under strace and counts what lies between these calls.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benches.appending import Appends, session_of
from benches.goals import Row
from benches.measure import Times
from benches.place import Place, opened

ROUNDS = 40
ENTRIES = 1_000
_SYNCS = ("fsync(", "fdatasync(")
_MARK = "getpgid("


def rows(place: Place) -> Iterator[Row]:
    """The usual append, and the one that gathers the small commits before it."""
    work = "append of 1 KB until found, waits for the disk"
    strace = shutil.which("strace")
    if strace is None:
        yield Row(work, "fsync and fdatasync", None, note="strace is not installed")
        return
    scratch = place.scratch("syncs")
    log = scratch / "log"
    trace = [strace, "-f", "-qq", "-o", str(log), "-e", "trace=fsync,fdatasync,getpgid"]
    subprocess.run([*trace, sys.executable, "-m", "benches.syncs", str(scratch)], check=True)
    counts = Times(_between_marks(log.read_text("utf-8")))
    yield Row(work, "fsync and fdatasync, p50", counts.median, "")
    yield Row(work, "fsync and fdatasync, most", counts.percentile(100), "")


def _between_marks(log: str) -> list[float]:
    counts = [0.0]
    for line in log.splitlines():
        if _MARK in line:
            counts.append(0.0)
        counts[-1] += any(sync in line for sync in _SYNCS)
    return counts[1:-1]


def _append(scratch: Path) -> None:
    sessions = scratch / "sessions"
    sessions.mkdir()
    session = session_of(sessions / "session.jsonl", ENTRIES)
    appends = Appends(session)
    with opened(scratch / "index", sessions) as index:
        index.sync()
        for _ in range(ROUNDS):
            os.getpgid(0)
            appends.append()
            index.sync(session.path)
        os.getpgid(0)


if __name__ == "__main__":
    _append(Path(sys.argv[1]))
