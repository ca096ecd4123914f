"""Names in an index directory: which database is the index, and what belongs to it.

Every database has a name of its own (a number that grows and a part of its uuid), so that
replacing one never touches a file that another process has open: SQLite finds a write-ahead log
by the name of its database, and a log must not be read into a database it was not written for.
The one with the highest number is the index. It appears under that name by one rename, complete.

Nothing here or elsewhere opens a database but SQLite itself: closing any other descriptor of the
file would end the locks that SQLite holds on it in this process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from pathlib import Path

from pi_event_search.faults import point

BUILDING = "building"
"""A whole index under construction, which is going to replace this one."""
SET_ASIDE = "damaged.sqlite"
"""The last database that could not be used, kept for whoever wants to look at it."""
TEXT_PREFIX = "text-"

_DATABASE = re.compile(r"index(?:-(?P<number>[0-9]{1,18})-(?P<uuid>[0-9a-f]{8}))?\.sqlite")
_LOGS = ("-wal", "-shm", "-journal")


class Condition(Enum):
    """What can be done with a database."""

    MISSING = "missing"
    READY = "ready"
    OLDER = "older"
    """Of an older schema: it is built anew beside the old one."""
    NEWER = "newer"
    """Of a newer program: left alone."""
    DAMAGED = "damaged"


def newest_database(directory: Path) -> Path | None:
    """The database that is the index of a directory."""
    found = [(_number(path), path) for path in _databases(directory)]
    return max(found)[1] if found else None


def next_database(directory: Path, index_uuid: str) -> Path:
    """The name under which a new database becomes the index of a directory."""
    number = max((_number(path) for path in _databases(directory)), default=0) + 1
    return directory / f"index-{number}-{index_uuid[:8]}.sqlite"


def belongs(path: Path, index_uuid: str) -> bool:
    """Whether a uuid read from a database is the one its name was made of."""
    match = _DATABASE.fullmatch(path.name)
    return match is not None and match["uuid"] in (None, index_uuid[:8])


def log_of(database: Path) -> Path:
    """The write-ahead log of a database."""
    return Path(f"{database}-wal")


def condemnation(path: Path) -> Path:
    """The file that says of a database that it was found damaged."""
    return path.with_suffix(".damaged")


def set_aside(path: Path) -> None:
    """Takes a database away from its name; only for the holder of the writer lock.

    It goes before its log: a log without a database is garbage, a database without its log would
    look like an older state of itself.
    """
    kept = path.with_name(SET_ASIDE)
    remove_database(kept)
    path.rename(kept)
    point("layout.set_aside")
    for suffix in _LOGS:
        with suppress(OSError):
            Path(f"{path}{suffix}").rename(f"{kept}{suffix}")
    condemnation(path).unlink(missing_ok=True)


def remove_database(path: Path) -> None:
    """Deletes a database and what belongs to it."""
    for name in (path, *(Path(f"{path}{suffix}") for suffix in _LOGS), condemnation(path)):
        name.unlink(missing_ok=True)


def remove_leftovers(directory: Path, database: Path, text: Path) -> None:
    """Deletes what interrupted writers left: everything that is not the index as it is now.

    Only for the holder of the writer lock. Readers that still have a removed file open go on with
    it and find the new one with their next question.
    """
    keep = {database.name, text.name}
    for entry in list(directory.iterdir()):
        name = entry.name.replace(".damaged", ".sqlite")
        for suffix in _LOGS:
            name = name.removesuffix(suffix)
        if name in keep:
            continue
        if entry.name == BUILDING or entry.name.startswith(TEXT_PREFIX):
            remove_tree(entry)
            point("layout.left_over")
        elif _DATABASE.fullmatch(name):
            entry.unlink(missing_ok=True)


def remove_tree(directory: Path) -> None:
    """Deletes a directory with all that is in it, as far as that is possible."""
    import shutil  # it loads libraries for archives, and a question removes nothing

    shutil.rmtree(directory, ignore_errors=True)


def sync_directory(directory: Path) -> None:
    """Makes renames in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _databases(directory: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError), os.scandir(directory) as entries:
        for entry in entries:
            if _DATABASE.fullmatch(entry.name):
                yield directory / entry.name


def _number(path: Path) -> int:
    match = _DATABASE.fullmatch(path.name)
    assert match is not None
    return int(match["number"] or 0)
