"""The SQLite side of the index: opening, versions, transactions, connections for many threads."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pi_event_search import _core
from pi_event_search.errors import IndexProblem
from pi_event_search.faults import point
from pi_event_search.store.changes import Steps
from pi_event_search.store.layout import (
    Condition,
    belongs,
    condemnation,
    log_of,
    newest_database,
)
from pi_event_search.store.schema import SCHEMA_VERSION, TABLES

BUSY_MS = 5_000
"""How long a statement waits for another process's short lock, in milliseconds."""


class Contradiction(IndexProblem):
    """The database says something that no program of this version writes."""


@dataclass(slots=True)
class _Pool:
    """Idle connections to one file, which is this file only as long as its inode says so."""

    path: Path
    identity: tuple[int, int]
    pid: int
    idle: deque[sqlite3.Connection] = field(default_factory=deque)
    """The one used last is on the right. Taking and putting are atomic."""
    steps: Steps = field(default_factory=Steps)

    def close(self) -> None:
        while True:
            try:
                self.idle.pop().close()
            except IndexError:
                return


class Database:
    """The SQLite file in WAL mode. Connections are handed out one a thread at a time.

    Readers see one committed state for as long as they hold a connection from :meth:`snapshot`
    and never wait for the writer. :meth:`transaction` is for the holder of the writer lock.
    Another process may replace the file at any time; the next connection is to the new one.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._pool: _Pool | None = None

    @property
    def steps(self) -> Steps:
        """What was published through this object to the file that is the index now. Another file
        has others; to be asked for before a connection, lest these are of a file that came since.
        """
        return self._current().steps

    @property
    def path(self) -> Path:
        """The file that is the index now, or the directory while there is none."""
        return newest_database(self._directory) or self._directory

    def condition(self) -> Condition:
        """What can be done with the database that is there now.

        :raises IndexProblem: the directory cannot be read.
        """
        self.relocate()
        condition = condition_of(newest_database(self._directory))
        if condition is Condition.READY and not self._answers():
            return Condition.DAMAGED
        return condition

    def relocate(self) -> None:
        """Lets go of a database that has been replaced and not been removed yet: its successor is
        the one that counts, above all for who is going to write."""
        newest = newest_database(self._directory)
        with self._lock:
            if self._pool is not None and self._pool.path != newest:
                self._pool.close()
                self._pool = None

    def condemn(self) -> None:
        """Notes that the database is damaged: the next sync, whoever runs it, replaces it."""
        pool = self._pool
        if pool is not None:
            with suppress(OSError):
                condemnation(pool.path).touch(mode=0o600)

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a read transaction: one committed state until the block ends."""
        with self.connection() as connection:
            connection.execute("BEGIN")
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction; commits when the block ends, rolls back when it raises."""
        with self.connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            point("transaction.begun")
            yield connection
            point("transaction.commit")
            connection.execute("COMMIT")
            point("transaction.committed")

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """A connection of the pool; what it has not committed when the block ends is undone.

        :raises IndexProblem: there is no database that this program can read.
        """
        pool, connection = self._take()
        sound = False
        try:
            yield connection
            sound = True
        except sqlite3.Error:
            raise  # after an error of the file nothing is known of the connection
        except BaseException:
            sound = True
            raise
        finally:
            _give_back(pool, connection, reusable=sound and pool is self._pool)

    def close(self) -> None:
        """Closes every idle connection. Closing twice is fine."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None and pool.pid == os.getpid():
            pool.close()

    def _take(self) -> tuple[_Pool, sqlite3.Connection]:
        pool = self._current()
        try:
            return pool, pool.idle.pop()
        except IndexError:
            return pool, connect(pool.path)

    def _current(self) -> _Pool:
        """The pool of the file that is the index now."""
        with self._lock:
            pool = self._pool
            # SQLite connections must not be used across fork(); the child starts its own pool.
            if pool is not None and pool.pid == os.getpid():
                if _identity(pool.path) == pool.identity:
                    return pool
                pool.close()
            self._pool = self._open()
            return self._pool

    def _open(self) -> _Pool:
        path = newest_database(self._directory)
        condition = condition_of(path)
        identity = None if path is None else _identity(path)
        if path is None or identity is None:
            raise IndexProblem(f"There is no index in {self._directory}; a sync makes one.")
        if condition is not Condition.READY:
            raise refusal(path, condition)
        return _Pool(path, identity, os.getpid())

    def _answers(self) -> bool:
        """Whether the database can be asked, and is the one that its name says."""
        try:
            with self.connection() as connection:
                return belongs(self.path, str(metadata(connection, "index_uuid")))
        except sqlite3.Error as error:
            if is_damage(error):
                return False
            raise


