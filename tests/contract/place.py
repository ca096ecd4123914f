"""The command line run in this process on the session files of one test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pi_event_search import EventIndex, Invocation
from pi_event_search.cli import main

from tests.indexes import passing_place

Capture = pytest.CaptureFixture[str]


@dataclass
class Answer:
    """How one command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        assert self.out.count("\n") == 1, self.out
        assert self.out.endswith("\n")
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        """The document of a failure."""
        document = self.json
        assert set(document) == {"error"}
        error: dict[str, str] = document["error"]
        assert set(error) == {"code", "message"}
        assert error["message"]
        assert "\n" not in error["message"]
        return error

    def hits(self) -> list[tuple[str, str]]:
        assert self.code == 0, self.out + self.err
        return [(hit["sessionId"], hit["entryId"]) for hit in self.json["hits"]]


class Place:
    """A directory with session files, an index, workspaces, and the program to ask."""

    def __init__(self, base: Path, capture: Capture | None = None) -> None:
        self.base = base
        self.sessions = base / "sessions"
        self.index = base / "index"
        self.sessions.mkdir()
        self.capture = capture

    def workspace(self, name: str) -> Path:
        path = self.base / "w" / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def bare(self, *argv: str | Path) -> Answer:
        """Runs exactly these words."""
        assert self.capture is not None
        self.capture.readouterr()
        code = main([str(word) for word in argv])
        printed = self.capture.readouterr()
        return Answer(code, printed.out, printed.err)

    def run(self, *argv: str | Path) -> Answer:
        """Runs a command on this place's sessions and index, with JSON."""
        here = ("--sessions-dir", self.sessions, "--index-dir", self.index, "--json")
        return self.bare(*argv[:1], *here, *argv[1:])

    def all(self, *argv: str | Path) -> Answer:
        """The same in every workspace."""
        return self.run(argv[0], "--all-workspaces", *argv[1:])

    def sync(self) -> None:
        """Brings the index up to date without the command line."""
        with self.open() as index:
            index.sync()

    def open(self) -> EventIndex:
        return EventIndex.open(index_dir=self.index, session_dirs=[self.sessions])


EVERYWHERE = Invocation(cwd="/", workspace_root="/")


@contextmanager
def indexed(files: dict[str, bytes]) -> Iterator[EventIndex]:
    """An index over session files of these names; parents in `/sessions` are among them."""
    with passing_place() as place:
        here = f'"parentSession":"{place.sessions}/'.encode()
        for name, data in files.items():
            place.put(name, data.replace(b'"parentSession":"/sessions/', here))
        with place.index() as index:
            index.sync()
            yield index
