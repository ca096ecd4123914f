"""The documents of the text index as they follow from the rows of SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from pi_event_search import _core
from pi_event_search.store.database import Contradiction
from pi_event_search.store.dictionary import dictionary_of
from pi_event_search.store.rows import EVENT_COLUMNS, EventRow, FragmentRow, fragments_of, typed
from pi_event_search.store.schema import epoch_of

_CHUNK = 2_000


def all_documents(connection: sqlite3.Connection) -> Iterator[list[str]]:
    """Every document there has to be, some thousands at a time.

    :raises Contradiction: the rows do not fit together, or their texts cannot be read.
    """
    dictionary_of(connection)
    workspaces = dict(connection.execute("SELECT epoch, workspace FROM sessions"))
    last = -1
    while True:
        rows = connection.execute(
            f"SELECT {EVENT_COLUMNS} FROM events WHERE event > ? ORDER BY event LIMIT ?",
            (last, _CHUNK),
        )
        events = list(typed(EventRow, rows))
        if not events:
            return
        last = events[-1].event
        yield _documents_of(connection, events, workspaces, 0)


def documents_from(connection: sqlite3.Connection, first_key: int) -> list[str]:
    """The documents with a key and all keys behind it.

    :raises Contradiction: the rows do not fit together, or their texts cannot be read.
    """
    dictionary_of(connection)
    rows = connection.execute(
        f"SELECT {EVENT_COLUMNS} FROM events WHERE event IN"
        " (SELECT event FROM fragments WHERE key >= ?) ORDER BY event",
        (first_key,),
    )
    events = list(typed(EventRow, rows))
    workspaces = dict(
        connection.execute(
            "SELECT epoch, workspace FROM sessions WHERE epoch IN"
            " (SELECT event >> 32 FROM fragments WHERE key >= ?)",
            (first_key,),
        )
    )
    return _documents_of(connection, events, workspaces, first_key)


def _documents_of(
    connection: sqlite3.Connection,
    events: Iterable[EventRow],
    workspaces: dict[int, int],
    first_key: int,
) -> list[str]:
    documents = []
    for event in events:
        workspace = workspaces.get(epoch_of(event.event))
        if workspace is None:
            raise Contradiction(f"Event {event.event} belongs to no session.")
        documents += [
            _document(event, workspace, fragment)
            for fragment in fragments_of(connection, event)
            if fragment.key >= first_key
        ]
    return documents


def _document(event: EventRow, workspace: int, fragment: FragmentRow) -> str:
    """The document of a fragment, made from its bounded text in SQLite.

    :raises Contradiction: the text cannot be read.
    """
    try:
        return _core.stored_document(
            (
                event.event,
                event.epoch,
                workspace,
                event.ts,
                event.entry_type,
                event.role,
                event.flags,
            ),
            (fragment.key, fragment.kind, fragment.tool_name, fragment.flags),
            fragment.text,
            fragment.head,
        )
    except (ValueError, OverflowError, TypeError) as error:
        raise Contradiction(f"The text of fragment {fragment.key} is damaged: {error}") from error
