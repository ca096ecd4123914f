"""Bringing the index up to date with the session directories: discover, ingest what changed."""

from __future__ import annotations

import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from pi_event_search import _core
from pi_event_search.access.directory import is_within
from pi_event_search.config import Config, Problem
from pi_event_search.errors import IndexBusy, InvalidArgument
from pi_event_search.faults import point
from pi_event_search.ingest.discover import Found
from pi_event_search.ingest.source import Outcome, ingest_source
from pi_event_search.ingest.survey import Known, Survey, found_at, stat_of, survey
from pi_event_search.store.epochs import remove_epoch
from pi_event_search.store.lease import WAIT_SECONDS, writer_lease
from pi_event_search.store.publish import BATCH_BYTES, Publication
from pi_event_search.store.sources import (
    CHANGING,
    FAILED,
    UNREADABLE,
    KnownSource,
    SourceRecord,
    add_listing,
    add_source,
    find_source,
    known_sources,
    remove_listing,
    remove_source,
    set_awaited,
    set_explicit,
    set_header,
    set_not_a_session,
    set_state,
)
from pi_event_search.store.store import Store
from pi_event_search.types.coverage import Change, Progress
from pi_event_search.types.vocabulary import ChangeKind

BULK_BYTES = 8_000_000
"""From this many bytes on, a sync uses the large two-threaded writer."""
SOON_BYTES = 1_000_000
"""What is about to be read is made known first, unless it is one file with no more than this: what
is read is visible as soon, and a commit costs as much as reading it."""
TURN_BYTES = 2_000_000
TURN_SOURCES = 64
"""A turn is left to another writer that waits after so many bytes or sources, not before: each
turn opens a writer of the text index."""

_CHANGES: dict[str, ChangeKind] = {"fresh": "added", "rebuild": "rebuilt", "append": "appended"}
_AGAIN = _CHANGES | {"fresh": "rebuilt"}
_UNFORESEEN = (LookupError, TypeError, ValueError, ArithmeticError, AssertionError)
"""What damaged rows of a session, or a mistake of ours, make of a reading: it costs that session,
which keeps what is known of it and says so."""

Report = Callable[[Progress], None]
Announce = Callable[[Change], None]


@dataclass(slots=True)
class Counts:
    """What a sync did, in the terms of its report."""

    discovered: int = 0
    unchanged: int = 0
    appended: int = 0
    rebuilt: int = 0
    removed: int = 0
    failed: int = 0
    bytes_read: int = 0
    probed_bytes: int = 0
    events_added: int = 0


class Pace(NamedTuple):
    """How a sync gets along with others: writers in other processes, and who waits for answers."""

    wait: float = WAIT_SECONDS
    """Seconds for which another writer is waited for."""
    batch_bytes: int = BATCH_BYTES
    """Session records after which what was read becomes visible."""


@dataclass(slots=True)
class _Task:
    """A file to be looked at."""

    found: Found
    weight: int
    """Bytes to be read if the file only grew."""
    afresh: bool = False
    """The whole file is to be read, whatever its checkpoint says."""
    begun: bool = False
    """A part of it was taken in during an earlier turn."""


