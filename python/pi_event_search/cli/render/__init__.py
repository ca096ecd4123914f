"""Answers for eyes. One function a kind of result; `render` picks it."""

from __future__ import annotations

from typing import TextIO

from pi_event_search.cli.commands import Surroundings
from pi_event_search.cli.parser import Parsed
from pi_event_search.cli.render.asked import asked_for
from pi_event_search.cli.render.screen import screen_for
from pi_event_search.cli.render.search import render_search
from pi_event_search.types.search import SearchPage
from pi_event_search.types.shape import Shape


def render(result: Shape, parsed: Parsed, around: Surroundings, stream: TextIO) -> str:
    """`result` as text for `stream`."""
    screen = screen_for(stream, around.now, around.zone)
    if isinstance(result, SearchPage):
        render_search(result, screen, asked_for(parsed))
    else:
        from pi_event_search.cli.render.others import render_other  # a search needs none of them

        render_other(result, screen, asked_for(parsed))
    return screen.text()
