"""Any history of files, syncs, faults and reopenings ends in what one look at the bytes gives.

The model is the bytes in the files. After each sync every fact of every file is held to the
oracles; what cannot be looked at, or is no session any more, must be as it was when last seen.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from pi_event_search import EventSearchError, IndexProblem
from pi_event_search.faults import POINTS, Failing, armed
from pi_event_search.ingest import reconcile
from pi_event_search.ingest import source as reading

from tests.checks import Untouched, check_documents, check_tables, facts, fresh_facts
from tests.crash.test_faults import ERRORS
from tests.indexes import EVERYTHING
from tests.long import LONG, times
from tests.machine.lines import KINDS, Author
from tests.machine.model import SLOTS, Model, edited

RUNS = times(300, 5_000)
PARTS = 10
"""Tests that share the runs, so that several processes can: each takes as long as a large one."""
STEPS = 50
slots = st.sampled_from(SLOTS)
kinds = st.lists(st.integers(0, KINDS - 1), min_size=1, max_size=4)


class Machine(Model):
    """What may happen, in any order."""

    def teardown(self) -> None:
        """The main invariant: any history that ends in these bytes equals a fresh build."""
        try:
            self.hidden.clear()
            self.audit()
            now = facts(self.index)
            fresh = fresh_facts(self.place.sessions, self.place.base / "fresh")
            for slot in self.failed:
                assert now.pop(f"{slot}.jsonl")["state"] == "failed"
                assert fresh.pop(f"{slot}.jsonl")["state"] == "not-a-session"
            assert now == fresh
            check_tables(self.index)
            check_documents(self.index)
        finally:
            self.index.close()
            self.stack.close()

    # What happens to files.

    @initialize(some=kinds, later=st.booleans())
    def begin(self, some: list[int], later: bool) -> None:
        """There is one session. Where it is ``later``, every look comes so long after the last
        write that an equal stat proves something, and nothing is written in the same instant."""
        if later:
            now = SimpleNamespace(time_ns=lambda: time.time_ns() + 3_000_000_000)
            for module in (reading, reconcile):
                self.stack.enter_context(patch.object(module, "time", now))
        self.later = later
        self.create("a", some)

    @rule(slot=slots, some=kinds)
    def create(self, slot: str, some: list[int]) -> None:
        """A new session where there is none, or in a slot that has been deleted."""
        if not self.path(slot).exists():
            self.sessions += 1
            author = Author(f"s{self.sessions}", self.numbers)
            self.write(slot, author.head() + author.lines(some), author)

    @rule(slot=slots, some=kinds)
    def append(self, slot: str, some: list[int]) -> None:
        """Whole lines behind what is there; a partial last line is glued to the first."""
        if self.path(slot).exists():
            self.unfinished.pop(slot, None)
            self.place.append(slot, self.authors[slot].lines(some))
            self.settled = False

    @rule(slot=slots, kind=st.integers(0, KINDS - 1), part=st.floats(0.05, 0.95))
    def append_partly(self, slot: str, kind: int, part: float) -> None:
        """A line of which only the beginning is there yet."""
        if self.path(slot).exists() and slot not in self.unfinished:
            whole = self.authors[slot].lines([kind])
            cut = max(int(len(whole) * part), 1)
            self.place.append(slot, whole[:cut])
            self.unfinished[slot] = whole[cut:]
            self.settled = False

    @rule(slot=slots)
    def complete(self, slot: str) -> None:
        """The rest of that line."""
        rest = self.unfinished.pop(slot, None)
        if rest is not None and self.path(slot).exists():
            self.place.append(slot, rest)
            self.settled = False

    @rule(slot=slots, some=kinds)
    def complete_differently(self, slot: str, some: list[int]) -> None:
        """The partial line was taken back, and others stand in its place."""
        if self.unfinished.pop(slot, None) is not None and self.path(slot).exists():
            data = self.data(slot)
            whole = data[: data.rfind(b"\n") + 1]
            self.write(slot, whole + self.authors[slot].lines(some))

    @rule(slot=slots, part=st.floats(0, 1))
    def truncate(self, slot: str, part: float) -> None:
        """The end is gone, perhaps everything."""
        if self.path(slot).exists():
            self.unfinished.pop(slot, None)
            os.truncate(self.path(slot), int(len(self.data(slot)) * part))
            self.settled = False

    @rule(slot=slots, some=kinds, same=st.booleans())
    def refill(self, slot: str, some: list[int], same: bool) -> None:
        """Emptied and written anew, past its old size; under the old session id or another."""
        if self.path(slot).exists():
            size = len(self.data(slot))
            self.sessions += not same
            name = self.authors[slot].session_id if same else f"s{self.sessions}"
            author = Author(name, self.numbers)
            data = author.head() + author.lines(some)
            while len(data) < size:
                data += author.lines(some)
            self.write(slot, data, author)

    @rule(slot=slots)
    def edit(self, slot: str) -> None:
        """One letter of a text is another, and the file has its old size and modification time."""
        path = self.path(slot)
        if not path.exists() or self.seen.get(slot) != self.data(slot) or slot in self.hidden:
            return
        before = path.stat()
        path.write_bytes(edited(self.data(slot)))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        while path.stat().st_ctime_ns == before.st_ctime_ns:  # a clock that ticks slowly
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        after = path.stat()
        assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
        assert after.st_mtime_ns == before.st_mtime_ns
        self.sync()

    @rule(slot=slots, some=kinds)
    def edit_and_append(self, slot: str, some: list[int]) -> None:
        """The same, but the file grows before anybody looks."""
        if self.path(slot).exists():
            self.unfinished.pop(slot, None)
            path = self.path(slot)
            with path.open("r+b") as file:
                data = edited(file.read())
                file.seek(0)
                file.write(data + self.authors[slot].lines(some))
            self.doubtful.add(slot)
            self.settled = False

    @rule(slot=slots, some=kinds)
    def replace(self, slot: str, some: list[int]) -> None:
        """Another file takes the name by a rename; it begins as the old one did."""
        if self.path(slot).exists():
            self.unfinished.pop(slot, None)
            other = self.place.base / "other"
            data = self.data(slot)
            other.write_bytes(data[: data.rfind(b"\n") + 1] + self.authors[slot].lines(some))
            other.replace(self.path(slot))
            self.settled = False

    @rule(slot=slots)
    def delete(self, slot: str) -> None:
        """The file is gone."""
        if self.path(slot).exists():
            self.path(slot).unlink()
            self.unfinished.pop(slot, None)
            self.settled = False

    @rule(source=slots, to=slots)
    def copy(self, source: str, to: str) -> None:
        """A copy of the file, under the same session id."""
        if self.path(source).exists() and not self.path(to).exists():
            old = self.authors[source]
            author = Author(old.session_id, self.numbers, list(old.ids))
            self.write(to, self.data(source), author)

    @rule(source=slots, to=slots, some=kinds)
    def fork(self, source: str, to: str, some: list[int]) -> None:
        """A new session that begins with the entries of another."""
        if self.path(source).exists() and not self.path(to).exists():
            self.sessions += 1
            author = Author(f"s{self.sessions}", self.numbers, list(self.authors[source].ids))
            head = author.head(parentSession=str(self.path(source)))
            entries = self.data(source).partition(b"\n")[2]
            self.write(to, head + entries + author.lines(some), author)

    @rule(slot=slots)
    def hide(self, slot: str) -> None:
        """The file cannot be looked at for a while."""
        if slot not in self.explicit:
            self.hidden.add(slot)
            self.settled = False

    @rule(slot=slots)
    def show(self, slot: str) -> None:
        """It can be looked at again."""
        self.hidden.discard(slot)
        self.settled = False

    # What happens to the index.

    @rule()
    def sync(self) -> None:
        """A sync, after which everything is as the files say."""
        untouched = Untouched.of(self.place.sessions)
        self.troubled = set(self.hidden)
        report = self.index.sync()
        untouched.check(self.place)
        assert report.bytes_read <= sum(len(self.data(s)) for s in SLOTS if self.path(s).exists())
        for slot in SLOTS:
            self.expect(slot)
        self.settled = True
        assert report.coverage.state == self.coverage()
        self.keep_meta()

    @precondition(lambda self: not self.hidden)
    @rule(budget=st.sampled_from([1, 300, 10_000]))
    def audit(self, budget: int = 300) -> None:
        """A sync and an audit to its end, after which nothing is in doubt."""
        self.sync()
        untouched = Untouched.of(self.place.sessions)
        while self.index.audit(budget):
            pass
        untouched.check(self.place)
        self.doubtful.clear()
        for slot in SLOTS:
            self.expect(slot)

    @precondition(lambda self: not self.hidden)
    @rule(budget=st.sampled_from([1, 300, 10_000]))
    def audit_a_piece(self, budget: int) -> None:
        """A piece of an audit at any time: each file is as before, or as it is now."""
        self.index.audit(budget)
        self.expect_either()

    @rule(slot=slots)
    def sync_file(self, slot: str) -> None:
        """A sync of one file only."""
        if self.path(slot).exists() and slot not in self.hidden | self.troubled:
            self.explicit.add(slot)
            self.index.sync(self.path(slot))
            self.expect(slot)

    @rule()
    def reopen(self) -> None:
        """The index is opened anew."""
        self.index.close()
        self.index = self.place.index()

    @rule(
        point=st.sampled_from(sorted(POINTS)),
        nth=st.integers(1, 3),
        error=st.sampled_from(ERRORS),
        again=st.booleans(),
    )
    def sync_with_fault(self, point: str, nth: int, error: Any, again: bool) -> None:
        """A sync in which something fails; each file is as before, or as the files say."""
        failing = Failing(point, error, nth=nth)
        with suppress(EventSearchError, KeyboardInterrupt), armed(failing):
            self.index.sync()
        if again:
            self.reopen()
        self.expect_either()

    @precondition(lambda self: self.metas)
    @rule(at=st.integers(0, 100), opened=st.booleans())
    def lose_commits(self, at: int, opened: bool) -> None:
        """The text index is back at an earlier commit, as after a loss of power, or from a backup
        under an index that is open."""
        if not opened:
            self.index.close()
        path, data = self.metas[at % len(self.metas)]
        if path.exists():
            path.write_bytes(data)
        if not opened:
            self.index = self.place.index()
        with suppress(IndexProblem):
            self.answers_nothing_twice()
        self.sync()

    @invariant()
    def answers_nothing_twice(self) -> None:
        """A search shows each event once, and only what files that exist or are hidden hold."""
        if self.settled:
            page = self.index.search("common", invocation=EVERYTHING, limit=200)
            found = [(hit.session_id, hit.entry_id) for hit in page.hits]
            assert len(found) == len(set(found))
            assert bool(found) or not any(b"common word" in seen for seen in self.seen.values())


@pytest.mark.timeout(0 if LONG else 900)
@pytest.mark.parametrize("part", range(PARTS))
def test_any_history_equals_a_fresh_build(part: int) -> None:
    run_state_machine_as_test(
        Machine if LONG else seed(part)(Machine),
        settings=settings(
            max_examples=RUNS // PARTS,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
