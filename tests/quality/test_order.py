"""The order of hits is a fact of the events alone, not of how many are asked for or of segments."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pi_event_search import EventIndex
from pi_event_search.store.text_hits import RESCORED, RankedHits

from tests.indexes import EVERYTHING, passing_place

ENTRIES = 6 * RESCORED
MOST = 200


def _session() -> bytes:
    """Many entries that hold one word, some said and some not, in few lengths and at few times."""
    dice = random.Random(1)
    records: list[dict[str, Any]] = [{"type": "session", "version": 3, "id": "s1", "cwd": "/w"}]
    for number in range(ENTRIES):
        text = "needle " + "x " * dice.randint(1, 60)
        message: dict[str, Any] = {"role": "user", "content": text}
        if dice.random() < 0.7:
            content = [{"type": "text", "text": text}]
            message = {"role": "toolResult", "toolCallId": "c", "toolName": "bash"}
            message |= {"content": content, "isError": False}
        records.append(
            {
                "type": "message",
                "id": f"{number:08x}",
                "parentId": f"{number - 1:08x}" if number else None,
                "timestamp": f"2026-01-01T00:00:{number % 60:02}.000Z",
                "message": message,
            }
        )
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.fixture(scope="module")
def index() -> Iterator[EventIndex]:
    """An index of that session."""
    with passing_place() as place:
        place.put("s1", _session())
        with place.index() as index:
            index.sync()
            yield index


@pytest.mark.parametrize("filters", [{}, {"branch_states": ["selected"]}, {"roles": ["user"]}])
def test_a_shorter_page_is_the_beginning_of_a_longer_one(
    index: EventIndex, filters: dict[str, list[str]]
) -> None:
    def page(limit: int) -> list[tuple[str, float]]:
        hits = index.search("needle", invocation=EVERYTHING, limit=limit, **cast(Any, filters)).hits
        return [(hit.entry_id, hit.score) for hit in hits]

    longest = page(MOST)
    assert len(longest) == MOST
    for limit in (1, 20, 50, 90, *range(100, 130), 150, MOST - 1):
        assert page(limit) == longest[:limit], limit


class _Searcher:
    """Two documents of one text in two segments, where the engine adds up in another order."""

    num_docs = 2

    def search(self, _: object, size: int, *, count: bool, offset: int) -> SimpleNamespace:
        assert not count
        hits = [(2.1587607799, 0), (2.1587606607, 1)]
        return SimpleNamespace(hits=hits[offset : offset + size])

    def fast_field_values(self, name: str, addresses: list[int]) -> list[int]:
        return [{"key": [7, 8], "moment": [1_000, 2_000]}[name][address] for address in addresses]


@pytest.mark.parametrize("first", [1, 2, 10])
def test_the_last_digit_of_a_score_tells_nothing(first: int) -> None:
    hits = list(RankedHits(cast(Any, _Searcher()), cast(Any, None), "relevance", first))
    assert [hit.key for hit in hits] == [8, 7], "the newer one comes first"
    assert hits[0].score == hits[1].score
