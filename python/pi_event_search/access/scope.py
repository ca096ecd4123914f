"""What one caller may see: sessions, and how far into the current one.

A scope is computed for every call from the committed state, the directories asked for, the
caller's workspace roots and its invocation. Everything that reads rows reads through it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pi_event_search import _core
from pi_event_search.access.authorize import Authorizer, Root, resolve_roots
from pi_event_search.access.directory import Directory
from pi_event_search.config import Config
from pi_event_search.errors import InvalidArgument, NotFound
from pi_event_search.store.rows import DETACHED, SUPERSEDED, SessionRow
from pi_event_search.store.schema import epoch_of, epoch_range, event_number, ord_of
from pi_event_search.types import Invocation

CURRENT = "current"
"""The session id by which a caller names the session that its invocation comes from."""


@dataclass(frozen=True)
class Scope:
    """Sessions a caller may see.

    ``sessions`` holds the owner of each session id by its epoch; ``shadowed`` the other files of
    those ids; ``sources`` every authorized source, indexed or not; ``unattributed`` covered sources
    that are nobody's yet, because no header of theirs was ever read. ``current`` is the calling
    session, and ``cutoff`` the first ord of it that is hidden: 0 when the invocation could not be
    located (fail closed).
    """

    directory: Directory
    sources: Sequence[SessionRow]
    unattributed: Sequence[SessionRow]
    sessions: Mapping[int, SessionRow]
    by_id: Mapping[str, SessionRow]
    shadowed: Sequence[SessionRow]
    unrestricted: bool
    """Whether the root directory itself is authorized."""
    cwd: str
    """Where the caller works; relative paths in a request count from it."""
    names_current: bool
    """Whether the invocation names a calling session, be it visible or not."""
    current: SessionRow | None
    cutoff: int

    def absolute(self, path: str) -> str | None:
        """A path of a request, seen from where the caller works; ``None`` for no such place."""
        try:
            return os.path.abspath(os.path.join(self.cwd, path))  # noqa: PTH100 - links are kept
        except OSError:  # the current directory is gone
            return None

    def cutoff_of(self, session: SessionRow) -> int:
        """The first event number of the session that must not be shown."""
        assert session.epoch is not None
        if self.current is not None and session.epoch == self.current.epoch:
            return event_number(session.epoch, self.cutoff)
        return epoch_range(session.epoch)[1] + 1

    def resolve(self, session_id: str) -> SessionRow:
        """The session of an id, of a unique prefix of one, or of ``current``.

        :raises NotFound: there is none, or the caller may not see it: the same answer.
        :raises InvalidArgument: a prefix of several sessions, or ``current`` without an invocation
            that names a session.
        """
        if session_id == CURRENT and self.names_current:
            if self.current is None:
                raise NotFound
            return self._open(self.current)
        exact = self.by_id.get(session_id)
        if exact is not None:
            return self._open(exact)
        matches = [s for known, s in self.by_id.items() if known.startswith(session_id)]
        matches = [session for session in matches if not self._closed(session)]
        if session_id == CURRENT and not matches:
            raise InvalidArgument(
                "session_id 'current' needs an invocation that names the calling session.",
                argument="session_id",
            )
        if session_id and len(matches) > 1:
            raise InvalidArgument(
                f"session_id {session_id!r} begins {len(matches)} session ids; give more of it.",
                argument="session_id",
            )
        if not session_id or not matches:
            raise NotFound
        return matches[0]

    def shows(self, event: int) -> bool:
        """Whether an event number belongs to a visible session, before its cutoff."""
        session = self.sessions.get(epoch_of(event))
        return session is not None and event < self.cutoff_of(session)

    def listed(self) -> Iterator[SessionRow]:
        """Every visible session with something to show."""
        return (s for s in self.sessions.values() if not self._closed(s))

    def _closed(self, session: SessionRow) -> bool:
        return session is self.current and self.cutoff == 0

    def _open(self, session: SessionRow) -> SessionRow:
        if self._closed(session):
            raise NotFound
        return session


def scope_of(
    connection: sqlite3.Connection, directory: Directory, invocation: Invocation, config: Config
) -> Scope:
    """The scope of one call.

    :raises InvalidArgument: an authorization root is not absolute, or the caller's directory is
        gone.
    """
    roots = roots_of(invocation, config)
    unrestricted = any(root.path == "/" for root in roots)
    authorizer = Authorizer(roots)
    sources, unattributed = [], []
    for row in directory.covered():
        cwd = row.cwd if row.cwd is not None else row.known_cwd
        if cwd is None and not unrestricted:
            unattributed.append(row)
        elif cwd is None or authorizer.allows(cwd):
            sources.append(row)
    owners, shadowed = _owners(sources, directory)
    by_id = {str(row.session_id): row for row in owners}
    current = _current(sources, by_id, invocation)
    return Scope(
        directory=directory,
        sources=sources,
        unattributed=unattributed,
        sessions={row.epoch: row for row in owners if row.epoch is not None},
        by_id=by_id,
        shadowed=shadowed,
        unrestricted=unrestricted,
        cwd=os.fspath(invocation.cwd),
        names_current=_names_current(invocation),
        current=current,
        cutoff=0 if current is None else locate_cutoff(connection, current, invocation),
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


def roots_of(invocation: Invocation, config: Config) -> tuple[Root, ...]:
    """The caller's authorization roots.

    :raises InvalidArgument: an explicit root is not absolute.
    """
    try:
        return resolve_roots(
            invocation.cwd, invocation.workspace_root, configured=config.workspace_roots
        )
    except ValueError as error:
        raise InvalidArgument(str(error), argument="workspace_root") from error


def locate_cutoff(
    connection: sqlite3.Connection, session: SessionRow, invocation: Invocation
) -> int:
    """The ord of the entry that asks: it and everything behind it is hidden.

    0, hiding the whole session, when the invocation does not say which entry asks or there is no
    such entry.
    """
    assert session.epoch is not None
    first, last = epoch_range(session.epoch)
    if invocation.invocation_entry_id is not None:
        found = connection.execute(
            "SELECT max(event) FROM events WHERE entry_id = ? AND event BETWEEN ? AND ?"
            " AND NOT flags & ?",
            (invocation.invocation_entry_id, first, last, SUPERSEDED | DETACHED),
        ).fetchone()[0]
        return 0 if found is None else ord_of(found)
    if invocation.tool_call_id is not None:
        return _calling_entry(connection, session.epoch, invocation.tool_call_id)
    return 0


def _calling_entry(connection: sqlite3.Connection, epoch: int, call_id: str) -> int:
    """The ord of the newest entry on the current branch that holds a tool call, or 0.

    When a tool runs, the assistant message with its call is already on disk. A call that a tool
    itself makes carries the id of the outer call, a slash and a number.
    """
    found = connection.execute(
        "SELECT max(r.event) FROM relationships r JOIN events e USING (event)"
        " JOIN path p ON p.segment = e.segment AND e.depth <= p.upto"
        " WHERE r.reference IN (?, ?) AND r.kind = ? AND r.event BETWEEN ? AND ?",
        (call_id, call_id.partition("/")[0], _core.RELATIONSHIP_TOOL_CALL, *epoch_range(epoch)),
    ).fetchone()[0]
    return 0 if found is None else ord_of(found)


def _names_current(invocation: Invocation) -> bool:
    return invocation.current_session_id is not None or invocation.current_session_file is not None


def _current(
    sources: Sequence[SessionRow], by_id: Mapping[str, SessionRow], invocation: Invocation
) -> SessionRow | None:
    """The calling session, by its id or else by its file, which another file may stand for."""
    if invocation.current_session_id is not None:
        found = by_id.get(invocation.current_session_id)
        if found is not None:
            return found
    if invocation.current_session_file is not None:
        path = _canonical_file(invocation.current_session_file)
        for row in sources:
            session_id = row.known_id if row.session_id is None else row.session_id
            if row.path == path and session_id is not None:
                return by_id.get(session_id)
    return None


def _canonical_file(path: str | os.PathLike[str]) -> bytes | None:
    try:
        return os.fsencode(os.path.realpath(path))
    except (OSError, ValueError):  # no path at all
        return None
