"""Which session was forked from which, among those one caller may see.

A header names the file its session was forked from. The file is looked for under that path, and,
because archives and moved directories keep the names of files, under its name where only one
session has it. Sessions that are gone, not indexed or not authorized do not exist here.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from pi_event_search.access.scope import Scope
from pi_event_search.store.rows import SessionRow

_SEPARATORS = r"[/\\]"
"""Of the systems a session may have been recorded on."""


class Lineage:
    """Parents and children of the sessions of a scope, by the number of their live epoch."""

    def __init__(self, scope: Scope) -> None:
        self._parents: dict[int, SessionRow] = {}
        self._children: dict[int, list[SessionRow]] = defaultdict(list)
        forks = [session for session in scope.listed() if session.parent_session]
        if not forks:
            return
        files = _Files(scope)
        for session in sorted(forks, key=age):
            parent = files.session_of(session.parent_session or "")
            if parent is None or parent.epoch == session.epoch:
                continue
            assert session.epoch is not None
            assert parent.epoch is not None
            self._parents[session.epoch] = parent
            self._children[parent.epoch].append(session)

    def parent(self, epoch: int) -> SessionRow | None:
        """The session that one was forked from."""
        return self._parents.get(epoch)

    def children(self, epoch: int) -> Sequence[SessionRow]:
        """The sessions forked from one, the oldest first."""
        return self._children.get(epoch, ())


def age(session: SessionRow) -> tuple[int, str]:
    """Orders sessions by when they were created, those without a time last."""
    created = session.created_ts
    return (created if created is not None else 1 << 62, str(session.session_id))


class _Files:
    """The visible sessions by the paths and the names of their files, archived copies included."""

    def __init__(self, scope: Scope) -> None:
        visible = {session.session_id: session for session in scope.listed()}
        self._by_path = {
            source.path: visible[source.session_id]
            for source in scope.sources
            if source.session_id in visible
        }

    @cached_property
    def _by_name(self) -> Mapping[str, Mapping[str | None, SessionRow]]:
        """Made only where a path is not known: after a store was moved or archived."""
        found: dict[str, dict[str | None, SessionRow]] = defaultdict(dict)
        for path, session in self._by_path.items():
            found[os.path.basename(os.fsdecode(path))][session.session_id] = session
        return found

    def session_of(self, recorded: str) -> SessionRow | None:
        """The session whose file is meant by a recorded path."""
        known = self._by_path.get(os.fsencode(recorded))
        if known is None and recorded.startswith("/") and os.path.lexists(recorded):
            known = self._by_path.get(os.fsencode(_canonical(recorded)))
        if known is not None:
            return known
        named = self._by_name.get(re.split(_SEPARATORS, recorded)[-1], {})
        return next(iter(named.values())) if len(named) == 1 else None


def _canonical(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # a link that cannot be followed; a NUL
        return path
