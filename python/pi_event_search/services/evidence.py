"""What is shown of an event from the index: ids, times, snippets, previews."""

from __future__ import annotations

from datetime import datetime, timedelta

from pi_event_search import _core
from pi_event_search.store.rows import EventRow, FragmentRow
from pi_event_search.types import TextPreview, TextRange

PREVIEW_CHARS = 2_000
"""Code points of a preview in a read: head and tail of a longer text."""
NODE_PREVIEW_CHARS = 200
"""Code points of the preview of a neighbour or a trace node."""

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


def preview_of(text: str, limit: int) -> TextPreview:
    """Head and tail of a whole text."""
    shown, ranges, omitted, total = _core.preview(text, limit)
    return text_preview(shown, total, ranges, omitted)


def stored_preview(fragment: FragmentRow, limit: int) -> TextPreview:
    """Head and tail of a fragment's bounded text, counted in its full source text."""
    shown, ranges, omitted = _core.preview_bounded(
        fragment.text, fragment.head, fragment.chars, limit
    )
    return text_preview(shown, fragment.chars, ranges, omitted)


def node_preview(fragment: FragmentRow | None) -> TextPreview:
    """The small preview of a neighbour or trace node by its first fragment."""
    if fragment is None:
        return EMPTY_PREVIEW
    return stored_preview(fragment, NODE_PREVIEW_CHARS)


def stored_window(fragment: FragmentRow, offset: int, length: int) -> TextPreview:
    """A contiguous window of a fragment's bounded text; empty inside its omission."""
    shown, ranges, omitted = _core.window_bounded(
        fragment.text, fragment.head, fragment.chars, offset, length
    )
    return text_preview(shown, fragment.chars, ranges, omitted)


def text_preview(
    text: str,
    total: int,
    shown: list[tuple[int, int]],
    omitted: list[tuple[int, int]],
) -> TextPreview:
    """The public shape of a bounded text."""
    return TextPreview(
        text=text,
        total_chars=total,
        shown_ranges=tuple(TextRange(start, end) for start, end in shown),
        omitted_ranges=tuple(TextRange(start, end) for start, end in omitted),
        truncated=bool(omitted),
    )


EMPTY_PREVIEW = TextPreview("", 0, (), (), False)
"""For events without text."""
