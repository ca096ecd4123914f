"""What must hold of any index, whatever happened to it: it equals one that was built afresh."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pi_event_search import EventIndex
from pi_event_search.store.schema import epoch_of
from pi_event_search.store.text_hits import pages
from pi_event_search.store.text_query import TextFilter, build

from tests.facts import dump
from tests.indexes import EVERYTHING, Place

Facts = dict[str, Any]


def files(directory: Path) -> list[Path]:
    """The session files of a directory, in the order of their names."""
    return sorted(path for path in directory.glob("*.jsonl") if path.is_file())


def facts(index: EventIndex) -> Facts:
    """Every fact of every known file, by name, and of the sources as a whole."""
    with index._view(EVERYTHING) as (snapshot, _):
        sources = snapshot.connection.execute("SELECT path, state FROM sources").fetchall()
    found: Facts = {}
    for path, state in sources:
        name = os.fsdecode(os.path.basename(path))
        found[name] = {"state": state, **dump(index, Path(os.fsdecode(path)))}
    return found


def check_documents(index: EventIndex) -> None:
    """Each fragment of a live reading has exactly one document, and is found through it."""
    with index._view(EVERYTHING) as (snapshot, _):
        live = {row[0] for row in snapshot.connection.execute("SELECT epoch FROM sources")}
        rows = snapshot.connection.execute("SELECT key, event FROM fragments").fetchall()
        wanted = Counter((key, event) for key, event in rows if epoch_of(event) in live)
        every = pages(snapshot.searcher, build(None, TextFilter()), 1_000, "key", "event")
        documents = Counter(pair for page in every for pair in zip(*page, strict=True))
    visible = Counter({pair: n for pair, n in documents.items() if pair in wanted})
    assert visible == wanted


def check_tables(index: EventIndex) -> None:
    """No row stands about for a reading that is neither live nor being written."""
    with index._view(EVERYTHING) as (snapshot, _):
        live = {row[0] for row in snapshot.connection.execute("SELECT epoch FROM sources")}
        for table, column in (
            ("sessions", "epoch"),
            ("receipts", "epoch"),
            ("events", "event >> 32"),
            ("fragments", "event >> 32"),
            ("relationships", "event >> 32"),
            ("segments", "segment >> 32"),
            ("path", "segment >> 32"),
        ):
            query = f"SELECT DISTINCT {column} FROM {table}"
            left = {row[0] for row in snapshot.connection.execute(query)} - live
            assert not left, (table, left)
        assert snapshot.connection.execute("SELECT * FROM reservations").fetchall() == []
        assert snapshot.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def fresh_facts(sessions: Path, base: Path) -> Facts:
    """The facts of an index that is built from the files as they are now, in ``base``."""
    with EventIndex.open(base, [sessions]) as index:
        index.sync()
        return facts(index)


@dataclass(frozen=True)
class Untouched:
    """Source files as they were, to prove that nobody wrote to them."""

    before: dict[str, tuple[bytes, int]]

    @classmethod
    def of(cls, directory: Path) -> Untouched:
        """Bytes and modification times of the session files."""
        return cls({p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in files(directory)})

    def check(self, place: Place) -> None:
        """They still are."""
        assert Untouched.of(place.sessions).before == self.before
