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
from pi_event_search.access.visible import Catalog, Visible
from pi_event_search.config import Config
from pi_event_search.errors import InvalidArgument, NotFound
from pi_event_search.store.rows import DETACHED, SUPERSEDED, SessionRow
from pi_event_search.store.schema import (
    BY_REFERENCE,
    epoch_of,
    epoch_range,
    event_number,
    ord_of,
)
from pi_event_search.types.requests import Invocation

CURRENT = "current"
"""The session id by which a caller names the session that its invocation comes from."""


@dataclass(frozen=True)
class Scope:
    """Sessions a caller may see: ``visible``, less what is behind the cutoff.

    ``current`` is the calling session, and ``cutoff`` the first ord of it that is hidden: 0 when
    the invocation could not be located (fail closed). ``hidden`` are the numbers of its events from
    there on.
    """

    visible: Visible
    cwd: str
    """Where the caller works; relative paths in a request count from it."""
    names_current: bool
    """Whether the invocation names a calling session, be it visible or not."""
    current: SessionRow | None
    cutoff: int
    hidden: range

    @property
    def directory(self) -> Directory:
        """All sources, of which the caller sees a part."""
        return self.visible.directory

    @property
    def unrestricted(self) -> bool:
        """Whether the root directory itself is authorized."""
        return self.visible.unrestricted

    @property
    def sources(self) -> Sequence[SessionRow]:
        """See :class:`Visible`; likewise for the next four."""
        return self.visible.sources

    @property
    def unattributed(self) -> Sequence[SessionRow]:
        return self.visible.unattributed

    @property
    def sessions(self) -> Mapping[int, SessionRow]:
        return self.visible.sessions

    @property
    def by_id(self) -> Mapping[str, SessionRow]:
        return self.visible.by_id

    @property
    def shadowed(self) -> Sequence[SessionRow]:
        return self.visible.shadowed

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
        return epoch_of(event) in self.visible.sessions and event not in self.hidden

    @property
    def closed(self) -> SessionRow | None:
        """The calling session, when nothing of it may be shown."""
        return self.current if self.cutoff == 0 else None

    def listed(self) -> Iterator[SessionRow]:
        """Every visible session with something to show."""
        return (s for s in self.sessions.values() if not self._closed(s))

    def _closed(self, session: SessionRow) -> bool:
        return session is self.closed

    def _open(self, session: SessionRow) -> SessionRow:
        if self._closed(session):
            raise NotFound
        return session


def scope_of(
    connection: sqlite3.Connection, catalog: Catalog, invocation: Invocation, config: Config
) -> Scope:
    """The scope of one call.

    :raises InvalidArgument: an authorization root is not absolute, or the caller's directory is
        gone.
    """
    visible = catalog.visible_to(Authorizer(roots_of(invocation, config)))
    current = _current(visible, invocation)
    cutoff = 0 if current is None else locate_cutoff(connection, current, invocation)
    hidden = range(0)
    if current is not None and current.epoch is not None:
        hidden = range(event_number(current.epoch, cutoff), epoch_range(current.epoch)[1] + 1)
    return Scope(
        visible=visible,
        cwd=os.fspath(invocation.cwd),
        names_current=_names_current(invocation),
        current=current,
        cutoff=cutoff,
        hidden=hidden,
    )


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
        f" WHERE r.reference IN (?, ?) AND r.kind = ? AND r.{BY_REFERENCE}"
        " AND r.event BETWEEN ? AND ?",
        (call_id, call_id.partition("/")[0], _core.RELATIONSHIP_TOOL_CALL, *epoch_range(epoch)),
    ).fetchone()[0]
    return 0 if found is None else ord_of(found)


def _names_current(invocation: Invocation) -> bool:
    return invocation.current_session_id is not None or invocation.current_session_file is not None


def _current(visible: Visible, invocation: Invocation) -> SessionRow | None:
    """The calling session, by its id or else by its file, which another file may stand for."""
    if invocation.current_session_id is not None:
        found = visible.by_id.get(invocation.current_session_id)
        if found is not None:
            return found
    if invocation.current_session_file is not None:
        path = _canonical_file(invocation.current_session_file)
        row = None if path is None else visible.by_path.get(path)
        if row is not None:
            session_id = row.known_id if row.session_id is None else row.session_id
            return None if session_id is None else visible.by_id.get(session_id)
    return None


def _canonical_file(path: str | os.PathLike[str]) -> bytes | None:
    try:
        return os.fsencode(os.path.realpath(path))
    except (OSError, ValueError):  # no path at all
        return None
