"""The writer lock: holders that leave, die or stop, and those who wait."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pi_event_search.errors import IndexBusy, IndexProblem
from pi_event_search.store.lease import (
    FILE_NAME,
    POLITE_TRIES,
    WAITING_NAME,
    is_held,
    is_waited_for,
    writer_lease,
)

from tests.processes import Nursery

JOBS = "tests.concurrency.jobs:"
Trio = tuple[Nursery, Nursery, Nursery]


def until(condition: Callable[[], bool]) -> None:
    """Looks until it is so; a test in which it never becomes so runs into its time limit."""
    pause = threading.Event()
    while not condition():
        pause.wait(0.001)


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    with (
        writer_lease(tmp_path) as first,
        pytest.raises(IndexBusy, match=r"within 0 seconds"),
        writer_lease(tmp_path, wait=0),
    ):
        pytest.fail("two had the lock")
    assert not first.unclean
    with writer_lease(tmp_path, wait=0) as second:
        assert not second.unclean


def test_it_is_seen_from_outside_while_it_is_held(tmp_path: Path) -> None:
    assert not is_held(tmp_path)
    with writer_lease(tmp_path):
        assert is_held(tmp_path)
    assert not is_held(tmp_path)


def test_an_error_inside_frees_it(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), writer_lease(tmp_path):
        raise KeyboardInterrupt
    with writer_lease(tmp_path, wait=0) as lease:
        assert not lease.unclean


def test_a_directory_that_cannot_be_written_is_a_problem_of_the_index(tmp_path: Path) -> None:
    with pytest.raises(IndexProblem, match="make it writable"), writer_lease(tmp_path / "gone"):
        pytest.fail("there is nothing to lock")
    assert not is_held(tmp_path / "gone")
    assert not is_waited_for(tmp_path / "gone")


def test_looking_makes_no_files(tmp_path: Path) -> None:
    assert not is_held(tmp_path)
    assert not is_waited_for(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_holder_is_followed_at_once(tmp_path: Path, nursery: Nursery) -> None:
    holder = nursery.start(JOBS + "hold", directory=str(tmp_path))
    assert holder.heard() == "held"
    assert is_held(tmp_path)
    holder.kill()
    assert not is_held(tmp_path)
    with writer_lease(tmp_path, wait=0) as lease:
        assert lease.unclean
    with writer_lease(tmp_path, wait=0) as lease:
        assert not lease.unclean


def test_a_waiter_goes_on_when_the_holder_is_killed(tmp_path: Path, nurseries: Trio) -> None:
    holder = nurseries[0].start(JOBS + "hold", directory=str(tmp_path))
    assert holder.heard() == "held"
    waiter = nurseries[1].start(JOBS + "wait", directory=str(tmp_path))
    assert waiter.heard() == "waiting"
    until(lambda: is_waited_for(tmp_path))
    holder.kill()
    assert waiter.finish() == ["held"]


def test_a_stopped_holder_makes_others_say_so(tmp_path: Path, nursery: Nursery) -> None:
    holder = nursery.start(JOBS + "hold", directory=str(tmp_path))
    assert holder.heard() == "held"
    holder.stop()
    assert is_held(tmp_path)
    with pytest.raises(IndexBusy, match=r"0\.05 seconds"), writer_lease(tmp_path, wait=0.05):
        pytest.fail("the holder has the lock")
    assert not is_waited_for(tmp_path)
    holder.go_on()
    holder.tell()
    holder.finish()
    with writer_lease(tmp_path, wait=0) as lease:
        assert not lease.unclean


def test_the_holder_sees_whether_somebody_waits(tmp_path: Path, nursery: Nursery) -> None:
    with writer_lease(tmp_path) as lease:
        assert not lease.wanted()
        waiter = nursery.start(JOBS + "wait", directory=str(tmp_path))
        assert waiter.heard() == "waiting"
        until(lease.wanted)
        waiter.kill()
        assert not lease.wanted()
        with pytest.raises(IndexBusy), writer_lease(tmp_path, wait=0):
            pytest.fail("the lock is held")
        assert not lease.wanted()


def test_who_comes_back_lets_the_waiter_go_first(tmp_path: Path, nursery: Nursery) -> None:
    with writer_lease(tmp_path) as lease:
        waiter = nursery.start(JOBS + "wait", directory=str(tmp_path))
        assert waiter.heard() == "waiting"
        until(lease.wanted)
    served: list[str] = []

    def pause(seconds: float) -> None:
        served.extend(waiter.finish() if not served else [])

    with writer_lease(tmp_path, after_others=True, pause=pause):
        assert (served or waiter.finish()) == ["held"]  # before us: now it could not get it


def test_a_stopped_waiter_costs_a_moment_and_no_more(tmp_path: Path) -> None:
    stopped = os.open(tmp_path / WAITING_NAME, os.O_RDWR | os.O_CREAT)
    fcntl.flock(stopped, fcntl.LOCK_SH)
    pauses: list[float] = []
    with writer_lease(tmp_path, after_others=True, pause=pauses.append) as lease:
        assert lease.wanted()
    assert len(pauses) == POLITE_TRIES
    os.close(stopped)


def test_two_waiters_get_their_turns(tmp_path: Path, nurseries: Trio) -> None:
    with writer_lease(tmp_path) as lease:
        waiters = [n.start(JOBS + "wait", directory=str(tmp_path)) for n in nurseries[:2]]
        for waiter in waiters:
            assert waiter.heard() == "waiting"
        until(lease.wanted)
    turns = 1
    while is_waited_for(tmp_path) or turns < 3:
        with writer_lease(tmp_path, wait=60, after_others=True):
            turns += 1
    assert [waiter.finish() for waiter in waiters] == [["held"], ["held"]]


def test_threads_exclude_each_other(tmp_path: Path) -> None:
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with writer_lease(tmp_path, wait=60):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    before = len(os.listdir("/dev/fd"))
    for _ in range(50):
        with writer_lease(tmp_path), pytest.raises(IndexBusy), writer_lease(tmp_path, wait=0):
            pytest.fail("the lock is held")
    assert len(os.listdir("/dev/fd")) == before


def test_the_lock_is_not_inherited_by_programs(tmp_path: Path) -> None:
    with writer_lease(tmp_path):
        path = os.fsencode(tmp_path / FILE_NAME)
        ours = [fd for fd in map(int, os.listdir("/dev/fd")) if _leads_to(fd, path)]
        assert len(ours) == 1
        assert not os.get_inheritable(ours[0])


def test_a_copy_of_the_descriptor_keeps_nothing(tmp_path: Path) -> None:
    """As a child has one that was forked while the lock was held."""
    with writer_lease(tmp_path):
        path = os.fsencode(tmp_path / FILE_NAME)
        ours = next(fd for fd in map(int, os.listdir("/dev/fd")) if _leads_to(fd, path))
        inherited = os.dup(ours)
    with writer_lease(tmp_path, wait=0) as lease:
        assert not lease.unclean
    os.close(inherited)


def _leads_to(descriptor: int, path: bytes) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))  # noqa: PTH116 - bytes
    except OSError:
        return False
