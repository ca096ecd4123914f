"""The index: what it holds, what it misses, what a sync did."""

from __future__ import annotations

from pi_event_search.cli.render.coverage import coverage_notice, coverage_words
from pi_event_search.cli.render.screen import BAD, FAINT, STRONG, Screen
from pi_event_search.cli.render.words import ago, counted, size
from pi_event_search.types import Status, SyncReport, Verification


def render_status(status: Status, screen: Screen) -> None:
    """Facts, coverage and problems."""
    facts, coverage = status.index, status.coverage
    good = coverage.state == "ready"
    screen.line((coverage_words(coverage) + ".", STRONG if good else BAD))
    looked = coverage.last_reconciled_at
    when = f"last looked {ago(looked, screen.now)}" if looked else "never looked yet; try sync"
    screen.line((when, FAINT))
    screen.blank()
    screen.line(
        f"Index: {counted(facts.sessions, 'session')}, {counted(facts.events, 'event')}, "
        f"{counted(facts.fragments, 'fragment')}, {size(facts.size_bytes)}"
    )
    screen.line((f"{facts.path} (schema {facts.schema_version}, projector ", FAINT),
                (f"{facts.projector_version})", FAINT))  # fmt: skip
    if not status.problems:
        return
    screen.blank()
    screen.line((f"{counted(len(status.problems), 'problem')}:", STRONG))
    for problem in status.problems:
        screen.line((problem.kind, BAD), f" {problem.detail}", (_times(problem.count), FAINT),
                    indent=2, hang=2)  # fmt: skip
        screen.ids((problem.path, FAINT), indent=4)


def _times(count: int) -> str:
    return f" ({count:,} times)" if count > 1 else ""


def render_sync(report: SyncReport, screen: Screen) -> None:
    """What was found and done."""
    changes = {
        "unchanged": report.unchanged,
        "appended": report.appended,
        "rebuilt": report.rebuilt,
        "removed": report.removed,
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