def condition_of(path: Path | None) -> Condition:
    """What can be done with a database, as far as its first page tells. Writes nothing, not even
    the files that SQLite keeps beside one.

    :raises sqlite3.Error: it cannot be looked at.
    """
    if path is None or not path.exists():
        return Condition.MISSING
    if condemnation(path).exists():
        return Condition.DAMAGED
    try:
        version = _version(path)
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        # What is missing at the end may be in the log.
        log = log_of(path)
        logged = log.exists() and log.stat().st_size > 0
        return Condition.READY if logged else Condition.DAMAGED
    if version == 0:
        return Condition.DAMAGED  # it got its name when it was complete
    if version != SCHEMA_VERSION:
        return Condition.NEWER if version > SCHEMA_VERSION else Condition.OLDER
    return Condition.READY


def _version(path: Path) -> int:
    """The schema version, read past locks and log: `immutable` touches nothing but the file."""
    uri = f"{path.as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def create(path: Path, *, index_uuid: str, text_directory: str, text_stamp: int) -> None:
    """Makes an empty database; a crash before the end leaves a file that nothing refers to."""
    connection = connect(path)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        point("create.begun")
        for statement in TABLES.split(";\n"):
            connection.execute(statement)
        set_metadata(
            connection,
            index_uuid=index_uuid,
            projector_version=_core.PROJECTOR_VERSION,
            tokenizer_version=_core.TOKENIZER_VERSION,
            text_directory=text_directory,
            text_directories=1,
            text_stamp=text_stamp,
            next_key=1,
            next_epoch=1,
            dictionary=0,
            # Random, so that states of two indexes are never taken for one another.
            generation=int.from_bytes(os.urandom(5), "big") << 20,
        )
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        point("create.commit")
        connection.execute("COMMIT")
        point("create.committed")
    finally:
        connection.close()
    path.chmod(0o600)


def new_uuid() -> str:
    """A name for a new index, as 32 hexadecimal digits."""
    return os.urandom(16).hex()


def connect(path: Path) -> sqlite3.Connection:
    """A connection with the settings of this program."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        # FULL: one sync a commit makes a published batch survive power loss (measured cheap).
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -16000")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def is_damage(error: BaseException) -> bool:
    """Whether an error says that the database itself is broken, whatever is tried with it.

    Tables and columns that are missing, and rows that are in each other's way, count: the
    statements are fixed, and only this program writes.
    """
    if isinstance(error, Contradiction):
        return True
    if not isinstance(error, sqlite3.Error):
        return False
    primary = _primary(error)
    if primary is None:
        return "decode" in str(error)  # a text that is not UTF-8
    if primary == sqlite3.SQLITE_ERROR:
        return "no such" in str(error)
    return primary in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
    )


def problem(path: Path, error: sqlite3.Error | OSError) -> IndexProblem:
    """The sentence for a failure of SQLite or of the files, with where and what to do."""
    if is_damage(error):
        return refusal(path, Condition.DAMAGED, str(error))
    hint = "try again, or name another --index-dir"
    if _is_full(error):
        hint = "make room on the disk and sync again"
    elif _is_closed(error):
        hint = "its directory must be writable, also for reading; or name another --index-dir"
    return IndexProblem(f"The index at {path} cannot be used ({error}); {hint}.")


def _is_full(error: sqlite3.Error | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return _primary(error) == sqlite3.SQLITE_FULL


def _is_closed(error: sqlite3.Error | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
    codes = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
    return _primary(error) in codes


def _primary(error: sqlite3.Error) -> int | None:
    """The primary result code; None for what the sqlite3 module raises on its own."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else int(code) & 0xFF


def refusal(path: Path, condition: Condition, detail: str = "") -> IndexProblem:
    """Why a database does not answer."""
    if condition is Condition.NEWER:
        return IndexProblem(
            f"The index at {path} was written by a newer pi-event-search (this program knows"
            f" schema {SCHEMA_VERSION}); upgrade, or name another --index-dir."
        )
    if condition is Condition.OLDER:
        return IndexProblem(
            f"The index at {path} was written by an older pi-event-search; the next sync builds"
            " it anew from the session files."
        )
    if condition is Condition.MISSING:
        return IndexProblem(f"There is no index at {path}; the next sync makes one.")
    why = f" ({detail})" if detail else ""
    return IndexProblem(
        f"The index at {path} is damaged{why}; the next sync builds it anew from the session files."
    )


def metadata(connection: sqlite3.Connection, name: str) -> Any:
    """One value of the metadata table; ``None`` when it is not there."""
    row = connection.execute("SELECT value FROM metadata WHERE name = ?", (name,)).fetchone()
    return None if row is None else row[0]


def number(connection: sqlite3.Connection, name: str) -> int:
    """One number of the metadata table.

    :raises Contradiction: it is not there, or no number.
    """
    value = metadata(connection, name)
    if not isinstance(value, int):
        raise Contradiction(f"The index is damaged: its {name} is {value!r}.")
    return value


def set_metadata(connection: sqlite3.Connection, **values: object) -> None:
    """Stores values of the metadata table."""
    connection.executemany("REPLACE INTO metadata VALUES (?, ?)", list(values.items()))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _give_back(pool: _Pool, connection: sqlite3.Connection, *, reusable: bool) -> None:
    try:
        if connection.in_transaction:
            connection.rollback()
    except sqlite3.Error:
        reusable = False
    if reusable:
        pool.idle.append(connection)
    else:
        connection.close()
