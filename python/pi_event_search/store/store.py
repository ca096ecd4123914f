"""Both stores behind one door: opening, consistent snapshots for readers, the writer's turn."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import tantivy

from pi_event_search.errors import IndexProblem
from pi_event_search.store.database import Database, metadata, problem
from pi_event_search.store.lease import WAIT_SECONDS, is_held, writer_lease
from pi_event_search.store.publish import BATCH_BYTES, Publication
from pi_event_search.store.recovery import discard_unfinished, rebuild_text
from pi_event_search.store.text_index import TextIndex

SNAPSHOT_TRIES = 20


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One committed state of both stores."""

    connection: sqlite3.Connection
    searcher: tantivy.Searcher
    generation: int
    """Counts publications; equal numbers mean equal rows."""


class Store:
    """The index of one directory. May be shared by threads; many processes may open one."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.database = Database(directory)
        self._text: TextIndex | None = None
        self._lock = threading.Lock()
        self._recovered = False

    @classmethod
    def open(cls, directory: Path) -> Store:
        """Opens the index of a directory, and makes an empty one where there is none.

        :raises IndexProblem: the directory cannot be used, or a newer program wrote the index.
        """
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise IndexProblem(
                f"The index directory {directory} cannot be made ({error.strerror});"
                " name another with --index-dir or PI_EVENT_SEARCH_INDEX_DIR."
            ) from error
        store = cls(directory)
        try:
            if not store.database.exists():
                store._create()
            store.database.check_version()
        except sqlite3.Error as error:
            raise problem(store.database.path, error) from error
        return store

    def close(self) -> None:
        """Releases connections and the writer. Closing twice is fine."""
        with self._lock:
            if self._text is not None:
                self._text.close()
                self._text = None
        self.database.close()

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """One committed state for as long as the block runs; never waits for a writer.

        The searcher is taken between two looks at the generation: when a publication came in
        between, the two stores may differ, and both are taken again.
        """
        for _ in range(SNAPSHOT_TRIES):
            with self.database.connection() as connection:
                before = int(metadata(connection, "generation"))
                searcher = self._text_index(connection).searcher()
                connection.execute("BEGIN")
                generation = int(metadata(connection, "generation"))
                if generation == before:
                    yield Snapshot(connection, searcher, generation)
                    return
        raise IndexProblem(
            f"The index in {self.directory} is published to faster than it can be read; try again."
        )

    @contextmanager
    def writing(
        self,
        *,
        bulk: bool,
        wait: float = WAIT_SECONDS,
        after_others: bool = False,
        batch_bytes: int = BATCH_BYTES,
    ) -> Iterator[Publication]:
        """The writer's turn: holds the lock, and abandons what the block did not commit.

        Whoever has much to do should leave between two batches when ``Publication.wanted`` says
        so, and come back ``after_others``.

        :raises IndexBusy: another writer kept the lock.
        """
        with writer_lease(self.directory, wait, after_others=after_others) as lease:
            if lease.unclean or not self._recovered:
                self._recover()
            with self.database.connection() as connection:
                text = self._text_index(connection)
            publication = Publication(
                self.database, text, bulk=bulk, wanted=lease.wanted, batch_bytes=batch_bytes
            )
            try:
                yield publication
            finally:
                publication.close()
                text.close()

    def being_written(self) -> bool:
        """Whether somebody holds the writer lock just now."""
        return is_held(self.directory)

    def size_bytes(self) -> int:
        """Bytes of all files of the index."""
        return sum(f.stat().st_size for f in self.directory.rglob("*") if f.is_file())

    def _create(self) -> None:
        with writer_lease(self.directory):
            if not self.database.exists():
                self.database.create()
                self._rebuild_text()

    def _text_index(self, connection: sqlite3.Connection) -> TextIndex:
        """The text index that SQLite points to, opened anew when the pointer moved."""
        name = str(metadata(connection, "text_directory"))
        with self._lock:
            if self._text is None or self._text.directory.name != name:
                self._text = TextIndex(self.directory / name)
            return self._text

    def _recover(self) -> None:
        """Makes the two stores agree after whatever the last writer went through."""
        with self.database.connection() as connection:
            sound = self._text_is_sound(connection)
        if not sound:
            self._rebuild_text()
        with self.database.transaction() as connection:
            discard_unfinished(connection)
        self._recovered = True

    def _text_is_sound(self, connection: sqlite3.Connection) -> bool:
        """Whether Tantivy opens, and holds at least what SQLite says was committed to it.

        Power loss can bring back Tantivy's previous commit although the call had returned.
        """
        try:
            committed = self._text_index(connection).committed_opstamp()
        except (IndexProblem, OSError, ValueError, KeyError, json.JSONDecodeError):
            return False
        return committed >= int(metadata(connection, "text_opstamp"))

    def _rebuild_text(self) -> None:
        with self._lock:
            self._text = None
        kept = rebuild_text(self.database, self.directory)
        for old in self.directory.glob("text-*"):
            if old != kept:
                shutil.rmtree(old, ignore_errors=True)
