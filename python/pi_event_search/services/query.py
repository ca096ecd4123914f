"""Query text to clauses; the language is the core's (``rust/core/src/text/query.rs``)."""

from __future__ import annotations

from pi_event_search import _core
from pi_event_search.errors import InvalidQuery


def parse(text: str) -> _core.Query:
    """The query's clauses.

    :raises InvalidQuery: nothing to search for, over 1,000 code points, or over 32 terms.
    """
    try:
        return _core.parse_query(text)
    except ValueError as error:
        raise InvalidQuery(str(error)) from None
