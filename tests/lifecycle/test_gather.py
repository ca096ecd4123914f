"""Small commits are gathered: few segments stay, nothing large is written anew, nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pi_event_search import IndexProblem
from pi_event_search.faults import Failing, Noting, armed
from pi_event_search.store import gather
from pi_event_search.store.gather import CROWD, MOST, SMALL, _in_smallest
from pi_event_search.store.text_index import TextIndex

from tests.lifecycle.test_publication import documents, fragments, text_of
from tests.lifecycle.world import World, header, said, talk

FIRST = MOST + 50
"""Events of a session that is not gathered with what comes later."""


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every small commit gathers whatever there is."""
    monkeypatch.setattr(gather, "CROWD", 0)
    monkeypatch.setattr(gather, "FEWEST", 1)


def segments(world: World) -> dict[str, int]:
    """Documents that each segment was made with."""
    meta = json.loads((text_of(world) / "meta.json").read_bytes())
    return {segment["segment_id"]: segment["max_doc"] for segment in meta["segments"]}


def marks(world: World) -> list[int]:
    with world.index._store.database.connection() as connection:
        return world.index._store._text_index(connection).marks(10_000)


def test_many_small_commits(world: World) -> None:
    world.write(header() + talk(*[f"walrus {n}" for n in range(1, FIRST + 1)]))
    world.sync()

    def append(first: int, behind: int) -> None:
        for n in range(first, behind):
            world.append(said(n, f"octopus{n}"))
            world.sync()
            assert world.finds(f"octopus{n}") == [f"{n:08x}"]
            assert len(segments(world)) <= CROWD

    # The mark of the empty index is older than all documents, so the engine merges once.
    append(FIRST + 1, FIRST + 16)
    (large,) = (name for name, count in segments(world).items() if count > MOST)
    with armed(noting := Noting()):
        append(FIRST + 16, FIRST + 61)
    assert 5 < noting.names.count("publish.gathered") < 15
    assert large in segments(world), "it was merged"
    assert documents(world) == fragments(world)
    assert all(world.finds(f"octopus{n}") for n in range(FIRST + 1, FIRST + 61))
    assert world.is_as_fresh()


def test_too_much_is_left_to_the_engine(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "MOST_BYTES", 1_000)
    world.write(header() + said(1, "walrus"))
    world.sync()
    for n in range(2, 30):
        world.append(said(n, f"octopus{n} " + " ".join(f"{n}eel{m}" for m in range(200))))
        world.sync()
    assert documents(world) == fragments(world)
    assert world.is_as_fresh()


