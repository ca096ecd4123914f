"""A state that is worked out from the one before it is the one that is worked out afresh."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from pi_event_search import IndexProblem
from pi_event_search.access.directory import Directory
from pi_event_search.access.visible import Catalog
from pi_event_search.faults import Failing, armed
from pi_event_search.store.changes import _KEPT, Steps

from tests.lifecycle.world import World, header, said, talk

OTHER = "22222222-2222-7222-8222-222222222222"


@dataclass
class Made:
    """How many catalogs were made, and how."""

    stepped: int = 0
    whole: int = 0


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    """Compares each catalog that is made with one that is made afresh."""
    counts = Made()
    make = Catalog.__init__

    def comparing(self: Catalog, connection, config, before=None, changed=None) -> None:  # type: ignore[no-untyped-def]
        make(self, connection, config, before, changed)
        ours, whole = self.directory, Directory(connection, config)
        assert ours.rows == whole.rows
        assert (ours.workspaces, ours.recorded) == (whole.workspaces, whole.recorded)
        assert list(map(ours.place, ours.covered())) == list(map(whole.place, whole.covered()))
        if changed is None:
            counts.whole += 1
        else:
            counts.stepped += 1

    monkeypatch.setattr(Catalog, "__init__", comparing)
    return counts


@pytest.fixture
def two(world: World, made: Made) -> World:
    """Two sessions, and a question about them."""
    world.write(header() + talk("walrus"))
    world.write(header(OTHER) + talk("eel"), "b")
    world.sync()
    assert world.finds("walrus")
    made.stepped = made.whole = 0
    return world


def _append(world: World) -> None:
    world.append(said(2, "octopus"))


def _rewrite(world: World) -> None:
    world.write(header(cwd="/home/grace") + talk("octopus"))


def _add(world: World) -> None:
    world.write(header("33333333-3333-7333-8333-333333333333") + talk("squid"), "c")


def _remove(world: World) -> None:
    world.path("b").unlink()


def _move(world: World) -> None:
    world.path("b").rename(world.path("d"))


def _break(world: World) -> None:
    world.write(b"no session\n", "b")


def _link(world: World) -> None:
    world.path("e").symlink_to(world.path("a"))


CHANGES = [_append, _rewrite, _add, _remove, _move, _break, _link]


@pytest.mark.parametrize("change", CHANGES)
def test_one_change(two: World, made: Made, change: Callable[[World], None]) -> None:
    change(two)
    two.sync()
    two.finds("walrus")
    assert (made.stepped, made.whole) == (1, 0)
    assert two.is_as_fresh()


def test_one_after_the_other_and_several_at_once(two: World, made: Made) -> None:
    """Also when nothing is asked between them."""
    for silent in (False, True):
        for change in (_append, _add, _remove, _rewrite):
            change(two)
            two.index.refresh(two.path(), patience=1) if silent else two.sync()
            two.write(header(OTHER) + talk("eel"), "b")
            two.path("c").unlink(missing_ok=True)
        two.sync()
    assert made.stepped > 4
    assert made.whole == 0


def test_a_named_file(two: World, made: Made) -> None:
    path = two.base / "elsewhere.jsonl"
    path.write_bytes(header("33333333-3333-7333-8333-333333333333") + talk("squid"))
    two.index.sync(path)
    assert two.finds("squid")
    assert (made.stepped, made.whole) == (1, 0)


def test_what_others_publish(two: World, made: Made) -> None:
    with two.open() as other:
        _append(two)
        other.sync()
        assert two.finds("octopus")
        assert (made.stepped, made.whole) == (0, 2)
        _rewrite(two)
        other.sync()
        _add(two)
        two.sync()
        assert two.finds("octopus")
        assert (made.stepped, made.whole) == (1, 3)


def test_a_batch_that_is_undone(two: World, made: Made) -> None:
    _append(two)
    _remove(two)
    with armed(Failing("publish.commit", InterruptedError, nth=2)), pytest.raises(IndexProblem):
        two.index.sync()
    two.finds("walrus")
    two.sync()
    assert two.finds("octopus")
    assert made.whole == 0
    assert two.is_as_fresh()


def test_an_index_that_is_built_anew(two: World, made: Made) -> None:
    two.index.rebuild()
    assert two.finds("walrus")
    assert made.stepped == 0


def test_a_backup_that_goes_on_otherwise(two: World, made: Made) -> None:
    two.index.close()
    backup = two.base / "backup"
    shutil.copytree(two.place, backup)
    with two.open() as index:
        index.sync()
        _append(two)
        index.sync()
        assert two.finds("octopus", index)
        shutil.rmtree(two.place)
        backup.rename(two.place)
        _rewrite(two)
        with two.open() as other:
            other.sync()
        made.stepped = 0
        assert two.finds("octopus", index) == ["00000001"]
        assert made.stepped == 0


class TestSteps:
    def test_only_known_ones(self) -> None:
        steps = Steps()
        for number in (6, 7, 9):
            steps.add(number, frozenset({number, 1}))
        assert steps.between(5, 6) == {6, 1}
        assert steps.between(5, 7) == {6, 7, 1}
        assert steps.between(8, 9) == {9, 1}
        for before, after in ((5, 5), (7, 5), (4, 6), (5, 9), (9, 10), (0, 1 << 60)):
            assert steps.between(before, after) is None

    def test_only_the_latest(self) -> None:
        steps = Steps()
        for number in range(1, 2 * _KEPT):
            steps.add(number, frozenset({number}))
        last = 2 * _KEPT - 1
        assert steps.between(last - _KEPT, last) == set(range(_KEPT, last + 1))
        assert steps.between(last - _KEPT - 1, last) is None
        assert steps.between(last - _KEPT - 1, last - 1) is None
