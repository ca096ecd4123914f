"""Bringing the index up to date with the session directories: discover, ingest what changed."""

from __future__ import annotations

import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pi_event_search import _core
from pi_event_search.config import Config
from pi_event_search.discover import Found, Scan, scan
from pi_event_search.errors import IndexBusy, InvalidArgument
from pi_event_search.ingest import ingest_source
from pi_event_search.store.database import set_metadata
from pi_event_search.store.epochs import remove_epoch
from pi_event_search.store.lease import WAIT_SECONDS, writer_lease
from pi_event_search.store.publish import BATCH_BYTES, Publication
from pi_event_search.store.sources import (
    FAILED,
    UNREADABLE,
    SourceRecord,
    add_listing,
    add_source,
    find_source,
    load_sources,
    remove_source,
    set_awaited,
    set_explicit,
    set_header,
    set_not_a_session,
    set_state,
)
from pi_event_search.store.store import Store
from pi_event_search.types import Change, Progress
from pi_event_search.types.vocabulary import ChangeKind

BULK_BYTES = 8_000_000
"""From this many bytes on, a sync uses the large two-threaded writer."""
TURN_BYTES = 2_000_000
TURN_SOURCES = 64
"""A turn is left to another writer that waits after so many bytes or sources, not before: each
turn opens a writer of the text index."""

_CHANGES: dict[str, ChangeKind] = {"fresh": "added", "rebuild": "rebuilt", "append": "appended"}

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


@dataclass(slots=True)
class _Work:
    """What one look at the directories asks for."""

    changed: list[tuple[Found, SourceRecord | None]] = field(default_factory=list)
    listed: list[tuple[bytes, SourceRecord]] = field(default_factory=list)
    gone: list[SourceRecord] = field(default_factory=list)

    def is_empty(self) -> bool:
        return not (self.changed or self.listed or self.gone)

    def tasks(self) -> deque[_Task]:
        return deque(
            _Task(found, max(found.size - (0 if record is None else record.pending_from), 0))
            for found, record in self.changed
        )


