"""An index over a session directory of its own, and everything it shows in comparable form."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pi_event_search import EventIndex, SyncReport

from tests.facts import dump
from tests.indexes import EVERYTHING
from tests.pi.compare import Facts
from tests.pi.indexed import indexed_facts

Shown = dict[str, Any]


class Room:
    """A directory with sessions in it and an index over it."""

    def __init__(self, place: Path, *, by_environment: bool = False) -> None:
        self.place = place
        self.sessions = place / "sessions"
        self.sessions.mkdir(parents=True, exist_ok=True)
        directories = None if by_environment else [self.sessions]
        self.index = EventIndex.open(index_dir=place / "index", session_dirs=directories)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.index.close()

    def write(self, name: str, data: bytes) -> Path:
        """A new session file."""
        path = self.sessions / name
        path.write_bytes(data)
        return path

    def sync(self) -> SyncReport:
        """Brings the index up to date; nothing may fail."""
        report = self.index.sync()
        assert report.failed == 0, self.problems()
        return report

    def facts(self, path: Path) -> Facts:
        """The facts of a file that answers come from."""
        return indexed_facts(self.index)[path.resolve()]

    def files(self) -> set[Path]:
        """Files that answers come from."""
        return set(indexed_facts(self.index))

    def states(self, path: Path) -> dict[str, tuple[str, str]]:
        """Branch and selection state of each entry of a file, in append order."""
        return self.facts(path).states

    def receipts(self) -> dict[str, int]:
        """Kinds of problems, counted."""
        return {p.kind: p.count for p in self.index.status(invocation=EVERYTHING).coverage.problems}

    def problems(self) -> object:
        """What a failure message needs."""
        return self.index.status(invocation=EVERYTHING).problems

    def found(self, query: str, **filters: Any) -> list[tuple[str, str, tuple[str, ...]]]:
        """Hits as (session, entry, further sessions with the same entry)."""
        page = self.index.search(query, invocation=EVERYTHING, limit=200, **filters)
        return [(hit.session_id, hit.entry_id, hit.also_in) for hit in page.hits]

    def shown(self, path: Path, words: tuple[str, ...] = ()) -> Shown:
        """Everything the index says of one session file, and the hits of some words."""
        shown: Shown = {"rows": dump(self.index, path)}
        shown["facts"] = dataclasses.asdict(self.facts(path))
        for word in words:
            page = self.index.search(word, invocation=EVERYTHING, limit=200)
            # Scores depend on everything that was ever indexed; places on disk are other ones.
            hits = [dataclasses.replace(hit, score=0.0, path="") for hit in page.hits]
            shown[f"search {word}"] = sorted(map(repr, hits))
        return shown

    def extent(self, path: Path) -> int:
        """Bytes of a file that the index holds: up to the end of the last record it took in."""
        with self.index._view(EVERYTHING) as (_, view):
            row = next(s for s in view.scope.sources if s.path == os.fsencode(path.resolve()))
            return row.complete_offset + row.tail_length


def fresh(data: bytes, place: Path, words: tuple[str, ...] = ()) -> Shown:
    """What an index shows that reads these bytes for the first time."""
    scratch = Path(tempfile.mkdtemp(dir=place))
    try:
        with Room(scratch) as room:
            path = room.write("session.jsonl", data)
            room.sync()
            return room.shown(path, words)
    finally:
        shutil.rmtree(scratch)
