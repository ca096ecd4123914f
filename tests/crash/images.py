"""Images of an index directory in the middle of a sync, and what a loss of power makes of them.

A process that is killed leaves every byte it wrote. A machine that loses power may lose what was
not synced, in any order, and a disk may give back old or empty blocks.
"""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pi_event_search.faults import armed

from tests.crash.world import World

BLOCK = 4_096


@dataclass(frozen=True)
class Image:
    """A copy of an index directory, taken at a point."""

    points: tuple[str, ...]
    """The points at which it looked like this."""
    path: Path


def images(world: World, base: Path) -> list[Image]:
    """Works in a world and copies its index at the last passing of each point.

    Points between which nothing was written have one image.
    """
    world.reset()
    left = dict(world.passings)
    taken: dict[str, tuple[Path, list[str]]] = {}

    def copy(point: str) -> None:
        left[point] -= 1
        if left[point] == 0 and world.index.exists():
            print_ = fingerprint(world.index)
            if print_ not in taken:
                taken[print_] = (base / f"image{len(taken)}", [])
                copy_living(world.index, taken[print_][0])
            taken[print_][1].append(point)

    with armed(copy):
        world.work()
    return [Image(tuple(points), path) for path, points in taken.values()]


def copy_living(source: Path, target: Path) -> None:
    """Copies a directory in which files may vanish meanwhile: merges of the text index go on."""
    target.mkdir()
    for entry in sorted(source.iterdir()):
        with suppress(FileNotFoundError):
            if entry.is_dir():
                copy_living(entry, target / entry.name)
            else:
                shutil.copy2(entry, target / entry.name)


def fingerprint(directory: Path) -> str:
    """Names and bytes of all files, without what SQLite keeps for running processes only."""
    found = hashlib.sha256()
    for path in sorted(p for p in directory.rglob("*") if p.is_file() and p.suffix != ".lock"):
        if not path.name.endswith("-shm"):
            with suppress(FileNotFoundError):
                found.update(f"{path.relative_to(directory)}\n".encode())
                found.update(path.read_bytes())
    return found.hexdigest()


Loss = Callable[[Path, Path, random.Random], bool]
"""Damages an image, given the index as it was before the work; false where it cannot."""


def nothing(image: Path, before: Path, luck: random.Random) -> bool:
    """Only the memory is lost."""
    return True


def drop_log_tail(image: Path, before: Path, luck: random.Random) -> bool:
    """The last bytes of the write-ahead log never reached the disk."""
    log = _log(image)
    if log is None:
        return False
    size = log.stat().st_size
    _cut(log, size - luck.randrange(1, size + 1))
    return True


def garble_log_tail(image: Path, before: Path, luck: random.Random) -> bool:
    """The last block of the write-ahead log holds something else."""
    log = _log(image)
    if log is None:
        return False
    data = log.read_bytes()
    log.write_bytes(data[: -BLOCK // 2] + luck.randbytes(len(data[-BLOCK // 2 :])))
    return True


def old_meta(image: Path, before: Path, luck: random.Random) -> bool:
    """The rename of the text index's last commit is undone: its previous meta file is back."""
    found = False
    for meta in before.glob("text-*/meta.json"):
        target = image / meta.relative_to(before)
        if target.exists() and target.read_bytes() != meta.read_bytes():
            shutil.copy(meta, target)
            found = True
    return found


def no_new_segments(image: Path, before: Path, luck: random.Random) -> bool:
    """Files that the work made in the text index have no names on the disk."""
    new = [
        path
        for path in image.glob("text-*/*")
        if not (before / path.relative_to(image)).exists() and path.suffix != ".lock"
    ]
    for path in new:
        path.unlink()
    return bool(new)


def zero_block(image: Path, before: Path, luck: random.Random) -> bool:
    """A block of some file is empty."""
    files = [p for p in image.rglob("*") if p.is_file() and p.stat().st_size > 1]
    files = [p for p in files if not p.name.endswith(("-shm", ".lock"))]
    if not files:
        return False
    path = luck.choice(sorted(files))
    data = bytearray(path.read_bytes())
    start = luck.randrange(0, len(data), BLOCK)
    length = len(data[start : start + BLOCK])
    data[start : start + length] = bytes(length)
    path.write_bytes(data)
    return True


LOSSES: tuple[Loss, ...] = (
    nothing,
    drop_log_tail,
    garble_log_tail,
    old_meta,
    no_new_segments,
    zero_block,
)


def lost(image: Image, world: World, loss: Loss, target: Path, luck: random.Random) -> bool:
    """Puts a damaged copy of an image at ``target``; false where the loss cannot happen."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(image.path, target)
    for shared in target.glob("*-shm"):  # it lives in memory only
        shared.unlink()
    return loss(target, world.template, luck)


def _log(image: Path) -> Path | None:
    logs = [path for path in _logs(image) if path.stat().st_size > 0]
    return max(logs, key=lambda path: path.stat().st_mtime_ns) if logs else None


def _logs(image: Path) -> Iterator[Path]:
    yield from image.glob("*-wal")


def _cut(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size)
