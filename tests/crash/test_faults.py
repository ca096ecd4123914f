"""Every named point fails once and for ever; nothing is lost, and one good sync heals all."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pi_event_search
import pytest
from pi_event_search import EventSearchError
from pi_event_search.faults import POINTS, Failing, armed

from tests.crash.world import NAMES, World, own_points
from tests.long import LONG

Worlds = Callable[[str], World]
THOROUGH = NAMES if LONG else ["changes"]
"""Worlds in which each passing of a point fails in turn; in the others only the last does."""


def disk_full() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def disk_full_for_sqlite() -> sqlite3.OperationalError:
    return sqlite3.OperationalError("database or disk is full")


ERRORS: list[Callable[[], BaseException]] = [disk_full_for_sqlite, disk_full, KeyboardInterrupt]
EXPECTED = (EventSearchError, KeyboardInterrupt)


def test_the_registry_names_what_the_program_marks() -> None:
    package = Path(pi_event_search.__file__).parent
    marked = Counter(
        name
        for path in package.rglob("*.py")
        for name in re.findall(r'(?<!``)\bpoint\("([^"]+)"\)', path.read_text())
    )
    assert set(marked) == POINTS
    assert set(marked.values()) == {1}


def test_every_point_is_passed_in_some_world(world_of: Worlds) -> None:
    passed = Counter[str]()
    for name in NAMES:
        passed += world_of(name).passings
    assert set(passed) == POINTS


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(LookupError):
        Failing("publish.comitted", disk_full)


@pytest.mark.parametrize("name", NAMES)
def test_failing_once(name: str, world_of: Worlds) -> None:
    world = world_of(name)
    for at, (point, count) in enumerate(sorted(world.passings.items())):
        numbers = range(1, count + 1) if name in THOROUGH else [count]
        for number in numbers:
            failing = Failing(point, ERRORS[(at + number) % len(ERRORS)], nth=number)
            fail_and_heal(world, failing, reopen=number % 2 == 0)


@pytest.mark.parametrize("name", NAMES)
def test_failing_for_ever(name: str, world_of: Worlds) -> None:
    whole = LONG or name == "pieces"  # what goes on after a failure is the same in the others
    points = set(world_of(name).passings) if whole else own_points(world_of, name)
    world = world_of(name)
    for at, point in enumerate(sorted(points)):
        fail_and_heal(world, Failing(point, ERRORS[at % len(ERRORS)], ever=True), reopen=True)


def fail_and_heal(world: World, failing: Failing, *, reopen: bool) -> None:
    """Works while a point fails, then checks the index as it is, and after a sync."""
    world.reset()
    what = f"{world.recipe.name}: {vars(failing)}"
    try:
        index = None
        try:
            with armed(failing), world.manner():
                index = world.place.index()
                world.recipe.act(index)
        except EXPECTED:
            pass
        assert failing.fired, what
        if index is None or reopen:
            if index is not None:
                index.close()
            index = world.place.index()
        world.check_served(index)
        world.check_healed(index)
        index.close()
        with world.place.index() as again:
            world.check_healed(again)
    except BaseException as error:
        error.add_note(what)
        raise
