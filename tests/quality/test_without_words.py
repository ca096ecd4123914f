"""Searches by filters alone: the newest first; events without text where their type is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pi_event_search import EventIndex, InvalidQuery

from tests.quality.history import EVERYTHING, Story, call, entries, indexed


def story_of_everything() -> tuple[Story, dict[str, str]]:
    """One entry of each sort, by name."""
    story = Story("s")
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    thought = {"type": "thinking", "thinking": "private", "thinkingSignature": "x"}
    ids = {
        "model": story.add("model_change", provider="p", modelId="m"),
        "system": story.add("message", message={"role": "system", "content": ""}),
        "asked": story.user("please look"),
        "called": story.assistant("I look", call("c1", "bash", command="false")),
        "failed": story.result("c1", "bash", "exit 1", error=True),
        "mute": story.result("c2", "bash", "", error=True),
        "picture": story.add("message", message={"role": "user", "content": [image]}),
        "thought": story.assistant(thought),
    }
    ids["label"] = story.add("label", targetId=ids["asked"], label="the question")
    ids["cleared"] = story.add("label", targetId=ids["asked"])
    ids["custom"] = story.add("custom", customType="x", data={"secret": "text"})
    return story, ids


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EventIndex, dict[str, str]]]:
    story, ids = story_of_everything()
    with indexed(tmp_path_factory.mktemp("silent"), story) as index:
        yield index, ids


# fmt: off
FILTERS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "session": (
        {"session_id": "s"}, ["failed", "called", "asked"],
    ),
    "session and types": (
        {"session_id": "s", "entry_types": ["custom", "label", "message", "model_change"]},
        ["custom", "cleared", "label", "thought", "picture", "mute", "failed", "called", "asked",
         "system", "model"],
    ),
    "labels": ({"entry_types": ["label"]}, ["cleared", "label"]),
    "several types": ({"entry_types": ["custom", "model_change"]}, ["custom", "model"]),
    "role": ({"roles": ["system"], "entry_types": ["message"]}, ["system"]),
    "role without a type": ({"roles": ["system"]}, []),
    "errors": ({"error_only": True}, ["failed"]),
    "errors of a type": ({"error_only": True, "entry_types": ["message"]}, ["mute", "failed"]),
    "since": (
        {"time_from": "2026-01-05T09:07:00Z", "entry_types": ["custom", "label", "message"]},
        ["custom", "cleared", "label", "thought"],
    ),
    "since without a type": ({"time_from": "2026-01-05T09:07:00Z"}, []),
    "until": (
        {"time_to": "2026-01-05T09:01:00Z", "entry_types": ["message", "model_change"]},
        ["system", "model"],
    ),
    "oldest": ({"entry_types": ["label"], "sort": "oldest"}, ["label", "cleared"]),
    "kind: of text only": ({"kinds": ["tool.result"]}, ["failed"]),
    "tool: of text only": ({"tool_names": ["bash"]}, ["failed", "called"]),
    "state": ({"entry_types": ["label", "message"], "selection_states": ["not-applicable"]}, [
        "cleared", "label",
    ]),
    "no such type": ({"entry_types": ["never_heard_of"]}, []),
}
# fmt: on


@pytest.mark.parametrize("name", FILTERS)
def test_filters(name: str, told: tuple[EventIndex, dict[str, str]]) -> None:
    index, ids = told
    filters, expected = FILTERS[name]
    names = {entry_id: name for name, entry_id in ids.items()}
    page = index.search(invocation=EVERYTHING, limit=200, **filters)
    assert [names[entry_id] for entry_id in entries(page)] == expected
    assert page.diagnostics is None if expected else page.diagnostics is not None


def test_what_a_hit_without_text_says(told: tuple[EventIndex, dict[str, str]]) -> None:
    index, _ = told
    cleared, label = index.search(invocation=EVERYTHING, entry_types=["label"]).hits
    for hit in (cleared, label):
        assert (hit.matching_fragment_id, hit.semantic_kind) == ("", "")
        assert (hit.matching_fragment_count, hit.highlights, hit.score) == (0, (), 0)
        event = index.read(hit.session_id, hit.entry_id, invocation=EVERYTHING)
        assert event.fragments == ()
    assert (cleared.snippet, label.snippet) == ("", "the question")


def test_words_find_only_text(told: tuple[EventIndex, dict[str, str]]) -> None:
    index, _ = told
    page = index.search("question", invocation=EVERYTHING, entry_types=["label"])
    assert page.hits == ()
    assert page.diagnostics is not None
    assert page.diagnostics.terms[0].events == 0


def test_nothing_asked_for(told: tuple[EventIndex, dict[str, str]]) -> None:
    with pytest.raises(InvalidQuery, match="filter"):
        told[0].search("  ", invocation=EVERYTHING)


def test_without_filters_counts_what_has_text(told: tuple[EventIndex, dict[str, str]]) -> None:
    page = told[0].search(invocation=EVERYTHING, entry_types=["never_heard_of"])
    assert page.diagnostics is not None
    assert page.diagnostics.without_filters == len(["failed", "called", "asked"])


def test_pages_mix_both_lists_in_time(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Hundreds of events with and without text, of equal times too, in every page size."""
    story = Story("mix")
    expected = []
    for number in range(300):
        when = f"2026-03-01T12:{number * 7 % 20:02d}:00.000Z"
        if number % 3:
            entry_id = story.user(f"text {number}", timestamp=when)
        else:
            entry_id = story.add("model_change", provider="p", modelId="m", timestamp=when)
        expected.append((when, entry_id))
    for sort in ("newest", "oldest"):
        ordered = sorted(expected, key=lambda pair: pair[1])
        ordered.sort(key=lambda pair: pair[0], reverse=sort == "newest")
        with indexed(tmp_path_factory.mktemp("mix"), story) as index:
            for limit in (1, 7, 64, 200):
                page = index.search(
                    invocation=EVERYTHING,
                    entry_types=["message", "model_change"],
                    sort=sort,
                    limit=limit,
                )
                assert entries(page) == [entry_id for _, entry_id in ordered[:limit]]
