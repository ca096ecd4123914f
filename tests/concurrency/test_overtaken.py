"""Moments between two writers: what is said of files that one or the other has taken in."""

from __future__ import annotations

import fcntl
import time
from types import SimpleNamespace
from typing import Any

import pytest
from pi_event_search.ingest import source
from pi_event_search.ingest.reconcile import Reconciler
from pi_event_search.store.lease import WAITING_NAME

from tests.indexes import EVERYTHING, Place
from tests.sessions import chain, header


@pytest.fixture
def much_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readings happen so long after the writing that equal times prove a file unchanged."""
    later = SimpleNamespace(time_ns=lambda: time.time_ns() + 100_000_000_000)
    monkeypatch.setattr(source, "time", later)


@pytest.mark.usefixtures("much_later")
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_nothing_is_waited_for_that_is_there(
    single: bool, known: bool, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place.put("a", header("s1") + chain(0, 2, "walrus"))
    with place.index() as ours, place.index() as theirs:
        if known:
            ours.sync()
            place.append("a", chain(2, 1, "walrus"))
        carry_out = Reconciler._carry_out

        def overtaken(self: Reconciler, *args: Any, **kwargs: Any) -> None:
            monkeypatch.setattr(Reconciler, "_carry_out", carry_out)
            assert theirs.sync().events_added == (1 if known else 2)
            carry_out(self, *args, **kwargs)

        monkeypatch.setattr(Reconciler, "_carry_out", overtaken)
        report = ours.sync(path) if single else ours.sync()
        assert (report.events_added, report.unchanged) == (0, 1)
        assert (report.coverage.state, report.coverage.pending_bytes) == ("ready", 0)
        assert ours.sync().coverage.state == "ready"


class Left(Exception):  # noqa: N818 - no error of ours
    """The writer goes away in the middle of its work."""


def test_a_file_that_the_next_writer_takes_in_is_being_caught_up_with(place: Place) -> None:
    place.put("a", header("s1") + chain(0, 2, "walrus"))
    place.put("b", header("s2") + chain(0, 2, "walrus"))

    def leave(_: Any) -> None:
        raise Left

    with place.index() as index:
        index.sync()
        for name in ("a", "b"):  # a single one is read before anybody hears of it
            place.append(name, chain(2, 1, "walrus"))
        with pytest.raises(Left):
            index.sync(progress=leave)

        def state() -> str:
            return index.sessions(invocation=EVERYTHING).coverage.state

        assert state() == "partial"
        with (place.base / "index" / WAITING_NAME).open("a") as waiting:
            fcntl.flock(waiting, fcntl.LOCK_SH)
            assert state() == "catching-up"
        assert state() == "partial"
        assert index.sync().coverage.state == "ready"
