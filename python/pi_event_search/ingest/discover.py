"""Finding session files: which there are now, which cannot be seen, and which are proven gone.

Only names and `stat` are used; no file is opened here. Paths are bytes as the system has them, so
names that are not UTF-8 or hold newlines are ordinary names.
"""

from __future__ import annotations

import errno
import os
import stat as modes
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple, Protocol

from pi_event_search.config import Problem, SessionDir
from pi_event_search.ingest.globs import Globs

SUFFIX = b".jsonl"
_GONE = (errno.ENOENT, errno.ENOTDIR)
_DENIED = (errno.EACCES, errno.EPERM)


class Found(NamedTuple):
    """One session file: a regular file named ``*.jsonl`` (not opened, so perhaps no session).

    `path` is how the walk got there, below the session directory `root`; `canonical` has no
    symbolic link in it and is the identity of the file within a scan. `size` in bytes, times in
    nanoseconds since 1970 (both may be negative or in the future).
    """

    path: bytes
    canonical: bytes
    root: bytes
    archive: bool
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class Entry(Protocol):
    """What is used of `os.DirEntry`."""

    @property
    def name(self) -> bytes: ...
    @property
    def path(self) -> bytes: ...
    def is_symlink(self) -> bool: ...
    def is_dir(self, *, follow_symlinks: bool = True) -> bool: ...
    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result: ...


class FileSystem(NamedTuple):
    """The system calls of a scan. Tests replace some to have things happen between two of them."""

    scandir: Callable[[bytes], AbstractContextManager[Iterator[Entry]]] = os.scandir
    stat: Callable[[bytes], os.stat_result] = os.stat
    lstat: Callable[[bytes], os.stat_result] = os.lstat
    realpath: Callable[[bytes], bytes] = os.path.realpath


class _Listing(NamedTuple):
    """A directory that was read to its end: what it is and every name in it."""

    identity: tuple[int, int]
    names: frozenset[bytes]


class Standing(NamedTuple):
    """A directory that exists, and the device it is on."""

    path: bytes
    device: int | None


@dataclass(slots=True)
class Scan:
    """What one look at the session directories showed.

    - `files`: each once, newest modification first, then by path.
    - `unobservable`: may hold sessions but could not be looked at (kinds ``permission``, ``io``,
      ``vanished`` between listing and stat, ``broken-link``, ``link-loop``, ``not-a-directory``,
      ``invalid-path``). What was known below these paths stays known.
    - `missing`: session directories that do not exist. Nobody may ever have used Pi here, or a
      disk is not mounted; `lost` tells these apart by what the index knows.
    - `skipped`: named like a session but a pipe, socket or device.
    """

    files: list[Found] = field(default_factory=list)
    unobservable: list[Problem] = field(default_factory=list)
    missing: list[Problem] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)
    _fs: FileSystem = field(default_factory=FileSystem, repr=False)
    _listed: dict[bytes, _Listing] = field(default_factory=dict, repr=False)
    _roots: set[bytes] = field(default_factory=set, repr=False)

    def absent(self, path: bytes) -> bool:
        """Whether the file of this canonical path is proven not to exist.

        True only when this scan read the directory to its end without meeting the name, the
        directory is still the same one, and looking again finds nothing. One such proof can
        still fall into a rename in progress: forget a source after two scans that agree.
        """
        parent, name = os.path.split(path)
        listing = self._listed.get(parent)
        return listing is not None and self._proves_gone(path, parent, name, listing)

    def removed_with_directory(self, path: bytes) -> bool:
        """Whether a directory above this canonical path is proven not to exist (see `absent`).

        Says nothing about session directories themselves: one that is gone as a whole may be
        on a disk that is not there, so what it held is unobservable.
        """
        directory = os.path.dirname(path)
        while directory not in self._roots and directory not in self._listed:
            if self.absent(directory):
                return True
            parent = os.path.dirname(directory)
            if parent == directory:
                return False
            directory = parent
        return False

    def absent_outside(self, path: bytes) -> bool:
        """As `absent`, for a file outside every session directory: one that was named explicitly
        or is the target of a link. Reads the file's directory now, if it was not read before."""
        parent = os.path.dirname(path)
        if parent not in self._listed and not any(_below(path, root) for root in self._roots):
            self._list_now(parent)
        return self.absent(path)

    def standing_above(self, path: bytes) -> Standing:
        """The nearest directory above a path that exists now."""
        directory = os.path.dirname(path)
        while True:
            try:
                return Standing(directory, self._fs.stat(directory).st_dev)
            except OSError:
                parent = os.path.dirname(directory)
                if parent == directory:
                    return Standing(directory, None)
                directory = parent

    def lost(self, known: Iterable[bytes]) -> list[Problem]:
        """The missing session directories below which one of the known canonical paths lies."""
        paths = list(known) if self.missing else []
        return [gone for gone in self.missing if any(_below(path, gone.path) for path in paths)]

    def _proves_gone(self, path: bytes, parent: bytes, name: bytes, listing: _Listing) -> bool:
        if name in listing.names:
            return False
        try:
            self._fs.lstat(path)
        except OSError as error:
            if error.errno != errno.ENOENT:
                return False
        else:
            return False
        try:
            now = self._fs.lstat(parent)
        except OSError:
            return False
        return (now.st_dev, now.st_ino) == listing.identity

    def _list_now(self, directory: bytes) -> None:
        try:
            status = self._fs.lstat(directory)
            with self._fs.scandir(directory) as entries:
                names = frozenset(entry.name for entry in entries)
        except OSError:
            return
        self._listed[directory] = _Listing((status.st_dev, status.st_ino), names)


