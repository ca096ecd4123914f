"""Answers for eyes. One function a kind of result; `render` picks it."""

from __future__ import annotations

from dataclasses import replace
from typing import TextIO

from pi_event_search.cli.commands import Surroundings
from pi_event_search.cli.parser import Parsed
from pi_event_search.cli.render.asked import asked_for
from pi_event_search.cli.render.event import render_event
from pi_event_search.cli.render.index import (
    render_status,
    render_sync,
    render_verification,
)
from pi_event_search.cli.render.screen import screen_for
from pi_event_search.cli.render.search import render_search
from pi_event_search.cli.render.sessions import render_lineage, render_sessions
from pi_event_search.cli.render.trace import render_trace
from pi_event_search.types import (
    Event,
    Lineage,
    SearchPage,
    SessionPage,
    Status,
    SyncReport,
    Trace,
    Verification,
)
from pi_event_search.types.shape import Shape


def render(result: Shape, parsed: Parsed, around: Surroundings, stream: TextIO) -> str:
    """`result` as text for `stream`."""
    screen = screen_for(stream, around.now, around.zone)
    match result:
        case SearchPage():
            render_search(result, screen, asked_for(parsed))
        case Event():
            render_event(result, screen)
        case Trace():
            render_trace(result, screen)
        case SessionPage():
            render_sessions(result, screen, asked_for(parsed))
        case Lineage():
            render_lineage(result, screen)
        case Status():
            render_status(result, screen, asked_for(parsed))
        case SyncReport():
            render_sync(result, screen, replace(asked_for(parsed), roots=()))
        case Verification():
            render_verification(result, screen)
        case _:
            raise TypeError(type(result).__name__)
    return screen.text()
