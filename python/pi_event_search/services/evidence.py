"""What is shown of every event from the index: ids, times, snippets."""

from __future__ import annotations

from datetime import datetime, timedelta

from pi_event_search import _core
from pi_event_search.store.rows import EventRow, FragmentRow
from pi_event_search.types.search import TextRange

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - UTC, written as Z


def fragment_id(fragment: FragmentRow) -> str:
    """The public id: kind, and position among the fragments of that kind."""
    return f"{_core.KINDS[fragment.kind]}:{fragment.n}"


def timestamp_of(row: EventRow) -> str:
    """The time as recorded."""
    return iso_time(row.ts) if row.timestamp is None else row.timestamp


def iso_time(milliseconds: int) -> str:
    """Milliseconds since 1970 the way Pi writes times, such as ``2026-01-05T09:00:00.000Z``."""
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return moment.isoformat(timespec="milliseconds") + "Z"


def snippet_of(
    fragment: FragmentRow, query: _core.Query | None, limit: int
) -> tuple[str, tuple[TextRange, ...]]:
    """A bounded excerpt around what matched, and the ranges of it that matched."""
    text, highlights = _core.snippet(fragment.text, fragment.head, query, limit)
    return text, tuple(TextRange(start, end) for start, end in highlights)
