"""Forks from one session file into another, from all sides, and parents that must not be seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from pi_event_search import EventIndex, Invocation

from tests.context.seen import Indexed, forks, related
from tests.context.writing import Log
from tests.indexes import EVERYTHING, Place


def story() -> tuple[Log, Log]:
    """A parent A -> B -> C and a fork of it that went on behind B."""
    parent = Log("p").chain("A", "B", "C")
    return parent, parent.fork("s", "A", "B").user("X", "B")


def test_both_sides_of_a_fork(indexed: Indexed) -> None:
    index = indexed(*story())
    ways = ["p/C", "s/X"]
    assert forks(index, "p/B") == [("session-fork", "p/B", ways, "p/C")]
    assert forks(index, "s/B") == [("session-fork", "p/B", ways, "s/X")]
    assert forks(index, "p/C") == [("session-fork", "p/B", ways, "p/C")]
    assert forks(index, "s/X") == [("session-fork", "p/B", ways, "s/X")]
    assert forks(index, "s/A", before=0) == []
    assert forks(index, "s/A", after=2) == [("session-fork", "p/B", ways, "s/X")]
    assert [n.entry_id for n in index.read("s", "B", invocation=EVERYTHING).neighbors.after] == [
        "X"
    ]


def test_edges_of_a_fork(indexed: Indexed) -> None:
    index = indexed(*story())
    begins, grows = "session-parent: s/A -> p/A (recorded)", "session-parent: s/B -> p/B (derived)"
    goes_on = "session-fork: p/B -> s/X (derived)"
    assert related(index, "s/A") == [begins]
    assert related(index, "p/A") == [begins]
    assert related(index, "s/B") == [grows]
    assert related(index, "p/B") == [grows, goes_on]
    assert related(index, "s/X") == [goes_on]
    assert related(index, "p/C") == []
    assert related(index, "s/B", depth=2) == [grows, goes_on]


def test_fork_behind_the_end_of_the_parent(indexed: Indexed) -> None:
    parent = Log("p").chain("A", "B")
    index = indexed(parent, parent.fork("s").user("X", "B"))
    assert forks(index, "p/B") == [("session-fork", "p/B", ["s/X"], None)]
    assert forks(index, "s/X") == [("session-fork", "p/B", ["s/X"], "s/X")]


def test_a_fork_that_did_not_go_on_is_none(indexed: Indexed) -> None:
    parent = Log("p").chain("A", "B", "C")
    index = indexed(parent, parent.fork("s", "A", "B"))
    assert forks(index, "s/B") == forks(index, "p/B") == []
    assert related(index, "s/B") == []
    assert index.lineage("s", invocation=EVERYTHING).parent_session_id == "p"


def test_branches_inside_and_outside(indexed: Indexed) -> None:
    parent = Log("p").chain("A", "B", "C").user("D", "B")
    index = indexed(parent, parent.fork("s").user("X", "B"))
    assert forks(index, "s/B") == [
        ("in-session", "s/B", ["s/C", "s/D", "s/X"], "s/X"),
        ("session-fork", "p/B", ["p/C", "p/D", "s/X"], "s/X"),
    ]
    # The copy of an entry is, as a way on, the entry of the parent session.
    assert forks(index, "s/D") == [
        ("in-session", "s/B", ["s/C", "s/D", "s/X"], "s/D"),
        ("session-fork", "p/B", ["p/C", "p/D", "s/X"], "p/D"),
    ]


def test_several_places_and_several_forks(indexed: Indexed) -> None:
    parent = Log("p").chain("A", "B", "C")
    one = parent.fork("s1").user("X", "B").user("Y", "C")
    other = parent.fork("s2", "A", "B").user("Z", "B")
    index = indexed(parent, one, other)
    assert forks(index, "p/A", after=3) == [
        ("session-fork", "p/B", ["p/C", "s1/X", "s2/Z"], "p/C"),
        ("session-fork", "p/C", ["s1/Y"], None),
    ]
    assert index.lineage("p", invocation=EVERYTHING).child_session_ids == ("s1", "s2")
    assert related(index, "p/B") == [
        "session-parent: s1/B -> p/B (derived)",
        "session-parent: s2/B -> p/B (derived)",
        "session-fork: p/B -> s1/X (derived)",
        "session-fork: p/B -> s2/Z (derived)",
    ]


def test_fork_of_a_fork(indexed: Indexed) -> None:
    parent, fork = story()
    nested = fork.fork("t").user("Y", "X").user("Z", "B")
    index = indexed(parent, fork, nested)
    # Each pair of sessions has its own place; a fork that is passed shows what lies beside it.
    assert forks(index, "t/X", before=2) == [
        ("in-session", "t/B", ["t/X", "t/Z"], "t/X"),
        ("session-fork", "s/B", ["s/X", "t/Z"], "s/X"),
        ("session-fork", "p/B", ["p/C", "s/X"], "s/X"),
        ("session-fork", "s/X", ["t/Y"], "t/Y"),
    ]
    assert forks(index, "t/Z") == [
        ("in-session", "t/B", ["t/X", "t/Z"], "t/Z"),
        ("session-fork", "s/B", ["s/X", "t/Z"], "t/Z"),
        ("session-fork", "p/B", ["p/C", "s/X"], None),
    ]


def test_clone_leaves_labels_out_and_hangs_their_children_elsewhere(indexed: Indexed) -> None:
    parent = Log("p").chain("A").entry("L", "A", "label", targetId="A", label="start")
    parent.user("B", "L").user("C", "B")
    clone = Log("s", parent="/sessions/p.jsonl")
    clone.entries = [dict(e) for e in parent.entries if e["id"] in "AB"]
    clone.entries[1]["parentId"] = "A"
    clone.user("X", "B")
    other = parent.fork("t", "A").user("Y", "A")
    index = indexed(parent, clone, other)
    assert forks(index, "s/B") == [
        # On the way from A to B the parent session has the label.
        ("session-fork", "p/A", ["p/L", "t/Y"], "p/L"),
        ("session-fork", "p/B", ["p/C", "s/X"], "s/X"),
    ]
    assert index.read("s", "B", invocation=EVERYTHING).parent_id == "A"
    assert index.read("p", "B", invocation=EVERYTHING).parent_id == "L"


def test_equal_ids_with_other_content_are_no_copies(indexed: Indexed) -> None:
    parent = Log("p").chain("A", "B", "C")
    stranger = parent.fork("s", "A").user("B", "A", "something else")
    index = indexed(parent, stranger)
    assert forks(index, "s/B") == [("session-fork", "p/A", ["p/B", "s/B"], "s/B")]


def test_a_session_begun_by_another_without_copies(indexed: Indexed) -> None:
    parent = Log("p").chain("A", "B")
    index = indexed(parent, Log("s", parent="/sessions/p.jsonl").chain("X"))
    begins = "session-parent: s/X -> p/A (recorded)"
    assert related(index, "s/X") == related(index, "p/A") == [begins]
    assert forks(index, "s/X") == []


# --- which file is meant -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "recorded",
    ["{real}", "{linked}", "/somewhere/else/p.jsonl", "p.jsonl", "C:\\pi\\sessions\\p.jsonl"],
)
def test_parent_by_path_or_by_the_name_of_its_file(
    place: Place, indexed: Indexed, recorded: str
) -> None:
    parent, _ = story()
    (place.base / "link").symlink_to(place.sessions)
    recorded = recorded.format(real=place.path("p"), linked=place.base / "link" / "p.jsonl")
    index = indexed(parent, parent.fork("s", "A", "B", parent=recorded).user("X", "B"))
    assert index.lineage("s", invocation=EVERYTHING).parent_session_id == "p"
    assert forks(index, "s/X") == [("session-fork", "p/B", ["p/C", "s/X"], "s/X")]


@pytest.mark.parametrize("recorded", ["/gone/q.jsonl", "", "/", "nul\0byte.jsonl", "s.jsonl", "."])
def test_no_parent(indexed: Indexed, recorded: str) -> None:
    parent, _ = story()
    fork = parent.fork("s", "A", "B").user("X", "B")
    fork.header["parentSession"] = recorded
    index = indexed(parent, fork)
    assert index.lineage("s", invocation=EVERYTHING).parent_session_id is None
    assert forks(index, "s/X") == forks(index, "p/B") == []
    assert related(index, "s/X") == related(index, "s/A") == []


def test_a_name_that_two_sessions_have_names_none_of_them(place: Place, indexed: Indexed) -> None:
    parent, fork = story()
    place.put("one/p", parent.data)
    place.put("two/p", Log("other").chain("A", "B").data)
    index = indexed(fork)
    assert index.lineage("s", invocation=EVERYTHING).parent_session_id is None


def test_a_path_tells_equal_names_apart(place: Place, indexed: Indexed) -> None:
    parent, _ = story()
    recorded = str(place.put("one/p", parent.data))
    place.put("two/p", Log("other").chain("A", "B").data)
    index = indexed(parent.fork("s", "A", "B", parent=recorded).user("X", "B"))
    assert index.lineage("s", invocation=EVERYTHING).parent_session_id == "p"


def test_an_archived_copy_is_the_same_session(place: Place, indexed: Indexed) -> None:
    parent, fork = story()
    place.put("archive/p", parent.user("D", "C").data)
    index = indexed(story()[0], fork)
    assert index.lineage("s", invocation=EVERYTHING).parent_session_id == "p"
    assert forks(index, "s/X") == [("session-fork", "p/B", ["p/C", "s/X"], "s/X")]


def test_two_sessions_that_name_each_other(indexed: Indexed) -> None:
    one = Log("p", parent="/sessions/s.jsonl").chain("A", "B")
    other = one.fork("s", "A").user("X", "A")
    index = indexed(one, other)
    assert forks(index, "s/A") == [
        ("session-fork", "s/A", ["s/X", "p/B"], "s/X"),
        ("session-fork", "p/A", ["p/B", "s/X"], "s/X"),
    ]


# --- who may see it ------------------------------------------------------------------------------


def own_and_foreign(indexed: Indexed) -> tuple[EventIndex, Invocation]:
    """A session of the caller between a parent and a fork that were recorded elsewhere."""
    parent = Log("p", cwd="/secret").chain("A", "B", "C")
    own = parent.fork("s", "A", "B", cwd="/work").user("X", "B")
    fork = own.fork("t", cwd="/secret").user("Y", "X")
    return indexed(parent, own, fork), Invocation(cwd="/work", workspace_root="/work")


def test_foreign_parents_and_forks_do_not_exist(indexed: Indexed) -> None:
    index, caller = own_and_foreign(indexed)
    for entry in ("A", "B", "X"):
        assert forks(index, f"s/{entry}", 5, 5, caller=caller) == []
        assert related(index, f"s/{entry}", depth=5, caller=caller) == []
    lineage = index.lineage("s", invocation=caller)
    assert (lineage.parent_session_id, lineage.child_session_ids) == (None, ())
    (listed,) = index.sessions(invocation=caller).sessions
    assert (listed.parent_session_id, listed.fork_count) == (None, 0)
    assert forks(index, "s/X")  # who may see all sees the forks


def test_a_parent_that_left_the_index_takes_the_forks_along(place: Place, indexed: Indexed) -> None:
    index = indexed(*story())
    place.path("p").unlink()
    index.sync()
    assert forks(index, "s/X") == []
    assert related(index, "s/A") == []


def test_sessions_outside_the_directories_asked_for(place: Place) -> None:
    parent, fork = story()
    elsewhere = Place(Path(place.base / "elsewhere"))
    elsewhere.put("p", parent.data)
    place.put("s", fork.data)
    both = EventIndex.open(place.base / "index", [place.sessions, elsewhere.sessions])
    with both, EventIndex.open(place.base / "index", [place.sessions]) as index:
        both.sync()
        assert forks(both, "s/X") != []
        assert forks(index, "s/X") == []
