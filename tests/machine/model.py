"""What the state machine knows: the bytes in the files, and what the index said of them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis.stateful import RuleBasedStateMachine
from pi_event_search import EventIndex
from pi_event_search.ingest import survey
from pi_event_search.ingest.discover import Entry, FileSystem, Scan, scan
from pi_event_search.store.sources import FAILED

from tests.facts import dump
from tests.indexes import EVERYTHING, Place, passing_place
from tests.machine.lines import Author
from tests.pi.naive import naive_facts
from tests.test_against_oracles import check

SLOTS = ("a", "b", "c", "d")


class Model(RuleBasedStateMachine):
    """Files in a few slots, one index over them, and what must be true of both."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.place: Place = self.stack.enter_context(passing_place())
        self.stack.enter_context(patch.object(survey, "scan", self._scan))
        self.clock = self.place.base / "clock"
        self.clock.touch()
        self.numbers = [0]
        self.sessions = 0
        self.authors: dict[str, Author] = {}
        self.unfinished: dict[str, bytes] = {}
        """What is missing of a last line that was written in part."""
        self.hidden: set[str] = set()
        """Files that a look at their directory cannot see."""
        self.explicit: set[str] = set()
        """Files that were named, and are looked at by their name: these are never hidden."""
        self.troubled: set[str] = set()
        """Files that could not be seen at the last look."""
        self.good: dict[str, Any] = {}
        """What the index said of a file when it was last seen whole."""
        self.seen: dict[str, bytes] = {}
        """Its bytes then."""
        self.doubtful: set[str] = set()
        """Files that were edited far before their end and grew as well: a sync may take that for
        an append, and only an audit must find it."""
        self.failed: set[str] = set()
        """What was a session when it was seen last, and is none now."""
        self.metas: list[tuple[Path, bytes]] = []
        self.settled = True
        """Nothing has happened since the last sync."""
        self.later = False
        self.index: EventIndex = self.place.index()

    def let_time_pass(self) -> None:
        """What is written from now on has another time than what is there."""
        times = [self.path(s).stat().st_ctime_ns for s in SLOTS if self.path(s).exists()]
        while self.later and self.clock.stat().st_ctime_ns <= max(times, default=0):
            os.utime(self.clock)

    def path(self, slot: str) -> Path:
        return self.place.path(slot)

    def data(self, slot: str) -> bytes:
        return self.path(slot).read_bytes()

    def write(self, slot: str, data: bytes, author: Author | None = None) -> None:
        self.place.put(slot, data)
        self.unfinished.pop(slot, None)
        self.settled = False
        if author is not None:
            self.authors[slot] = author

    def expect(self, slot: str) -> None:
        """What the index says of a file is what the model says, and becomes the last good state."""
        self.let_time_pass()
        path = self.path(slot)
        now = dump(self.index, path)
        if not path.exists():
            for memory in (self.good, self.seen):
                memory.pop(slot, None)
            self.failed.discard(slot)
            self.explicit.discard(slot)
        elif slot not in self.hidden:
            data = self.data(slot)
            if naive_facts(data) is not None:
                self.failed.discard(slot)
                if self.seen.get(slot) != data or now != self.good[slot]:
                    if slot not in self.doubtful:
                        self.hold_to_oracles(slot, data)
                    self.seen[slot], self.good[slot] = data, now
                return
            if slot in self.good:
                self.failed.add(slot)
        assert now == self.good.get(slot, {})

    def expect_either(self) -> None:
        """Each file is as it was when it was last seen, or as it is now."""
        self.let_time_pass()
        for slot in SLOTS:
            if dump(self.index, self.path(slot)) != self.good.get(slot, {}):
                self.expect(slot)
            elif self.is_known_to_fail(slot):
                self.failed.add(slot)

    def is_known_to_fail(self, slot: str) -> bool:
        """Whether it was found to be no session any more before something else went wrong."""
        path = self.path(slot)
        if slot in self.hidden or not path.exists() or naive_facts(self.data(slot)) is not None:
            return False
        with self.index._view(EVERYTHING) as (snapshot, _):
            (state,) = snapshot.connection.execute(
                "SELECT state FROM sources WHERE path = ?", (os.fsencode(path),)
            ).fetchone() or (None,)
        return slot in self.good and state == FAILED

    def hold_to_oracles(self, slot: str, data: bytes) -> None:
        path = self.path(slot)
        with self.index._view(EVERYTHING) as (snapshot, view):
            owners = {session.path for session in view.scope.by_id.values()}
            (offset,) = snapshot.connection.execute(
                "SELECT complete_offset FROM sources WHERE path = ?", (os.fsencode(path),)
            ).fetchone()
        assert offset <= data.rfind(b"\n") + 1
        if os.fsencode(path) in owners:
            check(self.index, path, data)

    def coverage(self) -> str:
        if self.failed:
            return "error"
        if any(self.path(slot).exists() for slot in self.hidden):
            return "partial"
        return "ready"

    def keep_meta(self) -> None:
        for meta in (self.place.base / "index").glob("text-*/meta.json"):
            self.metas = [*self.metas[-3:], (meta, meta.read_bytes())]

    def _scan(self, dirs: Any, exclude: Any = ()) -> Scan:
        return scan(dirs, exclude, FileSystem(scandir=self._listing))

    @contextmanager
    def _listing(self, path: bytes) -> Iterator[Iterator[Entry]]:
        hidden = {os.fsencode(f"{slot}.jsonl") for slot in self.hidden}
        with os.scandir(path) as entries:
            yield (Hidden(e) if e.name in hidden else e for e in entries)


def edited(data: bytes) -> bytes:
    """The same with another letter in its first text; a search finds what it found before."""
    old, new = (b"common", b"Common") if b"common" in data else (b"Common", b"common")
    return data.replace(old, new, 1)


class Hidden:
    """A name in a directory that cannot be looked at."""

    def __init__(self, entry: os.DirEntry[bytes]) -> None:
        self.name = entry.name
        self.path = entry.path

    def is_symlink(self) -> bool:
        return False

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
