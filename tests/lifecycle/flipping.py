"""Run as a process of its own: flips bits of an index, one at a time, and asks it questions.

    python -m tests.lifecycle.flipping BASE FIRST COUNT

A flip that ends the process, or that it never comes back from, is seen by who started it. What is
wrong otherwise is printed, one line each.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from pi_event_search import EventIndex, EventSearchError

from tests.lifecycle.world import EVERYTHING, SESSION, header, line, said

OTHER = "22222222-2222-7222-8222-222222222222"
T = TypeVar("T")
WORDS = ("walrus", "octopus", "heron", "magpie", "eel", "crow")


def texts() -> dict[str, str]:
    """Entry id -> what was said there, in short texts and in long ones."""
    said_there = {}
    for number in range(1, 61):
        word = WORDS[number % len(WORDS)]
        said_there[f"{number:08x}"] = f"{word} number {number}" + f" and {word}s" * (number % 7)
    return said_there


def write_sessions(directory: Path) -> None:
    """Two session files, one with a branch and a compaction."""
    directory.mkdir()
    records = [said(int(key, 16), text) for key, text in texts().items()]
    records[29] = said(30, texts()["0000001e"], parent=10)
    summary = {
        "type": "compaction", "id": "000000ff", "parentId": "0000003c", "summary": "what was said",
        "timestamp": "2026-03-01T11:00:00.000Z", "firstKeptEntryId": "00000032", "tokensBefore": 9,
    }  # fmt: skip
    (directory / "a.jsonl").write_bytes(header(SESSION) + b"".join(records) + line(summary))
    (directory / "b.jsonl").write_bytes(header(OTHER) + said(1, "raven alone"))


def main(base: Path, first: int, count: int) -> None:
    """Flips bits number ``first`` and following of a fixed series."""
    truth = texts()
    known = {*truth.values(), "raven alone", "what was said"}
    work = base / f"work-{first}"
    for number in range(first, first + count):
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(base / "index", work)
        what = flip(work, random.Random(number))
        try:
            with EventIndex.open(work, [base / "sessions"]) as index:
                ask(index, truth, known, what)
                attempt(index.sync, what)
                ask(index, truth, known, what)
                if number % 16 == 0:
                    mend(index, truth, known, what)
        except EventSearchError:
            pass  # it cannot be opened, and says so
    shutil.rmtree(work)


def flip(place: Path, dice: random.Random) -> str:
    """Flips one bit: of the database as often as of all else."""
    files = sorted(p for p in place.rglob("*") if p.is_file() and p.stat().st_size)
    databases = [p for p in files if p.suffix == ".sqlite"]
    path = dice.choice(databases if dice.random() < 0.5 else files)
    at, bit = dice.randrange(path.stat().st_size), dice.randrange(8)
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0] ^ 1 << bit
        file.seek(at)
        file.write(bytes([byte]))
    return f"{path.relative_to(place)} byte {at} bit {bit}"


def ask(index: EventIndex, truth: dict[str, str], known: set[str], what: str) -> None:
    """Nothing but the package's own errors may come, and no text that nobody wrote."""
    for word in (*WORDS, '"and walruss and walruss"'):
        page = attempt(partial(index.search, word, invocation=EVERYTHING), what)
        for hit in [] if page is None else page.hits:
            if hit.snippet not in known:
                print(f"{what}: {hit.snippet!r} was never said")
    for entry_id in ("00000001", "0000000c", "0000001e", "0000003c"):
        event = attempt(partial(index.read, SESSION, entry_id, invocation=EVERYTHING), what)
        if event is None:
            continue
        shown = [fragment.preview.text for fragment in event.fragments]
        if event.source.state == "exact" and shown != [truth[entry_id]]:
            print(f"{what}: {entry_id} is shown as {shown}, and called exact")
        elif not {*shown} <= known:
            print(f"{what}: {entry_id} is shown as {shown}")
    attempt(lambda: index.sessions(invocation=EVERYTHING), what)
    attempt(lambda: index.trace(SESSION, "0000000a", invocation=EVERYTHING), what)
    attempt(lambda: index.status(invocation=EVERYTHING), what)


def attempt(action: Callable[[], T], what: str) -> T | None:
    """The answer, or nothing where the index says that it cannot give one."""
    try:
        return action()
    except EventSearchError:
        return None
    except BaseException as error:  # panics are no Exception
        print(f"{what}: {type(error).__name__}: {error} came out")
        return None


def mend(index: EventIndex, truth: dict[str, str], known: set[str], what: str) -> None:
    """Whatever was left to find is found by verify, and a rebuild ends it."""
    result = attempt(index.verify, what)
    if result is None or not result.equal:
        attempt(index.rebuild, what)
        result = attempt(index.verify, what)
    if result is None or not result.equal:
        print(f"{what}: a rebuild did not help: {result}")
    ask(index, truth, known, what)


if __name__ == "__main__":
    os.environ["RUST_BACKTRACE"] = "0"
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
