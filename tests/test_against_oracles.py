"""The whole system against the naive oracles, over random session files with every damage."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pi_event_search import EventIndex, InvalidQuery, _core
from pi_event_search.types.event import EventRef
from pi_event_search.types.trace import Edge

from tests.facts import Told, dump, hits, receipts, told
from tests.indexes import EVERYTHING, passing_place
from tests.oracle import search
from tests.oracle.entries import Session, session
from tests.oracle.fragments import identified
from tests.oracle.retrieval import retrieval
from tests.oracle.selection import states
from tests.oracle.tail import tail
from tests.oracle.tree import tree
from tests.pi.compare import Facts
from tests.pi.indexed import indexed_facts
from tests.pi.naive import naive_facts
from tests.strategies import SHORT, TEXTS, SessionFile, appends, sessions

WINDOW = 4_000
"""Code points that one read shows of a fragment at most."""

_unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

# Further quotation marks open phrases too, which the oracle leaves out.
queries = (SHORT | TEXTS).map(
    lambda text: text.translate(dict.fromkeys(map(ord, "“”«»「」『』„‟")))
)


def check(index: EventIndex, path: Path, data: bytes) -> None:
    """Holds all facts of one session file to the oracles."""
    expected, events = naive_facts(data), told(index, path)
    facts = indexed_facts(index).get(path)
    if expected is None or facts is None or events is None:
        assert (expected, facts, events) == (None, None, None)
        assert receipts(index, path) == {"not-a-session": 1}
        return
    lines = tail(data)
    found = session(lines.records)
    assert found is not None
    names = names_of(found, events)
    grown = tree(found)
    assert receipts(index, path) == +(lines.receipts + found.receipts + grown.receipts)
    assert renamed(facts, names) == expected
    known, superseded = states(found, grown), {entry.ord for entry in grown.superseded}
    for entry, event in zip(found.entries, events, strict=True):
        gone = entry.ord in superseded
        assert (event.detached, event.superseded) == (entry.detached, gone)
        assert (event.row.entry_type, event.row.role) == (entry.type, entry.role)
        assert event.fragments == ({} if gone else identified(entry))
        if not gone:
            assert event.states == known[entry.key]
        if event.placed:
            assert event.label == expected.labels.get(entry.key)
            assert [names.get(key, key) for key in event.children] == (
                grown.children.get(entry.key, [])
            )
        record, row = entry.record, event.row
        assert record is not None
        assert (row.line, row.byte_start, row.byte_end) == (record.line, record.start, record.end)


def names_of(found: Session, events: list[Told]) -> dict[str, str]:
    """Derived id -> the oracle's name for the same record."""
    pairs = zip(found.entries, events, strict=True)
    return {event.entry_id: entry.key for entry, event in pairs if entry.id != event.entry_id}


def renamed(facts: Facts, names: dict[str, str]) -> Facts:
    def new(value: Any) -> Any:
        if isinstance(value, dict):
            return {names.get(key, key): new(item) for key, item in value.items()}
        if isinstance(value, list):
            return [new(item) for item in value]
        return names.get(value, value) if isinstance(value, str) else value

    return Facts(**{f.name: new(getattr(facts, f.name)) for f in dataclasses.fields(Facts)})


def corpus_of(data: bytes, events: list[Told]) -> dict[tuple[str, str], list[str]]:
    """(session id, entry id) -> searchable texts, without those of retrieval itself."""
    found = session(tail(data).records)
    assert found is not None
    gone = {entry.ord for entry in tree(found).superseded}
    hidden = retrieval(found)
    corpus: dict[tuple[str, str], list[str]] = {}
    # A hit can be read by its id, so a detached record counts only where no other has the id.
    pairs = sorted(zip(found.entries, events, strict=True), key=lambda pair: not pair[0].detached)
    for entry, event in pairs:
        if entry.ord not in gone:
            texts = identified(entry).items()
            shown = [text for name, text in texts if (entry.ord, name) not in hidden]
            corpus[str(found.header["id"]), event.entry_id] = shown
    return corpus


