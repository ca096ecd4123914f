"""Session files that go through things, the index that follows them, and what it must hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pi_event_search import EventIndex, Invocation, SyncReport
from pi_event_search.store.publish import Publication
from pi_event_search.upkeep.verify import compare

EVERYTHING = Invocation(cwd="/", workspace_root="/")
SESSION = "11111111-1111-7111-8111-111111111111"
OLD = 1_700_000_000
"""A time (s) long enough ago for an equal stat to prove something."""


def header(session_id: str = SESSION, cwd: str = "/home/ada/work", **more: Any) -> bytes:
    """The header of a session file."""
    return line(
        {
            "type": "session",
            "version": 3,
            "id": session_id,
            "timestamp": "2026-03-01T09:00:00.000Z",
            "cwd": cwd,
            **more,
        }
    )


def said(number: int, text: str, parent: int | None = None) -> bytes:
    """A user message; its parent is the one before unless another is named."""
    above = number - 1 if parent is None else parent
    return line(
        {
            "type": "message",
            "id": f"{number:08x}",
            "parentId": f"{above:08x}" if above > 0 else None,
            "timestamp": f"2026-03-01T09:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
            "message": {"role": "user", "content": text},
        }
    )


def talk(*texts: str, first: int = 1) -> bytes:
    """One message after the other."""
    return b"".join(said(number, text) for number, text in enumerate(texts, first))


def line(record: dict[str, Any]) -> bytes:
    """A record as Pi writes it."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


@dataclass
class World:
    """A session directory, its index, and what may be asked of both."""

    base: Path
    dirs: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sessions.mkdir()
        self.dirs = self.dirs or [self.sessions]
        self.index = self.open()

    @property
    def sessions(self) -> Path:
        return self.base / "sessions"

    @property
    def place(self) -> Path:
        """Where the index is."""
        return self.base / "index"

    def open(self) -> EventIndex:
        """The index opened once more."""
        return EventIndex.open(self.place, self.dirs)

    def reopen(self) -> None:
        """As a new process would."""
        self.index.close()
        self.index = self.open()

    def path(self, name: str = "a") -> Path:
        return self.sessions / f"{name}.jsonl"

    def write(self, data: bytes, name: str = "a") -> Path:
        """Writes a file in place: the same inode where there was one."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def append(self, data: bytes, name: str = "a") -> Path:
        path = self.path(name)
        with path.open("ab") as file:
            file.write(data)
        return path

    def sync(self) -> SyncReport:
        """A sync that leaves the session files as they are."""
        with untouched(self.sessions):
            return self.index.sync()

    def finds(self, word: str, index: EventIndex | None = None) -> list[str]:
        """Entry ids of the events that say a word, in the order of the ids."""
        page = (index or self.index).search(word, invocation=EVERYTHING, limit=200)
        return sorted(hit.entry_id for hit in page.hits)

    def states(self) -> list[str]:
        """The states of all sources."""
        with self.index._store.database.snapshot() as connection:
            return [row[0] for row in connection.execute("SELECT state FROM sources ORDER BY path")]

    def problems(self) -> set[str]:
        """The kinds of problems that status names."""
        return {problem.kind for problem in self.index.status(invocation=EVERYTHING).problems}

    def coverage(self) -> str:
        return self.index.status(invocation=EVERYTHING).coverage.state

    def reads(self, entry_id: str, session_id: str = SESSION) -> tuple[str, str]:
        """Text and source state of an event."""
        event = self.index.read(session_id, entry_id, invocation=EVERYTHING)
        return event.fragments[0].preview.text, event.source.state

    def differences(self) -> Sequence[str]:
        """What the index holds otherwise than one that is built of the same files now."""
        name = f"fresh-{len(list(self.base.glob('fresh-*')))}"
        with EventIndex.open(self.base / name, self.dirs) as fresh:
            fresh.sync()
            with self.index._store.snapshot() as ours, fresh._store.snapshot() as theirs:
                result = compare(ours, theirs, self.index._config)
        return result.differences

    def is_as_fresh(self) -> bool:
        """Whether the index holds what one built of the same files would hold."""
        found = self.differences()
        assert found == ()
        return not found


@contextmanager
def untouched(directory: Path) -> Iterator[None]:
    """Files below a directory must be the same after the block, to the byte and the nanosecond."""
    before = _looks(directory)
    yield
    assert _looks(directory) == before


def _looks(directory: Path) -> dict[Path, tuple[object, ...]]:
    found: dict[Path, tuple[object, ...]] = {}
    for path in sorted(directory.rglob("*.jsonl")):
        status = path.lstat()
        content = path.read_bytes() if status.st_size < 1 << 20 and path.is_file() else b""
        found[path] = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode, content)
    return found


def age(path: Path, seconds: int = OLD) -> None:
    """Sets a file's modification time to long ago; ctime cannot be set."""
    os.utime(path, (seconds, seconds))


@contextmanager
def asked_before_commit(monkeypatch: pytest.MonkeyPatch, question: Any) -> Iterator[list[Any]]:
    """Collects the answers to a question, asked just before every commit while the block runs."""
    answers: list[Any] = []
    commit = Publication.commit

    def asking(self: Publication) -> None:
        answers.append(question())
        commit(self)

    with monkeypatch.context() as patch:
        patch.setattr(Publication, "commit", asking)
        yield answers


def as_somebody(script: Path, base: Path) -> subprocess.CompletedProcess[str]:
    """Runs a script that calls :func:`become_nobody` with the tests at hand."""
    paths = [Path(__file__).parents[2], *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, str(script), str(base)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )


def become_nobody(base: Path) -> None:
    """Gives ``base`` and this process to a user whom permissions bind.

    What an index imports lazily is imported before: the new user may not be able to read it.
    """
    with tempfile.TemporaryDirectory() as other:
        world = World(Path(other))
        world.write(header() + talk("walrus"))
        world.sync()
        assert world.is_as_fresh()
        world.index.rebuild()
        world.index.close()
    if os.getuid() == 0:
        os.chown(base, 65534, 65534)
        os.setgid(65534)
        os.setuid(65534)
