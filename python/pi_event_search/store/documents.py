"""What Tantivy is told of a fragment: the same whether it comes from a record or from SQLite."""

from __future__ import annotations

from collections.abc import Sequence

from pi_event_search import _core
from pi_event_search.store.rows import ERROR, RETRIEVAL, EventRow, FragmentRow
from pi_event_search.store.schema import epoch_of
from pi_event_search.store.text_index import SAID_FACET, TextDocument, facet

_SAID = frozenset(
    _core.KINDS.index(kind)
    for kind in (
        "user.text",
        "assistant.text",
        "summary.compaction",
        "summary.branch",
        "custom.message",
        "session.name",
    )
)
ERROR_FACET = facet("is", "error")
RETRIEVAL_FACET = facet("is", "retrieval")


def document_of(
    event: EventRow,
    workspace: int,
    fragment: FragmentRow,
    words: Sequence[str],
    parts: Sequence[str],
) -> TextDocument:
    """The document of one fragment. Every fact in it is fixed when the record is written."""
    facets = [facet("kind", _core.KINDS[fragment.kind]), facet("type", event.entry_type)]
    if event.role is not None:
        facets.append(facet("role", event.role))
    if fragment.tool_name is not None:
        facets.append(facet("tool", fragment.tool_name))
    if fragment.kind in _SAID:
        facets.append(SAID_FACET)
    if event.flags & ERROR:
        facets.append(ERROR_FACET)
    if fragment.flags & RETRIEVAL:
        facets.append(RETRIEVAL_FACET)
    return TextDocument(
        key=fragment.key,
        event=event.event,
        epoch=epoch_of(event.event),
        workspace=workspace,
        ts=event.ts,
        facets=facets,
        words=words,
        parts=parts,
    )
