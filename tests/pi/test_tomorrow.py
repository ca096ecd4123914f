"""What Pi may write one day: types, roles, fields and blocks that nobody knows yet.

They are woven into a session that Pi wrote. Each becomes a typed event or is passed over, costs
nothing else, and Pi and we still agree about every entry.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.indexes import EVERYTHING
from tests.pi.compare import compare
from tests.pi.program import Oracle, run
from tests.pi.room import Room

Record = dict[str, Any]
HEADER_FIELDS: Record = {"version": 3, "moodOfTheDay": {"deep": [1, None]}, "cwdHistory": ["/a"]}
ENTRY_FIELDS: Record = {"priority": 7, "reviewers": ["ada", {"name": "bob"}], "type2": None}
BLOCKS: list[Record] = [
    {"type": "hologram", "data": "inventedblock", "text": "inventedblock"},
    {"type": "audio", "transcript": [{"t": 0, "said": "inventedblock"}]},
    {},
]
MESSAGES: dict[str, Record] = {
    "oracle": {"role": "oracle", "content": "inventedrole"},
    "narrator": {"role": "narrator", "content": [{"type": "text", "text": "inventedrole"}]},
}
TYPES: dict[str, Record] = {
    "hologram_change": {"hologramId": "h1", "text": "inventedtype", "content": "inventedtype"},
    "checkpoint": {"snapshot": {"files": ["a", "b"]}, "summary": "inventedtype"},
    "": {},
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, pi: None) -> list[Record]:
    """Records of a session that Pi wrote."""
    begun = tmp_path_factory.mktemp("begun")
    run("generate.mjs", "--seed", 21, "--out", begun, "--sessions", 1, "--steps", 30)
    (path,) = begun.glob("agent/sessions/*/*.jsonl")
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def _write(room: Room, records: list[Record]) -> Path:
    lines = [json.dumps(record).encode() + b"\n" for record in records]
    return room.write("session.jsonl", b"".join(lines))


def _rechained(records: list[Record], added: dict[int, Record]) -> list[Record]:
    """The records with others behind some of them, each in the chain: its parent's only child."""
    out: list[Record] = []
    stands_for: dict[object, str] = {}
    for n, record in enumerate(records):
        parent = record.get("parentId")
        out.append({**record, "parentId": stands_for.get(parent, parent)} if n else record)
        if n in added:
            out.append({"id": f"new{n:05}", "parentId": record["id"], **added[n]})
            stands_for[record["id"]] = f"new{n:05}"
    return out


def test_unknown_types_and_roles_are_typed_events(
    room: Room, oracle: Oracle, original: list[Record]
) -> None:
    path = _write(room, original)
    room.sync()
    before = room.facts(path)
    places = range(3, len(original), len(original) // 8)
    bodies = [
        *({"type": kind, **body} for kind, body in TYPES.items()),
        *({"type": "message", "message": message} for message in MESSAGES.values()),
    ]
    stamp = {"timestamp": original[-1]["timestamp"]}
    added = {n: {**stamp, **bodies[i % len(bodies)]} for i, n in enumerate(places)}

    path = _write(room, _rechained(original, added))

    report = room.sync()
    assert report.coverage.skipped_records == 0
    assert room.receipts().keys() <= {"repaired-surrogate"}
    facts = room.facts(path)
    assert compare(oracle.ask(path), facts) == []
    assert {key: state for key, state in facts.states.items() if key in before.states} == (
        before.states
    )
    for n, record in added.items():
        event = room.index.read(facts.session_id, f"new{n:05}", invocation=EVERYTHING)
        assert event.entry_type == record["type"]
        assert event.role == record.get("message", {}).get("role")
        assert (event.fragments, event.source.state) == ((), "exact")
        on_path = f"new{n:05}" in facts.branch
        assert event.branch_state == ("selected" if on_path else "alternate")
        assert event.selection_state == ("not-applicable" if on_path else "not-selected")
    assert room.found("inventedtype") == room.found("inventedrole") == []
    assert len(facts.order) == len(before.order) + len(added)


def test_unknown_fields_and_blocks_change_nothing(
    room: Room, oracle: Oracle, original: list[Record]
) -> None:
    path = _write(room, original)
    room.sync()
    before = room.facts(path)
    texts = _texts(room, before.session_id, list(before.states))

    header, *entries = original
    path = _write(room, [{**header, **HEADER_FIELDS}, *map(_extended, entries)])

    report = room.sync()
    assert report.coverage.skipped_records == 0
    assert room.receipts().keys() <= {"repaired-surrogate"}
    facts = room.facts(path)
    assert facts == before
    assert compare(oracle.ask(path), facts) == []
    assert _texts(room, facts.session_id, list(facts.states)) == texts
    assert room.found("inventedblock") == []


def _extended(entry: Record) -> Record:
    """An entry with fields and blocks that nobody knows, in front of and behind those known."""
    entry = {"zone": {"a": [{}]}, **entry, **ENTRY_FIELDS}
    if entry["type"] == "message":
        message = {"zone": [], **entry["message"], **ENTRY_FIELDS}
        if isinstance(message.get("content"), list):
            known = [{**block, **ENTRY_FIELDS} for block in message["content"]]
            message["content"] = [BLOCKS[0], *known, *BLOCKS[1:]]
        entry["message"] = message
    return entry


def _texts(room: Room, session: str, ids: list[str]) -> list[object]:
    """Type, role and every fragment of each entry."""
    found: list[object] = []
    for key in ids:
        event = room.index.read(session, key, invocation=EVERYTHING)
        fragments = [(f.fragment_id, f.tool_name, f.preview.text) for f in event.fragments]
        found.append((event.entry_type, event.role, fragments, event.label))
    return found


def test_a_later_format_version_is_read_like_todays(
    room: Room, oracle: Oracle, original: list[Record]
) -> None:
    path = _write(room, original)
    room.sync()
    before = room.facts(path)
    path = _write(room, [{**original[0], "version": 47}, *original[1:]])
    assert room.sync().rebuilt == 1
    assert room.facts(path) == before
    assert compare(oracle.ask(path), before) == []
