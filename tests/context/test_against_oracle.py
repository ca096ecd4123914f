"""Random histories in random deltas: every answer about context equals the naive one."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pi_event_search import EventIndex
from pi_event_search.types.event import EventRef, ForkReceipt, Node
from pi_event_search.types.trace import Edge as FoundEdge
from pi_event_search.types.trace import FileRef, Trace

from tests.context.histories import Part, histories, writings
from tests.indexes import EVERYTHING, passing_place
from tests.oracle import entries, selection, tail, tree
from tests.oracle.branches import Receipt, read
from tests.oracle.relations import Edge, File, Ref, edges, forks_of, parent_of

FEW = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@FEW
@given(st.data(), histories())
def test_histories_of_pi(data: st.DataObject, parts: list[Part]) -> None:
    compare(data, parts)


@FEW
@given(st.data(), histories(damaged=True))
def test_damaged_histories(data: st.DataObject, parts: list[Part]) -> None:
    compare(data, parts)


def compare(data: st.DataObject, parts: list[Part]) -> None:
    """Writes a history step by step, then asks for all there is."""
    with passing_place() as place, place.index() as index:
        for name, piece, sync in data.draw(writings(parts)):
            place.append(name, piece) if place.path(name).exists() else place.put(name, piece)
            if sync:
                index.sync()
        index.sync()
        files = [file for part in parts if (file := observed(part)) is not None]
        every = edges(files)
        for file in files:
            check_session(index, file, files)
            for key, entry in file.entries():
                if entry.id is not None:  # an id made up by the index cannot be guessed here
                    check_trace(index, file, key, every)
                    check_read(index, file, key, files)


def observed(part: Part) -> File | None:
    """What the oracle makes of a file."""
    session = entries.session(tail.tail(part.data).records)
    return None if session is None else File(f"{part.name}.jsonl", session, tree.tree(session))


def check_session(index: EventIndex, file: File, files: list[File]) -> None:
    """Lineage and the entry in the list of sessions."""
    parent, forks = parent_of(file, files), [fork.id for fork in forks_of(file, files)]
    lineage = index.lineage(file.id, invocation=EVERYTHING)
    sessions = index.sessions(invocation=EVERYTHING, limit=100)
    assert lineage.parent_session_id == (None if parent is None else parent.id)
    assert list(lineage.child_session_ids) == forks
    (listed,) = (s for s in sessions.sessions if s.session_id == file.id)
    assert listed.parent_session_id == lineage.parent_session_id
    assert listed.fork_count == len(forks)


def check_trace(index: EventIndex, file: File, key: str, every: Iterable[Edge]) -> None:
    trace = index.trace(file.id, key, invocation=EVERYTHING)
    states, nodes = selection.states(file.session, file.tree), file.tree.nodes
    above = nodes[key].parent if key in nodes else None
    above = above if above in nodes else None
    below = file.tree.children.get(key, []) if key in nodes else []
    beside = [k for k in file.tree.children.get(above or "", []) if k != key] if above else []
    on_path = set(file.tree.path)

    assert ends([trace.parent] if trace.parent else []) == ([above] if above else [])
    assert ends(trace.children) == below
    assert ends(trace.branch_siblings) == beside
    for edge in (*trace.children, *trace.branch_siblings):
        assert edge.leads_to_materialized_leaf == (end_of(edge) in on_path)
    for edge in adjacent(trace):
        assert (edge.recorded, edge.derived, edge.inferred) == flags(
            "derived" if edge.type == "sibling" else "recorded"
        )
        assert edge.target_branch_state == states[end_of(edge)][0]

    here = file.ref(key)
    found = [plain(edge) for edge in trace.related]
    assert len(set(found)) == len(found)
    want = {edge for edge in every if here in (edge.start, edge.end)}
    assert set(found) == want, (set(found) - want, want - set(found))
    assert not trace.truncated


def check_read(index: EventIndex, file: File, key: str, files: list[File]) -> None:
    before, after, receipts = read(file, key, files, 3, 3)
    event = index.read(file.id, key, invocation=EVERYTHING, before=3, after=3)
    assert [node.entry_id for node in event.neighbors.before] == before
    assert [node.entry_id for node in event.neighbors.after] == after
    assert [receipt(fork) for fork in event.neighbors.forks] == receipts
    entry, states = file.named()[key], selection.states(file.session, file.tree)
    assert (event.branch_state, event.selection_state) == states[entry.key]
    for node in (*event.neighbors.before, *event.neighbors.after):
        assert (node.branch_state, node.selection_state) == states[node.entry_id]
    labels = tree.labels(file.session)
    assert event.label == labels.get(key)

    written = [e for e in file.session.entries if e not in file.tree.superseded]
    at = written.index(entry)
    event = index.read(file.id, key, invocation=EVERYTHING, before=2, after=2, order="append")
    assert names(event.neighbors.before) == [e.id or e.key for e in written[max(at - 2, 0) : at]]
    assert names(event.neighbors.after) == [e.id or e.key for e in written[at + 1 : at + 3]]


def names(nodes: Iterable[Node]) -> list[str]:
    return [name_of(node.entry_id) for node in nodes]


def name_of(entry_id: str) -> str:
    """Made-up ids begin with the position of their record; the oracle knows no more of them."""
    return entry_id.partition("-")[0] if entry_id.startswith("~") else entry_id


def adjacent(trace: Trace) -> list[FoundEdge]:
    return [*((trace.parent,) if trace.parent else ()), *trace.children, *trace.branch_siblings]


def ends(found: Iterable[FoundEdge]) -> list[str]:
    return [end_of(edge) for edge in found]


def end_of(edge: FoundEdge) -> str:
    assert isinstance(edge.to, EventRef)
    return edge.to.entry_id


def ref(found: EventRef) -> Ref:
    return found.session_id, name_of(found.entry_id)


def flags(known: str) -> tuple[bool, bool, bool]:
    return known == "recorded", known == "derived", known == "inferred"


def plain(edge: FoundEdge) -> Edge:
    known = [w for w in ("recorded", "derived", "inferred") if getattr(edge, w)]
    assert len(known) == 1
    end = edge.to.file_ref if isinstance(edge.to, FileRef) else ref(edge.to)
    return Edge(edge.type, ref(edge.from_), end, known[0], edge.detail)


def receipt(fork: ForkReceipt) -> Receipt:
    chosen = None if fork.chosen is None else ref(fork.chosen)
    return fork.kind, ref(fork.at), tuple(map(ref, fork.candidates)), chosen
