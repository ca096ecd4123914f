"""The thread behind the answers: a look, and an audit where nobody asks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from pi_event_search import Change, EventIndex, IndexBusy, Progress
from pi_event_search.serve import catch_up as module
from pi_event_search.serve.catch_up import CatchUp
from pi_event_search.serve.engine import Engine
from pi_event_search.serve.log import FILE_NAME, Log

CHANGE = Change("rebuilt", "/sessions/a.jsonl", "s1", 3)


class MadeUpIndex:
    """Says when it was looked through and audited; each audit fails or tells of a change."""

    def __init__(self, failure: BaseException | None) -> None:
        self.failure = failure
        self.calls: list[str] = []
        self.audited_twice = threading.Event()

    def catch_up(self, progress: Callable[[Progress], None]) -> None:
        self.calls.append("look")

    def audit(
        self, *, progress: Callable[[Progress], None], changed: Callable[[Change], None]
    ) -> bool:
        self.calls.append("audit")
        if self.calls.count("audit") == 2:
            self.audited_twice.set()
        if self.failure is not None:
            raise self.failure
        changed(CHANGE)
        return True


class Panic(BaseException):
    """As what the engine panics with: no exception."""


@pytest.mark.parametrize("failure", [None, IndexBusy(), ValueError("no"), Panic("no")])
def test_where_nobody_asks_a_piece_is_audited_after_each_look(
    failure: BaseException | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BETWEEN_SECONDS", 0)
    monkeypatch.setattr(module, "IDLE_SECONDS", 0)
    index, log = MadeUpIndex(failure), Log(tmp_path)
    engine = Engine(lambda: cast(EventIndex, index), log)
    thread = CatchUp(engine, log)
    thread.wake()
    assert index.audited_twice.wait(60)
    engine.stopping.set()
    assert thread.stop(60)
    assert index.calls[:4] == ["look", "audit"] * 2
    assert engine.caught_up
    written = (tmp_path / FILE_NAME).read_text()
    if failure is None:
        assert "edited in place: /sessions/a.jsonl" in written
    else:
        assert "an audit" in written


def test_while_somebody_asks_nothing_is_audited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BETWEEN_SECONDS", 0)
    index, log = MadeUpIndex(None), Log(tmp_path)
    engine = Engine(lambda: cast(EventIndex, index), log)
    thread = CatchUp(engine, log)
    looked = index.catch_up
    enough = threading.Event()

    def look_and_be_asked(progress: Callable[[Progress], None]) -> None:
        looked(progress)
        thread.wake()
        if len(index.calls) == 3:
            engine.stopping.set()
            enough.set()

    monkeypatch.setattr(index, "catch_up", look_and_be_asked)
    thread.wake()
    assert enough.wait(60)
    assert thread.stop(60)
    assert index.calls == ["look"] * 3
