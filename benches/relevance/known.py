"""Which event answers which query, in the sample sessions."""

from __future__ import annotations

from typing import NamedTuple


class Known(NamedTuple):
    """A query, what kind of query it is, and the one event that is meant."""

    kind: str
    query: str
    session_id: str
    entry_id: str


_LAMP = "019d3840-5c1e-7a42-9b16-2f4d8c7e1a05"
_NOTE = "019d3a11-07b3-7c58-8e2d-64a0f3b95d17"
_PEARS = "019d2f6c-91d0-7e33-b5a4-0c7751ee8b20"


def _of(session_id: str, *known: tuple[str, str, str]) -> tuple[Known, ...]:
    return tuple(Known(kind, query, session_id, entry_id) for entry_id, kind, query in known)


SAMPLES: tuple[Known, ...] = (
    *_of(
        _LAMP,
        ("f8dd748b", "prose", "Sunday morning lamp Skarvholm darkness"),
        ("9531b788", "prose", "timedelta wall clock daylight saving"),
        ("9531b788", "identifier", "sunset_local"),
        ("570bd92d", "prose", "special case wrong in autumn"),
        ("8c2b29d4", "prose", "table of changeover days given up"),
        ("df8e4727", "prose", "darkness is elapsed time"),
        ("83c06937", "error", "ENOENT no such file or directory"),
        ("83c06937", "path", "lighthouse/clock.py"),
        ("77fe2fb9", "command", "grep -rn lamp_off"),
        ("19c701c9", "path", "lighthouse/plan.py:58"),
        ("2ed72ef5", "command", "pytest tests/test_schedule.py"),
        ("f8689e00", "error", "test_lamp_off[2026-10-25] FAILURES"),
        ("6e195bdc", "error", "ZoneInfoNotFoundError"),
        ("e21574a1", "error", "529 overloaded"),
        ("49d5544e", "path", "config/stations.toml zone Hakodate"),
        ("c119aaba", "cjk", "夏時間 函館"),
        ("06eedd7d", "cjk", "夏時間とは関係ありません"),
        ("adbb8619", "cjk", "函館の試験"),
        ("2a4a6026", "cjk", "提交说明"),
        ("a5afbbb3", "cjk", "夏令时"),
        ("8507c2bd", "command", "git push origin lamp-off-in-utc"),
        ("8507c2bd", "error", "rejected fetch first"),
        ("0acc700b", "hash", "5f0c2e1"),
        ("372186fe", "prose", "lamp Skarvholm one hour early goal"),
        ("b43eacdb", "phrase", '"misspelt one stops the whole plan"'),
    ),
    *_of(
        _NOTE,
        ("0c50f319", "prose", "release note no jargon"),
        ("ebee351f", "path", "CHANGES.md lamps burn until dawn"),
    ),
    *_of(
        _PEARS,
        ("fd289dec", "identifier", "valve-7.timer CEST"),
        ("de84c422", "command", "systemctl list-timers"),
        ("de82b63e", "error", '"could not find the exact text"'),
        ("d15f1aa0", "config", "OnCalendar=*-*-* 12:00"),
        ("3633e954", "prose", "valve 7 pear trees noon"),
    ),
)
"""The samples are searched together with the generated histories."""
