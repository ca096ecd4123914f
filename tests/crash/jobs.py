"""What the children do that are killed."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from pi_event_search import EventIndex
from pi_event_search.faults import Pausing, armed

from tests.crash.world import recipe_of
from tests.indexes import Place
from tests.processes import HEAR, SAY, say
from tests.sessions import header, line

FILES = 4
"""Session files that grow in `churn`."""


def work(recipe: str, base: str, point: str, nth: int) -> None:
    """Works in a world up to a point, and waits there."""
    place = Place(Path(base))
    made = recipe_of(recipe)
    with armed(Pausing(point, SAY, HEAR, nth=nth)), made.manner(place):
        index = place.index()
        made.act(index)
        index.close()


def churn(base: str, start: int) -> None:
    """Appends an entry, syncs, says so; now and then a file is written anew with what it held."""
    place = Place(Path(base))
    index: EventIndex | None = None
    for step in count(start):
        name = name_of(step)
        place.append(name, line_of(step))
        if step % 5 == 4:
            place.put(name, place.path(name).read_bytes())
        if index is None or step % 7 == 6:
            if index is not None:
                index.close()
            index = place.index()
        index.sync()
        say(f"done {step}")


def name_of(step: int) -> str:
    """The file that a step of `churn` appends to."""
    return f"file{step % FILES}"


def line_of(step: int) -> bytes:
    """What it appends."""
    if step < FILES:
        return header(f"s-{name_of(step)}") + line(f"e{step}", None, f"word{step}")
    return line(f"e{step}", f"e{step - FILES}", f"word{step} and more")
