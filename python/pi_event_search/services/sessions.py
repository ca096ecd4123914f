"""Sessions: the list of those a caller may see, and their lineage."""

from __future__ import annotations

import os

from pi_event_search.access.view import View
from pi_event_search.services.evidence import iso_time
from pi_event_search.store.rows import SessionRow
from pi_event_search.store.schema import epoch_range
from pi_event_search.store.sources import READY
from pi_event_search.types.coverage import Coverage
from pi_event_search.types.requests import SessionsRequest
from pi_event_search.types.sessions import Lineage, SessionPage, SessionSummary


def list_sessions(view: View, request: SessionsRequest, coverage: Coverage) -> SessionPage:
    """Visible sessions, the newest activity first."""
    extents = {session.source: _extent(view, session) for session in view.scope.listed()}
    found = [
        session
        for session in view.scope.listed()
        if _wanted(view, session, extents[session.source][1], request)
    ]
    found.sort(key=lambda session: (-extents[session.source][1], str(session.session_id)))
    return SessionPage(
        tuple(
            _summary(view, session, *extents[session.source]) for session in found[: request.limit]
        ),
        coverage,
    )


def lineage_of(view: View, session_id: str) -> Lineage:
    """The parent and the children of a session, as far as the caller may see them.

    :raises NotFound: the session does not exist or must not be seen.
    """
    session = view.scope.resolve(session_id)
    assert session.epoch is not None
    parent = view.lineage.parent(session.epoch)
    return Lineage(
        session_id=str(session.session_id),
        child_session_ids=tuple(
            str(child.session_id) for child in view.lineage.children(session.epoch)
        ),
        parent_session_id=None if parent is None else str(parent.session_id),
    )


def _wanted(view: View, session: SessionRow, last_ts: int, request: SessionsRequest) -> bool:
    if request.name is not None:
        name = view.name(session)
        if name is None or request.name.casefold() not in name.casefold():
            return False
    after = request.from_ms is None or last_ts >= request.from_ms
    return after and (request.to_ms is None or last_ts <= request.to_ms)


def _summary(view: View, session: SessionRow, events: int, last_ts: int) -> SessionSummary:
    assert session.epoch is not None
    parent = view.lineage.parent(session.epoch)
    return SessionSummary(
        session_id=str(session.session_id),
        name=view.name(session),
        cwd=session.cwd or "",
        path=os.fsdecode(session.path),
        created_at=session.created_at or "",
        last_activity_at=iso_time(last_ts),
        event_count=events,
        parent_session_id=None if parent is None else str(parent.session_id),
        fork_count=len(view.lineage.children(session.epoch)),
        state="ready" if session.state == READY else "error",
    )


def _extent(view: View, session: SessionRow) -> tuple[int, int]:
    """Events and last activity of a session; of the current one only up to the cutoff."""
    current = view.scope.current
    if current is None or session.epoch != current.epoch or session.epoch is None:
        return session.events, session.last_ts
    first = epoch_range(session.epoch)[0]
    events, last_ts = view.extent(first, view.scope.cutoff_of(session))
    return events, max(last_ts, session.created_ts or 0)
