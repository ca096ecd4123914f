"""Related edges one kind at a time: late ends, missing ends, bounds, and steps further on."""

from __future__ import annotations

import pytest
from pi_event_search import EventIndex
from pi_event_search.types.trace import FileRef

from tests.context.seen import Indexed, lines, related
from tests.context.writing import Log
from tests.indexes import EVERYTHING, Place

NOTHING: list[str] = []


# --- tool calls ----------------------------------------------------------------------------------


def test_calls_and_results_from_both_ends(indexed: Indexed) -> None:
    log = Log("s").user("A", None).calls("B", "A", "c1", "c2").result("D", "B", "c2")
    index = indexed(log.result("C", "D", "c1"))
    first = "tool-result-for: s/D -> s/B (recorded, 'c2')"
    second = "tool-result-for: s/C -> s/B (recorded, 'c1')"
    assert related(index, "s/B") == [first, second]  # as the results came
    assert related(index, "s/D") == [first]
    assert related(index, "s/C") == [second]


def test_a_result_may_come_with_a_later_sync(place: Place, indexed: Indexed) -> None:
    log = Log("s").user("A", None).calls("B", "A", "c1")
    index = indexed(log)
    assert related(index, "s/B") == NOTHING
    place.append("s", log.result("C", "B", "c1").tail(1))
    index.sync()
    assert related(index, "s/B") == ["tool-result-for: s/C -> s/B (recorded, 'c1')"]


def test_a_result_may_stand_before_its_call(indexed: Indexed) -> None:
    index = indexed(Log("s").result("C", None, "c1").calls("B", "C", "c1"))
    edge = ["tool-result-for: s/C -> s/B (recorded, 'c1')"]
    assert related(index, "s/B") == related(index, "s/C") == edge


def test_call_ids_that_a_provider_uses_again(indexed: Indexed) -> None:
    log = Log("s").calls("A", None, "call_0").result("B", "A", "call_0")
    index = indexed(log.calls("C", "B", "call_0").result("D", "C", "call_0"))
    assert related(index, "s/A") == ["tool-result-for: s/B -> s/A (recorded, 'call_0')"]
    assert related(index, "s/C") == ["tool-result-for: s/D -> s/C (recorded, 'call_0')"]


def test_calls_of_other_sessions_are_not_answered(indexed: Indexed) -> None:
    index = indexed(Log("s").calls("A", None, "c1"), Log("t").result("B", None, "c1"))
    assert related(index, "s/A") == related(index, "t/B") == NOTHING


# --- references between entries ------------------------------------------------------------------


def compaction(log: Log, own: str, parent: str, kept: str) -> Log:
    return log.entry(own, parent, "compaction", summary=f"text of {own}", firstKeptEntryId=kept)


def test_compaction_and_the_first_entry_it_keeps(indexed: Indexed) -> None:
    index = indexed(compaction(Log("s").chain("A", "B"), "C", "B", "B"))
    edge = ["compacts: s/C -> s/B (recorded)"]
    assert related(index, "s/C") == related(index, "s/B") == edge


@pytest.mark.parametrize("kept", ["C", "gone", ""])
def test_compaction_that_keeps_nothing(indexed: Indexed, kept: str) -> None:
    index = indexed(compaction(Log("s").chain("A", "B"), "C", "B", kept))
    assert related(index, "s/C") == NOTHING


def test_branch_summary(indexed: Indexed) -> None:
    log = Log("s").chain("A", "B")
    index = indexed(log.entry("C", "A", "branch_summary", summary="B was left", fromId="B"))
    edge = ["branch-summary-from: s/C -> s/B (recorded)"]
    assert related(index, "s/C") == related(index, "s/B") == edge


@pytest.mark.parametrize("start", [{"fromId": "root"}, {"fromId": "gone"}, {}])
def test_branch_summary_of_no_entry(indexed: Indexed, start: dict[str, str]) -> None:
    index = indexed(
        Log("s").user("A", None).entry("B", None, "branch_summary", summary="x", **start)
    )
    assert related(index, "s/B") == NOTHING
    assert index.read("s", "B", invocation=EVERYTHING).attributes == start


def test_context_edits(indexed: Indexed) -> None:
    log = Log("s").chain("A", "B").entry("C", "B", "context_edit", targetId="A", replacement=None)
    replaced = {"content": "shorter"}
    index = indexed(log.entry("D", "C", "context_edit", targetId="A", replacement=replaced))
    omits = "context-edit: s/C -> s/A (recorded, 'omit')"
    replaces = "context-edit: s/D -> s/A (recorded, 'replace')"
    assert related(index, "s/A") == [replaces, omits]
    assert related(index, "s/C") == [omits]


