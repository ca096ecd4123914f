"""The SQLite side of the index: opening, versions, transactions, connections for many threads."""

from __future__ import annotations

import os
import queue
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pi_event_search import _core
from pi_event_search.errors import IndexProblem
from pi_event_search.faults import point
from pi_event_search.store.schema import SCHEMA_VERSION, TABLES

FILE_NAME = "index.sqlite"
BUSY_MS = 5_000
"""How long a statement waits for another process's short lock, in milliseconds."""


class Database:
    """One SQLite file in WAL mode. Connections are handed out one a thread at a time.

    Readers see one committed state for as long as they hold a connection from :meth:`snapshot`
    and never wait for the writer. :meth:`transaction` is for the holder of the writer lock.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE_NAME
        self._pid = os.getpid()
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()

    def exists(self) -> bool:
        """Whether there is a database with a finished schema of any version."""
        return self.path.exists() and self._version() != 0

    def check_version(self) -> bool:
        """Whether the schema is this program's.

        :raises IndexProblem: the database was written by a newer program, which it must stay
            readable for, or the file is no database.
        """
        version = self._version()
        if version > SCHEMA_VERSION:
            raise IndexProblem(
                f"The index at {self.path} was written by a newer pi-event-search (schema"
                f" {version}, this program knows {SCHEMA_VERSION}); upgrade, or name another"
                " --index-dir."
            )
        return version == SCHEMA_VERSION

    def create(self) -> None:
        """Makes the schema in one transaction: a crash leaves an empty file, never half of it."""
        # SQLite gives the files beside it the mode of this one.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self.path.chmod(0o600)
        connection = self._connect()
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            point("create.begun")
            for statement in TABLES.split(";"):
                if statement.strip():
                    connection.execute(statement)
            connection.executemany(
                "INSERT INTO metadata VALUES (?, ?)",
                [
                    ("index_uuid", str(uuid.uuid4())),
                    ("projector_version", _core.PROJECTOR_VERSION),
                    ("tokenizer_version", _core.TOKENIZER_VERSION),
                    ("text_directory", ""),
                    ("text_opstamp", 0),
                    ("next_key", 1),
                    ("next_epoch", 1),
                    ("generation", 0),
                ],
            )
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            point("create.commit")
            connection.execute("COMMIT")
            point("create.committed")
        finally:
            connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a read transaction: one committed state until the block ends."""
        with self.connection() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction; commits when the block ends, rolls back when it raises."""
        with self.connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                point("transaction.begun")
                yield connection
                point("transaction.commit")
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            point("transaction.committed")

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """A connection of the pool; returned to it when the block ends."""
        connection = self._take()
        try:
            yield connection
        finally:
            if connection.in_transaction:
                connection.rollback()
            self._idle.put(connection)

    def close(self) -> None:
        """Closes every idle connection. Closing twice is fine."""
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return

    def _take(self) -> sqlite3.Connection:
        if self._pid != os.getpid():
            # SQLite connections must not be used across fork(); the child starts its own pool.
            self._pid, self._idle = os.getpid(), queue.LifoQueue()
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return self._connect()

    def _version(self) -> int:
        if not self.path.exists():
            return 0
        connection = self._connect()
        try:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])
        finally:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
            # FULL: one sync a commit makes a published batch survive power loss (measured cheap).
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("PRAGMA cache_size = -16000")
        except sqlite3.DatabaseError as error:
            raise problem(self.path, error) from error
        return connection


def problem(path: Path, error: sqlite3.Error | OSError) -> IndexProblem:
    """The sentence for a failure of SQLite or of its files, with where and what to do."""
    return IndexProblem(
        f"The index at {path} cannot be used ({error}). It is derived from the session files:"
        " delete the index directory, or name another --index-dir, and sync again."
    )


def metadata(connection: sqlite3.Connection, name: str) -> Any:
    """One value of the metadata table; ``None`` when it is not there."""
    row = connection.execute("SELECT value FROM metadata WHERE name = ?", (name,)).fetchone()
    return None if row is None else row[0]


def set_metadata(connection: sqlite3.Connection, **values: object) -> None:
    """Stores values of the metadata table."""
    connection.executemany("REPLACE INTO metadata VALUES (?, ?)", list(values.items()))
