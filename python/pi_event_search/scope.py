"""What one caller may see: sessions, and how far into the current one.

A scope is computed for every call from the committed state, the directories asked for, the
caller's workspace roots and its invocation. Everything that reads rows reads through it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pi_event_search import _core
from pi_event_search.authorize import Authorizer, Root, resolve_roots
from pi_event_search.config import Config
from pi_event_search.errors import InvalidArgument, NotFound
from pi_event_search.store.rows import SESSION_QUERY, SessionRow
from pi_event_search.store.schema import epoch_range, event_number, ord_of
from pi_event_search.types import Invocation

CURRENT = "current"
"""The session id by which a caller names the session that its invocation comes from."""


@dataclass(frozen=True)
class Scope:
    """Sessions a caller may see.

    ``sessions`` holds the owner of each session id; ``shadowed`` the other files of those ids;
    ``sources`` every authorized source, indexed or not. ``cutoff`` is the first ord of the
    current session that is hidden: 0 when the invocation could not be located (fail closed).
    """

    sources: Sequence[SessionRow]
    sessions: dict[int, SessionRow]
    by_id: dict[str, SessionRow]
    shadowed: Sequence[SessionRow]
    unrestricted: bool
    current: SessionRow | None = None
    cutoff: int | None = None
    _epochs: dict[int, SessionRow] = field(default_factory=dict, repr=False)

    def cutoff_of(self, session: SessionRow) -> int:
        """The first event number of the session that must not be shown."""
        assert session.epoch is not None
        if self.current is not None and session.epoch == self.current.epoch:
            return event_number(session.epoch, self.cutoff or 0)
        return epoch_range(session.epoch)[1] + 1

    def resolve(self, session_id: str) -> SessionRow:
        """The session of an id, of a unique prefix of one, or of ``current``.

        :raises NotFound: there is none, or the caller may not see it: the same answer.
        :raises InvalidArgument: a prefix of several sessions, or ``current`` without an invocation
            that names a session.
        """
        if session_id == CURRENT and CURRENT not in self.by_id:
            if self.current is None:
                raise InvalidArgument(
                    "sessionId 'current' needs an invocation that names the calling session."
                )
            return self._open(self.current)
        exact = self.by_id.get(session_id)
        if exact is not None:
            return self._open(exact)
        matches = [s for known, s in self.by_id.items() if known.startswith(session_id)]
        matches = [session for session in matches if not self._closed(session)]
        if session_id and len(matches) > 1:
            raise InvalidArgument(
                f"Session id prefix {session_id!r} names {len(matches)} sessions; give more of it."
            )
        if not session_id or not matches:
            raise NotFound
        return matches[0]

    def shows(self, event: int) -> bool:
        """Whether an event number belongs to a visible session, before its cutoff."""
        session = self.sessions.get(event >> 32)
        return session is not None and event < self.cutoff_of(session)

    def listed(self) -> Iterator[SessionRow]:
        """Every visible session with something to show."""
        return (s for s in self.sessions.values() if not self._closed(s))

    def _closed(self, session: SessionRow) -> bool:
        return ord_of(self.cutoff_of(session)) == 0 and session is self.current

    def _open(self, session: SessionRow) -> SessionRow:
        if self._closed(session):
            raise NotFound
        return session


class Directory:
    """All sources of one committed state; scopes are cut from it."""

    def __init__(self, connection: sqlite3.Connection, config: Config) -> None:
        self.rows = [SessionRow(*row) for row in connection.execute(SESSION_QUERY)]
        self._rank = _directory_ranks(connection, config)

    def visible(self) -> Iterable[SessionRow]:
        """Sources listed by the directories asked for, and explicitly synced files."""
        return (row for row in self.rows if row.explicit or row.source in self._rank)

    def scope(
        self, connection: sqlite3.Connection, invocation: Invocation, config: Config
    ) -> Scope:
        """The scope of one call."""
        roots = roots_of(invocation, config)
        authorizer = Authorizer(roots)
        sources = [row for row in self.visible() if _allowed(row, authorizer)]
        owners, shadowed = self._owners(sources)
        by_id = {str(row.session_id): row for row in owners}
        current = _current(by_id, invocation)
        return Scope(
            sources=sources,
            sessions={row.epoch: row for row in owners if row.epoch is not None},
            by_id=by_id,
            shadowed=shadowed,
            unrestricted=any(root.path == "/" for root in roots),
            current=current,
            cutoff=None if current is None else locate_cutoff(connection, current, invocation),
        )

    def _owners(self, sources: Sequence[SessionRow]) -> tuple[list[SessionRow], list[SessionRow]]:
        """One file a session id: most records, Pi's own directory, newest, then by path."""
        best: dict[str, SessionRow] = {}
        shadowed: list[SessionRow] = []
        for row in sources:
            if row.epoch is None or row.session_id is None:
                continue
            other = best.get(row.session_id)
            if other is not None and self._claim(other) < self._claim(row):
                shadowed.append(row)
                continue
            if other is not None:
                shadowed.append(other)
            best[row.session_id] = row
        return list(best.values()), shadowed

    def _claim(self, row: SessionRow) -> tuple[int, int, int, bytes]:
        return -row.next_ord, self._rank.get(row.source, 0), -row.mtime_ns, row.path


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

    When a tool runs, the assistant message with its call is already on disk. It is the newest
    assistant entry on the current branch holding a call of that id; nested ids carry a suffix
    behind a slash. 0, hiding the whole session, when there is no such entry.
    """
    assert session.epoch is not None
    first, last = epoch_range(session.epoch)
    if invocation.invocation_entry_id is not None:
        found = connection.execute(
            "SELECT max(event) FROM events WHERE entry_id = ? AND event BETWEEN ? AND ?",
            (invocation.invocation_entry_id, first, last),
        ).fetchone()
    elif invocation.tool_call_id is not None:
        found = connection.execute(
            "SELECT max(r.event) FROM relationships r JOIN events e USING (event)"
            " JOIN path p ON p.segment = e.segment AND e.depth <= p.upto"
            " WHERE r.reference = ? AND r.kind = ? AND r.event BETWEEN ? AND ?",
            (
                invocation.tool_call_id.partition("/")[0],
                _core.RELATIONSHIP_TOOL_CALL,
                first,
                last,
            ),
        ).fetchone()
    else:
        return 0
    return 0 if found is None or found[0] is None else ord_of(found[0])


def _current(by_id: dict[str, SessionRow], invocation: Invocation) -> SessionRow | None:
    if invocation.current_session_id is not None:
        return by_id.get(invocation.current_session_id)
    if invocation.current_session_file is not None:
        path = os.fsencode(os.path.realpath(invocation.current_session_file))
        return next((row for row in by_id.values() if row.path == path), None)
    return None


def _allowed(row: SessionRow, authorizer: Authorizer) -> bool:
    """Whether a source may be seen. One whose header could not be read belongs to nobody yet."""
    cwd = row.cwd if row.cwd is not None else row.known_cwd
    return True if cwd is None else authorizer.allows(cwd)


def _directory_ranks(connection: sqlite3.Connection, config: Config) -> dict[int, int]:
    """Source -> 0 when one of Pi's own directories lists it, 1 when only archives do."""
    ranks: dict[int, int] = {}
    for directory in config.session_dirs:
        rank = int(directory.archive)
        for (source,) in connection.execute(
            "SELECT source FROM listings WHERE directory = ?", (os.fsencode(directory.path),)
        ):
            ranks[source] = min(rank, ranks.get(source, rank))
    return ranks
