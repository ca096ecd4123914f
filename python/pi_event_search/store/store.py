"""Both stores behind one door: opening, consistent snapshots for readers, the writer's turn."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import tantivy

from pi_event_search.errors import IndexBusy, IndexProblem
from pi_event_search.faults import point
from pi_event_search.store import layout
from pi_event_search.store.database import (
    Contradiction,
    Database,
    is_damage,
    metadata,
    number,
    problem,
    refusal,
)
from pi_event_search.store.dictionary import dictionary_of
from pi_event_search.store.layout import Condition
from pi_event_search.store.lease import (
    WAIT_SECONDS,
    Lease,
    is_held,
    is_waited_for,
    writer_lease,
)
from pi_event_search.store.publish import BATCH_BYTES, Publication
from pi_event_search.store.recovery import (
    SUSPECT,
    create_index,
    install,
    is_paired,
    known_files,
    rebuild_text,
    recover,
    text_trouble,
)
from pi_event_search.store.text_files import documents_of
from pi_event_search.store.text_index import TextIndex, TextProblem

SNAPSHOT_TRIES = 20
TEXT_TRIES = 3
"""How often a reader looks again when the text index does not fit to the database. A publication
or a switch that comes in between explains it once, hardly twice."""
DEAD_SHARE = 0.3
DEAD_FLOOR = 2_000
"""The text index is made anew when more than this share of its documents, and at least so many,
are deleted: Tantivy never takes them out."""


class Snapshot(NamedTuple):
    """One committed state of both stores."""

    connection: sqlite3.Connection
    searcher: tantivy.Searcher
    generation: int
    """Counts publications; equal numbers mean equal rows."""

    def is_settled(self) -> bool:
        """Whether each document of a live epoch has its rows: no rows have died before their
        documents, and no batch is on its way in."""
        found = self.connection.execute(
            "SELECT EXISTS (SELECT 1 FROM dead_keys) OR EXISTS (SELECT 1 FROM reservations)"
        ).fetchone()
        return not found[0]


class _Newest(NamedTuple):
    """A searcher that was taken while the database stood at a generation."""

    generation: int
    text_directory: str
    searcher: tantivy.Searcher


class Store:
    """The index of one directory. May be shared by threads; many processes may open one."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.database = Database(directory)
        self._text: TextIndex | None = None
        self._newest: _Newest | None = None
        self._lock = threading.Lock()
        self._recovered = False

    @classmethod
    def open(cls, directory: Path) -> Store:
        """Opens the index of a directory, and makes an empty one where there is none.

        An index that is damaged or of an older version is left as it is until something is to be
        written: reading it is refused, and :meth:`prepare` or :meth:`replacing` replaces it.

        :raises IndexProblem: the directory cannot be used, or a newer program wrote the index.
        """
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not any(directory.iterdir()):
                # It is empty, so it is ours now; what others have files in keeps its mode.
                directory.chmod(0o700)
        except OSError as error:
            raise IndexProblem(
                f"The index directory {directory} cannot be made ({error.strerror});"
                " name another with --index-dir or PI_EVENT_SEARCH_INDEX_DIR."
            ) from error
        store = cls(directory)
        with store.guarded():
            condition = store.database.condition()
            if condition is Condition.NEWER:
                raise refusal(store.database.path, condition)
            if condition is Condition.MISSING:
                store._replace()
        return store

    def close(self) -> None:
        """Releases connections and the writer. Closing twice is fine."""
        with self._lock:
            text, self._text = self._text, None
            self._newest = None
        if text is not None:
            text.close()
        self.database.close()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Failures of the stores become the index's own, and are remembered where the next sync
        looks: a damaged database is replaced then, a text index that failed is examined."""
        try:
            yield
        except TextProblem:
            self.suspect_text()
            raise
        except (sqlite3.Error, IndexProblem, OSError) as error:
            if is_damage(error):
                self.database.condemn()
            if isinstance(error, IndexProblem):
                raise
            raise problem(self.database.path, error) from error

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """One committed state for as long as the block runs; never waits for a writer.

        As long as nothing is published, one searcher answers.
        """
        with self.database.connection() as connection:
            connection.execute("BEGIN")
            generation, text_directory = _standing(connection)
            newest = self._newest
            if newest is not None and newest[:2] == (generation, text_directory):
                yield Snapshot(connection, newest.searcher, generation)
                return
        with self._new_snapshot() as snapshot:
            yield snapshot

    @contextmanager
    def _new_snapshot(self) -> Iterator[Snapshot]:
        """The searcher is taken between two looks at the generation: when a publication came in
        between, the two stores may differ, and both are taken again.
        """
        troubles = 0
        for _ in range(SNAPSHOT_TRIES):
            with self.database.connection() as connection:
                before = _standing(connection)
                try:
                    searcher = self._text_index(connection).searcher()
                except TextProblem:
                    # Perhaps the directory was switched and removed under our eyes.
                    self._forget_text()
                    troubles += 1
                    if troubles == TEXT_TRIES:
                        raise
                    continue
                connection.execute("BEGIN")
                after = _standing(connection)
                if after == before:
                    dictionary_of(connection)
                    self._newest = _Newest(*after, searcher)
                    yield Snapshot(connection, searcher, after[0])
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
        with self.turn(wait, after_others=after_others) as lease:
            with self.database.connection() as connection:
                text = self._text_index(connection)
            publication = Publication(
                self.database, text, bulk=bulk, wanted=lease.wanted, batch_bytes=batch_bytes
            )
            try:
                yield publication
                publication.collect_garbage()
            except BaseException:
                # What was published of an unfinished reading is found and removed by the next turn.
                self._recovered = False
                raise
            finally:
                try:
                    publication.close()
                finally:
                    text.close()

    def prepare(self) -> None:
        """Makes the index one that can be written to: replaces a missing or damaged database, and
        repairs a text index that does not fit. Costs little when all is well.

        :raises IndexProblem: the index is of another schema.
        :raises IndexBusy: it must be repaired, and another writer kept the lock.
        """
        condition = self.database.condition()
        if condition in (Condition.MISSING, Condition.DAMAGED):
            self._replace()
        elif condition is not Condition.READY:
            raise refusal(self.database.path, condition)
        if not self._looks_sound():
            self._recovered = False
            with self.turn():
                pass
        elif self._is_left_over():
            # Perhaps a writer is at work just now; then there is nothing to recover.
            with suppress(IndexBusy), self.turn(0):
                pass

    def compact(self) -> bool:
        """Makes the text index anew when too many of its documents are deleted; returns whether.

        While another process writes, its own turn will do.
        """
        with self.database.connection() as connection:
            directory = self._text_directory(connection)
        try:
            documents = documents_of(directory)
        except (OSError, ValueError):
            return False
        if documents.dead < max(DEAD_FLOOR, documents.total * DEAD_SHARE):
            return False
        with suppress(IndexBusy), self.turn(0):
            point("compact.begun")
            # Without room for a second one the old text index goes on: it is large, not wrong.
            with suppress(TextProblem, OSError):
                rebuild_text(self.database, self.directory)
            self._forget_text()
            self._remove_leftovers()
            return True
        return False

    def is_outdated(self) -> bool:
        """Whether the database is of an older schema, so that a new one must be built."""
        return self.database.condition() is Condition.OLDER

    @contextmanager
    def replacing(self) -> Iterator[Store]:
        """An empty index beside this one, which takes its place when the block ends well.

        Until then this one answers, and after that whoever has it open finds the new one with
        the next question. Nobody else can write meanwhile.

        :raises IndexBusy: another writer kept the lock.
        """
        with writer_lease(self.directory) as lease:
            condition = self.database.condition()
            if condition is Condition.NEWER:
                raise refusal(self.database.path, condition)
            if lease.unclean:  # should it stay after all, it is examined
                self.suspect_text()
            building = self.directory / layout.BUILDING
            layout.remove_tree(building)
            try:
                new = Store.open(building)
                try:
                    yield new
                    with new.database.connection() as connection:
                        text = new._text_directory(connection)
                        index_uuid = str(metadata(connection, "index_uuid"))
                    database = new.database.path
                finally:
                    new.close()
                point("replace.filled")
                text.rename(self.directory / text.name)
                point("replace.text_moved")
                install(database, self.directory, index_uuid)
                self.database.relocate()
            finally:
                layout.remove_tree(building)
            self._recover(unclean=False)

    def being_written(self) -> bool:
        """Whether somebody holds the writer lock just now."""
        return is_held(self.directory)

    def is_overtaken(self, snapshot: Snapshot) -> bool:
        """Whether something was published since a snapshot was taken, or somebody is about to
        write: one writer leaves the index to another for whom it still has to wait."""
        if is_waited_for(self.directory):
            return True
        with self.database.connection() as connection:
            return number(connection, "generation") != snapshot.generation

    def suspect_text(self) -> None:
        """Has the next turn, whoever takes it, look at every byte of the text index."""
        self._forget_text()
        with suppress(OSError, sqlite3.Error, IndexProblem):
            with self.database.connection() as connection:
                directory = self._text_directory(connection)
            (directory / SUSPECT).touch(mode=0o600)

    def size_bytes(self) -> int:
        """Bytes of all files of the index."""
        total = 0
        for file in self.directory.rglob("*"):
            with suppress(FileNotFoundError):  # a writer has replaced it meanwhile
                total += file.stat().st_size if file.is_file() else 0
        return total

    @contextmanager
    def turn(self, wait: float = WAIT_SECONDS, *, after_others: bool = False) -> Iterator[Lease]:
        """The writer lock, with the stores in agreement."""
        with writer_lease(self.directory, wait, after_others=after_others) as lease:
            self.database.relocate()
            if lease.unclean or not self._recovered or self._is_left_over():
                self._recover(unclean=lease.unclean)
            yield lease

    def _recover(self, *, unclean: bool) -> None:
        """Makes the two stores agree after whatever the last writer went through."""
        point("recovery.begun")
        self._forget_text()
        recover(self.database, self.directory, unclean=unclean)
        self._remove_leftovers()
        point("recovery.done")
        self._recovered = True

    def _replace(self) -> None:
        """Puts an empty index where there is none, or none that can be used."""
        with writer_lease(self.directory):
            condition = self.database.condition()  # another process may have been here
            explicit: list[bytes] = []
            if condition is Condition.DAMAGED:
                path = self.database.path
                explicit = [file.path for file in known_files(path) if file.explicit]
                self.database.close()
                layout.set_aside(path)
            if condition in (Condition.DAMAGED, Condition.MISSING):
                self._forget_text()
                create_index(self.directory, explicit)
                self._remove_leftovers()

    def _text_index(self, connection: sqlite3.Connection) -> TextIndex:
        """The text index that SQLite points to, opened anew when the pointer moved.

        Whatever commit is the last one, SQLite must know of it: an older one may have been put back
        under an index that is open.

        :raises TextProblem: it cannot be opened, or is not the one SQLite was published with.
        """
        directory = self._text_directory(connection)
        with self._lock:
            text = self._text
            if text is None or text.directory != directory:
                text = TextIndex(directory)
            if not is_paired(connection, text):
                raise TextProblem(
                    f"The text index in {directory} does not belong to the database; the next"
                    " sync makes it anew."
                )
            self._text = text
            return text

    def _text_directory(self, connection: sqlite3.Connection) -> Path:
        return self.directory / str(metadata(connection, "text_directory"))

    def _forget_text(self) -> None:
        with self._lock:
            self._text = self._newest = None

    def _looks_sound(self) -> bool:
        """Whether the text index opens and fits, as far as a quick look tells.

        :raises Contradiction: texts cannot be read.
        """
        with self.database.connection() as connection:
            dictionary_of(connection)
            try:
                text = self._text_index(connection)
            except TextProblem:
                return False
            at = text.directory
            if (at / SUSPECT).exists():
                return False
            return text_trouble(connection, at, thorough=False, opened=text) is None

    def _is_left_over(self) -> bool:
        """Whether a batch was begun and has not ended."""
        with self.database.connection() as connection:
            return connection.execute("SELECT 1 FROM reservations").fetchone() is not None

    def _remove_leftovers(self) -> None:
        with self.database.connection() as connection:
            text = self._text_directory(connection)
        layout.remove_leftovers(self.directory, self.database.path, text)


def _standing(connection: sqlite3.Connection) -> tuple[int, str]:
    """The generation, and the directory of the text index that goes with it.

    :raises Contradiction: they are not there.
    """
    found = connection.execute(
        "SELECT value, (SELECT value FROM metadata WHERE name = 'text_directory')"
        " FROM metadata WHERE name = 'generation'"
    ).fetchone()
    if found is None or not isinstance(found[0], int):
        raise Contradiction(f"The index is damaged: its generation is {found!r}.")
    return found[0], str(found[1])
