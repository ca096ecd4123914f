"""The one commit point: a batch becomes visible with one SQLite transaction, or not at all.

1. A range of keys and a stamp are reserved in SQLite. The reservation row stays until step 3.
2. Documents go to Tantivy under these keys, rows into an open SQLite transaction. Tantivy commits
   them together with the stamp.
3. The SQLite transaction commits: rows, checkpoints and the stamp become true together.

A crash before 3 leaves documents without rows, which readers drop and the reservation finds. The
stamps tell the two stores' states apart: SQLite knows the one it was published with and the one
that may have been committed since, so Tantivy with any other is behind, ahead by more than a
batch, or not of this index.

Documents of rows that die in a batch live until a later one: while the transaction is open, and
for ever if it never commits, those rows still answer.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pi_event_search import _core
from pi_event_search.faults import point
from pi_event_search.memory import give_back
from pi_event_search.store.changes import note_changes, noted_changes
from pi_event_search.store.database import Database, number, set_metadata
from pi_event_search.store.dictionary import (
    dictionary_of,
    is_large_enough,
    is_unlearned,
    learn_dictionary,
)
from pi_event_search.store.gather import to_gather
from pi_event_search.store.rows import EventRow, FragmentRow
from pi_event_search.store.text_index import TextIndex

RESERVED_KEYS = 1 << 24
"""Keys reserved at once. Numbers are plentiful, and a batch must never run out of them."""
SPARE_KEYS = RESERVED_KEYS // 2
"""A batch is published before fewer are left: more than one reading's records can use."""
BATCH_BYTES = 48_000_000
"""Bytes of session records after which a batch is published. Larger ones are not faster, and cost
memory: the engine's heap fills up, and the segments that it merges are larger."""

MUCH_BYTES = 32_000_000
"""Bytes of session records for which it pays to publish the first of them early, so that the
dictionary is there for the others."""

_INSERT_EVENT = f"INSERT INTO events VALUES ({', '.join('?' * len(EventRow._fields))})"
_INSERT_FRAGMENT = f"INSERT INTO fragments VALUES ({', '.join('?' * len(FragmentRow._fields))})"


