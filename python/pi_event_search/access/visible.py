"""What one set of rights makes visible in one committed state, kept as long as that state is.

Rights are worked out for every question anew: which of the recorded directories may be seen now
(:mod:`.authorize`). What follows from the answer and from committed rows alone is the same for
everybody who gets the same answer, so it is kept, and a question costs nothing a session.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from pi_event_search.access.authorize import Authorizer
from pi_event_search.access.directory import Directory, recorded_by
from pi_event_search.config import Config
from pi_event_search.store.changes import Steps
from pi_event_search.store.rows import SessionRow

_KEPT = 16
"""Different answers to "which directories" that are kept at once."""


@dataclass(frozen=True, eq=False)
class Visible:
    """Sessions that somebody may see.

    ``sessions`` holds the owner of each session id by its epoch; ``shadowed`` the other files of
    those ids; ``sources`` every authorized source, indexed or not; ``unattributed`` covered sources
    that are nobody's yet, because no header of theirs was ever read.
    """

    directory: Directory
    unrestricted: bool
    """Whether the root directory itself is authorized."""
    sources: Sequence[SessionRow]
    unattributed: Sequence[SessionRow]
    sessions: Mapping[int, SessionRow]
    by_id: Mapping[str, SessionRow]
    shadowed: Sequence[SessionRow]
    remembered: dict[object, Any] = field(default_factory=dict, repr=False)
    """What services have worked out of committed rows and of this alone."""

    @cached_property
    def by_path(self) -> Mapping[bytes, SessionRow]:
        """The authorized sources by the paths of their files."""
        return {row.path: row for row in self.sources}

    @cached_property
    def workspaces(self) -> Mapping[int, str]:
        """The directories that the visible sessions recorded, by their numbers."""
        return {
            session.workspace: session.cwd or ""
            for session in self.sessions.values()
            if session.workspace is not None
        }

    @cached_property
    def elsewhere(self) -> Set[int]:
        """The workspaces of which nothing is visible."""
        return set(self.directory.workspaces.values()) - self.workspaces.keys()

    @cached_property
    def strangers(self) -> Sequence[tuple[int, int]]:
        """Epochs that are not visible although their workspace is, with that."""
        return [
            (epoch, workspace)
            for epoch, workspace in self.directory.workspaces.items()
            if workspace in self.workspaces and epoch not in self.sessions
        ]


class Catalog:
    """One committed state, and what callers may see of it."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        config: Config,
        before: Directory | None = None,
        changed: Set[int] | None = None,
    ) -> None:
        """``before`` and ``changed``: see :class:`Directory`."""
        self.directory = Directory(connection, config, before, changed)
        self._visible: dict[frozenset[str] | None, Visible] = {}

    def visible_to(self, authorizer: Authorizer) -> Visible:
        """What an authorizer lets somebody see at this moment."""
        recorded = self.directory.recorded
        allowed = (
            None if authorizer.allows_everything else frozenset(filter(authorizer.allows, recorded))
        )
        known = self._visible.get(allowed)
        if known is None:
            if len(self._visible) >= _KEPT:
                self._visible.clear()
            known = self._visible[allowed] = _visible(self.directory, allowed)
        return known


class _Known(NamedTuple):
    generation: int
    steps: Steps
    catalog: Catalog


class Catalogs:
    """The catalog of the last state that was asked for, made from the one before it where it is
    known what was published since. For several threads."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._known: _Known | None = None

    def of(self, connection: sqlite3.Connection, generation: int, steps: Steps) -> Catalog:
        """The catalog of the state that a connection sees."""
        known = self._known
        if known is None or known.generation != generation:
            before = changed = None
            if known is not None and known.steps is steps:
                before = known.catalog.directory
                changed = steps.between(known.generation, generation)
            catalog = Catalog(connection, self._config, before, changed)
            known = self._known = _Known(generation, steps, catalog)
        return known.catalog


def _visible(directory: Directory, allowed: frozenset[str] | None) -> Visible:
    """``allowed``: the recorded directories that may be seen; ``None``: whatever there is."""
    sources, unattributed = [], []
    for row in directory.covered():
        cwd = recorded_by(row)
        if allowed is None or cwd in allowed:
            sources.append(row)
        elif cwd is None:
            unattributed.append(row)
    owners, shadowed = _owners(sources, directory)
    return Visible(
        directory=directory,
        unrestricted=allowed is None,
        sources=sources,
        unattributed=unattributed,
        sessions={row.epoch: row for row in owners if row.epoch is not None},
        by_id={str(row.session_id): row for row in owners},
        shadowed=shadowed,
    )


def _owners(
    sources: Sequence[SessionRow], directory: Directory
) -> tuple[list[SessionRow], list[SessionRow]]:
    """One file a session id: most records, Pi's own directory, newest, then by path."""

    def claim(row: SessionRow) -> tuple[int, int, int, bytes]:
        return -row.next_ord, directory.place(row).rank, -row.mtime_ns, row.path

    best: dict[str, SessionRow] = {}
    shadowed: list[SessionRow] = []
    for row in sources:
        if row.epoch is None or row.session_id is None:
            continue
        other = best.get(row.session_id)
        if other is not None and claim(other) < claim(row):
            shadowed.append(row)
            continue
        if other is not None:
            shadowed.append(other)
        best[row.session_id] = row
    return list(best.values()), shadowed
