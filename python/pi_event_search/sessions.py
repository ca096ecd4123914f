"""Sessions: the list of those a caller may see, and their lineage."""

from __future__ import annotations

import os
from collections import Counter

from pi_event_search.evidence import iso_time
from pi_event_search.scope import Scope
from pi_event_search.store.rows import SessionRow
from pi_event_search.store.schema import epoch_range
from pi_event_search.store.sources import READY
from pi_event_search.types import Coverage, Lineage, SessionPage, SessionsRequest, SessionSummary
from pi_event_search.view import View


def list_sessions(view: View, request: SessionsRequest, coverage: Coverage) -> SessionPage:
    """Visible sessions, the newest activity first."""
    scope = view.scope
    parents = parent_ids(scope)
    forks = Counter(parents.values())
    summaries = []
    for session in sorted(scope.listed(), key=lambda s: (-s.last_ts, str(s.session_id))):
        if not _wanted(view, session, request):
            continue
        summaries.append(_summary(view, session, parents, forks))
        if len(summaries) == request.limit:
            break
    return SessionPage(tuple(summaries), coverage)


def lineage_of(view: View, session_id: str) -> Lineage:
    """The parent and the children of a session, as far as the caller may see them.

    :raises NotFound: the session does not exist or must not be seen.
    """
    session = view.scope.resolve(session_id)
    parents = parent_ids(view.scope)
    own = str(session.session_id)
    return Lineage(
        session_id=own,
        child_session_ids=tuple(
            sorted(child for child, parent in parents.items() if parent == own)
        ),
        parent_session_id=parents.get(own),
    )


def parent_ids(scope: Scope) -> dict[str, str]:
    """Session id -> id of the session whose file its header names, where both may be seen."""
    by_path = {session.path: str(session.session_id) for session in scope.listed()}
    parents = {}
    for session in scope.listed():
        if session.parent_session:
            parent = by_path.get(os.fsencode(os.path.realpath(session.parent_session)))
            if parent is not None and parent != session.session_id:
                parents[str(session.session_id)] = parent
    return parents


def _wanted(view: View, session: SessionRow, request: SessionsRequest) -> bool:
    if request.name is not None:
        name = view.name(session)
        if name is None or request.name.casefold() not in name.casefold():
            return False
    after = request.from_ms is None or session.last_ts >= request.from_ms
    return after and (request.to_ms is None or session.last_ts <= request.to_ms)


def _summary(
    view: View, session: SessionRow, parents: dict[str, str], forks: Counter[str]
) -> SessionSummary:
    own = str(session.session_id)
    events, last_ts = _extent(view, session)
    return SessionSummary(
        session_id=own,
        name=view.name(session),
        cwd=session.cwd or "",
        path=os.fsdecode(session.path),
        created_at=session.created_at or "",
        last_activity_at=iso_time(last_ts),
        event_count=events,
        parent_session_id=parents.get(own),
        fork_count=forks[own],
        state="ready" if session.state == READY else "error",
    )


def _extent(view: View, session: SessionRow) -> tuple[int, int]:
    """Events and last activity of a session; of the current one only up to the cutoff."""
    current = view.scope.current
    if current is None or session.epoch != current.epoch or session.epoch is None:
        return session.events, session.last_ts
    first = epoch_range(session.epoch)[0]
    return view.extent(first, view.scope.cutoff_of(session))