def test_labels_set_replaced_and_cleared(place: Place, indexed: Indexed) -> None:
    log = Log("s").chain("A", "B").entry("L1", "B", "label", targetId="A", label="good")
    index = indexed(log)
    assert label(index) == "good"
    place.append(
        "s", log.user("C", "A").entry("L2", "C", "label", targetId="A", label="bad").tail(2)
    )
    index.sync()
    assert label(index) == "bad"  # said on another branch, and true of the file
    place.append("s", log.entry("L3", "L1", "label", targetId="A").tail(1))
    index.sync()
    assert label(index) is None
    assert related(index, "s/A") == [
        "labels: s/L3 -> s/A (recorded, '')",
        "labels: s/L2 -> s/A (recorded, 'bad')",
        "labels: s/L1 -> s/A (recorded, 'good')",
    ]
    assert related(index, "s/L2") == ["labels: s/L2 -> s/A (recorded, 'bad')"]


def label(index: EventIndex) -> str | None:
    return index.read("s", "A", invocation=EVERYTHING).label


def test_a_target_may_come_later(place: Place, indexed: Indexed) -> None:
    log = Log("s").user("A", None).entry("L", "A", "label", targetId="B", label="soon")
    index = indexed(log)
    assert related(index, "s/L") == NOTHING
    place.append("s", log.user("B", "L").tail(1))
    index.sync()
    edge = ["labels: s/L -> s/B (recorded, 'soon')"]
    assert related(index, "s/L") == related(index, "s/B") == edge


def test_a_label_outlives_the_record_that_lost_its_id(place: Place, indexed: Indexed) -> None:
    log = Log("s").user("A", None).entry("L", "A", "label", targetId="A", label="kept")
    log.entry("N", "L", "session_info", name="named")
    index = indexed(log)
    place.append("s", log.user("L", "N").user("N", "L").tail(2))
    for _ in range(2):  # however it was read
        index.sync()
        assert label(index) == "kept"
        (listed,) = index.sessions(invocation=EVERYTHING).sessions
        assert listed.name == "named"
        assert related(index, "s/A") == related(index, "s/L") == NOTHING
        place.put("s", log.data)


# --- files ---------------------------------------------------------------------------------------


def test_files_of_tool_calls_and_summaries(indexed: Indexed) -> None:
    calls = [
        {"type": "toolCall", "id": f"c{n}", "name": tool, "arguments": {"path": path}}
        for n, (tool, path) in enumerate(
            [("read", "src/a.py"), ("edit", "src/b.py"), ("write", "new.md"), ("bash", "no.sh")]
        )
    ]
    details = {"readFiles": ["src/a.py"], "modifiedFiles": ["src/b.py"]}
    log = Log("s").message("A", None, "assistant", calls)
    log.entry("B", "A", "branch_summary", summary="done", fromId="root", details=details)
    index = indexed(log)
    assert related(index, "s/A") == [
        "file-changed: s/A -> new.md (inferred)",
        "file-changed: s/A -> src/b.py (inferred)",
        "file-read: s/A -> src/a.py (inferred)",
    ]
    trace = index.trace("s", "B", invocation=EVERYTHING)
    assert lines(trace.related) == [
        "file-changed: s/B -> src/b.py (inferred)",
        "file-read: s/B -> src/a.py (inferred)",
    ]
    edge = trace.related[0]
    assert isinstance(edge.to, FileRef)
    assert (edge.target_branch_state, edge.leads_to_materialized_leaf, edge.preview) == (None,) * 3


# --- what an edge says of its ends ---------------------------------------------------------------


def test_state_of_the_target_and_beginning_of_the_other_end(indexed: Indexed) -> None:
    log = Log("s").user("A", None).calls("B", "A", "c1").result("C", "B", "c1").user("D", "A")
    index = indexed(log)
    for entry, other in (("C", "bash"), ("B", "result of c1")):
        (edge,) = index.trace("s", entry, invocation=EVERYTHING).related
        assert edge.target_branch_state == "alternate"
        assert edge.leads_to_materialized_leaf is None
        assert edge.preview is not None
        assert edge.preview.text == other


def test_previews_are_small(indexed: Indexed) -> None:
    index = indexed(Log("s").user("A", None, "x" * 5_000).user("B", "A", "y" * 100_000))
    trace = index.trace("s", "B", invocation=EVERYTHING)
    assert trace.parent is not None
    for preview, total in ((trace.target.preview, 100_000), (trace.parent.preview, 5_000)):
        assert preview is not None
        assert (preview.total_chars, preview.truncated) == (total, True)
        assert sum(shown.end - shown.start for shown in preview.shown_ranges) <= 200