def scan(
    dirs: Sequence[SessionDir], exclude: Iterable[str] = (), fs: FileSystem | None = None
) -> Scan:
    """Looks through the session directories and everything below them, links included.

    A directory is visited once, however many ways lead there, and the real way wins over one
    through a link. Pi's own directories come before archives, so a file in both is no archive.
    A failure costs the directory or file it concerns. `exclude`: see `globs`. Never raises for
    anything found on disk.
    """
    walk = _Walk(Globs(exclude), fs or FileSystem())
    for archive in (False, True):
        for directory in dirs:
            if directory.archive is archive:
                walk.start(directory)
        walk.run(archive)
    result = walk.result
    result.files.sort(key=attrgetter("path"))
    result.files.sort(key=attrgetter("mtime_ns"), reverse=True)
    return result


class _Place(NamedTuple):
    """A directory to visit: how it was reached, what it is, and the session directory above."""

    path: bytes
    canonical: bytes
    root: bytes
    canonical_root: bytes


class _Walk:
    def __init__(self, globs: Globs, fs: FileSystem) -> None:
        self.result = Scan(_fs=fs)
        self._fs = fs
        self._globs = globs
        self._excluding = bool(globs)
        self._directories: list[_Place] = []
        self._links: list[tuple[_Place, Entry]] = []
        self._visited: set[tuple[int, int]] = set()
        self._canonical: set[bytes] = set()
        self._archive = False

    def start(self, directory: SessionDir) -> None:
        """Puts a session directory on the list of what to visit."""
        try:
            path = os.fsencode(directory.path)
            canonical = self._fs.realpath(path)
        except (OSError, ValueError) as error:
            path = os.fspath(directory.path).encode("utf-8", "surrogatepass")
            self._unobservable(path, _kind(error), error)
            return
        self.result._roots.add(canonical)
        self._directories.append(_Place(path, canonical, path, canonical))

    def run(self, archive: bool) -> None:
        """Visits everything on the list: what links lead to after all that is really there."""
        self._archive = archive
        self._directories.reverse()
        while self._directories or self._links:
            while self._directories:
                self._visit(self._directories.pop())
            links, self._links = self._links, []
            for place, entry in sorted(links, key=lambda link: link[1].path):
                self._follow(place, entry)
            self._directories.sort(reverse=True)

    def _visit(self, place: _Place) -> None:
        if self._excluding and self._excludes(place, place.path, place.canonical, directory=True):
            return
        try:
            status = self._fs.stat(place.path)
        except OSError as error:
            self._lost_directory(place, error)
            return
        identity = (status.st_dev, status.st_ino)
        if identity in self._visited:
            return
        self._visited.add(identity)
        prefix = os.path.join(place.canonical, b"")
        below = []
        for entry in self._list(place, identity):
            try:
                if entry.is_symlink():
                    self._links.append((place, entry))
                elif entry.is_dir(follow_symlinks=False):
                    below.append(self._inside(place, entry.name))
                elif entry.name.endswith(SUFFIX):
                    self._file(place, entry, prefix + entry.name)
            except OSError as error:
                self._unobservable(entry.path, _kind(error), error)
        below.sort(reverse=True)
        self._directories += below

    def _list(self, place: _Place, identity: tuple[int, int]) -> list[Entry]:
        """The entries of a directory, read to the end before any is looked at. After an error
        in between, those read so far; the directory then proves nothing about other names."""
        entries: list[Entry] = []
        try:
            with self._fs.scandir(place.path) as listing:
                entries.extend(listing)
        except OSError as error:
            self._lost_directory(place, error)
        else:
            names = frozenset([entry.name for entry in entries])
            self.result._listed[place.canonical] = _Listing(identity, names)
        return entries

    def _inside(self, place: _Place, name: bytes) -> _Place:
        join = os.path.join
        return _Place(
            join(place.path, name),
            join(place.canonical, name),
            place.root,
            place.canonical_root,
        )

    def _follow(self, place: _Place, entry: Entry) -> None:
        """Looks at what a symbolic link leads to: a directory, a file, or nothing."""
        try:
            status = entry.stat()
            canonical = self._fs.realpath(entry.path)
        except OSError as error:
            self._broken_link(entry, error)
            return
        if modes.S_ISDIR(status.st_mode):
            at = _Place(entry.path, canonical, place.root, place.canonical_root)
            self._directories.append(at)
        elif entry.name.endswith(SUFFIX):
            self._file(place, entry, canonical, status)

    def _file(
        self, place: _Place, entry: Entry, canonical: bytes, status: os.stat_result | None = None
    ) -> None:
        if self._excluding and self._excludes(place, entry.path, canonical, directory=False):
            return
        status = status or entry.stat()
        if not modes.S_ISREG(status.st_mode):
            detail = "Named like a session, but it is not a regular file."
            self.result.skipped.append(Problem(entry.path, "not-a-regular-file", detail))
            return
        if canonical in self._canonical:
            return
        self._canonical.add(canonical)
        observed = (
            status.st_dev,
            status.st_ino,
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
        )
        found = Found(entry.path, canonical, place.root, self._archive, *observed)
        self.result.files.append(found)

    def _excludes(self, place: _Place, path: bytes, canonical: bytes, *, directory: bool) -> bool:
        # Both names of a thing count, so that a link is no way around an exclusion.
        return self._globs.match(path, place.root, directory=directory) or (
            canonical != path
            and self._globs.match(canonical, place.canonical_root, directory=directory)
        )

    def _lost_directory(self, place: _Place, error: OSError) -> None:
        if place.path == place.root and error.errno == errno.ENOENT:
            detail = "The session directory does not exist."
            self.result.missing.append(Problem(place.canonical, "missing", detail))
            return
        is_file = error.errno == errno.ENOTDIR and place.path == place.root
        self._unobservable(place.path, "not-a-directory" if is_file else _kind(error), error)

    def _broken_link(self, entry: Entry, error: OSError) -> None:
        if not entry.name.endswith(SUFFIX) and error.errno in (*_GONE, errno.ELOOP):
            return  # it could be anything; what was known below it stays unproven
        kind = "broken-link" if error.errno in _GONE else _kind(error)
        self._unobservable(entry.path, kind, error)

    def _unobservable(self, path: bytes, kind: str, error: OSError | ValueError) -> None:
        what = error.strerror if isinstance(error, OSError) else str(error)
        self.result.unobservable.append(Problem(path, kind, f"Could not be looked at: {what}."))


def _kind(error: OSError | ValueError) -> str:
    if isinstance(error, ValueError):
        return "invalid-path"
    if error.errno in _GONE:
        return "vanished"
    if error.errno in _DENIED:
        return "permission"
    return "link-loop" if error.errno == errno.ELOOP else "io"


def _below(path: bytes, directory: bytes) -> bool:
    return path.startswith(directory.rstrip(b"/") + b"/")
