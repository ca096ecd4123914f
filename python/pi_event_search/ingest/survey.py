"""One look at the session directories: which files came, changed, or are proven to be gone.

A source is forgotten only when nothing else explains that it is not seen:

- two scans, one after the other, read its directory to the end without meeting its name, so that a
  rename in progress is not taken for a removal;
- looking at the path itself finds nothing, and the directory is still the one that was read;
- the directory stands on the disk that the file was last seen on, or at least holds a session that
  is known: an empty mount point is not an empty disk.

Where a whole directory below a session directory was removed, the same is asked of the directory.
A session directory that is missing as a whole proves nothing.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pi_event_search.config import Config, Problem
from pi_event_search.ingest.discover import Found, Scan, scan
from pi_event_search.store.sources import UNREADABLE, KnownSource, SourceRecord

Stat = tuple[int, int, int, int, int]
"""Device, inode, size, mtime and ctime (ns)."""
Listing = tuple[bytes, int, bytes]
"""Session directory, source, and the way from the one to the other."""


class Known(NamedTuple):
    """The sources as the index has them."""

    sources: dict[bytes, KnownSource]
    listings: set[Listing]


@dataclass(slots=True)
class Survey:
    """What one look asks for."""

    changed: list[tuple[Found, KnownSource | SourceRecord | None]] = field(default_factory=list)
    listed: list[tuple[Found, KnownSource]] = field(default_factory=list)
    """Known sources that a session directory is now seen to hold."""
    unlisted: list[Listing] = field(default_factory=list)
    """Listings whose way to the source is no more: a link was taken away."""
    gone: list[KnownSource] = field(default_factory=list)
    unobservable: list[tuple[KnownSource, str]] = field(default_factory=list)
    """Known sources that are neither seen nor proven to be gone, and why. They stay."""
    troubles: list[Problem] = field(default_factory=list)
    """What else could not be looked at."""
    discovered: int = 0
    unchanged: int = 0

    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        work = (self.changed, self.listed, self.unlisted, self.gone, self.unobservable)
        return not any(work)


def survey(config: Config, known: Known) -> Survey:
    """Looks through the session directories, and at files that were named explicitly."""
    seen = scan(config.session_dirs, config.exclude)
    absent = _absent(seen, known)
    missed = {record.source for record in _missed(absent, config, seen, known)}
    if missed:
        seen = scan(config.session_dirs, config.exclude)
        absent = _absent(seen, known)
    result = Survey(troubles=[*seen.unobservable, *seen.skipped, *seen.lost(known.sources)])
    for found in seen.files:
        _sort_in(found, known, result)
    for record in _missed(absent, config, seen, known):
        if record.source in missed:
            _judge(record, seen, known, result)
    result.unlisted = _unlisted(config, seen, known)
    gone = {record.source for record in result.gone}
    for record in absent:
        if record.explicit and record.source not in gone:
            _look_at(record.path, known, result)
    return result


def _absent(seen: Scan, known: Known) -> list[KnownSource]:
    """Known sources that this look has not met, in the order in which they are known."""
    present = {found.canonical for found in seen.files}
    if present >= known.sources.keys():
        return []
    return [record for path, record in known.sources.items() if path not in present]


def found_at(path: bytes) -> Found:
    """A file looked at by its path alone.

    :raises OSError: it cannot be looked at.
    """
    status = os.stat(path)  # noqa: PTH116 - bytes
    return Found(
        path=path,
        canonical=path,
        root=b"",
        archive=False,
        device=status.st_dev,
        inode=status.st_ino,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
    )


def stat_of(found: Found) -> Stat:
    """What an unchanged file would show again."""
    return found[4:]


def _sort_in(found: Found, known: Known, result: Survey) -> None:
    result.discovered += 1
    record = known.sources.get(found.canonical)
    if record is not None and found.root:
        listing = found.root, record.source, found.path
        if listing not in known.listings:
            result.listed.append((found, record))
    if record is not None and record.unchanged(stat_of(found)):
        result.unchanged += 1
    else:
        result.changed.append((found, record))


def _missed(
    absent: list[KnownSource], config: Config, seen: Scan, known: Known
) -> list[KnownSource]:
    """Those that this look should have met, did not meet, and that are not there."""
    if not absent:
        return []  # as nearly always; the rest looks at every listing
    roots = {os.fsencode(directory.path) for directory in config.session_dirs}
    ours = {source for directory, source, _ in known.listings if directory in roots}
    return [
        record
        for record in absent
        if (record.explicit or record.source in ours)
        and (
            seen.absent(record.path)
            or seen.removed_with_directory(record.path)
            or seen.absent_outside(record.path)
        )
    ]


def _unlisted(config: Config, seen: Scan, known: Known) -> list[Listing]:
    through_links = [listing for listing in known.listings if listing[2] not in known.sources]
    if not through_links:
        return []  # likewise
    roots = {os.fsencode(directory.path) for directory in config.session_dirs}
    ways = {found.path for found in seen.files}
    return sorted(
        (directory, source, way)
        for directory, source, way in through_links
        if directory in roots and way not in ways and _way_is_gone(directory, way)
    )


def _way_is_gone(directory: bytes, way: bytes) -> bool:
    """Whether a way through links ends before its first link. What is not found behind a link that
    still stands may be on a disk that is not mounted."""
    at = directory
    if not Path(os.fsdecode(at)).is_dir():
        return False
    for name in way[len(directory) :].split(b"/"):
        at = os.path.join(at, name)
        try:
            if stat.S_ISLNK(os.lstat(at).st_mode):
                return False
        except OSError as error:
            return error.errno in (errno.ENOENT, errno.ENOTDIR)
    return False


def _judge(record: KnownSource, seen: Scan, known: Known, result: Survey) -> None:
    """Forgets a source that is not there, unless the disk it was on may be what is missing."""
    directory = seen.standing_above(record.path)
    prefix = os.path.join(directory.path, b"")
    if record.device in (None, directory.device) or any(
        found.canonical.startswith(prefix) and found.canonical in known.sources
        for found in seen.files
    ):
        result.gone.append(record)
    else:
        _keep(record, "It was on another disk, which is perhaps not mounted now.", result)


def _look_at(path: bytes, known: Known, result: Survey) -> None:
    """An explicitly named file outside the session directories."""
    try:
        found = found_at(path)
    except OSError as error:
        _keep(known.sources[path], f"It could not be looked at: {error.strerror}.", result)
    else:
        _sort_in(found, known, result)


def _keep(record: KnownSource, detail: str, result: Survey) -> None:
    if record.state != UNREADABLE:
        result.unobservable.append((record, detail))
