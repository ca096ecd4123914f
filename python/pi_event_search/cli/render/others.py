"""Every answer but that of a search."""

from __future__ import annotations

from pi_event_search.cli.render.asked import Asked
from pi_event_search.cli.render.event import render_event
from pi_event_search.cli.render.index import render_status, render_sync, render_verification
from pi_event_search.cli.render.screen import Screen
from pi_event_search.cli.render.sessions import render_lineage, render_sessions
from pi_event_search.cli.render.trace import render_trace
from pi_event_search.types.coverage import SyncReport
from pi_event_search.types.event import Event
from pi_event_search.types.sessions import Lineage, SessionPage, Status, Verification
from pi_event_search.types.shape import Shape
from pi_event_search.types.trace import Trace


def render_other(result: Shape, screen: Screen, asked: Asked) -> None:
    """Writes `result` to the screen."""
    match result:
        case Event():
            render_event(result, screen)
        case Trace():
            render_trace(result, screen)
        case SessionPage():
            render_sessions(result, screen, asked)
        case Lineage():
            render_lineage(result, screen)
        case Status():
            render_status(result, screen, asked)
        case SyncReport():
            render_sync(result, screen, asked._replace(roots=()))
        case Verification():
            render_verification(result, screen)
        case _:
            raise TypeError(type(result).__name__)