class Reconciler:
    """One look at the session directories, or at one file, and the ingest of what changed.

    The work is done in turns: between two of them another writer may have had the index, so
    nothing that was read of it before a turn is relied on in it.
    """

    def __init__(
        self,
        store: Store,
        config: Config,
        progress: Report | None = None,
        changed: Announce | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._store = store
        self._config = config
        self._progress = progress
        self._announce = changed
        self._pace = pace or Pace()
        self._changes: list[Change] = []
        self._counts = Counts()

    def directories(self) -> Counts:
        """Looks at all session directories.

        :raises IndexBusy: another process is writing.
        """
        result = survey(self._config, self._known())
        self._counts.discovered = result.discovered
        self._counts.unchanged = result.unchanged
        if not result.is_empty():
            self._carry_out(result)
        self._note_troubles(result.troubles)
        self._finished()
        return self._counts

    def file(self, path: str, *, explicit: bool = True, afresh: bool = False) -> Counts:
        """Looks at one session file. A file named explicitly is covered by answers from now on.

        ``afresh``: the index was found to hold something else than the file, so all is read.

        :raises InvalidArgument: there is no such regular file.
        """
        canonical = os.fsencode(os.path.realpath(path))
        try:
            found = found_at(canonical)
        except OSError as error:
            raise InvalidArgument(f"path {path!r} cannot be opened: {error.strerror}.") from error
        with self._store.database.snapshot() as connection:
            record = find_source(connection, canonical)
        self._counts.discovered = 1
        stands = record is not None and record.unchanged(stat_of(found)) and not afresh
        if record is None or not stands or (explicit and not record.explicit):
            self._carry_out(Survey(changed=[(found, record)]), explicit=explicit, afresh=afresh)
        else:
            self._counts.unchanged = 1
        return self._counts

    def _known(self) -> Known:
        with self._store.database.snapshot() as connection:
            return Known(
                sources=known_sources(connection),
                listings=set(connection.execute("SELECT directory, source, path FROM listings")),
            )

    def _carry_out(self, work: Survey, *, explicit: bool = False, afresh: bool = False) -> None:
        tasks = deque(_task(found, record, afresh) for found, record in work.changed)
        bar = _Bar(self._progress, len(tasks), sum(task.weight for task in tasks))
        bulk = bar.bytes_total >= BULK_BYTES
        with self._writing(bulk=bulk) as publication:
            self._register(work, publication, explicit=explicit)
            if len(tasks) > 1 or bar.bytes_total > SOON_BYTES:
                self._commit(publication)
                point("reconcile.registered")
            bar.show()
            self._turn(tasks, publication, bar, work.gone)
        while tasks:
            point("reconcile.handed_over")
            with self._writing(bulk=bulk, after_others=True) as publication:
                self._turn(tasks, publication, bar, work.gone)

    def _writing(
        self, *, bulk: bool, after_others: bool = False
    ) -> AbstractContextManager[Publication]:
        pace = self._pace
        return self._store.writing(
            bulk=bulk, wait=pace.wait, after_others=after_others, batch_bytes=pace.batch_bytes
        )

    def _turn(
        self,
        tasks: deque[_Task],
        publication: Publication,
        bar: _Bar,
        gone: Sequence[KnownSource],
    ) -> None:
        """Takes in files until all are done, or another writer waits and this turn was worth it.

        What is gone is forgotten after that: a file that was moved answers from its old place
        until it answers from the new one.
        """
        weight, sources = self._counts.bytes_read, 0
        publication.took = bar.within
        publication.expected = bar.bytes_left
        while tasks:
            task = tasks.popleft()
            task.begun = not self._ingest(task, publication)
            sources += 1
            if task.begun:
                tasks.appendleft(task)
                break
            bar.advance(task.weight)
            if publication.full:
                self._commit(publication)
            worth_it = self._counts.bytes_read - weight >= TURN_BYTES or sources >= TURN_SOURCES
            if worth_it and publication.wanted():
                break
        if gone and not tasks:
            self._forget(gone, publication)
        self._commit(publication)

    def _commit(self, publication: Publication) -> None:
        publication.commit()
        changes, self._changes = self._changes, []
        if self._announce is not None:
            for change in changes:
                self._announce(change)

    def _register(self, work: Survey, publication: Publication, *, explicit: bool) -> None:
        """Makes the sources known, headers first, so that scoped counts are true from the start."""
        connection = publication.begin()
        for found, _ in work.changed:
            record = find_source(connection, found.canonical)
            if record is None:
                record = add_source(connection, found.canonical, explicit=explicit)
                self._read_header(connection, record)
                point("reconcile.source_added")
            if not record.unchanged(stat_of(found)):  # another writer may have taken it in since
                set_awaited(connection, record.source, found.size)
            if found.root:
                add_listing(connection, found.root, record.source, found.path)
            if explicit:
                set_explicit(connection, record.source)
        for found, known in work.listed:
            if find_source(connection, known.path) is not None:
                add_listing(connection, found.root, known.source, found.path)
        for listing in work.unlisted:
            remove_listing(connection, *listing)
        for known, detail in work.unobservable:
            if find_source(connection, known.path) is not None:
                self._failed(known, publication, UNREADABLE, detail)

    def _forget(self, gone: Sequence[KnownSource], publication: Publication) -> None:
        """Removes sources that are proven to be gone."""
        connection = publication.begin()
        for missed in gone:
            record = find_source(connection, missed.path)
            if record is None or record.source != missed.source:
                continue
            if os.path.lexists(record.path):
                continue  # it came back while others had their turn
            if record.epoch is not None:
                remove_epoch(connection, record.epoch)
            self._note(connection, record, "removed")
            remove_source(connection, record.source)
            self._counts.removed += 1
            point("reconcile.source_removed")

    def _read_header(self, connection: sqlite3.Connection, record: SourceRecord) -> None:
        try:
            header = _core.read_header(record.path)
        except (OSError, _core.NotASession, _core.SourceChanged):
            return  # the reading itself says what is wrong
        set_header(connection, record.source, header.id, header.cwd)

    def _ingest(self, task: _Task, publication: Publication) -> bool:
        """Takes in one file; returns whether that was all of it."""
        found, counts = task.found, self._counts
        connection = publication.begin()
        record = find_source(connection, found.canonical)
        if record is None:  # another writer saw it gone meanwhile
            record = add_source(connection, found.canonical, explicit=not found.root)
            if found.root:
                add_listing(connection, found.root, record.source, found.path)
        if record.unchanged(stat_of(found)) and not task.afresh:
            set_awaited(connection, record.source, None)
            counts.unchanged += not task.begun
            return True
        try:
            outcome = self._read(record, publication, afresh=task.afresh)
        except _core.NotASession as error:
            self._not_a_session(found, record, publication, str(error))
        except _core.SourceChanged as error:
            self._failed(record, publication, CHANGING, str(error))
        except OSError as error:
            self._failed(record, publication, UNREADABLE, error.strerror or str(error))
        except _UNFORESEEN as error:
            self._failed(record, publication, FAILED, f"{type(error).__name__}: {error}")
        else:
            counts.bytes_read += outcome.bytes_read
            counts.probed_bytes += outcome.probed_bytes
            counts.events_added += outcome.events_added
            if not task.begun:
                counts.unchanged += outcome.plan == "unchanged"
                counts.appended += outcome.plan == "append"
                counts.rebuilt += outcome.plan in ("fresh", "rebuild")
            if outcome.plan != "unchanged":
                change = _CHANGES[outcome.plan] if record.epoch is None else _AGAIN[outcome.plan]
                self._note(connection, record, change, outcome.events_added)
            return not outcome.unfinished
        return True

    def _read(self, record: SourceRecord, publication: Publication, *, afresh: bool) -> Outcome:
        """One reading; a second one where the first met a file in motion, or rows of this session
        that cannot be gone on from."""
        try:
            return ingest_source(record, publication, afresh=afresh)
        except _core.SourceChanged:
            return ingest_source(record, publication, afresh=afresh)
        except (sqlite3.IntegrityError, *_UNFORESEEN):
            if afresh or record.checkpoint is None:
                raise
            return ingest_source(record, publication, afresh=True)

    def _note(
        self,
        connection: sqlite3.Connection,
        record: KnownSource | SourceRecord,
        change: ChangeKind,
        events: int = 0,
        detail: str = "",
    ) -> None:
        """Remembers what happened to a source until it is committed."""
        if self._announce is not None:
            row = connection.execute(
                "SELECT session_id FROM sources WHERE source = ?", (record.source,)
            ).fetchone()
            self._changes.append(Change(change, os.fsdecode(record.path), row[0], events, detail))

    def _not_a_session(
        self, found: Found, record: SourceRecord, publication: Publication, detail: str
    ) -> None:
        if record.epoch is not None:
            # It was a session: what is known of it stays until the file says something better.
            self._failed(record, publication, FAILED, detail)
            return
        self._counts.failed += 1
        settled = _core.is_settled(found.mtime_ns, found.ctime_ns, time.time_ns())
        set_not_a_session(
            publication.begin(), record.source, (*stat_of(found), int(settled)), detail
        )

    def _failed(
        self,
        record: KnownSource | SourceRecord,
        publication: Publication,
        state: str,
        detail: str,
    ) -> None:
        self._counts.failed += 1
        connection = publication.begin()
        if record.state != state:
            self._note(connection, record, "failed", detail=detail)
        set_state(connection, record.source, state, detail)
        point("reconcile.failure_noted")

    def _note_troubles(self, troubles: Iterable[Problem]) -> None:
        """Remembers what could not be looked at: its sessions stay, and coverage says so.

        What an earlier look at other directories could not observe stays remembered.
        """
        rows = {(os.fsencode(t.path), t.kind, t.detail) for t in troubles}
        with self._store.database.snapshot() as connection:
            stored = set(connection.execute("SELECT path, kind, detail FROM troubles"))
        rows |= {row for row in stored if not self._looked_at(row[0])}
        if rows != stored:
            with self._store.writing(bulk=False) as publication:
                connection = publication.begin()
                connection.execute("DELETE FROM troubles")
                point("reconcile.troubles")
                connection.executemany("INSERT INTO troubles VALUES (?, ?, ?)", sorted(rows))
                publication.commit()

    def _looked_at(self, path: bytes) -> bool:
        return any(
            is_within(path, root) or is_within(path, os.path.realpath(root))
            for root in self._roots()
        )

    def _roots(self) -> list[bytes]:
        return [os.fsencode(directory.path) for directory in self._config.session_dirs]

    def _finished(self) -> None:
        """Notes the time. While another process writes, its own note will do."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with (
            suppress(IndexBusy),
            writer_lease(self._store.directory, wait=0, at_work=False),
            self._store.database.transaction() as connection,
        ):
            connection.executemany(
                "REPLACE INTO directories VALUES (?, ?)", [(root, now) for root in self._roots()]
            )
            point("reconcile.finished")


class _Bar:
    """How far a sync is, for whoever wants to know."""

    def __init__(self, report: Report | None, total: int, bytes_total: int) -> None:
        self._report = report
        self._total = total
        self._done = self._bytes_done = self._within = 0
        self.bytes_total = bytes_total

    @property
    def bytes_left(self) -> int:
        """Bytes of the files that are not done."""
        return self.bytes_total - self._bytes_done

    def within(self, weight: int) -> None:
        """So much more of a file is taken in."""
        self._within += weight
        self.show()

    def advance(self, weight: int) -> None:
        """One more file is done."""
        self._done += 1
        self._bytes_done += weight
        self._within = 0
        self.show()

    def show(self) -> None:
        """Reports the present state."""
        if self._report is not None:
            done = min(self._bytes_done + self._within, self.bytes_total)
            self._report(Progress(self._done, self._total, done, self.bytes_total))


def _task(found: Found, record: KnownSource | SourceRecord | None, afresh: bool) -> _Task:
    begins = 0 if record is None or afresh else record.pending_from
    return _Task(found, max(found.size - begins, 0), afresh)
