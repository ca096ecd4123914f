"""Readings of a source as a whole: their removal."""

from __future__ import annotations

import sqlite3

from pi_event_search.faults import point
from pi_event_search.store.schema import epoch_range


def remove_epoch(connection: sqlite3.Connection, epoch: int) -> None:
    """Removes every row of an epoch; its documents are deleted with a later batch."""
    point("epoch.removing")
    numbers = epoch_range(epoch)
    connection.execute(
        "DELETE FROM fragments WHERE key IN (SELECT f.key FROM events e JOIN fragments f"
        " ON f.key >= e.first_key AND f.key < e.first_key + e.fragments"
        " WHERE e.event BETWEEN ? AND ?)",
        numbers,
    )
    for table, column in (
        ("events", "event"),
        ("relationships", "event"),
        ("segments", "segment"),
        ("path", "segment"),
    ):
        connection.execute(f"DELETE FROM {table} WHERE {column} BETWEEN ? AND ?", numbers)
    connection.execute("DELETE FROM receipts WHERE epoch = ?", (epoch,))
    connection.execute("DELETE FROM sessions WHERE epoch = ?", (epoch,))
    connection.execute("INSERT OR IGNORE INTO dead_epochs VALUES (?)", (epoch,))
    point("epoch.removed")
