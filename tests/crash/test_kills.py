"""Killed at every point and at random moments: nothing lost, nothing torn, nothing twice."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

import pytest
from pi_event_search import EventIndex

from tests.checks import check_documents, check_tables, facts, fresh_facts
from tests.crash.jobs import FILES, line_of, name_of
from tests.crash.world import NAMES, World, own_points
from tests.indexes import EVERYTHING, Place, passing_place
from tests.long import LONG, times
from tests.processes import Nursery

Worlds = Callable[[str], World]
JOBS = "tests.crash.jobs:"
KILLS = times(300, 5_000)
"""At the points and at random moments together."""
WHOLE = {"new", "changes", "pieces", "text-lost", "database-broken", "rebuilt"}
"""Worlds in which all points are deadly; in the others those that no world before has."""
LONGEST = 0.05
"""Seconds that a child lives at most after it has said that it works."""
TEMPORARY = 5
"""Temporary files that killed writers may leave until the next one tidies up."""


@pytest.fixture(scope="module")
def killed() -> dict[str, int]:
    """How many have been killed at points, by world."""
    return {}


@pytest.mark.parametrize("name", NAMES)
def test_killed_at_every_point(
    name: str, world_of: Worlds, nursery: Nursery, killed: dict[str, int]
) -> None:
    whole = LONG or name in WHOLE
    points = set(world_of(name).passings) if whole else own_points(world_of, name)
    world = world_of(name)
    slowest = 0.0
    for point in sorted(points):
        count = world.passings[point]
        world.reset()
        child = nursery.start(
            JOBS + "work", recipe=name, base=str(world.place.base), point=point, nth=count
        )
        assert child.heard() == point
        child.kill()
        started = time.perf_counter()
        with world.place.index() as index:
            slowest = max(slowest, time.perf_counter() - started)
            try:
                world.check_served(index)
                world.check_healed(index)
            except BaseException as error:
                error.add_note(f"killed at {point}, passing {count}, in {name}")
                raise
    killed[name] = len(points)
    print(f"{name}: {killed[name]} kills, slowest open {slowest * 1000:.1f} ms")


@pytest.fixture
def history() -> Iterator[Place]:
    """Files and an index that live through all the random kills."""
    with passing_place() as place:
        for step in range(FILES):
            place.put(name_of(step), line_of(step))
        with place.index() as index:
            index.sync()
        yield place


def test_killed_at_random_moments(history: Place, nursery: Nursery, killed: dict[str, int]) -> None:
    """The child changes files and syncs; whatever it has said to be done must be there at once."""
    luck = random.Random(4)
    step = FILES
    slowest, most = 0.0, 0
    kills = max(KILLS - sum(killed.values()), 60)
    for _ in range(kills):
        child = nursery.start(JOBS + "churn", base=str(history.base), start=step)
        before = [child.heard()] if luck.random() < 0.7 else []
        moment = time.perf_counter() + luck.random() * LONGEST
        while (left := moment - time.perf_counter()) > 0 and child.speaks_within(left):
            before.append(child.heard())
        said = before + child.kill()
        done = int(said[-1].removeprefix("done ")) if said else step - 1
        started = time.perf_counter()
        with history.index() as index:
            slowest = max(slowest, time.perf_counter() - started)
            most = max(most, len(list(history.base.glob("index/**/.tmp*"))))
            check_found(index, done)
            step = heal(history, index)
    print(f"{kills} random kills, {step} steps, slowest open {slowest * 1000:.1f} ms")
    assert most <= TEMPORARY
    check_size(history)


def check_found(index: EventIndex, done: int) -> None:
    """Every step that was said to be done is there before anything is synced."""
    known = {
        event["entry_id"] for found in facts(index).values() for event in found.get("events", [])
    }
    assert {f"e{step}" for step in range(done + 1)} <= known
    for step in {done, done // 2, 0}:
        (hit,) = index.search(f"word{step}", invocation=EVERYTHING).hits
        assert hit.entry_id == f"e{step}"


def heal(place: Place, index: EventIndex) -> int:
    """Syncs and compares with a fresh index; returns the number of the next step."""
    index.sync()
    now = facts(index)
    with passing_place() as other:
        assert now == fresh_facts(place.sessions, other.base / "fresh")
    check_tables(index)
    check_documents(index)
    return sum(len(found["events"]) for found in now.values())


def check_size(place: Place) -> None:
    """What so many deaths left behind is tidied up: one more sync, and the index is small."""
    place.append("file0", b'{"type":"label"}\n')
    with place.index() as index:
        index.sync()
    assert list(place.base.glob("index/**/.tmp*")) == []
    files = [path for path in place.base.glob("index/**/*") if path.is_file()]
    assert len(files) < 150, len(files)
    sources = sum(path.stat().st_size for path in place.sessions.iterdir())
    assert sum(path.stat().st_size for path in files) < 50 * sources + 5_000_000
