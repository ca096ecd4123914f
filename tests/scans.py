"""Session directories for tests of discovery, and file systems that misbehave on cue."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pi_event_search.config import SessionDir
from pi_event_search.ingest.discover import Entry, FileSystem, Scan, scan


def put(path: Path, text: str = "{}\n", mtime_ns: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(mtime_ns, mtime_ns))
    return path


def look(base: Path, *exclude: str, fs: FileSystem | None = None) -> Scan:
    return scan([SessionDir(base / "s")], exclude, fs)


def names(result: Scan, base: Path) -> list[str]:
    prefix = os.fsencode(base) + b"/"
    return [os.fsdecode(found.path.removeprefix(prefix)) for found in result.files]


def kinds(result: Scan) -> list[str]:
    return [problem.kind for problem in result.unobservable]


def key(path: Path) -> bytes:
    return os.fsencode(path)


@contextmanager
def listing(entries: list[Entry], error: OSError | None = None) -> Iterator[Iterator[Entry]]:
    def read() -> Iterator[Entry]:
        yield from entries
        if error is not None:
            raise error

    yield read()


def after_listing(directory: Path, action: Callable[[], object]) -> FileSystem:
    """The real file system, but something happens once a directory has been listed."""

    @contextmanager
    def scandir(path: bytes) -> Iterator[Iterator[Entry]]:
        with os.scandir(path) as real:
            entries = list(real)
        if path == key(directory):
            action()
        yield iter(entries)

    return FileSystem(scandir=scandir)


def failing_scandir(directory: Path, number: int, *, after: int = 0) -> FileSystem:
    """The real file system, but listing one directory fails, after some of its entries."""

    def scandir(path: bytes) -> object:
        if path != key(directory):
            return os.scandir(path)
        with os.scandir(path) as real:
            entries = sorted(real, key=lambda entry: entry.name)[:after]
        return listing(list(entries), OSError(number, os.strerror(number)))

    return FileSystem(scandir=scandir)  # type: ignore[arg-type]


def failing_stat(directory: Path, number: int) -> FileSystem:
    def stat(path: bytes) -> os.stat_result:
        if path == key(directory):
            raise OSError(number, os.strerror(number))
        return os.stat(path)  # noqa: PTH116 - bytes

    return FileSystem(stat=stat)
