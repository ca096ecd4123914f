"""Numbers, times and states in words."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

_STEPS = (
    (60, "minute", 60),
    (3_600, "hour", 24),
    (86_400, "day", 14),
    (604_800, "week", 9),
)
"""Seconds of a unit, its name, and the count at which the next larger unit takes over."""


def ago(timestamp: str, now: datetime) -> str:
    """`3 hours ago`; for what is further back than two months, or ahead of now, the date."""
    moment = _moment(timestamp)
    if moment is None:
        return "at an unknown time"
    seconds = (now - moment).total_seconds()
    if -60 < seconds < 60:
        return "just now"
    for size, unit, end in _STEPS:
        count = int(seconds // size)
        if 0 < count < end:
            return f"{counted(count, unit)} ago"
    return moment.astimezone(now.tzinfo).strftime("%Y-%m-%d")


def local_time(timestamp: str, zone: tzinfo | None) -> str:
    """`2026-01-31 09:30:05` in local time, or the text itself when it is no time."""
    moment = _moment(timestamp)
    if moment is None:
        return timestamp or "no time recorded"
    try:
        return moment.astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")
    except OverflowError:
        return timestamp


def when(timestamp: str, now: datetime, zone: tzinfo | None) -> str:
    """`2026-01-31 09:30:05 (3 hours ago)`; the date alone says how long ago the old is."""
    moment, distance = local_time(timestamp, zone), ago(timestamp, now)
    return f"{moment} ({distance})" if distance.endswith((" ago", " now")) else moment


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """`1 event`, `2,000 events`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def size(count: int) -> str:
    """Bytes with a decimal unit: `512 B`, `1.2 MB`."""
    if count < 1_000:
        return f"{count} B"
    amount = float(count)
    for unit in ("kB", "MB", "GB"):
        amount /= 1_000
        if amount < 999.95:
            return f"{amount:.1f} {unit}"
    return f"{amount / 1_000:.1f} TB"


def _moment(timestamp: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(timestamp)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
