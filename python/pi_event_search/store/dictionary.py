"""The dictionary of an index: what its texts have in common, learned once from the first of them.

Texts are compressed one by one, so that each is read alone, and most are too short for a compressor
to learn anything on the way. The dictionary is committed before any text that needs it is written,
so no crash can part them. Texts from before stay as they are. It is never replaced: the newest
sessions are read first, and from some megabytes of them much the same is learned as from all.
"""

from __future__ import annotations

import sqlite3

from pi_event_search import _core
from pi_event_search.faults import point
from pi_event_search.store.database import Contradiction, number, set_metadata

UNLEARNED = 0
UNLEARNABLE = 1
"""What stands in the metadata for the hash of a dictionary, as long as there is none, and where the
texts had nothing in common."""

LEARNED_PAGES = 768
"""Pages of a database that is large enough to learn from: 3 MB, of which two thirds are texts. Less
would be few texts to learn from, and of more the small indexes would have nothing."""
SAMPLED_BYTES = 700_000
"""Stored bytes that are learned from, spread over all: about 1.3 MB of text, which takes 0.15 s.
Twice as many take 0.3 s and make texts smaller by a two hundredth."""
LONGEST_SAMPLE = 2_000
"""Stored bytes that one text counts for: no more than its beginning is learned from."""
FEWEST_BYTES = 400_000
"""Stored bytes below which a database of any size is not learned from."""


def dictionary_of(connection: sqlite3.Connection) -> _core.Dictionary | None:
    """The dictionary of an index, ready for its texts to be read, if it has one.

    :raises Contradiction: it is damaged or missing.
    """
    learned = number(connection, "dictionary")
    if learned in (UNLEARNED, UNLEARNABLE):
        return None
    return _core.Dictionary.opened_as(learned) or stored_dictionary(connection)


def stored_dictionary(connection: sqlite3.Connection) -> _core.Dictionary | None:
    """As :func:`dictionary_of`, but whoever has it in use already, what is stored is looked at."""
    learned = number(connection, "dictionary")
    if learned in (UNLEARNED, UNLEARNABLE):
        return None
    row = connection.execute(
        "SELECT content FROM dictionaries WHERE hash = ?", (learned,)
    ).fetchone()
    try:
        return _core.Dictionary.open(row[0], learned)
    except (TypeError, ValueError) as error:  # TypeError: there is none, or it is no BLOB
        raise Contradiction("The index is damaged: the dictionary of its texts is.") from error


def is_unlearned(connection: sqlite3.Connection) -> bool:
    """Whether nobody has tried yet to learn from the texts of an index."""
    return number(connection, "dictionary") == UNLEARNED


def is_large_enough(connection: sqlite3.Connection) -> bool:
    """Whether an index is worth learning from, what a transaction is about to add included."""
    pages: int = connection.execute("PRAGMA page_count").fetchone()[0]
    return pages >= LEARNED_PAGES


def learn_dictionary(connection: sqlite3.Connection) -> _core.Dictionary | None:
    """Learns from the texts that are stored, inside a transaction in which none is written."""
    samples = _samples(connection)
    if samples is None:
        return None
    learned = _core.Dictionary.learn(samples)
    if learned is None:
        set_metadata(connection, dictionary=UNLEARNABLE)
        return None
    row = (learned.content_hash, learned.content)
    connection.execute("INSERT INTO dictionaries VALUES (?, ?)", row)
    set_metadata(connection, dictionary=learned.content_hash)
    point("dictionary.learned")
    return learned


def _samples(connection: sqlite3.Connection) -> list[bytes] | None:
    """Stored texts from all over the index; None where there are too few."""
    total: float = connection.execute(
        "SELECT total(min(length(text), ?)) FROM fragments", (LONGEST_SAMPLE,)
    ).fetchone()[0]
    if total < FEWEST_BYTES:
        return None
    step = max(round(total / SAMPLED_BYTES), 1)
    rows = connection.execute("SELECT text FROM fragments WHERE key % ? = 0", (step,))
    return [text for (text,) in rows if isinstance(text, bytes)]  # a damaged row may hold anything
