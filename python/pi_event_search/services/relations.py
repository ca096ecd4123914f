"""The relationships of an event beyond parent, children and siblings.

What records refer to is stored with them as they were read; the other ends are looked up here,
when asked for. So it makes no difference which of two records came first, and an end that is not
there, or that the caller must not see, leaves no trace. Looking costs a few index steps an edge,
whatever the size of the session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from pi_event_search import _core
from pi_event_search.access.view import View
from pi_event_search.services.forks import Link, fork_links, grown_from, parent_link
from pi_event_search.store.rows import EventRow

TOOL_RESULT_FOR = "tool-result-for"
SESSION_PARENT = "session-parent"
SESSION_FORK = "session-fork"
_BY_ID = {
    "compacts": _core.RELATIONSHIP_COMPACTS,
    "branch-summary-from": _core.RELATIONSHIP_BRANCH_SUMMARY_FROM,
    "context-edit": _core.RELATIONSHIP_CONTEXT_EDIT,
    "labels": _core.RELATIONSHIP_LABELS,
}
"""Kinds whose reference is the id of an entry of the same session."""
_BY_PATH = {
    "file-changed": _core.RELATIONSHIP_FILE_CHANGED,
    "file-read": _core.RELATIONSHIP_FILE_READ,
}

Known = Literal["recorded", "derived", "inferred"]


class Relation(NamedTuple):
    """An edge from the event whose record makes the reference to what is referred to."""

    type: str
    source: EventRow
    target: EventRow | str
    """An event, or the path of a file."""
    known: Known = "recorded"
    detail: str | None = None

    @property
    def key(self) -> tuple[str, int, int | str]:
        """What makes it one and the same edge."""
        target = self.target if isinstance(self.target, str) else self.target.event
        return self.type, self.source.event, target

    def other_than(self, row: EventRow) -> EventRow | None:
        """The event at the other end; ``None`` when that is a file."""
        if self.source.event != row.event:
            return self.source
        return None if isinstance(self.target, str) else self.target


def relations_of(view: View, row: EventRow, limit: int) -> Iterator[Relation]:
    """The edges that begin or end at an event, in a fixed order.

    Results of calls come in append order; of what else refers to the event, the newest first.

    :param limit: edges of one kind that are looked for.
    """
    yield from _tool_results(view, row, limit)
    for name, kind in _BY_ID.items():
        yield from _by_id(view, row, name, kind, limit)
    yield from _between_sessions(view, row)
    for name, kind in _BY_PATH.items():
        for path, detail in view.references(row, kind):
            yield Relation(name, row, path, "inferred", detail)


def _tool_results(view: View, row: EventRow, limit: int) -> Iterator[Relation]:
    """Between calls and their results.

    Ids of calls need not be unique in a session. A result answers the newest call of its id that
    stands before it in the file, or the first one behind it where none does.
    """
    for call_id, _ in view.references(row, _core.RELATIONSHIP_TOOL_RESULT):
        call = _call_of(view, row, call_id)
        if call is not None:
            yield Relation(TOOL_RESULT_FOR, row, call, detail=call_id)
    answers: list[tuple[int, str, EventRow]] = []
    for call_id, _ in view.references(row, _core.RELATIONSHIP_TOOL_CALL):
        results = _results_of(view, row, call_id, limit)
        answers += [(result.event, call_id, result) for result in results]
        if len(answers) > limit:
            break
    for _, call_id, result in sorted(answers):
        yield Relation(TOOL_RESULT_FOR, result, row, detail=call_id)


def _call_of(view: View, row: EventRow, call_id: str) -> EventRow | None:
    session, kind = view.session(row), _core.RELATIONSHIP_TOOL_CALL
    before = view.referring(session, kind, call_id, 1, before=row.event)
    behind = view.referring(session, kind, call_id, 1, behind=row.event, newest=False)
    return next((call for call, _ in (*before, *behind)), None)


def _results_of(view: View, row: EventRow, call_id: str, limit: int) -> list[EventRow]:
    """Results up to the next call of the same id; of the first call, those before it too."""
    session, kind = view.session(row), _core.RELATIONSHIP_TOOL_CALL
    earlier = next(view.referring(session, kind, call_id, 1, before=row.event), None)
    later = next(view.referring(session, kind, call_id, 1, behind=row.event, newest=False), None)
    results = view.referring(
        session,
        _core.RELATIONSHIP_TOOL_RESULT,
        call_id,
        limit,
        behind=-1 if earlier is None else row.event,
        before=None if later is None else later[0].event,
        newest=False,
    )
    return [result for result, _ in results]


def _by_id(view: View, row: EventRow, name: str, kind: int, limit: int) -> Iterator[Relation]:
    """Between entries that name others and those; one that names itself says nothing."""
    session = view.session(row)
    for reference, detail in view.references(row, kind):
        target = view.by_id(session, reference)
        if target is not None and target.event != row.event:
            yield Relation(name, row, target, detail=detail)
    for source, detail in view.referring(session, kind, row.entry_id, limit):
        if source.event != row.event:
            yield Relation(name, source, row, detail=detail)


def _between_sessions(view: View, row: EventRow) -> Iterator[Relation]:
    """Between the copies of an event, and from where forks began to their own entries."""
    link = parent_link(view, row)
    if link is not None:
        yield _of_link(link)
    grown = view.grown_elsewhere(row, view.lineage.children(row.epoch))
    for link in fork_links(view, row, grown):
        yield _of_link(link)
    origin = grown_from(view, row)
    if origin is not None:
        yield Relation(SESSION_FORK, origin, row, "derived")
    for entry in grown:
        yield Relation(SESSION_FORK, row, entry, "derived")


def _of_link(link: Link) -> Relation:
    known: Known = "recorded" if link.recorded else "derived"
    return Relation(SESSION_PARENT, link.fork, link.parent, known)
