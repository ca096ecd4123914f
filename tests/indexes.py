"""Indexes over temporary session directories, made with the public Python API."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pi_event_search import EventIndex, Invocation

EVERYTHING = Invocation(cwd="/", workspace_root="/")
"""The trusted local user, who may see every session."""

_MEMORY = Path("/dev/shm")
"""Where Linux keeps files in memory: an index there costs no waiting for the disk."""


@dataclass(frozen=True)
class Place:
    """A directory for session files, and one for an index over them."""

    base: Path

    @property
    def sessions(self) -> Path:
        return self.base / "sessions"

    def path(self, name: str) -> Path:
        return self.sessions / f"{name}.jsonl"

    def put(self, name: str, data: bytes) -> Path:
        """Writes a session file."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def append(self, name: str, data: bytes) -> Path:
        """Appends to a session file in one write."""
        with self.path(name).open("ab") as file:
            file.write(data)
        return self.path(name)

    def index(self, name: str = "index") -> EventIndex:
        """The index of that name: opened again when it is there."""
        self.sessions.mkdir(parents=True, exist_ok=True)
        return EventIndex.open(self.base / name, [self.sessions])


@contextmanager
def passing_place() -> Iterator[Place]:
    """A place for one example of a property test, in memory where the system can do that."""
    memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with TemporaryDirectory(dir=memory) as base:
        yield Place(Path(base))
