"""Run as a process of its own: syncs with less and less room to write.

    python -m tests.lifecycle.filling BASE STEPS

``RLIMIT_FSIZE`` makes every write beyond a size fail, in SQLite, in Tantivy and in Python alike,
so that running through sizes lets the disk be full at one write after the other.
"""

from __future__ import annotations

import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pi_event_search import EventIndex, IndexProblem

from tests.lifecycle.world import World, header, said, talk, untouched

LARGEST = 160_000
"""Bytes; the largest file that the index of these sessions has."""


def main(base: Path, steps: int) -> None:
    """Every kind of writing under every limit."""
    (base / "prepared").mkdir()
    prepared = World(base / "prepared")
    prepared.write(header() + talk(*[f"walrus {n} " + "eel " * 50 for n in range(40)]))
    prepared.sync()
    prepared.index.close()
    for name, act in ACTIONS.items():
        failures = 0
        for step in range(steps):
            work = base / f"{name}-{step}"
            shutil.copytree(prepared.base, work)
            world = World.__new__(World)
            world.base, world.dirs = work, [work / "sessions"]
            limit = LARGEST * step // steps
            with untouched_after(world, name):
                failures += run(world, act, limit, f"{name} with {limit} bytes")
            shutil.rmtree(work)
        if failures < steps // 6:
            print(f"{name} failed {failures} times only: nothing was tested")


def run(world: World, act: Callable[[World], object], limit: int, what: str) -> bool:
    """One action without room, then the same question and a sync with room. Returns whether the
    action failed."""
    failed = False
    world.index = world.open()
    with room(limit):
        try:
            act(world)
        except IndexProblem:
            failed = True
        except BaseException as error:
            print(f"{what}: {type(error).__name__}: {error} came out")
        try:
            if len(world.finds("walrus")) < 40 and world.coverage() == "ready":
                print(f"{what}: {len(world.finds('walrus'))} of 40 are left")
        except IndexProblem:
            pass
        except BaseException as error:
            print(f"{what}: {type(error).__name__}: {error} came out of a search")
    world.index.sync()
    differences = world.differences()
    if differences:
        print(f"{what}: {differences}")
    world.index.close()
    left = {path.name.split("-")[0] for path in world.place.iterdir()}
    if not left <= {"index", "text", "writer.lock", "waiting.lock", "damaged.sqlite"}:
        print(f"{what}: {left} were left")
    return failed


@contextmanager
def untouched_after(world: World, name: str) -> Iterator[None]:
    if name in ("append", "rewrite"):  # these write to the session themselves
        yield
    else:
        with untouched(world.sessions):
            yield


@contextmanager
def room(limit: int) -> Iterator[None]:
    """No file may grow beyond a size while the block runs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def append(world: World) -> None:
    """A large append: 50 records of 3 kB."""
    data = b"".join(said(41 + n, f"octopus {n} " + "magpie " * 400) for n in range(50))
    with grown(world, data):
        world.index.sync()


def rewrite(world: World) -> None:
    """Another file in the place of the one that is indexed."""
    path = world.path()
    with room(resource.RLIM_INFINITY):
        path.write_bytes(path.read_bytes().replace(b"walrus 1 ", b"walrus 2 "))
    world.index.sync()


@contextmanager
def grown(world: World, data: bytes) -> Iterator[None]:
    with room(resource.RLIM_INFINITY):
        world.append(data)
    yield


def text(world: World) -> None:
    """The text index is gone and has to be made again."""
    (directory,) = world.place.glob("text-*")
    shutil.rmtree(directory)
    world.index.sync()


def database(world: World) -> None:
    """The database is gone as well."""
    (path,) = world.place.glob("index-*.sqlite")
    with room(resource.RLIM_INFINITY):
        path.write_bytes(b"?" * 100)
    world.index.sync()


def rebuild(world: World) -> None:
    """Everything anew, beside the old."""
    world.index.rebuild()


def create(world: World) -> None:
    """An index where there was none, which is then thrown away."""
    with EventIndex.open(world.base / "created", world.dirs) as index:
        index.sync()


ACTIONS: dict[str, Callable[[World], object]] = {
    "append": append,
    "rewrite": rewrite,
    "text": text,
    "database": database,
    "rebuild": rebuild,
    "create": create,
}


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
