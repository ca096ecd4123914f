"""Keeping the index current behind the answers: what is synced, when, and how often."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import pytest
from pi_event_search import EventIndex, EventSearchError, IndexBusy, IndexProblem, Invocation
from pi_event_search.serve.engine import Engine, Stopped
from pi_event_search.serve.log import Log
from pi_event_search.serve.shared import SharedRuns
from pi_event_search.types.coverage import Coverage, CoverageProblem, Progress

from tests.serve.conftest import write_history

ANYBODY = Invocation(cwd="/", workspace_root="/")
READY = Coverage("ready", 1, 1, "2026-01-01T00:00:00.000Z", 0, 0)


class MadeUpIndex:
    """Records what is asked of it."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.answer = READY
        self.during_refresh: Callable[[], None] = lambda: None
        self.during_coverage: Callable[[], None] = lambda: None

    def refresh(self, path: str, *, patience: float) -> bool:
        self.calls.append(path)
        self.during_refresh()
        return True

    def catch_up(self, progress: Callable[[Progress], None]) -> None:
        self.calls.append("all")
        progress(Progress(0, 1, 0, 1))

    def coverage(self, *, invocation: Invocation) -> Coverage:
        self.calls.append("coverage")
        answer = self.answer
        self.during_coverage()
        return answer

    def close(self) -> None:
        self.calls.append("close")


@pytest.fixture
def index() -> MadeUpIndex:
    """An index that says it is ready."""
    return MadeUpIndex()


@pytest.fixture
def engine(index: MadeUpIndex, tmp_path: Path) -> Engine:
    """An engine over it."""
    return Engine(lambda: cast(EventIndex, index), Log(tmp_path))


def test_the_session_that_asks_is_synced_first(engine: Engine, index: MadeUpIndex) -> None:
    asking = Invocation(cwd="/", current_session_file="/s/mine.jsonl")
    engine.ask("coverage", asking)
    engine.ask("coverage", ANYBODY)
    engine.catch_up()
    assert index.calls == ["/s/mine.jsonl", "coverage", "coverage", "/s/mine.jsonl", "all"]


def test_until_the_directories_were_looked_at_the_coverage_says_so(
    engine: Engine, index: MadeUpIndex
) -> None:
    assert engine.ask("coverage", ANYBODY).state == "catching-up"
    index.answer = Coverage("partial", 1, 2, None, 0, 0, (CoverageProblem("unreadable", 1),))
    assert engine.ask("coverage", ANYBODY) is index.answer
    index.answer = READY
    engine.catch_up()
    assert engine.ask("coverage", ANYBODY) is READY


def test_an_answer_from_before_the_end_of_catching_up_is_not_final(
    engine: Engine, index: MadeUpIndex
) -> None:
    index.answer = Coverage("partial", 0, 2, None, 0, 0, ())
    index.during_coverage = engine.catch_up
    assert engine.ask("coverage", ANYBODY).state == "catching-up"
    assert engine.caught_up


@pytest.mark.parametrize("failure", [IndexBusy(), IndexProblem("it is read-only")])
def test_a_sync_that_fails_does_not_keep_answers_back(
    engine: Engine, index: MadeUpIndex, failure: EventSearchError
) -> None:
    def fail() -> None:
        raise failure

    index.during_refresh = fail
    engine.caught_up = True
    assert engine.ask("coverage", Invocation("/", current_session_file="/s/x.jsonl")) is READY
    with pytest.raises(type(failure)):
        engine.sync_session("/s/x.jsonl")


@pytest.mark.parametrize("failing", [False, True])
def test_whoever_comes_during_a_run_shares_the_next_one(failing: bool) -> None:
    running, go_on = threading.Event(), threading.Event()
    runs: list[int] = []
    outcomes: list[int] = []

    def action() -> int:
        runs.append(len(runs))
        running.set()
        assert go_on.wait(60)
        if failing:
            raise IndexBusy(str(runs[-1]))
        return runs[-1]

    def ask() -> None:
        try:
            outcomes.append(shared.run())
        except IndexBusy as error:
            outcomes.append(int(error.message))

    shared = SharedRuns(action)
    threads = [threading.Thread(target=ask) for _ in range(6)]
    threads[0].start()
    assert running.wait(60)
    for thread in threads[1:]:
        thread.start()
    while shared.waiting < 5:
        pass
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert runs == [0, 1]
    assert sorted(outcomes) == [0, 1, 1, 1, 1, 1]


def test_stopping_ends_the_catching_up(engine: Engine, index: MadeUpIndex) -> None:
    engine.stopping.set()
    with pytest.raises(Stopped):
        engine.catch_up()
    assert not engine.caught_up
    engine.close()
    engine.close()
    assert index.calls == ["all", "close"]


def test_an_index_that_cannot_be_opened_is_tried_again(tmp_path: Path) -> None:
    tries = []

    def open_index() -> EventIndex:
        tries.append(1)
        raise IndexProblem("no")

    engine = Engine(open_index, Log(tmp_path))
    for _ in range(2):
        with pytest.raises(IndexProblem):
            engine.ask("coverage", ANYBODY)
    engine.close()
    assert len(tries) == 2


def test_catching_up_begins_with_what_is_newest_and_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pi_event_search.index._SMALL_BATCH_BYTES", 1)
    history = write_history(tmp_path / "sessions")
    order = [history.second, history.other, history.first]
    for age, session in enumerate(order):
        os.utime(session.path, (1_700_000_000 - age, 1_700_000_000 - age))
    with EventIndex.open(tmp_path / "index", [history.sessions]) as index:

        def visible() -> set[str]:
            return {hit.session_id for hit in index.search("pump", invocation=ANYBODY).hits}

        seen: list[set[str]] = []

        def look(progress: Progress) -> None:
            seen.append(visible())
            if progress.sessions_done == 2:
                raise Stopped

        with pytest.raises(Stopped):
            index.catch_up(look)
        ids = [session.id for session in order]
        assert [held for held, _ in groupby(seen)] == [set(), {ids[0]}, {ids[0], ids[1]}]
        assert visible() == {ids[0], ids[1]}
        index.catch_up(lambda _: None)
        assert visible() == set(ids)