@pytest.mark.usefixtures("always")
class TestAlways:
    def test_what_changes_and_goes(self, world: World) -> None:
        for n in range(1, 9):
            world.write(header() + talk(*[f"walrus{n} {m}" for m in range(1, 4)]))
            world.write(header(f"{n:08x}-2222-7222-8222-222222222222") + talk(f"eel{n}"), f"b{n}")
            world.sync()
            assert (len(world.finds(f"walrus{n}")), world.finds(f"walrus{n - 1}")) == (3, [])
            world.append(said(2, f"again{n}"))
            world.path(f"b{n}").unlink()
            world.sync()
            assert (len(world.finds(f"walrus{n}")), len(world.finds(f"again{n}"))) == (2, 1)
            assert world.finds(f"eel{n}") == []
            assert documents(world) == fragments(world)
        assert world.is_as_fresh()

    def test_nothing_is_missed_or_told_twice_meanwhile(self, world: World) -> None:
        world.write(header() + talk("walrus", "walrus"))
        world.sync()
        told: list[int] = []
        with world.open() as reader:

            def ask(point: str) -> None:
                if point in ("publish.gathered", "publish.text_committed"):
                    told.append(len(world.finds("walrus", reader)))

            for n in range(3, 9):
                world.append(said(n, "walrus"))
                with armed(ask):
                    world.sync()
                assert told[-2:] == [n - 1, n - 1]
                assert len(world.finds("walrus", reader)) == n

    @pytest.mark.parametrize("ever", [False, True])
    @pytest.mark.parametrize(
        "point", ["publish.gathered", "text.commit", "publish.text_committed", "publish.commit"]
    )
    def test_a_batch_that_fails(self, world: World, point: str, ever: bool) -> None:
        """What dies in it answers from the documents that it added once more."""
        world.write(header() + talk("walrus", "walrus"))
        world.write(header("22222222-2222-7222-8222-222222222222") + talk("eel"), "b")
        world.sync()
        world.append(said(3, "walrus"))
        world.sync()
        world.write(header() + talk("octopus"))
        world.path("b").unlink()
        for _ in range(2):
            with (
                armed(Failing(point, InterruptedError, ever=ever)),
                pytest.raises((IndexProblem, InterruptedError)),
            ):
                world.index.sync()
            assert len(world.finds("walrus")) == 3
            assert (len(world.finds("eel")), world.finds("octopus")) == (1, [])
        world.sync()
        assert (world.finds("walrus"), world.finds("eel")) == ([], [])
        assert world.finds("octopus") == ["00000001"]
        assert documents(world) == fragments(world)
        assert world.is_as_fresh()

    def test_one_mark_is_left(self, world: World) -> None:
        for n in range(1, 5):
            world.write(header(f"{n:08x}-2222-7222-8222-222222222222") + talk(f"eel{n}"), f"b{n}")
            world.sync()
        assert len(marks(world)) == 1

    def test_a_damaged_text_is_noticed(self, world: World) -> None:
        """As wherever it is met: the index is filled again from the session files."""
        world.write(header() + talk("walrus", "octopus"))
        world.sync()
        with world.index._store.database.transaction() as connection:
            connection.execute("UPDATE fragments SET text = x'00ff' WHERE key % 2 = 0")
        world.append(said(3, "eel"))
        world.sync()
        assert world.finds("walrus") == ["00000001"]
        assert documents(world) == fragments(world)
        assert world.is_as_fresh()


@pytest.mark.parametrize(
    ("sizes", "count"),
    [
        ([], None),
        ([2] * (CROWD - 1), None),
        ([2] * (CROWD - 1) + [SMALL + 1], None),
        ([2] * CROWD, 2 * CROWD),
        ([2] * (CROWD - 1) + [SMALL], 2 * (CROWD - 1)),
        ([MOST] + [1] * CROWD, CROWD),
        ([MOST - 2, 1, 1] + [MOST] * CROWD, MOST),
        ([1, 1] + [MOST] * CROWD, None),
    ],
)
def test_which_segments(sizes: list[int], count: int | None) -> None:
    assert _in_smallest(sizes) == count


@pytest.fixture
def text(tmp_path: Path) -> Iterator[TextIndex]:
    made = TextIndex.create(tmp_path / "text")
    yield made
    made.close()


def test_marks_come_newest_first(text: TextIndex) -> None:
    assert text.marks(3) == []
    for key in (1, 5, 9, 1 << 40):
        text.stamp(key, -key - 1, bulk=False)
        text.commit()
    assert text.marks(3) == [1 << 40, 9, 5]
    assert text.marks(9) == [1 << 40, 9, 5, 1]
    assert text.newest_stamp() == -(1 << 40) - 1


def test_where_commits_begin(text: TextIndex, world: World) -> None:
    """Keys 1, 2 and 5, 6 with marks at 3 and 7; and a mark that was committed alone."""
    for key in (3, 7, 8):
        text.stamp(key, -key - 1, bulk=False)
        text.commit()

    class Rows:
        def execute(self, _: str, values: tuple[int]) -> Any:
            return self

        def fetchall(self) -> list[tuple[int]]:
            return [(6,), (5,), (2,), (1,)]

    rows: Any = Rows()
    found = [gather._first_of_newest(rows, text, count) for count in range(1, 9)]
    assert found == [8, 7, None, 5, 3, None, 1, None]
