"""Which of several matching events comes first."""

from __future__ import annotations

from pathlib import Path

import pytest
from pi_event_search.store.text_query import PLAIN, RANKING

from benches.relevance.corpus import write
from benches.relevance.evaluate import by_class, histories, ranks
from tests.quality.history import EVERYTHING, Story, call, entries, indexed, texts_story

PAIRS = {
    "whole word over part": ("parser", "the parser stops here", "the myParserFactory stops here"),
    "camel case as typed": ("getUserName", "call getUserName now", "call getUserNameOnce now"),
    "snake case as typed": ("user_name", "set user_name here now", "set old_user_name_2 here"),
    "screaming case as typed": (
        "MAX_RETRY",
        "raise MAX_RETRY to 5 now",
        "raise MAX_RETRY_WAIT to 5",
    ),
    "kebab case as typed": ("dry-run", "pass --dry-run to it now", "pass --no-dry-run-log to it"),
    "side by side": (
        "lock timeout",
        "we saw a lock timeout there and again today in this place",
        "we saw a timeout there and again today in this old lock",
    ),
    "in their order": ("seat map", "draw the seat map of it", "draw the map seat of it"),
}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str, turned: bool, tmp_path: Path) -> None:
    query, better, worse = PAIRS[name]
    padding = [f"unrelated number {number}" for number in range(20)]
    story, ids = texts_story([*((worse, better) if turned else (better, worse)), *padding])
    with indexed(tmp_path, story) as index:
        assert entries(index.search(query, invocation=EVERYTHING)) == [
            ids[int(turned)],
            ids[int(not turned)],
        ]


def test_what_was_said_comes_before_long_tool_output(tmp_path: Path) -> None:
    log = "".join(
        f"09:00:{n:02d} pump {n} {'gasket' if n % 9 else 'valve'} ok\n" for n in range(60)
    )
    story = Story("said")
    concluded = story.assistant("The gasket leaks because the valve sticks when it is cold.")
    story.assistant(call("c1", "bash", command="tail -60 pump.log"))
    gave = story.result("c1", "bash", log)
    summary = story.add("compaction", summary="gasket and valve are done", firstKeptEntryId=gave)
    for number in range(10):
        story.user(f"something else {number}")
        story.result("c2", "bash", f"10:00:{number} nothing of note here\n" * 40)
    with indexed(tmp_path, story) as index:
        found = entries(index.search("gasket valve", invocation=EVERYTHING))
    assert found == [summary, concluded, gave]


def test_ranks_do_not_depend_on_how_the_index_came_about(tmp_path: Path) -> None:
    """Equal texts in one go, and appended one by one: scores tie, so time and place decide."""
    story, _ = texts_story([f"the same words again {number % 3}" for number in range(30)])
    queries = ("same words", "again", '"words again"', "the same 1")
    with indexed(tmp_path / "once", story) as index:
        once = [entries(index.search(query, invocation=EVERYTHING)) for query in queries]
    records, story.records = story.records, []
    with indexed(tmp_path / "bit by bit", story) as index:
        for record in records:
            story.records.append(record)
            story.write(tmp_path / "bit by bit" / "sessions")
            index.sync()
        bits = [entries(index.search(query, invocation=EVERYTHING)) for query in queries]
    assert once == bits


@pytest.mark.parametrize("sort", ["newest", "oldest"])
def test_sorts_by_time_are_exact(sort: str, tmp_path: Path) -> None:
    """Over all matches, far more than a page, with times that tie and times out of order."""
    story = Story("times")
    expected = []
    for number in range(700):
        minute = number * 37 % 50
        when = f"2026-02-01T10:{minute:02d}:00.000Z"
        entry_id = story.user("pebble " * (1 + number % 7), timestamp=when)
        expected.append((minute if sort == "oldest" else -minute, number, entry_id))
    with indexed(tmp_path, story) as index:
        page = index.search("pebble", invocation=EVERYTHING, sort=sort, limit=200)
    assert entries(page) == [entry_id for _, _, entry_id in sorted(expected)[:200]]


def test_the_defaults_beat_plain_bm25(tmp_path: Path) -> None:
    with histories(tmp_path) as (index, known):
        assert len(known) >= 60
        plain, ours = ranks(index, known, PLAIN), ranks(index, known, RANKING)
        assert [item for item, rank in ours.items() if not rank] == [], "everything is found"
        before, after = by_class(plain), by_class(ours)
    assert after["all"].mrr > before["all"].mrr
    assert after["all"].hit_at_1 > before["all"].hit_at_1
    lost = [kind for kind in after if after[kind].hit_at_5 < before[kind].hit_at_5]
    assert lost == []


def test_the_generated_histories_are_always_the_same(tmp_path: Path) -> None:
    assert write(tmp_path / "a") == write(tmp_path / "b")
    for one in sorted((tmp_path / "a").iterdir()):
        assert one.read_bytes() == (tmp_path / "b" / one.name).read_bytes()
