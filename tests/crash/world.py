"""Small worlds: an index, what has happened to the files since, and the sync that is to fail.

Together the worlds pass every point of the program (`test_faults` proves it).
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from unittest.mock import patch

from pi_event_search import EventIndex, IndexProblem
from pi_event_search.faults import Noting, armed
from pi_event_search.ingest import reconcile
from pi_event_search.ingest import source as ingest
from pi_event_search.store import lease, publish, store
from pi_event_search.store.layout import newest_database

from tests.checks import Facts, Untouched, check_documents, check_tables, facts, fresh_facts
from tests.indexes import EVERYTHING, Place
from tests.learning import learning
from tests.sessions import chain, header, line

QUERIES = ("number1", "anew", "apple", '"number0 number0"')


def _settled(place: Place) -> None:
    """The state of the files that the index has seen."""
    place.put("grows", header("s-grows") + chain(0, 3, "apple"))
    place.put("rewritten", header("s-rewritten") + chain(0, 4, "pear"))
    place.put("goes", header("s-goes") + chain(0, 3, "cherry"))
    place.put("stays", header("s-stays") + chain(0, 2, "plum"))
    place.put("breaks", header("s-breaks") + chain(0, 2, "fig"))
    place.put("disorder", header("s-disorder") + chain(0, 3, "quince"))


def _changed(place: Place) -> None:
    """What happens to them before the sync that fails."""
    place.append("grows", chain(3, 3, "apple"))
    place.put("rewritten", header("s-rewritten") + chain(0, 5, "anew"))
    place.path("goes").unlink()
    place.put("new", header("s-new") + chain(0, 4, "anew"))
    place.append("disorder", line("e1", "e0", "quince again") + chain(3, 1, "quince"))
    place.path("dangling").symlink_to("nowhere")


def _changed_and_broken(place: Place) -> None:
    """The same, and a file is no session any more."""
    _changed(place)
    place.put("breaks", b"this is no session any more\n")


def _changed_at_length(place: Place) -> None:
    """The same, with texts that are worth compressing."""
    _changed(place)
    place.append(
        "grows", chain(6, 4, "apples and pears, and what else there is in the garden, and")
    )


def _nothing(place: Place) -> None:
    """Nothing happens."""


def _lose_text(place: Place) -> None:
    """The text index cannot be opened any more."""
    (meta,) = (place.base / "index").glob("text-*/meta.json")
    meta.unlink()


def _leave_reading(place: Place) -> None:
    """A rebuild that a crash left unfinished beside the live reading, and the keys of its batch."""
    connection = sqlite3.connect(_database(place))
    with connection:
        connection.execute(
            "INSERT INTO sessions (epoch, source, session_id, version, workspace)"
            " SELECT value, 1, 's-grows', 3, 1 FROM metadata WHERE name = 'next_epoch'"
        )
        connection.execute("UPDATE metadata SET value = value + 1 WHERE name = 'next_epoch'")
        connection.execute(
            "INSERT INTO reservations SELECT value, value + 9, -5 FROM metadata"
            " WHERE name = 'next_key'"
        )
        connection.execute("UPDATE metadata SET value = value + 10 WHERE name = 'next_key'")
    connection.close()


def _break_database(place: Place) -> None:
    """The database is no database any more."""
    with _database(place).open("r+b") as file:
        file.write(bytes(100))


def _database(place: Place) -> Path:
    path = newest_database(place.base / "index")
    assert path is not None
    return path


@contextmanager
def _as_it_is(place: Place) -> Iterator[None]:
    yield


@contextmanager
def in_pieces(place: Place) -> Iterator[None]:
    """Records are read one by one, and every one or two are published."""
    with patch.object(ingest, "READ_BYTES", 1), patch.object(publish, "BATCH_BYTES", 250):
        yield


@contextmanager
def by_learning(place: Place) -> Iterator[None]:
    """As soon as a dictionary can be learned, it is."""
    with learning(enough=100):
        yield


@contextmanager
def in_turns(place: Place) -> Iterator[None]:
    """Somebody waits for the lock all the time, so that every file is a turn of its own."""
    with ExitStack() as stack:
        stack.enter_context(in_pieces(place))
        stack.enter_context(patch.object(reconcile, "TURN_SOURCES", 1))
        stack.enter_context(patch.object(lease, "POLITE_TRIES", 0))
        path = place.base / "index" / lease.WAITING_NAME
        path.parent.mkdir(exist_ok=True)
        waiting = os.open(path, os.O_RDWR | os.O_CREAT)
        stack.callback(os.close, waiting)
        fcntl.flock(waiting, fcntl.LOCK_SH)
        yield


@contextmanager
def tidily(place: Place) -> Iterator[None]:
    """A single dead document is reason enough to make the text index anew."""
    with patch.object(store, "DEAD_FLOOR", 1), patch.object(store, "DEAD_SHARE", 0.0):
        yield


def _sync(index: EventIndex) -> None:
    index.sync()


def _rebuild(index: EventIndex) -> None:
    index.rebuild()


@dataclass(frozen=True)
class Recipe:
    """How a world comes about, and how it is worked in."""

    name: str
    indexed: bool = True
    changes: Callable[[Place], None] = _changed_and_broken
    damage: Callable[[Place], None] = _nothing
    manner: Callable[[Place], AbstractContextManager[None]] = _as_it_is
    act: Callable[[EventIndex], None] = _sync
    begins_anew: bool = False
    """Whether what the index held is given up before there is anything new."""
    answers: bool = True
    """Whether the index can be asked before the work; if not, a failure may leave it so."""


RECIPES = (
    Recipe("new", indexed=False, answers=False),
    Recipe("changes"),
    Recipe("pieces", manner=in_pieces),
    Recipe("turns", manner=in_turns),
    Recipe("learned", changes=_changed_at_length, manner=by_learning),
    Recipe("text-lost", damage=_lose_text, answers=False),
    Recipe("reading-left", changes=_nothing, damage=_leave_reading),
    Recipe("database-broken", True, _changed, _break_database, begins_anew=True, answers=False),
    Recipe("tidied", manner=tidily),
    Recipe("rebuilt", changes=_changed, act=_rebuild),
)


NAMES = tuple(recipe.name for recipe in RECIPES)


def recipe_of(name: str) -> Recipe:
    """A recipe by name."""
    return next(recipe for recipe in RECIPES if recipe.name == name)


class World:
    """A world that can be worked in again and again: the files stay, the index is put back."""

    def __init__(self, recipe: Recipe, base: Path) -> None:
        self.recipe = recipe
        self.place = place = Place(base / recipe.name)
        self.before: Facts = {}
        """What the index said before the work."""
        _settled(place)
        if recipe.indexed:
            with place.index() as index:
                index.sync()
                self.before = facts(index)
        recipe.changes(place)
        self.after: Facts = fresh_facts(place.sessions, place.base / "fresh")
        """What it must say afterwards."""
        self.anew = self.after
        """What it must say if nothing could be kept of what it held."""
        if recipe.indexed:
            broken = self.before["breaks.jsonl"]
            if recipe.changes is _changed_and_broken:
                # What was a session and is none any more keeps its last good reading.
                self.after = self.after | {"breaks.jsonl": broken | {"state": "failed"}}
            recipe.damage(place)
            shutil.copytree(self.index, self.template)
        self.untouched = Untouched.of(place.sessions)

    def reset(self) -> None:
        """Puts the index back to where the work begins."""
        shutil.rmtree(self.index, ignore_errors=True)
        if self.recipe.indexed:
            shutil.copytree(self.template, self.index)

    def manner(self) -> AbstractContextManager[None]:
        """The manner in which this world is worked in."""
        return self.recipe.manner(self.place)

    def work(self) -> None:
        """What is done in it: open, sync, ask, close."""
        with self.manner(), self.place.index() as index:
            self.recipe.act(index)
            for query in QUERIES:
                index.search(query, invocation=EVERYTHING)

    @cached_property
    def passings(self) -> Counter[str]:
        """How often each point is passed when nothing fails."""
        noting = Noting()
        self.reset()
        with armed(noting):
            self.work()
        self.reset()
        return Counter(noting.names)

    def check_served(self, index: EventIndex) -> None:
        """Each file is answered as before or as after the work, or by a part of what is new."""
        try:
            for query in QUERIES:
                index.search(query, invocation=EVERYTHING)
        except IndexProblem:
            assert not self.recipe.answers, "it could be asked before"
            return
        for name, now in facts(index).items():
            old, new = self.before.get(name, {}), self.after.get(name, {})
            if self.recipe.begins_anew and not events(now):
                continue
            if self.recipe.act is _rebuild and now == {"state": "unreadable"}:
                continue  # carried over by name only
            assert events(now) in (events(old), events(new)) or is_begun(now, new, old), name

    def check_healed(self, index: EventIndex, *, anew: bool = False) -> None:
        """One more sync in good health, and everything is as if nothing had happened.

        ``anew``: the database may have been lost with all that it held.
        """
        index.sync()
        with index._guarded():
            now = facts(index)
            assert now == self.after or (anew and now == self.anew)
            check_tables(index)
            check_documents(index)
        self.untouched.check(self.place)

    @property
    def index(self) -> Path:
        """The index directory."""
        return self.place.base / "index"

    @property
    def template(self) -> Path:
        """The index as it is before the work."""
        return self.place.base / "template"


def own_points(world_of: Callable[[str], World], name: str) -> set[str]:
    """The points that no world before this one passes."""
    points = set(world_of(name).passings)
    for other in NAMES[: NAMES.index(name)]:
        points -= set(world_of(other).passings)
    return points


def events(found: Facts) -> list[Facts]:
    """The events of a file."""
    return list(found.get("events", []))


def is_begun(now: Facts, new: Facts, old: Facts) -> bool:
    """Whether what is shown is the beginning of the new state: a first reading or an append."""
    shown, wanted, had = events(now), events(new), events(old)
    return len(had) <= len(shown) and shown == wanted[: len(shown)] and shown[: len(had)] == had
