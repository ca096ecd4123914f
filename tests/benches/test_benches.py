"""The pure parts of the benches: figures, goals, and a corpus that is what it says."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from pi_event_search import Invocation

from benches.corpus.generate import corpus, equal, fitted, mixed
from benches.goals import Row, as_json, at, table
from benches.measure import Times, in_turns
from benches.place import opened

SMALL = 60_000


def test_percentiles() -> None:
    times = Times([5.0, 1.0, 4.0, 2.0, 3.0])
    assert times.median == 3.0
    assert times.percentile(99) == 5.0
    assert (times + Times([9.0])).percentile(99) == 9.0


def test_ways_take_turns_and_the_first_round_only_warms_up() -> None:
    done: list[str] = []
    ways = {"a": lambda: done.append("a"), "b": lambda: done.append("b")}
    times = in_turns(ways, 3)
    assert done == ["a", "b"] * 4
    assert [len(taken.samples) for taken in times.values()] == [3, 3]


@pytest.mark.parametrize(
    ("value", "goal", "met"), [(1.0, 1.0, True), (1.1, 1.0, False), (None, 1.0, None)]
)
def test_a_goal_is_the_most_a_figure_may_be(
    value: float | None, goal: float, met: bool | None
) -> None:
    row = Row("work", "figure", value, goal=goal)
    assert row.met is met
    assert Row("work", "figure", value).met is None
    assert json.loads(as_json([row]))[0]["met"] is met


def test_goals_are_for_one_size() -> None:
    assert at(1_000, 1_000, 25) == 25
    assert at(10, 1_000, 25) is None


def test_the_table_names_each_work_once() -> None:
    lines = table([Row("w", "a", 1.25), Row("w", "b", 1200, "B", 5, "why"), Row("x", "c", None)])
    assert lines.splitlines()[2:] == [
        "| w | a | 1.25 ms |  |  |  |",
        "|  | b | 1,200 B | <= 5 B | **no** | why |",
        "| x | c | - |  |  |  |",
    ]


@pytest.mark.parametrize("megabytes", [10, 100, 500, 1_000])
def test_sizes_add_up(megabytes: float) -> None:
    sizes = mixed(megabytes)(random.Random(1))
    assert sizes[0] == 100_000
    assert abs(sum(sizes) / 1e6 / megabytes - 1) < 0.25
    assert (max(sizes) == 100_000_000) == (megabytes >= 500)


def test_sizes_stay_within_bounds() -> None:
    sizes = fitted([1, 1, 100], 1_000, least=10, most=900)
    assert sorted(sizes) == sizes
    assert all(10 <= size <= 900 for size in sizes)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_corpus_holds_what_was_planted(tmp_path: Path, seed: int) -> None:
    found = corpus(tmp_path / "corpus", equal(3, SMALL), seed=seed)
    assert all(Path(s.path).stat().st_size == s.bytes >= SMALL for s in found.sessions)
    assert corpus(tmp_path / "corpus", equal(1, 1), seed=seed) == found  # taken as it is
    caller = Invocation(cwd=str(found.work), workspace_root=str(found.work))
    with opened(tmp_path / "index", found.sessions_dir) as index:
        report = index.sync()
        assert (report.failed, report.coverage.problems) == (0, ())
        assert report.events_added == sum(session.entries for session in found.sessions)
        for words, expected in found.expected.items():
            hits = index.search(words, invocation=caller, limit=200).hits
            assert {f"{hit.session_id}/{hit.entry_id}" for hit in hits} == set(expected), words
