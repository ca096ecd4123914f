"""Making the stores agree again: Tantivy from SQLite, and rows of unfinished readings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from pi_event_search import _core
from pi_event_search.faults import point
from pi_event_search.store.database import Database, metadata, set_metadata
from pi_event_search.store.documents import document_of
from pi_event_search.store.epochs import remove_epoch
from pi_event_search.store.rows import EVENT_COLUMNS, EventRow, FragmentRow, fragments_of
from pi_event_search.store.schema import epoch_of
from pi_event_search.store.text_index import TextDocument, TextIndex

_CHUNK = 2_000


def rebuild_text(database: Database, directory: Path) -> Path:
    """Builds the text index anew from SQLite in a new directory and points SQLite to it.

    For the holder of the writer lock. Returns the new directory; the old one may be removed.
    """
    with database.connection() as connection:
        count = int(metadata(connection, "text_directories") or 0) + 1
        name = f"text-{metadata(connection, 'index_uuid')}-{count}"
        text = TextIndex.create(directory / name)
        point("rebuild.created")
        for documents in _all_documents(connection):
            text.add(documents, bulk=True)
            point("rebuild.documents")
        stamp = text.commit()
        point("rebuild.committed")
        text.close()
    with database.transaction() as connection:
        set_metadata(
            connection,
            text_directory=name,
            text_directories=count,
            text_opstamp=stamp,
            generation=int(metadata(connection, "generation")) + 1,
        )
        # The new directory was made from rows: there is no document without one.
        for table in ("reservations", "dead_keys", "dead_epochs"):
            connection.execute(f"DELETE FROM {table}")
        point("rebuild.switch")
    point("rebuild.switched")
    return directory / name


def discard_unfinished(connection: sqlite3.Connection) -> None:
    """Removes readings that a crash left beside the live one of their source."""
    orphans = [
        row[0]
        for row in connection.execute(
            "SELECT epoch FROM sessions WHERE epoch NOT IN"
            " (SELECT epoch FROM sources WHERE epoch IS NOT NULL)"
        )
    ]
    for epoch in orphans:
        remove_epoch(connection, epoch)
        point("recovery.discarded")


def _all_documents(connection: sqlite3.Connection) -> Iterator[list[TextDocument]]:
    workspaces = dict(connection.execute("SELECT epoch, workspace FROM sessions"))
    last = -1
    while True:
        events = [
            EventRow(*row)
            for row in connection.execute(
                f"SELECT {EVENT_COLUMNS} FROM events WHERE event > ? ORDER BY event LIMIT ?",
                (last, _CHUNK),
            )
        ]
        if not events:
            return
        last = events[-1].event
        documents = []
        for event in events:
            workspace = workspaces[epoch_of(event.event)]
            documents += [
                stored_document(event, workspace, fragment)
                for fragment in fragments_of(connection, event)
            ]
        yield documents


def stored_document(event: EventRow, workspace: int, fragment: FragmentRow) -> TextDocument:
    """The document of a fragment, made from its bounded text in SQLite."""
    words, parts = _core.index_values(fragment.text, fragment.head)
    return document_of(event, workspace, fragment, words, parts)
