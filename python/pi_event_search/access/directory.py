"""Which sources of the index the directories asked for cover, whoever asks.

An index may hold more than one caller wants to hear of: other session directories, archives, files
that an exclude pattern leaves out. Their sources stay in the index and come back when asked for.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

from pi_event_search.config import Config, SessionDir
from pi_event_search.ingest.globs import Globs
from pi_event_search.store.rows import SESSION_QUERY, SessionRow, typed

PI, ELSEWHERE = 0, 1
"""Where a file lies: in a directory that Pi itself would read, or anywhere else."""


class Place(NamedTuple):
    """Where an answer found a source: the directory that lists it, and what kind that is."""

    rank: int
    directory: bytes


class Directory:
    """All sources of one committed state, and which of them are covered.

    ``workspaces`` maps every live epoch to its workspace, covered or not: the text index, which
    knows nothing else, is restricted by it.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        config: Config,
        before: Directory | None = None,
        changed: Set[int] | None = None,
    ) -> None:
        """``before``: an earlier state of the same index, and ``changed``: all sources that may
        differ from it. Only these are looked up then, which takes a tenth of the time."""
        if before is None or changed is None:
            self.rows = list(_rows(connection))
        else:
            self.rows = _brought_up_to_date(connection, before.rows, changed)
        self.workspaces = {
            row.epoch: row.workspace
            for row in self.rows
            if row.epoch is not None and row.workspace is not None
        }
        self.session_dirs = tuple(os.fsencode(directory.path) for directory in config.session_dirs)
        self._places = _places(connection, config, self.rows)
        recorded = set(map(recorded_by, self.covered()))
        self.recorded = frozenset(cwd for cwd in recorded if cwd is not None)
        """The working directories that covered sources recorded."""

    def covered(self) -> Iterable[SessionRow]:
        """Sources listed by the directories asked for, and explicitly synced files."""
        return (row for row in self.rows if row.source in self._places)

    def place(self, row: SessionRow) -> Place:
        """Where a covered source was found."""
        return self._places[row.source]

    def relates(self, path: bytes) -> bool:
        """Whether a path is one of the session directories asked for, or below one."""
        return any(
            is_within(path, root) or is_within(path, os.path.realpath(root))
            for root in self.session_dirs
        )


def _rows(connection: sqlite3.Connection, sources: Set[int] | None = None) -> Iterator[SessionRow]:
    """Sources in their order, all or some of them."""
    if sources is None:
        found = connection.execute(f"{SESSION_QUERY} ORDER BY so.source")
    else:
        found = connection.execute(
            f"{SESSION_QUERY} WHERE so.source IN (SELECT value FROM json_each(?))"
            " ORDER BY so.source",
            (json.dumps(sorted(sources)),),
        )
    return typed(SessionRow, found)


def _brought_up_to_date(
    connection: sqlite3.Connection, rows: Iterable[SessionRow], changed: Set[int]
) -> list[SessionRow]:
    kept = {row.source: row for row in rows if row.source not in changed}
    kept |= {row.source: row for row in _rows(connection, changed)}
    return [kept[source] for source in sorted(kept)]


def recorded_by(row: SessionRow) -> str | None:
    """The working directory of a source; ``None`` while no header of it was ever read."""
    return row.known_cwd if row.cwd is None else row.cwd


def is_within(path: bytes, directory: bytes) -> bool:
    """Whether a path is a directory or something below it, by name."""
    return path == directory or path.startswith(os.path.join(directory, b""))


def _places(
    connection: sqlite3.Connection, config: Config, rows: Iterable[SessionRow]
) -> dict[int, Place]:
    """Source -> where it was found, for the sources that no pattern leaves out."""
    globs = Globs(config.exclude)
    places: dict[int, Place] = {}
    left_out: set[int] = set()
    for directory in config.session_dirs:
        excluded = _Excluded(globs, directory)
        place = Place(ELSEWHERE if directory.archive else PI, excluded.root)
        for source, *ways in connection.execute(
            "SELECT source, l.path, s.path FROM listings l JOIN sources s USING (source)"
            " WHERE l.directory = ?"
            if globs
            else "SELECT source FROM listings WHERE directory = ?",
            (excluded.root,),
        ):
            if ways and excluded.match(*ways):
                left_out.add(source)
            elif source not in places or place < places[source]:
                places[source] = place
    for row in rows:
        if row.explicit and row.source not in places and row.source not in left_out:
            # It was named itself: there is no session directory for patterns to count from.
            unwanted = globs.match(row.path, b"/", directory=False)
            if not unwanted:
                places[row.source] = Place(ELSEWHERE, os.path.dirname(row.path))
    return places


class _Excluded:
    """The exclude patterns, as a scan of one session directory would apply them."""

    def __init__(self, globs: Globs, directory: SessionDir) -> None:
        self.root = os.fsencode(directory.path)
        self._canonical_root = os.path.realpath(self.root) if globs else self.root
        self._globs = globs

    def match(self, path: bytes, canonical: bytes) -> bool:
        """Whether the file is left out, by the way to it or by what it is."""
        return self._globs.match(path, self.root, directory=False) or (
            canonical != path
            and self._globs.match(canonical, self._canonical_root, directory=False)
        )