@dataclass(slots=True)
class _Task:
    """A file to be looked at."""

    found: Found
    weight: int
    """Bytes to be read if the file only grew."""
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
        *,
        wait: float = WAIT_SECONDS,
        batch_bytes: int = BATCH_BYTES,
    ) -> None:
        self._store = store
        self._config = config
        self._progress = progress
        self._announce = changed
        self._wait = wait
        self._batch_bytes = batch_bytes
        self._changes: list[Change] = []
        self._counts = Counts()

    def directories(self) -> Counts:
        """Looks at all session directories.

        :raises IndexBusy: another process is writing.
        """
        seen = scan(self._config.session_dirs, self._config.exclude)
        with self._store.database.snapshot() as connection:
            known = {record.path: record for record in load_sources(connection)}
            listings = set(connection.execute("SELECT directory, source FROM listings"))
        work = self._work(seen, known, listings)
        self._counts.discovered = len(seen.files)
        if not work.is_empty():
            self._carry_out(work, explicit=False)
        self._note_unobservable(seen, known)
        self._finished()
        return self._counts

    def file(self, path: str, *, explicit: bool = True) -> Counts:
        """Looks at one session file. A file named explicitly is covered by answers from now on.

        :raises InvalidArgument: there is no such regular file.
        """
        canonical = os.fsencode(os.path.realpath(path))
        try:
            stat = Path(os.fsdecode(canonical)).stat()
        except OSError as error:
            raise InvalidArgument(f"path {path!r} cannot be opened: {error.strerror}.") from error
        found = Found(
            path=canonical,
            canonical=canonical,
            root=b"",
            archive=False,
            device=stat.st_dev,
            inode=stat.st_ino,
            size=stat.st_size,
            mtime_ns=stat.st_mtime_ns,
            ctime_ns=stat.st_ctime_ns,
        )
        with self._store.database.snapshot() as connection:
            record = find_source(connection, canonical)
        self._counts.discovered = 1
        if record is not None and record.unchanged(_stat(found)):
            self._counts.unchanged = 1
        else:
            self._carry_out(_Work(changed=[(found, record)]), explicit=explicit)
        return self._counts

    def _work(
        self,
        seen: Scan,
        known: dict[bytes, SourceRecord],
        listings: set[tuple[bytes, int]],
    ) -> _Work:
        work = _Work()
        present = set()
        for found in seen.files:
            present.add(found.canonical)
            record = known.get(found.canonical)
            if record is not None and (found.root, record.source) not in listings:
                work.listed.append((found.root, record))
            if record is not None and record.unchanged(_stat(found)):
                self._counts.unchanged += 1
            else:
                work.changed.append((found, record))
        # Only what these directories held, and files named explicitly, can be missed here.
        roots = {os.fsencode(directory.path) for directory in self._config.session_dirs}
        ours = {source for directory, source in listings if directory in roots}
        for path, record in known.items():
            missed = path not in present and (record.explicit or record.source in ours)
            if missed and _is_gone(seen, path):
                work.gone.append(record)
        return work

    def _carry_out(self, work: _Work, *, explicit: bool) -> None:
        tasks = work.tasks()
        bar = _Bar(self._progress, len(tasks), sum(task.weight for task in tasks))
        bulk = bar.bytes_total >= BULK_BYTES
        with self._writing(bulk=bulk) as publication:
            self._register(work, publication, explicit=explicit)
            self._commit(publication)
            bar.show()
            self._turn(tasks, publication, bar)
        while tasks:
            with self._writing(bulk=bulk, after_others=True) as publication:
                self._turn(tasks, publication, bar)

    def _writing(
        self, *, bulk: bool, after_others: bool = False
    ) -> AbstractContextManager[Publication]:
        return self._store.writing(
            bulk=bulk, wait=self._wait, after_others=after_others, batch_bytes=self._batch_bytes
        )

    def _turn(self, tasks: deque[_Task], publication: Publication, bar: _Bar) -> None:
        """Takes in files until all are done, or another writer waits and this turn was worth it."""
        weight, sources = self._counts.bytes_read, 0
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
        self._commit(publication)

    def _commit(self, publication: Publication) -> None:
        publication.commit()
        changes, self._changes = self._changes, []
        if self._announce is not None:
            for change in changes:
                self._announce(change)

    def _register(self, work: _Work, publication: Publication, *, explicit: bool) -> None:
        """Makes the sources known, headers first, so that scoped counts are true from the start."""
        connection = publication.begin()
        for found, _ in work.changed:
            record = find_source(connection, found.canonical)
            if record is None:
                record = add_source(connection, found.canonical, explicit=explicit)
                self._read_header(connection, record)
            set_awaited(connection, record.source, found.size)
            if found.root:
                add_listing(connection, found.root, record.source)
            if explicit:
                set_explicit(connection, record.source)
        for directory, record in work.listed:
            if find_source(connection, record.path) is not None:
                add_listing(connection, directory, record.source)
        for gone in work.gone:
            record = find_source(connection, gone.path)
            if record is None or record.source != gone.source:
                continue
            if record.epoch is not None:
                remove_epoch(connection, record.epoch)
            self._note(connection, record, "removed")
            remove_source(connection, record.source)
            self._counts.removed += 1

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
                add_listing(connection, found.root, record.source)
        if record.unchanged(_stat(found)):
            counts.unchanged += not task.begun
            return True
        try:
            outcome = ingest_source(record, publication)
        except _core.NotASession as error:
            self._not_a_session(found, record, publication, str(error))
        except _core.SourceChanged as error:
            self._failed(record, publication, FAILED, str(error))
        except OSError as error:
            self._failed(record, publication, UNREADABLE, error.strerror or str(error))
        else:
            counts.bytes_read += outcome.bytes_read
            counts.probed_bytes += outcome.probed_bytes
            counts.events_added += outcome.events_added
            if not task.begun:
                counts.unchanged += outcome.plan == "unchanged"
                counts.appended += outcome.plan == "append"
                counts.rebuilt += outcome.plan in ("fresh", "rebuild")
            if outcome.plan != "unchanged":
                self._note(connection, record, _CHANGES[outcome.plan], outcome.events_added)
            return not outcome.unfinished
        return True

    def _note(
        self,
        connection: sqlite3.Connection,
        record: SourceRecord,
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
        set_not_a_session(publication.begin(), record.source, (*_stat(found), int(settled)), detail)

    def _failed(
        self, record: SourceRecord, publication: Publication, state: str, detail: str
    ) -> None:
        self._counts.failed += 1
        connection = publication.begin()
        if record.state != state:
            self._note(connection, record, "failed", detail=detail)
        set_state(connection, record.source, state, detail)

    def _note_unobservable(self, seen: Scan, known: dict[bytes, SourceRecord]) -> None:
        """Remembers what could not be looked at: its sessions stay, and coverage says so."""
        troubles = [*seen.unobservable, *seen.skipped, *seen.lost(known)]
        rows = sorted({(os.fsencode(t.path), t.kind, t.detail) for t in troubles})
        with self._store.database.snapshot() as connection:
            stored = connection.execute("SELECT path, kind, detail FROM troubles").fetchall()
        if rows != sorted(stored):
            with self._store.writing(bulk=False) as publication:
                connection = publication.begin()
                connection.execute("DELETE FROM troubles")
                connection.executemany("INSERT INTO troubles VALUES (?, ?, ?)", rows)
                publication.commit()

    def _finished(self) -> None:
        """Notes the time. While another process writes, its own note will do."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with (
            suppress(IndexBusy),
            writer_lease(self._store.directory, wait=0),
            self._store.database.transaction() as connection,
        ):
            set_metadata(connection, last_reconciled_at=now)


class _Bar:
    """How far a sync is, for whoever wants to know."""

    def __init__(self, report: Report | None, total: int, bytes_total: int) -> None:
        self._report = report
        self._total = total
        self._done = self._bytes_done = 0
        self.bytes_total = bytes_total

    def advance(self, weight: int) -> None:
        """One more file is done."""
        self._done += 1
        self._bytes_done += weight
        self.show()

    def show(self) -> None:
        """Reports the present state."""
        if self._report is not None:
            self._report(Progress(self._done, self._total, self._bytes_done, self.bytes_total))


def _stat(found: Found) -> tuple[int, int, int, int, int]:
    return found.device, found.inode, found.size, found.mtime_ns, found.ctime_ns


def _is_gone(seen: Scan, path: bytes) -> bool:
    return seen.absent(path) or seen.removed_with_directory(path) or seen.absent_outside(path)