class Publication:
    """One batch on its way in: the open transaction, its keys and its documents.

    For the holder of the writer lock. After :meth:`commit` the same object carries the next
    batch; :meth:`abandon` undoes what was not committed.
    """

    def __init__(
        self,
        database: Database,
        text: TextIndex,
        *,
        bulk: bool,
        wanted: Callable[[], bool] = lambda: False,
        batch_bytes: int = BATCH_BYTES,
    ) -> None:
        self._database = database
        self._text = text
        self._bulk = bulk
        self._batch_bytes = batch_bytes
        self.wanted = wanted
        """Whether another writer waits for its turn."""
        self.expected = 0
        """Bytes of records that are known to come, as far as anybody said."""
        self.took: Callable[[int], None] = lambda _: None
        """Told how many bytes of records were taken in, several times in a long file."""
        self._steps = database.steps
        self._pool = database.connection()
        self.connection: sqlite3.Connection = self._pool.__enter__()
        self.dictionary: _core.Dictionary | None = None
        """What the texts of this batch are compressed with."""
        self._learns = False
        self._first_key = self._next_key = self._last_key = 0
        self._stamp = 0
        self._documents = 0
        self._dead_keys: list[tuple[int, int]] = []
        self._dead_epochs: list[int] = []
        self._open = False
        self.weight = 0

    def begin(self) -> sqlite3.Connection:
        """Opens the transaction of the batch, unless it is open."""
        if not self._open:
            self._reserve()
            point("publish.reserved")
            note_changes(self.connection)
            self.connection.execute("BEGIN IMMEDIATE")
            self._open = True
            point("publish.begun")
            self._find_garbage()
        return self.connection

    @property
    def full(self) -> bool:
        """Whether the batch has grown enough to be published."""
        limit = min(self._batch_bytes, BATCH_BYTES)
        return (
            self.weight >= limit
            or self._last_key - self._next_key < SPARE_KEYS
            or (self._learns and is_large_enough(self.connection))
        )

    def new_epoch(self) -> int:
        """A number for a new reading of a source; used again only if this batch never commits."""
        epoch = number(self.connection, "next_epoch")
        set_metadata(self.connection, next_epoch=epoch + 1)
        return epoch

    def take_keys(self, count: int) -> int:
        """The first of ``count`` consecutive keys."""
        first = self._next_key
        self._next_key += count
        assert self._next_key <= self._last_key, "a batch was not published in time"
        return first

    def add(
        self,
        events: Sequence[_core.Columns],
        fragments: Sequence[_core.Columns],
        documents: Sequence[str],
    ) -> None:
        """Adds events with their fragments, as rows of their tables, and the documents of these."""
        self.connection.executemany(_INSERT_EVENT, events)
        self.connection.executemany(_INSERT_FRAGMENT, fragments)
        point("publish.rows")
        if documents:
            self._text.add(documents, bulk=self._bulk)
            self._documents += len(documents)
            point("publish.documents")

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undoes the block's rows when it raises; documents it added are then garbage."""
        self.begin()
        first = self._next_key
        self.connection.execute("SAVEPOINT source")
        try:
            point("publish.savepoint")
            yield
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK TO source")
                self.connection.execute("RELEASE source")
                self._bury(first)
            raise
        self.connection.execute("RELEASE source")

    def commit(self) -> None:
        """Publishes the batch: Tantivy first, then the rows. Nothing happens without a batch."""
        if not self._open:
            return
        if self._documents or self._dead_keys or self._dead_epochs:
            self._commit_text()
        self.connection.execute("DELETE FROM reservations")
        generation = number(self.connection, "generation") + 1
        set_metadata(self.connection, generation=generation, next_key=self._next_key)
        changed = noted_changes(self.connection)
        point("publish.commit")
        self.connection.execute("COMMIT")
        self._steps.add(generation, changed)
        self._open = False
        self._documents = self.weight = 0
        point("publish.committed")
        if self._bulk:
            give_back()

    def collect_garbage(self) -> None:
        """Deletes the documents of what died in the batches before, unless a batch is open."""
        if not self._open and self._has_garbage():
            self.begin()
            self.commit()

    def abandon(self) -> None:
        """Undoes the batch. What Tantivy has of it is found through the reservation later."""
        if self._open:
            self._open = False
            self._text.discard_writer()
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def close(self) -> None:
        """Gives the connection back; abandons an open batch."""
        try:
            self.abandon()
        finally:
            self._pool.__exit__(None, None, None)

    def _reserve(self) -> None:
        """Step 1, in a transaction of its own: durable before any document carries a key, and any
        text needs the dictionary."""
        with self._database.transaction() as connection:
            settle_reservation(connection, self._text)
            self._learn(connection)
            first = number(connection, "next_key")
            last = first + RESERVED_KEYS - 1
            self._stamp = new_stamp()
            connection.execute(
                "INSERT INTO reservations VALUES (?, ?, ?)", (first, last, self._stamp)
            )
            set_metadata(connection, next_key=last + 1)
        self._first_key = self._next_key = first
        self._last_key = last

    def _learn(self, connection: sqlite3.Connection) -> None:
        """Finds the dictionary, or makes it of what has been published by now. When there is too
        little for that at first and much to come, the batch ends as soon as there is enough."""
        self.dictionary = dictionary_of(connection)
        self._learns = False
        if self.dictionary is None and is_unlearned(connection):
            if is_large_enough(connection):
                self.dictionary = learn_dictionary(connection)
            else:
                self._learns = self.expected >= MUCH_BYTES

    def _bury(self, first: int) -> None:
        if self._next_key > first:
            self.connection.execute(
                "INSERT OR REPLACE INTO dead_keys VALUES (?, ?)", (first, self._next_key - 1)
            )

    def _has_garbage(self) -> bool:
        found = self.connection.execute(
            "SELECT EXISTS (SELECT 1 FROM dead_keys) OR EXISTS (SELECT 1 FROM dead_epochs)"
        ).fetchone()
        return bool(found[0])

    def _find_garbage(self) -> None:
        """What was dead before this batch began, and so is dead whatever becomes of it."""
        self._dead_keys = self.connection.execute(
            "SELECT first_key, last_key FROM dead_keys"
        ).fetchall()
        self._dead_epochs = [
            row[0] for row in self.connection.execute("SELECT epoch FROM dead_epochs")
        ]

    def _gather(self) -> None:
        """Has this commit take the place of the last small ones, where they are many."""
        with self._database.snapshot() as connection:  # what dies in this batch answers until then
            gathered = to_gather(connection, self._text)
        if gathered is not None:
            first, last = gathered.first_key, self._first_key - 1
            self._text.delete([(first, last), (-last, -first)], (), bulk=self._bulk)
            self._text.add(gathered.documents, bulk=self._bulk)
            point("publish.gathered")

    def _commit_text(self) -> None:
        if not self._bulk:
            self._gather()
        self._text.delete(self._dead_keys, self._dead_epochs, bulk=self._bulk)
        self.connection.executemany(
            "DELETE FROM dead_keys WHERE first_key = ?", [(first,) for first, _ in self._dead_keys]
        )
        self.connection.executemany(
            "DELETE FROM dead_epochs WHERE epoch = ?", [(epoch,) for epoch in self._dead_epochs]
        )
        point("publish.collected")
        self._text.stamp(self.take_keys(1), self._stamp, bulk=self._bulk)
        self._text.commit()
        point("publish.text_committed")
        set_metadata(self.connection, text_stamp=self._stamp)


def settle_reservation(connection: sqlite3.Connection, text: TextIndex) -> None:
    """Gives up the batch that a reservation was made for and that never became true.

    Its documents are dead, and if Tantivy has committed them, its stamp is the known one now.
    """
    left = connection.execute("SELECT stamp FROM reservations").fetchone()
    if left is None:
        return
    if text.newest_stamp() == left[0]:
        set_metadata(connection, text_stamp=left[0])
    connection.execute(
        "INSERT OR REPLACE INTO dead_keys SELECT first_key, last_key FROM reservations"
    )
    connection.execute("DELETE FROM reservations")
    point("publish.settled")


def new_stamp() -> int:
    """A token for one commit of the text index. Negative: no event has such a number."""
    return -1 - (int.from_bytes(os.urandom(8), "big") >> 2)
