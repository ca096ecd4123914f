"""Events without text, for searches without words that ask for their type: labels, changes of the
model, images. A search that names no type is about what was said and done, and leaves them out.

They have no fragment and so no document in the text index; SQLite lists them, in the order in which
the text index lists the others, so that the two lists can be merged.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from pi_event_search.store.rows import ERROR, SUPERSEDED
from pi_event_search.store.text_hits import TextHit
from pi_event_search.store.text_query import TextFilter

NO_FRAGMENT = -1
"""Key of a hit that no fragment stands behind."""


def silent_hits(
    connection: sqlite3.Connection, restriction: TextFilter, sort: str
) -> Iterator[TextHit]:
    """Events without text that pass a filter, ``newest`` or ``oldest`` first.

    They are of no kind and of no tool, so such a filter leaves none. Which sessions may answer is
    for the rows to decide.
    """
    facets = restriction.facets
    if not facets.get("type") or facets.get("kind") or facets.get("tool"):
        return
    # The first condition is spelled as in the partial index that answers this.
    conditions, values = ["fragments = 0", f"NOT flags & {SUPERSEDED}"], list[object]()
    for column, allowed in (
        ("entry_type", facets.get("type", ())),
        ("role", facets.get("role", ())),
    ):
        if allowed:
            conditions.append(f"{column} IN ({', '.join('?' * len(allowed))})")
            values += allowed
    if facets.get("is"):
        conditions.append(f"flags & {ERROR}")
    for comparison, bound in ((">=", restriction.ts_from), ("<=", restriction.ts_to)):
        if bound is not None:
            conditions.append(f"ts {comparison} ?")
            values.append(bound)
    direction = "DESC" if sort == "newest" else "ASC"
    events = None if restriction.events is None else set(restriction.events)
    for event, ts in connection.execute(
        f"SELECT event, ts FROM events WHERE {' AND '.join(conditions)}"
        f" ORDER BY ts {direction}, event",
        values,
    ):
        if events is None or event in events:
            yield TextHit(0.0, NO_FRAGMENT, ts, event)
