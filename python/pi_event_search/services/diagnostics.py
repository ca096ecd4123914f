"""Zero hits explained, so that "filtered away" never reads as "never happened"."""

from __future__ import annotations

from pi_event_search import _core
from pi_event_search.services.matches import Matches
from pi_event_search.types.search import Diagnostics, DiagnosticTerm

COUNT_LIMIT = 1_000
"""Where counting stops."""


def explain(matches: Matches, query: _core.Query | None) -> Diagnostics:
    """What each term and the words alone match, whatever the filters, in the caller's scope."""
    terms = []
    for number, display in enumerate(() if query is None else query.display):
        assert query is not None
        count = matches.count(query.only(number), COUNT_LIMIT + 1)
        terms.append(DiagnosticTerm(display, min(count, COUNT_LIMIT), at_least=count > COUNT_LIMIT))
    if len(terms) == 1 or any(term.events == 0 for term in terms):
        # One word is all of them, and what lacks one of them lacks them together.
        together = min(term.events for term in terms)
    else:
        together = matches.count(query, COUNT_LIMIT)
    current = matches.scope.current
    return Diagnostics(
        terms=tuple(terms),
        without_filters=together,
        current_session_excluded=current is not None and current is not matches.target,
    )
