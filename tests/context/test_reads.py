"""What a read shows of an event's own texts: budgets, windows, and sources that change."""

from __future__ import annotations

import os
from typing import Any

import pytest
from pi_event_search import EventIndex, InvalidArgument, NotFound
from pi_event_search.types.event import Event, TextPreview

from tests.context.seen import Indexed
from tests.context.writing import Log
from tests.indexes import EVERYTHING, Place

CRAB = "\U0001f980"
"""One code point, two UTF-16 units, four bytes."""


def read(index: EventIndex, entry: str, **options: Any) -> Event:
    return index.read("s", entry, invocation=EVERYTHING, **options)


def preview(event: Event) -> TextPreview:
    (fragment,) = event.fragments
    return fragment.preview


def ranges(found: TextPreview) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    shown = [(part.start, part.end) for part in found.shown_ranges]
    return shown, [(part.start, part.end) for part in found.omitted_ranges]


# --- fragments -----------------------------------------------------------------------------------


def many(count: int) -> Log:
    blocks = [{"type": "text", "text": f"part {n}"} for n in range(count)]
    return Log("s").message("A", None, "user", blocks)


@pytest.mark.parametrize(("count", "returned"), [(0, 0), (1, 1), (12, 12), (13, 12), (200, 12)])
def test_twelve_fragments_and_how_many_there_are(
    indexed: Indexed, count: int, returned: int
) -> None:
    event = read(indexed(many(count)), "A")
    assert [part.fragment_id for part in event.fragments] == [
        f"user.text:{n}" for n in range(returned)
    ]
    assert event.fragment_coverage.to_plain() == {
        "total": count,
        "returned": returned,
        "omitted": count - returned,
        "truncated": count > returned,
    }


def test_a_fragment_asked_for_is_never_left_out(indexed: Indexed) -> None:
    event = read(indexed(many(200)), "A", fragment_id="user.text:199")
    assert preview(event).text == "part 199"
    assert event.fragment_coverage.to_plain() == {
        "total": 200,
        "returned": 1,
        "omitted": 199,
        "truncated": True,
    }


@pytest.mark.parametrize("fragment", ["user.text:1", "tool.call:0", "user.text", "x"])
def test_no_such_fragment(indexed: Indexed, fragment: str) -> None:
    with pytest.raises(NotFound):
        read(indexed(many(1)), "A", fragment_id=fragment)


def test_what_is_left_out_is_counted(indexed: Indexed) -> None:
    blocks = [
        {"type": "thinking", "thinking": "private"},
        {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
        {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
        {"type": "text", "text": "said"},
    ]
    event = read(indexed(Log("s").message("A", None, "assistant", blocks)), "A")
    assert preview(event).text == "said"
    assert {item.kind: item.count for item in event.omissions} == {"thinking": 1, "image": 2}


# --- windows -------------------------------------------------------------------------------------


def test_head_and_tail_of_a_long_text(indexed: Indexed) -> None:
    text = "".join(f"{n:05} {CRAB} " for n in range(1_000))
    found = preview(read(indexed(Log("s").user("A", None, text)), "A"))
    shown, omitted = ranges(found)
    (head, tail) = shown
    assert (head[0], tail[1], found.total_chars) == (0, len(text), len(text))
    assert sum(end - start for start, end in shown) <= 2_000
    assert omitted == [(head[1], tail[0])]
    assert found.truncated
    assert found.text.startswith(text[: head[1]])
    assert found.text.endswith(text[tail[0] :])


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({"offset": 0}, (0, 2_000)),
        ({"window": 10}, (0, 10)),
        ({"offset": 4_990, "window": 10}, (4_990, 5_000)),
        ({"offset": 4_990, "window": 4_000}, (4_990, 5_000)),
        ({"offset": 1_234, "window": 4_000}, (1_234, 5_000)),
        ({"offset": 5_000}, None),
        ({"offset": 10**15, "window": 1}, None),
    ],
)
def test_windows_move_over_code_points(
    indexed: Indexed, options: dict[str, int], shown: tuple[int, int] | None
) -> None:
    text = (CRAB + "abcd") * 1_000
    found = preview(read(indexed(Log("s").user("A", None, text)), "A", **options))
    start, end = shown or (5_000, 5_000)
    assert found.text == text[start:end]
    assert ranges(found) == (
        [shown] if shown else [],
        [(a, b) for a, b in ((0, start), (end, 5_000)) if a < b],
    )
    assert found.truncated == (shown != (0, 5_000))