def found_by(index: EventIndex, query: str, **filters: Any) -> set[tuple[str, str]] | None:
    """The hits, or None where the query holds nothing to search for."""
    try:
        return hits(index, query, **filters)
    except InvalidQuery:
        return None


def end_of(edge: Edge, names: dict[str, str]) -> str:
    assert isinstance(edge.to, EventRef)
    return names.get(edge.to.entry_id, edge.to.entry_id)


@settings(_unhurried, max_examples=150)
@given(sessions(version=None, odd=True))
def test_facts(file: SessionFile) -> None:
    with passing_place() as place, place.index() as index:
        path = place.put("session", file.data)
        index.sync()
        check(index, path, file.data)


@settings(_unhurried, max_examples=100)
@given(sessions(version=None, odd=True), st.lists(queries, min_size=1, max_size=8))
def test_hit_sets(file: SessionFile, asked: list[str]) -> None:
    with passing_place() as place, place.index() as index:
        path = place.put("session", file.data)
        index.sync()
        events = told(index, path)
        if events is None:
            assert all(not found_by(index, query) for query in asked)
            return
        corpus = corpus_of(file.data, events)
        words = [w for texts in corpus.values() for text in texts for w in text.split()[:1]]
        for query in [*asked, *words[:8]]:
            surely, maybe = search.search(query, corpus)
            found = found_by(index, query)
            if found is None:
                assert not surely
            else:
                assert not {key: corpus[key] for key in surely - found}, query
                assert not {key: corpus[key] for key in found - maybe}, query


@settings(_unhurried, max_examples=40)
@given(sessions(version=None, odd=True))
def test_reads(file: SessionFile) -> None:
    """What is found is read back from the file exactly, and traced to parent and children."""
    found = session(tail(file.data).records)
    if found is None:
        return
    grown = tree(found)
    known = states(found, grown)
    with passing_place() as place, place.index() as index:
        path = place.put("session", file.data)
        index.sync()
        events = told(index, path)
        assert events is not None
        names = names_of(found, events)
        for entry, event in zip(found.entries, events, strict=True):
            if not event.placed:
                continue
            own = event.entry_id
            read = index.read(str(found.header["id"]), own, invocation=EVERYTHING)
            assert (read.branch_state, read.selection_state) == known[entry.key]
            assert (read.source.state, read.entry_type) == ("exact", entry.type)
            texts = identified(entry)
            assert [f.fragment_id for f in read.fragments] == list(texts)[:12]
            for name, text in texts.items():
                part = index.read(
                    read.session_id, own, invocation=EVERYTHING,
                    fragment_id=name, offset=0, window=WINDOW,
                )  # fmt: skip
                (fragment,) = part.fragments
                assert fragment.preview.text == text[:WINDOW]
                assert fragment.preview.total_chars == len(text)
            trace = index.trace(read.session_id, own, invocation=EVERYTHING)
            children = [end_of(edge, names) for edge in trace.children]
            assert children == grown.children.get(entry.key, [])[:20]
            parent = [entry.parent] if entry.parent in grown.nodes else []
            assert [end_of(edge, names) for edge in [trace.parent] if edge] == parent


@settings(_unhurried, max_examples=100)
@given(st.data(), sessions(version=None, odd=True), st.lists(queries, min_size=1, max_size=4))
def test_appends_equal_a_fresh_build(
    data: st.DataObject, file: SessionFile, asked: list[str]
) -> None:
    """However a file grew, the index holds what one look at its final bytes gives."""
    so_far = b""
    with passing_place() as place:
        path = place.put("session", b"")
        index = place.index()
        try:
            for chunk in data.draw(appends(file.data)):
                if data.draw(st.booleans(), label="open again"):
                    index.close()
                    index = place.index()
                place.append("session", chunk)
                so_far += chunk
                index.sync()
                check(index, path, so_far)
            with place.index("fresh") as fresh:
                fresh.sync()
                assert dump(index, path) == dump(fresh, path)
                for query in asked:
                    assert found_by(index, query) == found_by(fresh, query)
                every = {"kinds": [*_core.KINDS]}
                assert hits(index, "", **every) == hits(fresh, "", **every)
        finally:
            index.close()