# --- bounds --------------------------------------------------------------------------------------


def test_at_most_twenty_children_and_siblings(indexed: Indexed) -> None:
    log = Log("s").user("A", None)
    for number in range(22):
        log.user(f"c{number:02}", "A")
    log.user("leaf", "c20")
    index = indexed(log)
    trace = index.trace("s", "A", invocation=EVERYTHING)
    # In append order, and with the one that leads on, wherever it stands.
    assert ids(trace.children) == [*(f"c{n:02}" for n in range(19)), "c20"]
    assert [edge.leads_to_materialized_leaf for edge in trace.children] == [False] * 19 + [True]
    assert trace.truncated
    trace = index.trace("s", "c03", invocation=EVERYTHING)
    assert ids(trace.branch_siblings) == [f"c{n:02}" for n in (*range(3), *range(4, 20), 20)]
    assert trace.truncated


def test_twenty_children_are_all(indexed: Indexed) -> None:
    log = Log("s").user("A", None)
    for number in range(20):
        log.user(f"c{number:02}", "A")
    trace = indexed(log).trace("s", "A", invocation=EVERYTHING)
    assert len(trace.children) == 20
    assert not trace.truncated


@pytest.mark.parametrize(("count", "cut"), [(50, False), (51, True)])
def test_at_most_fifty_related_edges(indexed: Indexed, count: int, cut: bool) -> None:
    log = Log("s").user("A", None)
    for number in range(count):
        above = f"L{number - 1}" if number else "A"
        log.entry(f"L{number}", above, "label", targetId="A", label=str(number))
    trace = indexed(log).trace("s", "A", invocation=EVERYTHING)
    # The newest count most.
    assert [edge.detail for edge in trace.related] == [str(count - n) for n in range(1, 51)]
    assert trace.truncated == cut


def ids(edges: object) -> list[str]:
    assert isinstance(edges, tuple)
    return [edge.to.entry_id for edge in edges]


# --- further steps -------------------------------------------------------------------------------


def steps() -> Log:
    """L2 labels L1, that the result C, whose call B a compaction D keeps, which L3 labels."""
    log = Log("s").user("A", None).calls("B", "A", "c1").result("C", "B", "c1")
    compaction(log, "D", "C", "B")
    log.entry("L1", "D", "label", targetId="C", label="one")
    log.entry("L2", "L1", "label", targetId="L1", label="two")
    return log.entry("L3", "L2", "label", targetId="D", label="three")


def test_each_depth_goes_one_step_further(indexed: Indexed) -> None:
    index = indexed(steps())
    way = [
        "labels: s/L2 -> s/L1 (recorded, 'two')",
        "labels: s/L1 -> s/C (recorded, 'one')",
        "tool-result-for: s/C -> s/B (recorded, 'c1')",
        "compacts: s/D -> s/B (recorded)",
        "labels: s/L3 -> s/D (recorded, 'three')",
    ]
    for depth in range(1, 6):
        assert related(index, "s/L2", depth=depth) == way[:depth]


def test_previews_show_where_each_step_leads(indexed: Indexed) -> None:
    trace = indexed(steps()).trace("s", "L1", invocation=EVERYTHING, depth=3)
    shown = {edge.type: edge.preview.text for edge in trace.related if edge.preview}
    assert shown["tool-result-for"] == "bash"
    assert shown["compacts"] == "text of D"


def test_circles_end(indexed: Indexed) -> None:
    log = Log("s").user("A", None).entry("L1", "A", "label", targetId="L2", label="a")
    index = indexed(log.entry("L2", "L1", "label", targetId="L1", label="b"))
    assert related(index, "s/L1", depth=5) == [
        "labels: s/L1 -> s/L2 (recorded, 'a')",
        "labels: s/L2 -> s/L1 (recorded, 'b')",
    ]


def test_the_bound_holds_over_all_steps(indexed: Indexed) -> None:
    log = Log("s").user("A", None)
    for number in range(30):
        above = f"M{number - 1}" if number else "A"
        log.entry(f"L{number}", above, "label", targetId="A", label="x")
        log.entry(f"M{number}", f"L{number}", "label", targetId=f"L{number}", label="y")
    index = indexed(log)
    one, two = (index.trace("s", "A", invocation=EVERYTHING, depth=d) for d in (1, 2))
    assert (len(one.related), one.truncated) == (30, False)
    assert (len(two.related), two.truncated) == (50, True)
    assert two.related[:30] == one.related
