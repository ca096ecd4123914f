"""The notice under an answer that may not know everything."""

from __future__ import annotations

from pi_event_search.cli.render.screen import FAINT, Screen
from pi_event_search.cli.render.words import counted, size
from pi_event_search.types.coverage import Coverage

_MEANING = {
    "ready": "Everything is indexed",
    "catching-up": "The index is not up to date yet",
    "partial": "Some session files are not indexed",
    "error": "The index has a problem",
}


def coverage_notice(coverage: Coverage, screen: Screen) -> None:
    """Say what the answer misses; nothing when it misses nothing."""
    if coverage.state == "ready":
        return
    screen.blank()
    doubt = "What is not found may still have happened: see `pi-event-search status`."
    screen.line((f"{coverage_words(coverage)}. {doubt}", FAINT))


def coverage_words(coverage: Coverage) -> str:
    """The state of the coverage in a few words and numbers."""
    meaning = _MEANING.get(coverage.state, coverage.state)
    of_all = counted(coverage.discovered_sessions, "session")
    parts = [f"{meaning}: {coverage.indexed_sessions:,} of {of_all}"]
    if coverage.pending_bytes:
        parts.append(f"{size(coverage.pending_bytes)} to read")
    if coverage.skipped_records:
        parts.append(f"{counted(coverage.skipped_records, 'record')} skipped")
    return ", ".join(parts)
