"""Sessions as a table, and the forks around one."""

from __future__ import annotations

from pi_event_search.cli.render.asked import Asked, nothing_to_look_at
from pi_event_search.cli.render.coverage import coverage_notice
from pi_event_search.cli.render.screen import BAD, FAINT, ID, STRONG, Column, Part, Screen
from pi_event_search.cli.render.words import ago
from pi_event_search.types.sessions import Lineage, SessionPage, SessionSummary

_ROOMY = 120
"""Columns from which on forks and the working directory are shown too."""


def render_sessions(page: SessionPage, screen: Screen, asked: Asked) -> None:
    """The list, the newest activity first."""
    roomy = screen.width >= _ROOMY
    if page.sessions:
        columns = [
            Column("active"),
            Column("session"),
            Column("events", right=True),
            *((Column("forks", right=True),) if roomy else ()),
            Column("name", shrinks=True),
            *((Column("directory", shrinks=True),) if roomy else ()),
        ]
        screen.table(columns, [_row(session, screen, roomy) for session in page.sessions])
    elif not nothing_to_look_at(page.coverage, asked, screen):
        screen.line(("No session matches.", STRONG))
    coverage_notice(page.coverage, screen)


def _row(session: SessionSummary, screen: Screen, roomy: bool) -> list[Part]:
    name: Part = session.name or ("-", FAINT)
    if session.state != "ready":
        name = (f"[{session.state}] {session.name or ''}", BAD)
    row: list[Part] = [
        ago(session.last_activity_at, screen.now),
        (session.session_id, ID),
        f"{session.event_count:,}",
    ]
    if not roomy:
        return [*row, name]
    forks = f"{session.fork_count:,}" if session.fork_count else ""
    return [*row, forks, name, (session.cwd, FAINT)]


def render_lineage(lineage: Lineage, screen: Screen) -> None:
    """Parent, session, children as a tree."""
    if lineage.parent_session_id:
        screen.ids((lineage.parent_session_id, ID), (" parent", FAINT))
        screen.ids(("└─ ", FAINT), (lineage.session_id, STRONG))
    else:
        screen.ids((lineage.session_id, STRONG), (" not a fork of a session seen here", FAINT))
    margin = 3 if lineage.parent_session_id else 0
    children = lineage.child_session_ids
    for number, child in enumerate(children, start=1):
        branch = "└─ " if number == len(children) else "├─ "
        screen.ids((branch, FAINT), (child, ID), indent=margin)
    if not children:
        screen.line(("no forks of it", FAINT), indent=margin)
