"""Rows of the tables as typed tuples, with the columns they are read with."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

from pi_event_search import _core
from pi_event_search.store.schema import epoch_of, ord_of

ERROR = _core.FLAG_ERROR
"""Event and fragment flag: the event counts for the error filter."""
DETACHED = _core.FLAG_DETACHED
"""Event flag: found on a line that Pi skips; searchable, outside the tree."""
IDLESS = _core.FLAG_IDLESS
"""Event flag: the record has no id where its format needs one."""
SUPERSEDED = _core.FLAG_SUPERSEDED
"""Event flag: a later record of the session has the same id; kept for its place only."""
RETRIEVAL = _core.FLAG_RETRIEVAL
"""Event and fragment flag: a retrieval tool's own call or result."""
INFERRED = _core.FLAG_INFERRED
"""Relationship flag: concluded from a recognised tool call or summary, not recorded as such."""
FACET_LIMIT = _core.FACET_LIMIT
"""Code points of a role, tool name or entry type that are kept; a longer one is damage."""
DERIVED_ID = "~"
"""How the ids begin that entries without an id are given."""


class EventRow(NamedTuple):
    """One row of ``events``; see the schema for the numbers."""

    event: int
    entry_id: str
    parent_id: str | None
    entry_type: str
    role: str | None
    context_role: int
    contribution: int
    flags: int
    ts: int
    timestamp: str | None
    byte_start: int
    byte_end: int
    line: int
    record_hash: int
    copy_hash: int
    segment: int | None
    depth: int | None
    first_key: int
    fragments: int

    @property
    def epoch(self) -> int:
        """The epoch the event belongs to."""
        return epoch_of(self.event)

    @property
    def ord(self) -> int:
        """Append position in the session, from 0."""
        return ord_of(self.event)


class FragmentRow(NamedTuple):
    """One row of ``fragments``; ``head`` counts the code points before an omission."""

    key: int
    event: int
    kind: int
    n: int
    tool_name: str | None
    custom_type: str | None
    flags: int
    chars: int
    head: int | None
    text: bytes


class SessionRow(NamedTuple):
    """A source with its live session: one file that answers may come from."""

    source: int
    path: bytes
    explicit: int
    state: str
    detail: str
    size: int
    mtime_ns: int
    complete_offset: int
    tail_length: int
    awaited_size: int | None
    projector: int | None
    known_id: str | None
    known_cwd: str | None
    epoch: int | None
    session_id: str | None
    version: int | None
    workspace: int | None
    cwd: str | None
    created_ts: int | None
    created_at: str | None
    parent_session: str | None
    name: str | None
    last_ts: int
    events: int
    next_ord: int
    leaf_unknown: int
    irregular: int
    compaction_ord: int | None
    compaction_depth: int | None
    kept_depth: int | None


EVENT_COLUMNS = ", ".join(EventRow._fields)
FRAGMENT_COLUMNS = ", ".join(FragmentRow._fields)

SESSION_QUERY = """
SELECT so.source, so.path, so.explicit, so.state, so.detail, ifnull(so.size, 0),
  ifnull(so.mtime_ns, 0), ifnull(so.complete_offset, 0), ifnull(so.tail_length, 0), so.awaited_size,
  so.projector,  so.session_id, so.cwd,
  se.epoch, se.session_id, se.version, se.workspace, w.cwd, se.created_ts, se.created_at,
  se.parent_session, se.name, ifnull(se.last_ts, 0), ifnull(se.events, 0),
  ifnull(se.next_ord, 0), ifnull(se.leaf_unknown, 0), ifnull(se.irregular, 0),
  se.compaction_ord, se.compaction_depth, se.kept_depth
FROM sources so
LEFT JOIN sessions se ON se.epoch = so.epoch
LEFT JOIN workspaces w ON w.workspace = se.workspace
"""


_Row = TypeVar("_Row", bound=tuple[Any, ...])


def typed(kind: type[_Row], rows: Iterable[tuple[Any, ...]]) -> Iterator[_Row]:
    """Rows as tuples of a kind: what its ``_make`` does, without a call in Python for each."""
    return map(partial(tuple.__new__, kind), rows)


def fragments_of(connection: sqlite3.Connection, event: EventRow) -> list[FragmentRow]:
    """The fragments of an event in their order."""
    return [
        FragmentRow(*row)
        for row in connection.execute(
            f"SELECT {FRAGMENT_COLUMNS} FROM fragments WHERE key >= ? AND key < ? ORDER BY key",
            (event.first_key, event.first_key + event.fragments),
        )
    ]
