"""The dictionary that texts are compressed with: learned once, kept with them, missed when lost."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest
from pi_event_search import IndexProblem, _core
from pi_event_search.ingest import reconcile
from pi_event_search.ingest import source as ingest
from pi_event_search.store import dictionary, publish

from tests.learning import database_of, dictionaries, learning, sharing
from tests.lifecycle.world import World, header, said, talk
from tests.processes import Nursery

FIRST, MORE = 60, 40


def text(number: int) -> str:
    """Texts that have something in common, each with a word of its own."""
    word = ("walrus", "octopus", "heron")[number % 3]
    return f"the {word} said that word{number} is to be found in src/{word}/main.rs, line {number}"


def texts(first: int, count: int) -> bytes:
    return b"".join(said(n, text(n)) for n in range(first, first + count))


@pytest.fixture
def grown(world: World) -> World:
    """An index that has learned from its first texts, and has more since."""
    world.write(header() + texts(1, FIRST))
    with learning():
        world.sync()
        world.append(texts(FIRST + 1, MORE))
        world.sync()
    return world


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


def change(world: World, statement: str, *values: object) -> None:
    """Damages the database behind the back of the program."""
    with closing(sqlite3.connect(database_of(world.place))) as connection, connection:
        connection.execute(statement, values)


def answers(nursery: Nursery, job: str, world: World, word: str) -> list[str]:
    """What a process says that has not opened any index before."""
    child = nursery.start(f"tests.lifecycle.asking:{job}", base=str(world.base), word=word)
    said = child.finish()
    assert said.pop() == "that is all"
    return said


def found(*numbers: int) -> list[str]:
    return [f"{number:08x} {text(number)}" for number in numbers]


class TestLearning:
    def test_what_comes_after_it_is_compressed_with_it(self, grown: World) -> None:
        assert sharing(grown.place) == [False] * FIRST + [True] * MORE
        assert len(dictionaries(grown.place)) == 1
        assert [grown.reads(f"{n:08x}")[0] for n in (1, 99)] == [text(1), text(99)]
        assert grown.is_as_fresh()

    def test_it_is_learned_once(self, grown: World) -> None:
        (before,) = dictionaries(grown.place)
        with learning():
            for number in range(FIRST + MORE + 1, FIRST + MORE + 4):
                grown.append(said(number, text(number)))
                grown.reopen()
                grown.sync()
        assert dictionaries(grown.place) == [before]
        assert sharing(grown.place)[-3:] == [True] * 3

    def test_a_small_index_has_none(self, world: World) -> None:
        world.write(header() + texts(1, FIRST))
        world.sync()
        world.append(texts(FIRST + 1, MORE))
        world.sync()
        assert dictionaries(world.place) == []
        assert not any(sharing(world.place))

    def test_few_texts_teach_nothing_yet(self, world: World) -> None:
        world.write(header() + texts(1, 10))
        with learning():
            for number in range(11, 16):
                world.sync()
                world.append(said(number, text(number)))
        assert dictionaries(world.place) == []

    def test_an_index_that_only_grew_learns_too(self, world: World) -> None:
        world.write(header())
        with learning():
            for number in range(1, FIRST):
                world.append(said(number, text(number)))
                world.sync()
        shared = sharing(world.place)
        assert 0 < shared.index(True) < FIRST - 5
        assert all(shared[shared.index(True) :])
        assert world.is_as_fresh()

    @pytest.mark.parametrize("missing", [0, 1], ids=["much", "little"])
    def test_a_long_first_reading_is_interrupted_for_it(
        self, world: World, monkeypatch: pytest.MonkeyPatch, missing: int
    ) -> None:
        """Otherwise all that is there at first would be compressed without it."""
        world.write(header() + texts(1, FIRST + MORE))
        monkeypatch.setattr(ingest, "READ_BYTES", 1_000)
        monkeypatch.setattr(reconcile, "SOON_BYTES", 0)
        monkeypatch.setattr(dictionary, "FEWEST_BYTES", 500)
        with closing(sqlite3.connect(database_of(world.place))) as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
        monkeypatch.setattr(dictionary, "LEARNED_PAGES", pages + 1)
        monkeypatch.setattr(publish, "MUCH_BYTES", world.path().stat().st_size + missing)
        world.sync()
        shared = sharing(world.place)
        assert (True in shared) == (missing == 0)
        if True in shared:
            assert 0 < shared.index(True) < FIRST
            assert all(shared[shared.index(True) :])
        assert world.is_as_fresh()

    def test_texts_without_anything_in_common_are_asked_once(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = []
        learn = _core.Dictionary.learn

        class Counting:
            opened_as = _core.Dictionary.opened_as

            @staticmethod
            def learn(stored: list[bytes]) -> _core.Dictionary | None:
                asked.append(len(stored))
                return learn(stored)

        monkeypatch.setattr(_core, "Dictionary", Counting)
        world.write(header() + texts(1, 3))
        with learning(enough=1):
            for number in range(4, 8):
                world.sync()
                world.append(said(number, text(number)))
        assert asked == [3]
        assert not any(sharing(world.place))
        assert world.is_as_fresh()

    def test_a_batch_that_fails_does_not_take_it_away(self, world: World) -> None:
        world.write(header() + texts(1, FIRST))
        with learning():
            world.sync()
            world.append(texts(FIRST + 1, MORE))
            with (
                patch.object(publish.Publication, "add", side_effect=KeyboardInterrupt),
                pytest.raises(KeyboardInterrupt),
            ):
                world.sync()
        assert len(dictionaries(world.place)) == 1
        world.sync()
        assert sharing(world.place)[FIRST:] == [True] * MORE
        assert world.is_as_fresh()

    def test_two_indexes_in_one_process_have_their_own(self, base: Path) -> None:
        worlds = []
        for name, words in (("one", "walrus octopus"), ("two", "heron magpie")):
            (base / name).mkdir()
            world = World(base / name)
            content = [f"{words} {n} and {words} again, {n * n} times" for n in range(FIRST)]
            world.write(header() + talk(*content))
            with learning():
                world.sync()
                world.append(said(FIRST + 1, f"{words} at last, {words} in the end and for ever"))
                world.sync()
            worlds.append(world)
        one, two = (dictionaries(world.place)[0] for world in worlds)
        assert one != two
        for world, words in zip(worlds, ("walrus octopus", "heron magpie"), strict=True):
            assert world.reads(f"{FIRST + 1:08x}")[0].startswith(words)
            assert world.is_as_fresh()
            world.index.close()


class TestOtherProcesses:
    def test_one_that_comes_later(self, grown: World, nursery: Nursery) -> None:
        assert answers(nursery, "search", grown, "word77") == found(77)

    def test_one_that_was_there_before_it(self, world: World, nursery: Nursery) -> None:
        world.write(header() + texts(1, FIRST))
        world.sync()
        child = nursery.start(
            "tests.lifecycle.asking:search_twice", base=str(world.base), word="word77"
        )
        assert child.heard() == "that is all"
        with learning():
            world.append(texts(FIRST + 1, MORE))
            world.sync()
        assert sharing(world.place)[-1]
        child.tell()
        assert child.finish() == [*found(77), "that is all"]

    def test_one_that_makes_the_text_index_anew(self, grown: World, nursery: Nursery) -> None:
        grown.index.close()
        (meta,) = grown.place.glob("text-*/meta.json")
        meta.unlink()
        assert answers(nursery, "sync_and_search", grown, "word77") == found(77)
        assert len(dictionaries(grown.place)) == 1, "the database was kept"


DAMAGE = (
    "DELETE FROM dictionaries",
    "UPDATE dictionaries SET content = zeroblob(length(content))",
    "UPDATE dictionaries SET content = substr(content, 1, length(content) - 1)",
    "UPDATE dictionaries SET content = cast(content AS TEXT)",
    "UPDATE dictionaries SET hash = hash + 1",
    "UPDATE metadata SET value = value + 1 WHERE name = 'dictionary'",
    "UPDATE metadata SET value = NULL WHERE name = 'dictionary'",
    "DELETE FROM metadata WHERE name = 'dictionary'",
)


class TestDamage:
    @pytest.mark.parametrize("statement", DAMAGE)
    def test_it_is_noticed_and_mended(self, grown: World, nursery: Nursery, statement: str) -> None:
        grown.index.close()
        change(grown, statement)
        (told,) = answers(nursery, "search", grown, "word77")
        assert "damaged" in told
        assert answers(nursery, "sync_and_search", grown, "word77") == found(77)
        grown.reopen()
        assert grown.is_as_fresh()

    @pytest.mark.parametrize("statement", DAMAGE)
    def test_a_sync_that_meets_it_first_mends_it(
        self, grown: World, nursery: Nursery, statement: str
    ) -> None:
        grown.index.close()
        change(grown, statement)
        assert answers(nursery, "sync_and_search", grown, "word77") == found(77)
        grown.reopen()
        assert grown.is_as_fresh()

    @pytest.mark.parametrize("statement", DAMAGE)
    def test_verify_finds_it_also_where_it_is_in_use(self, grown: World, statement: str) -> None:
        change(grown, statement)
        result = grown.index.verify()
        assert not result.equal
        assert "damaged" in result.differences[0]
        grown.sync()
        assert grown.is_as_fresh()
        assert grown.index.verify().equal

    def test_flipped_bits(self, grown: World, nursery: Nursery) -> None:
        """Wherever one is, the texts that need the dictionary are not shown."""
        grown.index.close()
        ((_, content),) = dictionaries(grown.place)
        dice = random.Random(7)
        for _ in range(12):
            at = dice.randrange(len(content))
            flipped = bytearray(content)
            flipped[at] ^= 1 << dice.randrange(8)
            change(grown, "UPDATE dictionaries SET content = ?", bytes(flipped))
            (told,) = answers(nursery, "search", grown, "word77")
            assert "damaged" in told
            for mark in grown.place.glob("*.damaged"):
                mark.unlink()

    def test_a_text_whose_dictionary_is_unknown(self, grown: World) -> None:
        """A flipped number in a frame is a damaged text like any other."""
        with closing(sqlite3.connect(database_of(grown.place))) as connection, connection:
            key, stored = connection.execute(
                "SELECT key, text FROM fragments ORDER BY key DESC LIMIT 1"
            ).fetchone()
            stored = stored[:6] + bytes([stored[6] ^ 1]) + stored[7:]
            connection.execute("UPDATE fragments SET text = ? WHERE key = ?", (stored, key))
        with pytest.raises(IndexProblem, match="dictionary is unknown"):
            grown.finds(f"word{FIRST + MORE}")
        assert len(grown.finds("word77")) == 1
        assert "unknown" in grown.index.verify().differences[0]
        grown.index.rebuild()
        assert grown.is_as_fresh()
