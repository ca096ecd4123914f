"""Previews: head and tail of a text, or one window of it, with what they leave out."""

from __future__ import annotations

from pi_event_search import _core
from pi_event_search.store.rows import FragmentRow
from pi_event_search.types.event import TextPreview
from pi_event_search.types.search import TextRange

PREVIEW_CHARS = 2_000
"""Code points of a preview in a read: head and tail of a longer text."""
NODE_PREVIEW_CHARS = 200
"""Code points of the preview of a neighbour or a trace node."""


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
