"""One source on its way in: tail -> project -> place -> publish.

The core reads and projects records (see ``rust/core/src/session.rs``); this module gives them
their places and numbers and hands them to the open publication.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from pi_event_search import _core
from pi_event_search.faults import point
from pi_event_search.ingest.placement import Placement
from pi_event_search.store.epochs import remove_epoch
from pi_event_search.store.publish import Publication
from pi_event_search.store.rows import RETRIEVAL
from pi_event_search.store.schema import BY_REFERENCE, epoch_range, event_number
from pi_event_search.store.sources import (
    SourceRecord,
    save_checkpoint,
    set_awaited,
    size_of,
    workspace_number,
)

READ_BYTES = 8_000_000
"""Bytes of records parsed at once; bounds the memory of one reading."""


@dataclass(slots=True)
class Outcome:
    """What happened to one source."""

    plan: str
    reason: str | None = None
    bytes_read: int = 0
    probed_bytes: int = 0
    events_added: int = 0
    unfinished: bool = False
    """Another writer waits: what was read so far is published, and the next turn goes on there."""


@dataclass(slots=True)
class _Reading:
    """The session that is being written: its numbers, and what is known of it so far."""

    epoch: int
    workspace: int
    session_id: str
    version: int
    next_ord: int
    whole: bool
    placement: Placement
    name: str | None = None
    last_ts: int = 0
    events: int = 0
    calls: dict[str, bool] = field(default_factory=dict)
    """Ids of tool calls -> whether that was retrieval, where it ever was."""


def ingest_source(
    source: SourceRecord, publication: Publication, *, afresh: bool = False
) -> Outcome:
    """Brings one source up to date inside the publication.

    ``afresh``: reads the whole file whatever its checkpoint says.

    A long file is published in pieces: an append or a first reading becomes visible piece by
    piece, a rebuild at its end, until then the old reading answers. Between two pieces that are
    visible the work can be left to a later turn (see ``Outcome.unfinished``).

    :raises OSError: the file cannot be read.
    :raises _core.NotASession: it is no session file.
    :raises _core.SourceChanged: it was replaced while it was read; nothing of it was kept.
    """
    checkpoint = None if afresh else source.checkpoint
    reader = _core.SessionReader(source.path, checkpoint, source.version, time.time_ns())
    outcome = Outcome(reader.plan, reader.reason)
    point("ingest.planned")
    if reader.plan == "unchanged":
        publication.begin()
        save_checkpoint(publication.connection, source.source, reader.checkpoint(time.time_ns()))
    else:
        _read(source, reader, publication, outcome)
    outcome.bytes_read, outcome.probed_bytes = reader.bytes_read, reader.probed_bytes
    return outcome


def _read(
    source: SourceRecord, reader: _core.SessionReader, publication: Publication, outcome: Outcome
) -> None:
    with publication.savepoint():
        reading = _begin(source, reader, publication)
        point("ingest.begun")
        ended = _read_piece(source, reading, reader, publication, outcome)
    try:
        while not ended:
            publication.commit()
            point("ingest.piece_published")
            if _can_go_on_later(source, reading) and publication.wanted():
                outcome.unfinished = True
                return
            with publication.savepoint():
                ended = _read_piece(source, reading, reader, publication, outcome)
    except BaseException:
        if reading.epoch not in (source.epoch, source.published):
            publication.begin()
            remove_epoch(publication.connection, reading.epoch)
        raise


def _can_go_on_later(source: SourceRecord, reading: _Reading) -> bool:
    """Whether the checkpoint that was published is one to go on from.

    A rebuild shows nothing before its end, and the ids of a version 1 file need all of it.
    """
    return source.epoch in (None, reading.epoch) and reading.version >= 2


def _read_piece(
    source: SourceRecord,
    reading: _Reading,
    reader: _core.SessionReader,
    publication: Publication,
    outcome: Outcome,
) -> bool:
    """Reads until the publication is full or the file ends; returns whether it ended."""
    ended = False
    while not ended and not publication.full:
        batch = reader.next_batch(READ_BYTES, publication.dictionary)
        ended = batch is None
        if batch is not None:
            outcome.events_added += _Writer(reading, publication).write(batch)
            publication.weight += batch.weight
            point("ingest.written")
            publication.took(batch.weight)
    _save_session(reading, publication)
    point("ingest.session_saved")
    if ended or source.epoch in (None, reading.epoch):
        _save_source(source, reading, reader, publication, ended=ended)
    return ended


def _begin(source: SourceRecord, reader: _core.SessionReader, publication: Publication) -> _Reading:
    connection = publication.connection
    header = reader.header
    if header is None:
        assert source.epoch is not None
        row = connection.execute(
            "SELECT workspace, session_id, version, next_ord, name, last_ts, events FROM sessions"
            " WHERE epoch = ?",
            (source.epoch,),
        ).fetchone()
        assert source.checkpoint is not None
        assert row[3] == source.checkpoint[8], "the rows are not those that the checkpoint is of"
        return _Reading(
            epoch=source.epoch,
            workspace=row[0],
            session_id=row[1],
            version=row[2],
            next_ord=row[3],
            name=row[4],
            last_ts=row[5],
            events=row[6],
            whole=False,
            placement=Placement(connection, source.epoch),
        )
    epoch = publication.new_epoch()
    workspace = workspace_number(connection, header.cwd)
    connection.execute(
        "INSERT INTO sessions (epoch, source, session_id, version, workspace, created_ts,"
        " created_at, parent_session) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            epoch,
            source.source,
            header.id,
            header.version,
            workspace,
            header.timestamp_ms,
            header.timestamp,
            header.parent_session,
        ),
    )
    return _Reading(
        epoch=epoch,
        workspace=workspace,
        session_id=header.id,
        version=header.version,
        next_ord=0,
        last_ts=header.timestamp_ms or 0,
        whole=True,
        placement=Placement(connection, epoch),
    )


def _save_session(reading: _Reading, publication: Publication) -> None:
    """Writes the facts of the session as of what was read so far."""
    reading.placement.settle()
    publication.connection.execute(
        "UPDATE sessions SET name = ?, last_ts = ?, events = ?, next_ord = ? WHERE epoch = ?",
        (reading.name, reading.last_ts, reading.events, reading.next_ord, reading.epoch),
    )


def _save_source(
    source: SourceRecord,
    reading: _Reading,
    reader: _core.SessionReader,
    publication: Publication,
    *,
    ended: bool,
) -> None:
    """Stores the checkpoint, and makes the reading the live one of its source."""
    connection = publication.connection
    checkpoint = reader.checkpoint(time.time_ns())
    save_checkpoint(connection, source.source, checkpoint)
    if not ended:
        set_awaited(connection, source.source, size_of(checkpoint))
    point("ingest.checkpoint")
    header = reader.header
    if header is not None and source.published != reading.epoch:
        if source.epoch is not None:
            remove_epoch(connection, source.epoch)
        connection.execute(
            "UPDATE sources SET epoch = ?, session_id = ?, cwd = ? WHERE source = ?",
            (reading.epoch, header.id, header.cwd, source.source),
        )
        source.published = reading.epoch
        point("ingest.flipped")


class _Writer:
    """Hands one batch of parsed events to the stores."""

    def __init__(self, reading: _Reading, publication: Publication) -> None:
        self._reading = reading
        self._publication = publication
        self._connection = publication.connection

    def write(self, batch: _core.Batch) -> int:
        """Adds the batch's events and returns how many there are."""
        reading = self._reading
        places = reading.placement.place(batch, reading.next_ord)
        rows = batch.take_rows(
            (
                reading.epoch,
                reading.workspace,
                event_number(reading.epoch, reading.next_ord),
                self._publication.take_keys(batch.fragment_count),
            ),
            places,
            self._answers_of_retrieval(batch),
        )
        self._publication.add(rows.events, rows.fragments, rows.documents)
        self._connection.executemany(
            "INSERT OR REPLACE INTO relationships VALUES (?, ?, ?, ?, ?)", rows.relationships
        )
        self._receipts(batch.receipts)
        reading.last_ts = max(reading.last_ts, rows.last_ts)
        if rows.named:
            reading.name = rows.name
        reading.next_ord += len(rows.events)
        reading.events += rows.placed - reading.placement.take_superseded()
        return len(rows.events)

    def _answers_of_retrieval(self, batch: _core.Batch) -> list[int]:
        """Which events of the batch, ascending, belong to an earlier call that was retrieval.

        Only a bash call can be retrieval without its tool's name saying so. Of several calls with
        one id the last one before the result counts.
        """
        calls = self._reading.calls
        answers = []
        for at, made, answered in batch.calls():
            for call_id, retrieval in made:
                if retrieval or self._was_retrieval(call_id):
                    calls[call_id] = retrieval
            if answered is not None and self._was_retrieval(answered):
                answers.append(at)
        return answers

    def _was_retrieval(self, call_id: str) -> bool:
        """Whether the last call of an id was retrieval, in this reading or before it."""
        known = self._reading.calls.get(call_id)
        if known is None:
            known = not self._reading.whole and self._stored_retrieval(call_id)
            if known:
                self._reading.calls[call_id] = known
        return known

    def _stored_retrieval(self, call_id: str) -> bool:
        found = self._connection.execute(
            f"SELECT flags FROM relationships WHERE reference = ? AND kind = ? AND {BY_REFERENCE}"
            " AND event BETWEEN ? AND ? ORDER BY event DESC LIMIT 1",
            (call_id, _core.RELATIONSHIP_TOOL_CALL, *epoch_range(self._reading.epoch)),
        ).fetchone()
        return found is not None and bool(found[0] & RETRIEVAL)

    def _receipts(self, receipts: Iterable[tuple[str, int, int]]) -> None:
        count_receipts(
            self._publication, self._reading.epoch, ((k, n, f"byte {at}") for k, n, at in receipts)
        )


def count_receipts(
    publication: Publication, epoch: int, receipts: Iterable[tuple[str, int, str]]
) -> None:
    """Adds (kind, count, where first) to the receipts of a session; the first place stays."""
    publication.connection.executemany(
        "INSERT INTO receipts VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET count = count + excluded.count",
        ((epoch, kind, count, where) for kind, count, where in receipts),
    )
