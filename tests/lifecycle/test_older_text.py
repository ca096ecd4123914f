"""An older state of the text index comes back: after a loss of power, from a backup, or by a
program that keeps directories alike, also under an index that is open."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pi_event_search import EventIndex, IndexProblem
from pi_event_search.faults import Failing, armed
from pi_event_search.store.publish import Publication

from tests.indexes import passing_place
from tests.lifecycle.world import EVERYTHING, SESSION, World, header, said, talk

OTHER = "22222222-2222-7222-8222-222222222222"
Hits = dict[str, list[tuple[str, str]]]
"""Session and entry of the events that a word finds."""
STATES = 6
"""States of the text index that are put back."""


class Past:
    """A text index with a history, and copies of its directory after each of its commits."""

    def __init__(self, base: Path) -> None:
        self.world = world = World(base)
        self.copies: list[Path] = []
        self.step(lambda: world.write(header() + talk("stone walrus", "stone octopus")))
        self.step(lambda: world.write(header(OTHER) + talk("stone heron"), "b"))
        self.step(lambda: world.append(said(3, "stone eel")))
        self.step(lambda: world.write(header(OTHER) + talk("stone magpie", "stone seal"), "b"))
        self.step(lambda: world.append(said(2, "stone otter")))  # supersedes the octopus
        self.step(lambda: world.append(said(3, "stone crab", 1), "b"))
        assert len(self.copies) == STATES
        self.right = truth(world)
        world.index.close()

    def step(self, change: Callable[[], object]) -> None:
        change()
        self.world.sync()
        self.copies.append(self.world.base / f"copy-{len(self.copies)}")
        shutil.copytree(self.text, self.copies[-1])

    @property
    def text(self) -> Path:
        return text_of(self.world)


def text_of(world: World) -> Path:
    (directory,) = world.place.glob("text-*")
    return directory


@pytest.fixture(scope="module")
def past() -> Iterator[Past]:
    with passing_place() as place:
        yield Past(place.base)


@pytest.fixture
def world(past: Past, base: Path) -> Iterator[World]:
    """The same files and index in another place, in their last state."""
    made = World(base)
    made.index.close()
    shutil.rmtree(made.place)
    for directory in ("sessions", "index"):
        shutil.copytree(past.world.base / directory, base / directory, dirs_exist_ok=True)
    made.index = made.open()
    made.sync()  # the files are others now
    yield made
    made.index.close()


def meta_alone(copy: Path, text: Path) -> None:
    """The rename of the last meta files is undone; what they speak of may be deleted."""
    shutil.copy(copy / "meta.json", text / "meta.json")


def with_its_files(copy: Path, text: Path) -> None:
    """Files that were deleted since are there again, the newer ones still."""
    for file in copy.iterdir():
        if not (text / file.name).exists():
            shutil.copy(file, text / file.name)
    meta_alone(copy, text)


def as_it_was(copy: Path, text: Path) -> None:
    """All of the old directory, and nothing else."""
    for file in text.iterdir():
        file.unlink()
    shutil.copytree(copy, text, dirs_exist_ok=True)


Way = Callable[[Path, Path], None]
WAYS: list[Way] = [meta_alone, with_its_files, as_it_was]


def truth(world: World) -> Hits:
    """What each word finds in an index that is built of the files as they are now."""
    with EventIndex.open(world.base / "fresh", world.dirs) as fresh:
        fresh.sync()
        return {word: found(fresh, word) for word in WORDS}


WORDS = ("stone", "walrus", "octopus", "heron", "eel", "magpie", "seal", "otter", "crab")


def found(index: EventIndex, word: str) -> list[tuple[str, str]]:
    page = index.search(word, invocation=EVERYTHING, limit=200)
    hits = [(hit.session_id, hit.entry_id) for hit in page.hits]
    assert max(Counter(hits).values(), default=1) == 1, "an event was shown twice"
    return sorted(hits)


def right_or_refused(index: EventIndex, right: Hits) -> None:
    """A search either finds what there is, or says that the index must be repaired."""
    for word, hits in right.items():
        with suppress(IndexProblem):
            assert found(index, word) == hits, word


def healed(world: World, right: Hits) -> None:
    """After a sync everything is as in a fresh index, and goes on from there."""
    world.sync()
    assert {word: found(world.index, word) for word in right} == right
    world.append(said(9, "stone lobster"))
    world.sync()
    assert len(found(world.index, "stone")) == len(right["stone"]) + 1
    assert world.is_as_fresh()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("state", range(STATES))
def test_put_back_under_a_closed_index(past: Past, world: World, state: int, way: Way) -> None:
    world.index.close()
    way(past.copies[state], text_of(world))
    world.index = world.open()
    right_or_refused(world.index, past.right)
    healed(world, past.right)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("state", range(STATES))
def test_put_back_under_an_open_index(past: Past, world: World, state: int, way: Way) -> None:
    with world.open() as reader:
        right_or_refused(reader, past.right)
        way(past.copies[state], text_of(world))
        right_or_refused(reader, past.right)
        right_or_refused(world.index, past.right)
        healed(world, past.right)
        assert len(found(reader, "stone")) == len(past.right["stone"]) + 1


@pytest.mark.parametrize("state", range(STATES))
def test_put_back_before_a_read_that_syncs_its_session(
    past: Past, world: World, state: int
) -> None:
    """Writing on top of an older state would lose for good what that state lacks."""
    path = world.path()
    path.write_bytes(path.read_bytes().replace(b"walrus", b"narwal"))
    with_its_files(past.copies[state], text_of(world))
    with suppress(IndexProblem):
        world.reads("00000001", SESSION)
    healed(world, truth(world))


@pytest.mark.parametrize("point", ["text.committed", "publish.text_committed", "publish.commit"])
@pytest.mark.parametrize("way", WAYS)
def test_a_commit_that_deletes_is_undone_and_done_again(
    world: World, point: str, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of deletions are named by a count that an undone commit used already."""
    world.write(header(OTHER) + talk("stone magpie", "stone newt"), "b")
    with monkeypatch.context() as patch:
        patch.setattr(Publication, "collect_garbage", lambda _: None)
        world.sync()
    copy = world.base / "before"
    shutil.copytree(text_of(world), copy)
    stays = {word: found(world.index, word) for word in ("walrus", "otter", "eel", "newt")}
    assert all(stays.values())
    for _ in range(2):
        world.append(said(4, "stone toad"), "b")
        with suppress(IndexProblem), armed(Failing(point, InterruptedError)):
            world.index.sync()
        world.index.close()
        way(copy, text_of(world))
        world.index = world.open()
        right_or_refused(world.index, stays)
    healed(world, truth(world))
