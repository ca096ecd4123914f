"""The index: what it holds, what it misses, what a sync did."""

from __future__ import annotations

from dataclasses import replace

from pi_event_search.cli.render.asked import Asked, nothing_to_look_at, where
from pi_event_search.cli.render.coverage import coverage_notice, coverage_words
from pi_event_search.cli.render.screen import BAD, FAINT, STRONG, Screen
from pi_event_search.cli.render.words import ago, counted, size
from pi_event_search.types.coverage import Problem, SyncReport
from pi_event_search.types.sessions import Status, Verification


def render_status(status: Status, screen: Screen, asked: Asked) -> None:
    """Facts, coverage and problems."""
    facts, coverage = status.index, status.coverage
    good = coverage.state == "ready"
    if not nothing_to_look_at(coverage, asked, screen):
        screen.line((coverage_words(coverage) + ".", STRONG if good else BAD))
        if not asked.everywhere:
            screen.line((f"of the sessions recorded in {where(asked)}", FAINT), hang=2)
    looked = coverage.last_reconciled_at
    when = f"last looked {ago(looked, screen.now)}" if looked else "never looked yet; try sync"
    screen.line((when, FAINT))
    screen.blank()
    screen.line(
        f"Index: {counted(facts.sessions, 'session')}, {counted(facts.events, 'event')}, "
        f"{counted(facts.fragments, 'fragment')}, {size(facts.size_bytes)}"
    )
    screen.ids((facts.path, FAINT))
    for directory in asked.directories:
        screen.ids((f"sessions from {directory}", FAINT))
    by_kind: dict[str, list[Problem]] = {}
    for problem in status.problems:
        by_kind.setdefault(problem.kind, []).append(problem)
    for kind, problems in by_kind.items():
        screen.blank()
        meaning = _MEANING.get(kind)
        screen.line((kind, BAD), f": {meaning}" if meaning else "", hang=2)
        shown = problems[:_FILES] if screen.interactive else problems
        for problem in shown:
            screen.ids(problem.path, (_detail(problem), FAINT), indent=2)
        if len(problems) > len(shown):
            rest = counted(len(problems) - len(shown), "more file")
            screen.line((f"and {rest}; --json names them all", FAINT), indent=2)


_FILES = 5
"""Files of one kind of problem that are named on a terminal."""
_MEANING = {
    "not-a-session": "no Pi session, left out",
    "duplicate-session": "the same session is in another file, which answers for both",
    "unreadable": "cannot be read; what was indexed before still answers",
    "changing": "was rewritten while it was read; the next sync looks again",
    "failed": "could not be taken in; what was indexed before still answers",
    "malformed": "lines that are no record, skipped as Pi skips them",
    "oversized": "records too large to be taken in whole; their text cannot be found",
    "glued": "several records on one line: Pi does not see them, search does",
    "torn": "beginnings of records that were never written to the end, skipped",
    "bom": "a byte order mark, passed over",
    "invalid-utf8": "bytes that are no text, shown as \ufffd",
    "repaired-surrogate": "halves of characters, shown as \ufffd",
    "nul-filled": "zeros in place of text, passed over",
    "non-object": "JSON that is no record, skipped",
    "missing-id": "entries without an id, which nothing can refer to",
    "duplicate-id": "ids that were used again; the last entry counts, as for Pi",
    "orphan": "entries whose parent is not in the file: it cannot be told where they belong",
    "cycle": "entries that are their own ancestors, a tree that Pi itself cannot follow",
    "long-id": "ids too long to be kept whole",
}


def _detail(problem: Problem) -> str:
    """Where it was first, and how often."""
    where = f"  {problem.detail}" if problem.detail else ""
    return f"{where} ({problem.count:,} times)" if problem.count > 1 else where


def render_sync(report: SyncReport, screen: Screen, asked: Asked) -> None:
    """What was found and done."""
    if not report.discovered and not report.removed:
        nothing_to_look_at(replace(report.coverage, discovered_sessions=0), asked, screen)
        return
    changes = {
        "unchanged": report.unchanged,
        "grown": report.appended,
        "read afresh": report.rebuilt,
        "gone": report.removed,
    }
    did = ", ".join(f"{count:,} {what}" for what, count in changes.items() if count)
    screen.line(
        (counted(report.discovered, "session"), STRONG),
        f": {did}" if did else "",
        (f", {report.failed:,} failed" if report.failed else "", BAD),
        f"; {counted(report.events_added, 'event')} added",
        (f" ({size(report.bytes_read)} read in {report.duration_ms / 1000:.1f} s)", FAINT),
    )
    coverage_notice(report.coverage, screen)


def render_verification(result: Verification, screen: Screen) -> None:
    """Whether the index is what the session files say, and what differs."""
    held = f"{counted(result.sessions, 'session')}, {counted(result.events, 'event')}"
    if result.equal:
        screen.line(("The index equals one built afresh", STRONG), f": {held}.")
        return
    screen.line(("The index differs from one built afresh", BAD), f": {held} compared.")
    for difference in result.differences:
        screen.line(difference, indent=2, hang=2)
    screen.blank()
    screen.line(("`pi-event-search rebuild` makes a new one.", FAINT))
