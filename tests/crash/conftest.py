"""Worlds and child processes for these tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.crash.world import RECIPES, World
from tests.indexes import passing_place
from tests.processes import Nursery


@pytest.fixture(scope="package")
def world_of() -> Iterator[Callable[[str], World]]:
    """Gives a world by name, made once."""
    made: dict[str, World] = {}
    recipes = {recipe.name: recipe for recipe in RECIPES}
    with passing_place() as place:

        def world(name: str) -> World:
            if name not in made:
                made[name] = World(recipes[name], place.base)
            made[name].reset()
            return made[name]

        yield world


@pytest.fixture(scope="package")
def nursery() -> Iterator[Nursery]:
    """Where the children come from that are killed."""
    with Nursery() as nursery:
        yield nursery
