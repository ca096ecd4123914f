"""Child processes for these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.processes import Nursery


@pytest.fixture(scope="package")
def nurseries() -> Iterator[tuple[Nursery, Nursery, Nursery]]:
    """Three of them, so that three children can live at a time."""
    with Nursery() as one, Nursery() as two, Nursery() as three:
        yield one, two, three


@pytest.fixture
def nursery(nurseries: tuple[Nursery, Nursery, Nursery]) -> Nursery:
    """One of them."""
    return nurseries[0]
