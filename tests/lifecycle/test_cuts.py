"""A session file cut at any byte, seen so, and completed: as if it had been read at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts import dump
from tests.indexes import passing_place
from tests.lifecycle.world import untouched
from tests.long import LONG

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = sorted(GOLDEN.glob("*/*/session.jsonl"))
USUAL = ("glued", "late-parent", "lone-surrogate")
"""Lines with several records, an order that needs a new tree, and texts that are repaired."""


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if LONG or case.parent.name in USUAL],
    ids=lambda case: case.parent.name,
)
def test_a_cut_at_every_byte(case: Path) -> None:
    """One file a cut, all in one directory: as they are copies, each is held to itself alone."""
    data = case.read_bytes()
    with passing_place() as place:
        paths = [place.put(f"cut{cut:04d}", data[:cut]) for cut in range(len(data) + 1)]
        with place.index() as index, untouched(place.sessions):
            index.sync()
        for cut, path in enumerate(paths):
            place.append(path.stem, data[cut:])
        with place.index() as index, untouched(place.sessions):
            index.sync()
            whole = dump(index, paths[-1])
            for path in paths:
                assert dump(index, path) == whole, path.stem
        with passing_place() as other, other.index() as fresh:
            alone = other.put("alone", data)
            fresh.sync()
            assert dump(fresh, alone) == whole


def test_the_usual_cases_are_there() -> None:
    assert {case.parent.name for case in CASES} >= set(USUAL)
