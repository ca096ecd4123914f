"""Indexes so small that a test fills one, and that learn a dictionary all the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from unittest.mock import patch

from pi_event_search.store import dictionary
from pi_event_search.store.layout import newest_database

ENOUGH = 1_500
"""Stored bytes that such an index learns from."""
SHARED = 2
"""How a text begins that needs the dictionary (see ``compress.rs``)."""


@contextmanager
def learning(enough: int = ENOUGH) -> Iterator[None]:
    """Every index that texts are published to learns as soon as it has so many bytes of them."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(dictionary, "LEARNED_PAGES", 1))
        stack.enter_context(patch.object(dictionary, "FEWEST_BYTES", enough))
        yield


def database_of(index: Path) -> Path:
    """The database of an index directory."""
    found = newest_database(index)
    assert found is not None
    return found


def sharing(index: Path) -> list[bool]:
    """Of each text in the order of their keys, whether it needs the dictionary."""
    with closing(sqlite3.connect(database_of(index))) as connection:
        rows = connection.execute("SELECT text FROM fragments ORDER BY key")
        return [text[0] == SHARED for (text,) in rows]


def dictionaries(index: Path) -> list[tuple[int, bytes]]:
    """Hash and content of what an index has learned; the one that it names."""
    with closing(sqlite3.connect(database_of(index))) as connection:
        named = connection.execute("SELECT value FROM metadata WHERE name = 'dictionary'")
        rows = connection.execute("SELECT hash, content FROM dictionaries").fetchall()
        assert named.fetchone()[0] == (rows[0][0] if rows else 0)
        return rows
