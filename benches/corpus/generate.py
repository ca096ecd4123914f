"""A whole corpus in a directory, and what is known of it.

``sessions/`` holds the files as Pi lays them out, ``work/`` the directories they were recorded in,
``manifest.json`` the rest. A corpus that is there already is taken as it is.
"""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benches.corpus.plants import HIDDEN, Plant, distribute, plants
from benches.corpus.session import SessionWriter
from benches.corpus.vocabulary import Vocabulary

WORKSPACES = 4
_FIRST_DAY = 1_760_000_000
_SPAN = 240 * 86_400
"""Seconds within which all sessions begin: a file from the future is looked into by every sync."""
_LARGE = (
    (45, (10_000_000,)),
    (90, (20_000_000,)),
    (300, (100_000_000, 40_000_000, 20_000_000)),
    (900, (100_000_000, 60_000_000, 30_000_000, 30_000_000)),
)
"""From so many megabytes on, sessions of these sizes are there too."""
_USUAL = 620_000
"""Mean size of the others, in bytes."""

Sizes = Callable[[random.Random], list[int]]


@dataclass(frozen=True)
class Session:
    """A generated file."""

    path: str
    session_id: str
    cwd: str
    bytes: int
    entries: int
    last: str


@dataclass(frozen=True)
class Corpus:
    """A generated corpus."""

    directory: Path
    bytes: int
    sessions: list[Session]
    expected: dict[str, list[str]]
    """Query -> the entries that answer it, as ``session id/entry id``."""

    @property
    def sessions_dir(self) -> Path:
        return self.directory / "sessions"

    @property
    def work(self) -> Path:
        """All workspaces lie below."""
        return self.directory / "work"

    def nearest(self, size: int) -> Session:
        """The session whose size comes next to a number of bytes."""
        return min(self.sessions, key=lambda session: abs(session.bytes - size))


def mixed(megabytes: float) -> Sizes:
    """Sizes as people have them: many small sessions and a few very large ones."""

    def sizes(dice: random.Random) -> list[int]:
        large = [size for least, some in _LARGE if megabytes >= least for size in some]
        rest = int(megabytes * 1e6) - sum(large)
        count = max(4, round(rest / _USUAL)) - len(large)
        drawn = [math.exp(dice.gauss(0, 1.1)) for _ in range(max(2, count))]
        small = fitted(drawn, rest, least=20_000, most=2_600_000)
        small[0] = 100_000
        others = [*small[1:], *large]
        dice.shuffle(others)
        return [small[0], *others]

    return sizes


def equal(count: int, size: int) -> Sizes:
    """So many sessions of one size."""
    return lambda _: [size] * count


def fitted(weights: Sequence[float], total: int, *, least: int, most: int) -> list[int]:
    """Sizes in proportion to weights that add up to about a total, within bounds."""
    factor = total / sum(weights)
    for _ in range(4):
        sizes = [min(most, max(least, weight * factor)) for weight in weights]
        factor *= total / sum(sizes)
    return [int(size) for size in sizes]


def corpus(directory: Path, sizes: Sizes, *, seed: int) -> Corpus:
    """The corpus of a directory, generated unless it is there."""
    if not (directory / "manifest.json").exists():
        _generate(directory, sizes, seed)
    known = json.loads((directory / "manifest.json").read_bytes())
    sessions = [Session(**session) for session in known["sessions"]]
    return Corpus(directory, known["bytes"], sessions, known["expected"])


def _generate(directory: Path, sizes: Sizes, seed: int) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    vocabulary = Vocabulary(seed)
    wanted = sizes(vocabulary.dice)
    planted = plants(sum(wanted) / 1e6)
    waiting = distribute(planted, len(wanted), vocabulary.dice)
    sessions: list[Session] = []
    expected: dict[str, set[str]] = {plant.query: set() for plant in planted if plant.query}
    apart = min(5_400, _SPAN / len(wanted))
    for number, size in enumerate(wanted):
        begins = _FIRST_DAY + number * apart + vocabulary.dice.random() * 600
        session_id = str(uuid.UUID(int=vocabulary.dice.getrandbits(128), version=4))
        cwd = str(directory / "work" / f"project{vocabulary.dice.randrange(WORKSPACES)}")
        Path(cwd).mkdir(parents=True, exist_ok=True)
        stamp = time.strftime("%Y-%m-%dT%H-%M-%S-000Z", time.gmtime(begins))
        folder = f"--{cwd.strip('/').replace('/', '-')}--"
        path = directory / "sessions" / folder / f"{stamp}_{session_id}.jsonl"
        parent, copied = _forked(sessions, size, vocabulary.dice)
        writer = SessionWriter(
            vocabulary,
            path,
            session_id=session_id,
            cwd=cwd,
            begins=begins,
            waiting=waiting[number],
            copied=copied,
            parent=parent,
        )
        writer.write(max(size, writer.bytes + 20_000))
        os.utime(path, (int(begins) + 4_000,) * 2)
        assert writer.last is not None
        sessions.append(
            Session(str(path), session_id, cwd, writer.bytes, writer.entries, writer.last)
        )
        _expect(writer.planted, planted, session_id, expected)
    _save(directory, sessions, expected)


def _forked(
    sessions: Sequence[Session], size: int, dice: random.Random
) -> tuple[str | None, list[bytes] | None]:
    """One session in twenty begins with a third of an earlier one."""
    if not sessions or size > 3_000_000 or dice.random() >= 0.05:
        return None, None
    parent = dice.choice(sessions)
    if parent.bytes > 3_000_000:
        return None, None
    lines = Path(parent.path).read_bytes().splitlines()[1:]
    return parent.path, lines[: len(lines) // 3 + 1]


def _expect(
    found: Sequence[tuple[str, str, str]],
    planted: Sequence[Plant],
    session_id: str,
    expected: dict[str, set[str]],
) -> None:
    queries = {plant.name: plant.query for plant in planted}
    for name, kind, entry_id in found:
        query = queries[name]
        if query is not None and kind not in HIDDEN:
            expected[query].add(f"{session_id}/{entry_id}")


def _save(directory: Path, sessions: Sequence[Session], expected: dict[str, set[str]]) -> None:
    manifest = {
        "bytes": sum(session.bytes for session in sessions),
        "sessions": [asdict(session) for session in sessions],
        "expected": {query: sorted(entries) for query, entries in expected.items()},
    }
    (directory / "manifest.json").write_text(json.dumps(manifest, indent=0), "utf-8")
