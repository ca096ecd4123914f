"""`--since` and `--until`: times as people write them.

`2026-01-31`, `2026-01-31T09:30`, `2026-01-31T09:30:00Z`, `30m`, `12h`, `7d`, `2w`, `today`,
`yesterday`. What has no offset is local time. A day means its beginning after `--since` and its end
after `--until`; a distance counts back from now.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

from pi_event_search.errors import InvalidArgument
from pi_event_search.types.instants import day_instant, iso_instant

_DISTANCE = r"([0-9]{1,9}) ?([mhdw])"
_UNITS = {
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_DAYS_BACK = {"today": 0, "yesterday": 1}


def parse_time(
    text: str, *, end: bool, now: datetime, argument: str, zone: tzinfo | None = None
) -> datetime:
    """The UTC instant that `text` names; InvalidArgument when it names none.

    `now` must have an offset. `zone` is what local time is (None: this machine's).
    """
    word = text.strip()
    try:
        moment = _relative(word.lower(), end=end, now=now, zone=zone)
    except OverflowError:  # further back than year 1
        moment = None
    moment = moment or iso_instant(word, end=end, zone=zone)
    if moment is None:
        raise InvalidArgument(
            f"{argument} must be a time such as 2026-01-31, 2026-01-31T09:30, 7d, 12h, 30m, today "
            f"or yesterday, not {text!r}.",
            argument=argument,
        )
    return moment


def _relative(word: str, *, end: bool, now: datetime, zone: tzinfo | None) -> datetime | None:
    if word in _DAYS_BACK:
        day = now.astimezone(zone).date() - timedelta(days=_DAYS_BACK[word])
        return day_instant(day, end=end, zone=zone)
    distance = re.fullmatch(_DISTANCE, word)
    if distance is None:
        return None
    return now.astimezone(UTC) - int(distance[1]) * _UNITS[distance[2]]