def test_a_window_needs_one_fragment(indexed: Indexed) -> None:
    index = indexed(many(2))
    with pytest.raises(InvalidArgument, match=r"user\.text:0"):
        read(index, "A", offset=0)
    assert preview(read(index, "A", offset=5, fragment_id="user.text:1")).text == "1"


# --- sources that change -------------------------------------------------------------------------


def long_text() -> str:
    return f"head {CRAB} " + "x" * 100_000 + " tail"


def test_a_file_that_is_gone_leaves_the_bounded_text(place: Place, indexed: Indexed) -> None:
    text = long_text()
    index = indexed(Log("s").user("A", None, text).user("B", "A"))
    place.path("s").unlink()
    event = read(index, "A")
    assert event.source.state == "missing"
    assert preview(event).text.startswith("head")
    assert preview(event).text.endswith("tail")
    assert preview(event).total_chars == len(text)
    assert [node.entry_id for node in event.neighbors.after] == ["B"]
    inside = preview(read(index, "A", offset=50_000, window=100))
    assert (inside.text, inside.truncated) == ("", True)
    assert ranges(inside) == ([], [(0, len(text))])
    edge = preview(read(index, "A", offset=len(text) - 5))
    assert edge.text == " tail"


@pytest.mark.parametrize("instead", ["directory", "pipe"])
def test_something_else_in_the_place_of_the_file(
    place: Place, indexed: Indexed, instead: str
) -> None:
    index = indexed(Log("s").user("A", None))
    place.path("s").unlink()
    place.path("s").mkdir() if instead == "directory" else os.mkfifo(place.path("s"))
    event = read(index, "A")
    assert event.source.state == "missing"
    assert preview(event).text == "text of A"


def test_a_file_that_moved_on_is_synced_and_read_again(place: Place, indexed: Indexed) -> None:
    index = indexed(Log("s").user("A", None, "first").user("B", "A"))
    place.put("s", Log("s").user("Z", None).user("A", "Z", "second, further down").data)
    event = read(index, "A")
    assert (event.source.state, event.source.line) == ("exact", 3)
    assert preview(event).text == "second, further down"
    assert event.parent_id == "Z"
    with pytest.raises(NotFound):
        read(index, "B")


def test_a_file_with_another_session_in_it(place: Place, indexed: Indexed) -> None:
    index = indexed(Log("s").user("A", None))
    place.put("s", Log("other").user("A", None, "not this one").data)
    with pytest.raises(NotFound):
        read(index, "A")


# --- the file, record by record ------------------------------------------------------------------


def test_append_order_shows_what_stands_outside_the_tree(place: Place, indexed: Indexed) -> None:
    log = Log("s").user("A", None).user("B", "A")
    torn, glued = log.tail(1)[:20], log.tail(1)
    idless = b'{"type":"custom","customType":"state"}\n'
    place.put("s", log.data + torn + glued.replace(b'"B"', b'"C"') + idless)
    index = place.index()
    with index:
        index.sync()
        found = read(index, "B", order="append", after=5).neighbors
        assert [node.entry_id[:1] for node in found.before] == ["A"]
        assert [node.entry_id[:1] for node in found.after] == ["C", "~"]
        assert [node.branch_state for node in found.after] == ["unknown", "unknown"]
        alone = read(index, "C").neighbors
        assert (alone.before, alone.after, alone.forks) == ((), (), ())
