"""`--since` and `--until`."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pi_event_search.cli.times import parse_time
from pi_event_search.errors import InvalidArgument

NOW = datetime(2026, 3, 30, 1, 30, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
"""Clocks went forward on 2026-03-29, a day of 23 hours; NOW is 03:30 there."""


def parse(text: str, *, end: bool = False) -> str:
    moment = parse_time(text, end=end, now=NOW, argument="time_from", zone=BERLIN)
    assert moment.tzinfo is UTC
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00")


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        ("2026-01-31", "2026-01-30T23:00:00.000", "2026-01-31T22:59:59.999"),
        ("20260131", "2026-01-30T23:00:00.000", "2026-01-31T22:59:59.999"),
        ("2026-03-29", "2026-03-28T23:00:00.000", "2026-03-29T21:59:59.999"),
        ("today", "2026-03-29T22:00:00.000", "2026-03-30T21:59:59.999"),
        ("Yesterday", "2026-03-28T23:00:00.000", "2026-03-29T21:59:59.999"),
        ("2026-01-31T09:30", "2026-01-31T08:30:00.000", "2026-01-31T08:30:00.000"),
        ("2026-01-31 09:30:05.5", "2026-01-31T08:30:05.500", "2026-01-31T08:30:05.500"),
        ("2026-01-31T09:30:00Z", "2026-01-31T09:30:00.000", "2026-01-31T09:30:00.000"),
        ("2026-01-31T09:30:00+02:00", "2026-01-31T07:30:00.000", "2026-01-31T07:30:00.000"),
        ("30m", "2026-03-30T01:00:00.000", "2026-03-30T01:00:00.000"),
        ("12h", "2026-03-29T13:30:00.000", "2026-03-29T13:30:00.000"),
        (" 7D ", "2026-03-23T01:30:00.000", "2026-03-23T01:30:00.000"),
        ("2w", "2026-03-16T01:30:00.000", "2026-03-16T01:30:00.000"),
        ("0d", "2026-03-30T01:30:00.000", "2026-03-30T01:30:00.000"),
    ],
)
def test_times(text: str, begin: str, end: str) -> None:
    assert (parse(text), parse(text, end=True)) == (begin, end)


@pytest.mark.parametrize(
    "text",
    ["", "soon", "7", "7x", "-7d", "7.5d", "2026", "2026-13-01", "2026-02-30", "2026-01-31T25:00",
     "999999999w", "7d ago", "٧d", "0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00", "202601"],
)  # fmt: skip
def test_no_times(text: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse(text)
    assert caught.value.argument == "time_from"
    assert repr(text) in caught.value.message
    assert "yesterday" in caught.value.message


@given(st.text() | st.from_regex(r"\d{1,9}[mhdw]|\d{4}-\d\d-\d\d", fullmatch=True), st.booleans())
def test_no_text_raises_anything_else(text: str, end: bool) -> None:
    with suppress(InvalidArgument):
        parse_time(text, end=end, now=NOW, argument="time_to", zone=BERLIN)
