"""Power lost at every point: one more sync or two, and everything is as built afresh."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pi_event_search import EventIndex, IndexProblem

from tests.crash.images import LOSSES, images, lost, zero_block
from tests.crash.world import NAMES, QUERIES, World, own_points
from tests.indexes import EVERYTHING, passing_place
from tests.long import LONG, times

Worlds = Callable[[str], World]
PATIENCE = 3
"""Attempts: a sync may find damage and say so; the next one must have repaired it."""


@pytest.fixture
def memory() -> Iterator[Path]:
    """A directory for images, in memory where the system can do that."""
    with passing_place() as place:
        yield place.base


@pytest.mark.parametrize("name", NAMES)
def test_power_lost_at_every_point(name: str, world_of: Worlds, memory: Path) -> None:
    points = set(world_of(name).passings) if LONG else own_points(world_of, name)
    world = world_of(name)
    luck = random.Random(name)
    tried = Counter[str]()
    for image in images(world, memory):
        if not points.intersection(image.points):
            continue
        for loss in LOSSES:
            for _ in range(times(2, 20) if loss is zero_block else 1):
                if lost(image, world, loss, memory / "index", luck):
                    tried[loss.__name__] += 1
                    recover(world, memory / "index", f"{loss.__name__} at {image.points}")
    print(f"{name}: {dict(tried)}")


def recover(world: World, directory: Path, what: str) -> None:
    """Asks and syncs until it goes well, then compares; other errors than the index's fail."""
    problems: list[str] = []
    try:
        for _ in range(PATIENCE):
            try:
                with EventIndex.open(directory, [world.place.sessions]) as index:
                    world.check_healed(index, anew=True)
                    for query in QUERIES:
                        index.search(query, invocation=EVERYTHING)
                    return
            except IndexProblem as problem:
                problems.append(problem.message)
        pytest.fail("it is not repaired")
    except BaseException as error:
        error.add_note(f"{what}: {problems}")
        raise
