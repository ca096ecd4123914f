"""Points in time as callers write them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo

_BASIC_NUMBER = r"[0-9]{1,7}|[0-9]{9,}"
"""Digits that `fromisoformat` may misread as something else than YYYYMMDD."""


def iso_instant(text: str, *, end: bool, zone: tzinfo | None = None) -> datetime | None:
    """The UTC instant that ISO 8601 `text` names, or None when it names none.

    Text without an offset is local time (`zone`; None: of this machine). A date without a time
    means its first millisecond, and with `end` its last one.
    """
    text = text.strip()
    if re.fullmatch(_BASIC_NUMBER, text):
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    try:
        if day is not None:
            return day_instant(day, end=end, zone=zone)
        return to_utc(datetime.fromisoformat(text), zone)
    except (ValueError, OverflowError):  # the edges of year 1 and 9999
        return None


def day_instant(day: date, *, end: bool, zone: tzinfo | None = None) -> datetime:
    """The first, or with `end` the last, millisecond of a local day."""
    if not end:
        return to_utc(datetime.combine(day, time()), zone)
    # By the next midnight, not by adding 24 hours: days in local time can be shorter or longer.
    midnight = to_utc(datetime.combine(day + timedelta(days=1), time()), zone)
    return midnight - timedelta(milliseconds=1)


def to_utc(moment: datetime, zone: tzinfo | None = None) -> datetime:
    """`moment` in UTC; a naive one is local time."""
    if moment.tzinfo is None and zone is not None:
        moment = moment.replace(tzinfo=zone)
    return moment.astimezone(UTC)


def unix_ms(moment: datetime) -> int:
    """Milliseconds since 1970-01-01 UTC, rounded down."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
