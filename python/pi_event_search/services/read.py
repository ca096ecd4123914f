"""Read: one event back from its source file, within budgets, with its neighbours."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pi_event_search import _core
from pi_event_search.access.view import View
from pi_event_search.errors import InvalidArgument, NotFound
from pi_event_search.services.evidence import fragment_id, timestamp_of
from pi_event_search.services.neighbors import neighbors_of
from pi_event_search.services.previews import (
    PREVIEW_CHARS,
    preview_of,
    stored_preview,
    stored_window,
    text_preview,
)
from pi_event_search.store.rows import (
    DERIVED_ID,
    ERROR,
    FACET_LIMIT,
    EventRow,
    FragmentRow,
    SessionRow,
)
from pi_event_search.types.coverage import Coverage
from pi_event_search.types.event import (
    Event,
    Fragment,
    FragmentCoverage,
    Omission,
    Source,
    TextPreview,
)
from pi_event_search.types.requests import ReadRequest
from pi_event_search.types.vocabulary import SourceState

MAX_FRAGMENTS = 12
"""Fragments of one read; a fragment asked for by its id is never among those left out."""

MAPPED_BELOW = 3
"""Session versions below this have roles that the reading of a whole file maps."""


class SourceModified(Exception):  # noqa: N818 - a request to look again, no failure
    """The record in the file is not the one that was indexed: sync the source and look again."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A fragment to show, whether it comes from the file or from the index."""

    fragment_id: str
    kind: int
    tool_name: str | None
    custom_type: str | None
    is_error: bool
    text: str | FragmentRow

    def preview(self, window: tuple[int, int] | None) -> TextPreview:
        if isinstance(self.text, FragmentRow):
            if window is None:
                return stored_preview(self.text, PREVIEW_CHARS)
            return stored_window(self.text, *window)
        if window is None:
            return preview_of(self.text, PREVIEW_CHARS)
        return _window(self.text, *window)


def read_event(
    view: View, request: ReadRequest, coverage: Coverage, *, accept_modified: bool
) -> Event:
    """The event of a request.

    :raises NotFound: the session, entry or fragment does not exist or must not be seen.
    :raises SourceModified: the file changed under the index, and ``accept_modified`` is false.
    """
    session = view.scope.resolve(request.session_id)
    row = view.find(session, request.entry_id)
    record, state = _from_source(session, row)
    if state == "modified" and not accept_modified:
        raise SourceModified
    parts = _stored_parts(view.fragments(row)) if record is None else _parts(record)
    chosen = _chosen(parts, request)
    states = view.states(row)
    return Event(
        session_id=str(session.session_id),
        entry_id=row.entry_id,
        entry_type=row.entry_type,
        timestamp=timestamp_of(row),
        parent_id=row.parent_id,
        branch_state=states.branch(row),
        selection_state=states.selection(row),
        role=row.role,
        context_role=_core.CONTEXT_ROLES[row.context_role],
        label=view.label(row),
        attributes={} if record is None else record.attributes,
        fragments=tuple(_fragment(part, request.window_range) for part in chosen),
        fragment_coverage=FragmentCoverage(
            total=len(parts),
            returned=len(chosen),
            omitted=len(parts) - len(chosen),
            truncated=len(chosen) < len(parts),
        ),
        omissions=() if record is None else _omissions(record),
        neighbors=neighbors_of(view, row, request),
        source=Source(state, row.byte_start, row.byte_end, row.line, os.fsdecode(session.path)),
        coverage=coverage,
    )


def _from_source(
    session: SessionRow, row: EventRow
) -> tuple[_core.ParsedEvent | None, SourceState]:
    """The record read again, and ``exact``; or nothing, and whether the file changed or is gone."""
    try:
        record = _core.read_record(session.path, row.byte_start, row.byte_end, row.record_hash)
    except (OSError, _core.NotASession):  # gone, unreadable, or no file any more
        return None, "missing"
    if record is None or not _agrees(record, session, row):
        return None, "modified"
    return record, "exact"


def _agrees(record: _core.ParsedEvent, session: SessionRow, row: EventRow) -> bool:
    """Whether a record that is the indexed one, to the byte, is also what the index says of it.

    It always is, unless the index was damaged; then the session is read again.
    """
    if not row.entry_id.startswith(DERIVED_ID) and record.id != row.entry_id:
        return False
    if (record.entry_type[:FACET_LIMIT], record.timestamp_ms) != (row.entry_type, row.ts):
        return False
    if session.version is None or session.version < MAPPED_BELOW:
        return True  # roles of old files are read as today's
    role = None if record.role is None else record.role[:FACET_LIMIT]
    return (role, record.context_role, record.contribution) == (
        row.role,
        row.context_role,
        row.contribution,
    )


def _stored_parts(fragments: Iterable[FragmentRow]) -> list[_Part]:
    """What the index holds of the texts."""
    return [
        _Part(
            fragment_id(fragment),
            fragment.kind,
            fragment.tool_name,
            fragment.custom_type,
            bool(fragment.flags & ERROR),
            fragment,
        )
        for fragment in fragments
    ]


def _parts(record: _core.ParsedEvent) -> list[_Part]:
    return [
        _Part(
            f"{_core.KINDS[fragment.kind]}:{fragment.n}",
            fragment.kind,
            fragment.tool_name,
            fragment.custom_type,
            fragment.is_error,
            fragment.text,
        )
        for fragment in record.fragments
    ]


def _chosen(parts: Sequence[_Part], request: ReadRequest) -> Sequence[_Part]:
    if request.fragment_id is not None:
        chosen = [part for part in parts if part.fragment_id == request.fragment_id]
        if not chosen:
            raise NotFound
        return chosen
    if request.window_range is not None and len(parts) > 1:
        raise InvalidArgument(
            "offset and window count in one fragment: name it, as in fragment_id"
            f" {parts[0].fragment_id!r}.",
            argument="offset",
        )
    return parts[:MAX_FRAGMENTS]


def _fragment(part: _Part, window: tuple[int, int] | None) -> Fragment:
    return Fragment(
        fragment_id=part.fragment_id,
        semantic_kind=_core.KINDS[part.kind],
        preview=part.preview(window),
        tool_name=part.tool_name,
        is_error=part.is_error,
        custom_type=part.custom_type,
    )


def _window(text: str, offset: int, length: int) -> TextPreview:
    """A contiguous window of a whole text; empty behind its end."""
    total = len(text)
    start = min(offset, total)
    end = min(start + length, total)
    outside = [(a, b) for a, b in ((0, start), (end, total)) if a < b]
    shown = [(start, end)] if start < end else []
    return text_preview(text[start:end], total, shown, outside)


def _omissions(record: _core.ParsedEvent) -> tuple[Omission, ...]:
    return tuple(
        Omission(kind, count)
        for kind, count in zip(_core.OMISSIONS, record.omissions, strict=True)
        if count
    )
