"""Zero hits explained, so that "filtered away" never reads as "never happened"."""

from __future__ import annotations

from pi_event_search import _core
from pi_event_search.services.matches import Matches
from pi_event_search.types import Diagnostics, DiagnosticTerm

COUNT_LIMIT = 1_000
"""Where counting stops."""


def explain(matches: Matches, query: _core.Query | None) -> Diagnostics:
    """What each term and the words alone match, whatever the filters, in the caller's scope."""
    terms = []
    for number, display in enumerate(() if query is None else query.display):
        assert query is not None
        count = _count(matches, query.only(number))
        terms.append(DiagnosticTerm(display, min(count, COUNT_LIMIT), at_least=count > COUNT_LIMIT))
    current = matches.scope.current
    return Diagnostics(
        terms=tuple(terms),
        without_filters=min(_count(matches, query), COUNT_LIMIT),
        current_session_excluded=current is not None and current is not matches.target,
    )


def _count(matches: Matches, query: _core.Query | None) -> int:
    """Events that match, counted up to one more than the limit."""
    sessions = matches.unfiltered
    found: set[int] = set()
    # By time: events are rarely equal in it, while without words all are equal in relevance.
    ranked = matches.ranked(query, sessions, matches.only(sessions), "newest", COUNT_LIMIT + 1)
    for match in ranked:
        found.add(match.row.event)
        if len(found) > COUNT_LIMIT:
            break
    return len(found)
