"""Everything an index holds of one session, in terms that any two indexes of a file share."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping

from pi_event_search import _core
from pi_event_search.access.path import StoredPath
from pi_event_search.access.states import SessionStates
from pi_event_search.store.rows import EVENT_COLUMNS, SUPERSEDED, EventRow, SessionRow
from pi_event_search.store.schema import epoch_of, epoch_range, ord_of
from pi_event_search.store.store import Snapshot
from pi_event_search.store.text_hits import matching_keys
from pi_event_search.store.text_query import TextFilter, build

Fact = tuple[object, ...]
"""One row; its first value names it."""

FragmentName = tuple[bytes, int, int, int]
"""Path of the source, position of the event, kind, and number among those of the kind."""

_SESSION = (
    "version, session_id, created_ts, created_at, parent_session, name, last_ts, events, next_ord,"
    " leaf_ord, leaf_unknown, irregular, compaction_ord, compaction_depth, kept_depth"
)
_SOURCE = (
    "session_id, cwd, complete_offset, complete_lines, entries, header_offset, header_length,"
    " header_hash, boundary_offset, boundary_length, boundary_hash, tail_offset, tail_length,"
    " tail_hash"
)
_MANY = 500


def facts_of(
    connection: sqlite3.Connection, session: SessionRow
) -> Iterator[tuple[str, Iterator[Fact]]]:
    """Kinds of facts, and the facts of each kind in a fixed order."""
    assert session.epoch is not None
    first, last = epoch_range(session.epoch)
    segments = _segment_names(connection, first, last)
    yield (
        "session",
        _rows(connection, f"SELECT {_SESSION} FROM sessions WHERE epoch = ?", (session.epoch,)),
    )
    yield (
        "checkpoint",
        _rows(connection, f"SELECT {_SOURCE} FROM sources WHERE source = ?", (session.source,)),
    )
    yield "event", _events(connection, session, segments)
    yield (
        "fragment",
        _fragments(
            connection,
            "SELECT event - ?, kind, n, tool_name, custom_type, flags, chars, head, text"
            " FROM fragments WHERE key IN (SELECT f.key FROM events e JOIN fragments f"
            " ON f.key >= e.first_key AND f.key < e.first_key + e.fragments"
            " WHERE e.event BETWEEN ? AND ?) ORDER BY event, key",
            (first, first, last),
        ),
    )
    yield (
        "relationship",
        _rows(
            connection,
            "SELECT event - ?, kind, reference, detail, flags FROM relationships"
            " WHERE event BETWEEN ? AND ? ORDER BY event, kind, reference",
            (first, first, last),
        ),
    )
    yield "segment", _segments(connection, segments, first, last)
    yield "path", _path(connection, segments, first, last)
    yield (
        "receipt",
        _rows(
            connection,
            "SELECT kind, count, detail FROM receipts WHERE epoch = ? ORDER BY kind",
            (session.epoch,),
        ),
    )


def documents_of(snapshot: Snapshot, session: SessionRow) -> Iterator[Fact]:
    """What the text index returns for a session, one row a document of a fragment that lives."""
    assert session.epoch is not None
    count = snapshot.connection.execute(
        "SELECT ifnull(sum(fragments), 0) FROM events WHERE event BETWEEN ? AND ?",
        epoch_range(session.epoch),
    ).fetchone()[0]
    query = build(None, TextFilter(epochs=[session.epoch]))
    # A dead document or two of an unfinished batch may carry the epoch as well.
    keys = sorted(matching_keys(snapshot.searcher, query, 2 * count + 1_000))
    for some in _slices(keys):
        named = {
            key: (ord_of(event), kind, n)
            for key, event, kind, n in snapshot.connection.execute(
                "SELECT key, event, kind, n FROM fragments"
                f" WHERE key IN ({', '.join('?' * len(some))})",
                some,
            )
        }
        yield from (named[key] for key in some if key in named)


def fragments_named(
    connection: sqlite3.Connection, keys: Iterable[int], paths: Mapping[int | None, bytes]
) -> set[FragmentName]:
    """The living fragments of some keys, of the sessions whose epochs have a path here."""
    found: set[FragmentName] = set()
    for some in _slices(sorted(keys)):
        for event, kind, n in connection.execute(
            f"SELECT event, kind, n FROM fragments WHERE key IN ({', '.join('?' * len(some))})",
            some,
        ):
            path = paths.get(epoch_of(event))
            if path is not None:
                found.add((path, ord_of(event), kind, n))
    return found


def _events(
    connection: sqlite3.Connection, session: SessionRow, segments: Mapping[int, int]
) -> Iterator[Fact]:
    assert session.epoch is not None
    first, last = epoch_range(session.epoch)
    states = SessionStates(connection, session, last + 1, StoredPath(connection))
    for columns in connection.execute(
        f"SELECT {EVENT_COLUMNS} FROM events WHERE event BETWEEN ? AND ? ORDER BY event",
        (first, last),
    ):
        row = EventRow(*columns)
        known = row._replace(
            event=row.ord,
            segment=None if row.segment is None else segments[row.segment],
            first_key=0,
        )
        lives = not row.flags & SUPERSEDED
        yield (*known, *((states.branch(row), states.selection(row)) if lives else ("", "")))


def _segment_names(connection: sqlite3.Connection, first: int, last: int) -> dict[int, int]:
    """Each segment by the position of its first event: numbers depend on the history."""
    return {
        segment: ord_of(event)
        for segment, event in connection.execute(
            "SELECT segment, min(event) FROM events WHERE event BETWEEN ? AND ?"
            " AND segment IS NOT NULL GROUP BY segment",
            (first, last),
        )
    }


def _segments(
    connection: sqlite3.Connection, names: Mapping[int, int], first: int, last: int
) -> Iterator[Fact]:
    rows = connection.execute(
        "SELECT segment, parent_segment, parent_depth, origin, missing_parent FROM segments"
        " WHERE segment BETWEEN ? AND ?",
        (first, last),
    )
    yield from sorted(
        (
            (names.get(segment), names.get(parent), depth, origin, missing)
            for segment, parent, depth, origin, missing in rows
        ),
        key=repr,
    )


def _path(
    connection: sqlite3.Connection, names: Mapping[int, int], first: int, last: int
) -> Iterator[Fact]:
    rows = connection.execute(
        "SELECT segment, upto FROM path WHERE segment BETWEEN ? AND ? ORDER BY upto", (first, last)
    )
    yield from ((names.get(segment), upto) for segment, upto in rows)


def _rows(connection: sqlite3.Connection, query: str, values: tuple[object, ...]) -> Iterator[Fact]:
    yield from connection.execute(query, values)


def _fragments(
    connection: sqlite3.Connection, query: str, values: tuple[object, ...]
) -> Iterator[Fact]:
    """Rows with ``head`` and ``text`` at their end, as texts: how one is stored depends on when."""
    for *columns, head, text in connection.execute(query, values):
        yield (*columns, head, _text(text, head))


def _text(stored: bytes, head: int | None) -> tuple[str, str] | str:
    """Both parts of a stored text, or why it cannot be read."""
    try:
        return _core.bounded_text(stored, head)
    except (TypeError, ValueError, OverflowError) as error:
        return f"unreadable ({error})"


def _slices(values: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(values), _MANY):
        yield values[start : start + _MANY]
