"""Small commits are gathered before Tantivy merges them together with something large.

Every commit leaves a segment, however small. As soon as eight of less than some ten thousand
documents are there, Tantivy merges all of them, and whoever has written waits for that. One large
one is nearly always among them, so that every seventh small commit would write ten thousand
documents anew, which takes as long as a dozen commits. There is no way to tell it otherwise.

So one commit before that, the documents of the smallest segments are deleted and added once more,
with what is new. Segments without documents vanish, and one is left in their place. It is one
commit like any other: readers find each document in the state before it or after it, once.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from pi_event_search.store.documents import documents_from
from pi_event_search.store.text_files import alive_documents
from pi_event_search.store.text_index import TextIndex

SMALL = 16_818
"""Documents of the largest segment that Tantivy would take for small (10,000 * 2 ** 0.75)."""
CROWD = 7
"""So many small segments: the next commit would have them merged."""
FEWEST = 3
"""Gathering less would come again too soon."""
MOST = 200
"""Documents that are gathered at most; more are left to Tantivy."""
MOST_BYTES = 1_000_000
"""And bytes of their texts, as they are stored."""


class Gathered(NamedTuple):
    """Documents to be added once more: all from a key on."""

    first_key: int
    documents: list[str]


def to_gather(connection: sqlite3.Connection, text: TextIndex) -> Gathered | None:
    """What the coming commit should gather, of what is committed; ``None``: nothing.

    The smallest segments are taken for those of the newest commits. Where that is wrong, other
    documents are added once more: it helps nothing and harms nothing.

    :raises Contradiction: the rows of the documents do not fit together.
    """
    count = _in_smallest(alive_documents(text.directory))
    first_key = None if count is None else _first_of_newest(connection, text, count)
    if first_key is None:
        return None
    (size,) = connection.execute(
        "SELECT ifnull(sum(length(text)), 0) FROM fragments WHERE key >= ?", (first_key,)
    ).fetchone()
    if size > MOST_BYTES:
        return None
    return Gathered(first_key, documents_from(connection, first_key))


def _in_smallest(segments: list[int]) -> int | None:
    """How many documents the segments hold that should be gathered, marks of commits included."""
    small = sorted(documents for documents in segments if documents <= SMALL)
    if len(small) < CROWD:
        return None
    total = number = 0
    for documents in small:
        if total + documents > MOST:
            break
        total += documents
        number += 1
    return total if number >= FEWEST else None


def _first_of_newest(connection: sqlite3.Connection, text: TextIndex, count: int) -> int | None:
    """The first key of so many documents, if that is where a commit begins."""
    marks = text.marks(count + 1)
    keys = connection.execute(
        "SELECT key FROM fragments ORDER BY key DESC LIMIT ?", (count + 1,)
    ).fetchall()
    newest = sorted((*marks, *(key for (key,) in keys)), reverse=True)
    edge = newest[count - 1 : count + 1]
    # A commit's mark has its last key; a large one may have a segment for its mark alone.
    if not edge or (len(edge) > 1 and not set(edge).intersection(marks)):
        return None
    return int(edge[0])
