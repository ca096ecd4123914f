"""What requests refuse, and in which words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pi_event_search.errors import InvalidArgument, InvalidQuery
from pi_event_search.types.instants import iso_instant
from pi_event_search.types.requests import (
    ReadRequest,
    SearchRequest,
    SessionsRequest,
    TraceRequest,
    words,
)


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("query", 3),
        ("limit", 0),
        ("limit", 201),
        ("limit", True),
        ("limit", "20"),
        ("limit", 2.0),
        ("session_id", ""),
        ("session_id", 7),
        ("cwd", ""),
        ("file", ""),
        ("kinds", ("tool",)),
        ("kinds", "tool.call"),
        ("kinds", ["tool.call"]),
        ("entry_types", ("",)),
        ("roles", (1,)),
        ("tool_names", (None,)),
        ("branch_states", ("current",)),
        ("selection_states", ("selected",)),
        ("error_only", 1),
        ("time_from", "soon"),
        ("time_from", 5),
        ("time_to", "2026-02-30"),
        ("sort", "best"),
    ],
)
def test_a_search_refuses_with_the_name_and_the_value(argument: str, value: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        SearchRequest(**({"query": "x"} | {argument: value}))
    assert caught.value.argument == argument
    assert caught.value.message.startswith(f"{argument} must ")
    shown = value[0] if isinstance(value, tuple) else value
    assert repr(shown) in caught.value.message
    assert caught.value.message.endswith(".")


def test_refused_values_are_shown_in_part_only() -> None:
    with pytest.raises(InvalidArgument) as caught:
        SearchRequest(query="x", sort="y" * 10_000)
    assert len(caught.value.message) < 200


def test_a_search_without_words_needs_a_filter() -> None:
    for query in ("", "  \n"):
        with pytest.raises(InvalidQuery):
            SearchRequest(query=query)
    request = SearchRequest(error_only=True)
    assert not request.has_words
    assert request.has_filters


@pytest.mark.parametrize(
    "filters",
    [
        {"session_id": "s"},
        {"cwd": "/w"},
        {"kinds": ("tool.call",)},
        {"entry_types": ("label",)},
        {"roles": ("user",)},
        {"tool_names": ("bash",)},
        {"branch_states": ("unknown",)},
        {"selection_states": ("unknown",)},
        {"time_from": "2026-01-01"},
        {"time_to": datetime(2026, 1, 1, tzinfo=UTC)},
        {"file": "a.py"},
    ],
)
def test_every_filter_counts_as_one(filters: dict[str, Any]) -> None:
    assert SearchRequest(**filters).has_filters
    assert not SearchRequest(query="x", limit=1, sort="oldest").has_filters


def test_times_are_milliseconds_and_a_date_ends_with_its_day() -> None:
    request = SearchRequest(time_from="2026-01-31T00:00:00Z", time_to="2026-01-31T23:59:59.999Z")
    assert request.from_ms == 1_769_817_600_000
    assert request.to_ms == 1_769_903_999_999
    zone = timezone(timedelta(hours=-5))
    end = iso_instant("2026-01-31", end=True, zone=zone)
    assert end == datetime(2026, 2, 1, 4, 59, 59, 999_000, tzinfo=UTC)
    with pytest.raises(InvalidArgument, match="time_from must not be later"):
        SearchRequest(query="x", time_from="2026-02-01T00:00Z", time_to="2026-01-01T00:00Z")


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("session_id", ""),
        ("entry_id", None),
        ("fragment_id", ""),
        ("offset", -1),
        ("window", 0),
        ("window", 4_001),
        ("order", "time"),
        ("before", -1),
        ("before", 6),
        ("after", 6),
    ],
)
def test_a_read_refuses(argument: str, value: Any) -> None:
    with pytest.raises(InvalidArgument) as caught:
        ReadRequest(**({"session_id": "s", "entry_id": "e"} | {argument: value}))
    assert caught.value.argument == argument


def test_the_window_of_a_read() -> None:
    def window(**given: int) -> tuple[int, int] | None:
        return ReadRequest(session_id="s", entry_id="e", **given).window_range  # type: ignore[arg-type]

    assert window() is None
    assert window(offset=0) == (0, 2_000)
    assert window(window=5) == (0, 5)
    assert window(offset=7, window=4_000) == (7, 4_000)


@pytest.mark.parametrize("depth", [0, 6, None])
def test_a_trace_refuses(depth: Any) -> None:
    with pytest.raises(InvalidArgument, match="depth must be"):
        TraceRequest(session_id="s", entry_id="e", depth=depth)


@pytest.mark.parametrize("limit", [0, 10_001])
def test_a_session_list_refuses(limit: int) -> None:
    with pytest.raises(InvalidArgument, match=r"limit must be from 1 to 10,000"):
        SessionsRequest(limit=limit)


def test_a_bare_string_is_no_list() -> None:
    assert words("kinds", ["a", "b"]) == ("a", "b")
    with pytest.raises(InvalidArgument, match="kinds must be a list of words"):
        words("kinds", "tool.call")


def test_lone_surrogates_are_repaired() -> None:
    request = SearchRequest(query="a\ud83d b\U0001f600", roles=("\udcff",), cwd="/\udcff")
    assert (request.query, request.roles) == ("a\ufffd b\U0001f600", ("\ufffd",))
    assert request.cwd == "/\ufffd"
    assert ReadRequest(session_id="s", entry_id="\udc80").entry_id == "\ufffd"


@given(st.text())
def test_no_text_as_a_time_raises_anything_else(text: str) -> None:
    moment = iso_instant(text, end=False)
    assert moment is None or moment.tzinfo is UTC


@given(st.text(st.characters(), max_size=20), st.integers(-1, 300), st.text(max_size=9))
def test_requests_raise_nothing_but_their_own_errors(query: str, limit: int, kind: str) -> None:
    try:
        request = SearchRequest(query=query, limit=limit, kinds=(kind,), time_to=kind)
    except (InvalidArgument, InvalidQuery):
        return
    assert 1 <= request.limit <= 200
