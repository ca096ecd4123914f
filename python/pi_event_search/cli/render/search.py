"""Hits, or why there are none."""

from __future__ import annotations

from pi_event_search.cli.render.asked import Asked, nothing_to_look_at, where
from pi_event_search.cli.render.coverage import coverage_notice
from pi_event_search.cli.render.screen import BAD, FAINT, ID, MATCH, STRONG, Part, Screen
from pi_event_search.cli.render.words import ago, counted
from pi_event_search.types.search import Diagnostics, DiagnosticTerm, Hit, SearchPage

_EXCLUDED = "The current session is left out unless --session names it."
_TITLE = 24
"""Columns of a title that stay, however long the rest of its line is."""
_LIMIT = 20
"""Hits where no number was asked for."""


def render_search(page: SearchPage, screen: Screen, asked: Asked) -> None:
    """A page of hits."""
    margin = len(str(len(page.hits))) + 2
    for number, hit in enumerate(page.hits, start=1):
        if number > 1:
            screen.blank()
        _hit(number, hit, screen, margin)
    if page.hits and screen.interactive:
        screen.blank()
        full = len(page.hits) == (asked.limit or _LIMIT)
        more = "; --limit shows more" if full else ""
        read = " ".join(filter(None, ("pi-event-search read SESSION ENTRY", asked.places)))
        screen.line((f"Show one with `{read}`{more}.", FAINT))
    if not page.hits and not nothing_to_look_at(page.coverage, asked, screen):
        _nothing(page.diagnostics, screen, asked)
    coverage_notice(page.coverage, screen)


def _hit(number: int, hit: Hit, screen: Screen, margin: int) -> None:
    title = hit.session_name or hit.cwd or "(session without name)"
    label = f"{number}.".ljust(margin - 1) + " "
    facts: list[Part] = [
        f" · {ago(hit.timestamp, screen.now)} · {hit.semantic_kind or hit.entry_type}"
    ]
    if hit.tool_name or hit.custom_type:
        facts.append(f" {hit.tool_name or hit.custom_type}")
    if hit.is_error:
        facts += [" ", ("error", BAD)]
    facts.append((f" · {hit.branch_state}, {hit.selection_state}", FAINT))
    # The title makes room for the facts, which say more about the hit; rows end before the margin.
    title = screen.shortened(title, beside=(label, *facts, " " * margin), least=_TITLE)
    screen.line(label, (title, STRONG), *facts, hang=margin)
    if hit.snippet:
        screen.line(*_marked(hit), indent=margin)
    more = hit.matching_fragment_count - 1
    if more > 0:
        screen.line((f"and {counted(more, 'more part')} of this event", FAINT), indent=margin)
    if hit.also_in:
        screen.line((_copies(hit), FAINT), indent=margin)
    screen.ids((hit.session_id, ID), " ", (hit.entry_id, ID), indent=margin)


def _marked(hit: Hit) -> list[Part]:
    """The snippet with its matches marked; offsets hold before cleaning, so pieces come first."""
    parts: list[Part] = []
    at = 0
    for mark in hit.highlights:
        parts.append(hit.snippet[at : mark.start])
        parts.append((hit.snippet[mark.start : mark.end], MATCH))
        at = mark.end
    parts.append(hit.snippet[at:])
    return parts


def _copies(hit: Hit) -> str:
    named = ", ".join(hit.also_in[:3])
    rest = hit.also_in_total - min(len(hit.also_in), 3)
    return f"also in {named}" + (f" and {counted(rest, 'more session')}" if rest > 0 else "")


def _nothing(diagnostics: Diagnostics | None, screen: Screen, asked: Asked) -> None:
    screen.line(("No event matches.", STRONG))
    if diagnostics is not None:
        for term in diagnostics.terms:
            screen.line(*_term(term), indent=2)
        if diagnostics.without_filters:
            found = counted(diagnostics.without_filters, "event")
            matches = "matches" if diagnostics.without_filters == 1 else "match"
            flags = f" ({' '.join(asked.filters)})" if asked.filters else ""
            screen.line(f"Without the filters{flags} {found} {matches}.")
        elif len(diagnostics.terms) > 1 and all(term.events for term in diagnostics.terms):
            screen.line("Each of these occurs, but no piece of text holds them all: ask for less.")
        absent = [term.term for term in diagnostics.terms if not term.events]
        if any(set("*?") & set(term) for term in absent):
            screen.line(
                "`*` and `?` stand for nothing else: a word is found whole, or by its parts."
            )
        elif absent:
            screen.line(
                "A word is found whole, or as a part of an identifier: conf finds no config."
            )
        if diagnostics.current_session_excluded:
            screen.line(_EXCLUDED)
    if not asked.everywhere:
        only = f"Only sessions recorded in {where(asked)} were searched;"
        screen.line((f"{only} --all-workspaces searches every one.", FAINT))


def _term(term: DiagnosticTerm) -> tuple[Part, ...]:
    if not term.events:
        return (term.term, STRONG), (" occurs in no event", BAD)
    least = "at least " if term.at_least else ""
    return (term.term, STRONG), f" occurs in {least}{counted(term.events, 'event')}"
