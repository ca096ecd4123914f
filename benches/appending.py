"""From an append to a session until a search finds it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from unittest import mock

import tantivy
from pi_event_search import EventIndex, Invocation
from pi_event_search.store import database
from pi_event_search.store.text_index import TOKENIZER, WRITER_BYTES

from benches.answers import Wrong
from benches.corpus.generate import Corpus, Session
from benches.goals import Row, at
from benches.measure import Times, timed
from benches.place import Place, opened, somebody

ROUNDS = 30
SIZES = {"100 KB": 100_000, "10 MB": 10_000_000, "100 MB": 100_000_000}
ENTRIES = 40_000
_SIMPLE = tantivy.Tokenizer.simple()
_FILLING = "lorem ipsum dolor sit amet " * 30
"""Makes a record of about a kilobyte."""


def rows(place: Place, corpus: Corpus, megabytes: float) -> Iterator[Row]:
    """Appends to sessions of several sizes inside one index, in turns."""
    work = f"append of 1 KB until found, index of {megabytes:g} MB"
    sessions = {name: corpus.nearest(size) for name, size in SIZES.items()}
    sizes = {name: size for name, size in SIZES.items() if size < 2 * sessions[name].bytes}
    found = {name: Appends(sessions[name]) for name in sizes}
    with (
        opened(place.index_of(corpus), corpus.sessions_dir) as index,
        _Engine(place, place.index_of(corpus)) as engine,
        _restored(found),
    ):
        _in_turns(index, somebody(corpus), found, engine)
    for name, appends in found.items():
        times = Times(appends.taken)
        large = at(megabytes, 1_000, 1)
        yield Row(work, f"{name}, p50", times.median, goal=large and 15.0)
        yield Row(work, f"{name}, p95", times.percentile(95), goal=large and 60.0)
        yield Row(work, f"{name}, bytes read", Times(appends.read).median, "B")
        yield Row(work, f"{name}, rows written", Times(appends.rows).median, "")
    floor = Times(engine.taken)
    yield Row(work, "engine alone, p50", floor.median)
    yield Row(work, "engine alone, p95", floor.percentile(95))
    if "100 MB" in found:
        ratio = Times(found["100 MB"].taken).median / Times(found["100 KB"].taken).median
        yield Row(work, "100 MB against 100 KB", ratio, "x", at(megabytes, 1_000, 1.2))


def branch_rows(place: Place) -> Iterator[Row]:
    """A long session that goes on at its leaf, or deep inside."""
    work = f"branch switch in {ENTRIES:,} entries"
    scratch = place.scratch("branches")
    sessions = scratch / "sessions"
    sessions.mkdir()
    long = session_of(sessions / "long.jsonl", ENTRIES)
    linear = Appends(long)
    switch = Appends(long, linear, deep=True)
    with opened(scratch / "index", sessions) as index:
        index.sync()
        caller = Invocation(cwd=long.cwd, workspace_root=long.cwd)
        _in_turns(index, caller, {"linear": linear, "switch": switch})
    times = {name: Times(a.taken).median for name, a in (("go on", linear), ("switch", switch))}
    for name, median in times.items():
        yield Row(work, f"{name}, p50", median)
    yield Row(work, "switch against going on", times["switch"] / times["go on"], "x", 1.5)


@dataclass
class Appends:
    """Appends to one session, and what each of them cost."""

    session: Session
    shared: Appends | None = None
    """Others that go to the same file."""
    deep: bool = False
    """Each hangs on an entry in the middle, so that the branch is switched."""

    def __post_init__(self) -> None:
        self.last = self.session.last
        self.taken: list[float] = []
        self.read: list[float] = []
        self.rows: list[float] = []

    def append(self) -> str:
        """Adds one record and gives the word that stands nowhere else."""
        word = f"zq{uuid.uuid4().hex}"
        parent = f"{ENTRIES // 2:08x}" if self.deep else (self.shared or self).last
        entry_id = word[2:18]
        content = [{"type": "text", "text": f"{word} {_FILLING}"}]
        message = {"role": "user", "content": content}
        record = {"type": "message", "id": entry_id, "parentId": parent, "message": message}
        with Path(self.session.path).open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")
        (self.shared or self).last = entry_id
        return word


class _Engine:
    """The engine alone: one text into a copy of the text index, until it can be searched. Its
    writer stays open, so that it waits for no merge."""

    def __init__(self, place: Place, index_dir: Path) -> None:
        (source,) = index_dir.glob("text-*")
        directory = place.scratch("append") / source.name
        shutil.copytree(source, directory)
        os.sync()  # or the appends would wait for the copy to reach the disk
        self._index = tantivy.Index.open(str(directory))
        self._index.register_tokenizer(TOKENIZER, tantivy.TextAnalyzerBuilder(_SIMPLE).build())
        self._directory = directory
        self.taken: list[float] = []

    def __enter__(self) -> Self:
        self._writer = self._index.writer(heap_size=WRITER_BYTES, num_threads=1)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.wait_merging_threads()
        shutil.rmtree(self._directory)

    def append(self) -> None:
        document = json.dumps({"words": [f"zq{uuid.uuid4().hex} {_FILLING}"]})

        def until_searchable() -> None:
            self._writer.add_json(document)
            self._writer.commit()
            self._index.reload()
            self._index.searcher()

        self.taken.append(timed(until_searchable))


class _Rows:
    """Counts the rows that SQLite changes while the block runs."""

    def __enter__(self) -> Self:
        self._connections: list[tuple[sqlite3.Connection, int]] = []
        connect = database.connect

        def watched(path: Path) -> sqlite3.Connection:
            connection = connect(path)
            self._connections.append((connection, connection.total_changes))
            return connection

        self._patch = mock.patch.object(database, "connect", watched)
        self._patch.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._patch.stop()

    @property
    def written(self) -> int:
        return sum(c.total_changes - before for c, before in self._connections)


def _in_turns(
    index: EventIndex,
    caller: Invocation,
    found: dict[str, Appends],
    engine: _Engine | None = None,
) -> None:
    index.close()  # what it opens from now on is counted
    with _Rows() as rows:
        for turn in range(ROUNDS + 2):
            if engine is not None:
                engine.append()
            for appends in found.values():
                word, before, pages = appends.append(), rows.written, list[Any]()

                def until_found(
                    path: str = appends.session.path,
                    word: str = word,
                    pages: list[Any] = pages,
                ) -> None:
                    pages.append(index.sync(path))
                    pages.append(index.search(word, invocation=caller))

                took = timed(until_found)
                report, page = pages
                if report.appended != 1 or len(page.hits) != 1:
                    raise Wrong(f"{appends.session.path}: {report}, {page}")
                if turn > 1:
                    appends.taken.append(took)
                    appends.read.append(report.bytes_read + report.probed_bytes)
                    appends.rows.append(rows.written - before)


@contextmanager
def _restored(found: dict[str, Appends]) -> Iterator[None]:
    """Gives the files their old content and times back at the end."""
    before = {a.session.path: Path(a.session.path).stat() for a in found.values()}
    try:
        yield
    finally:
        for path, status in before.items():
            os.truncate(path, status.st_size)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def session_of(path: Path, entries: int) -> Session:
    """Writes a session of so many entries without branches."""
    header = {"type": "session", "version": 3, "id": "long", "cwd": str(path.parent)}
    lines = [json.dumps(header)]
    for number in range(entries):
        parent = f"{number - 1:08x}" if number else None
        message = {"role": "user", "content": [{"type": "text", "text": f"entry {number}"}]}
        record = {"type": "message", "id": f"{number:08x}", "parentId": parent}
        lines.append(json.dumps(record | {"message": message}))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    last = f"{entries - 1:08x}"
    return Session(str(path), "long", str(path.parent), path.stat().st_size, entries, last)
