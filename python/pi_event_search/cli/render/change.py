"""What became of a session file, as one line."""

from __future__ import annotations

from datetime import datetime

from pi_event_search.cli.clean import one_line
from pi_event_search.cli.render.words import counted
from pi_event_search.types.coverage import Change


def change_line(change: Change, now: datetime) -> str:
    """`09:30:05 appended 2 events to SESSION (PATH)`, in the local time of ``now``."""
    session = change.session_id or "no session"
    match change.change:
        case "appended":
            did = f"appended {counted(change.events_added, 'event')} to {session}"
        case "added" | "rebuilt":
            did = f"{change.change} {session} with {counted(change.events_added, 'event')}"
        case "removed":
            did = f"removed {session}"
        case "failed":
            did = f"failed {session}: {change.detail}"
    return one_line(f"{now:%H:%M:%S} {did} ({change.path})")
