"""The oracles themselves: against golden files, against each other, and on worked examples."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.oracle import search
from tests.oracle.entries import Entry, session
from tests.oracle.fragments import identified
from tests.oracle.selection import states
from tests.oracle.strictjson import Json, Number, _decode_deep, decode_at, parse, repaired
from tests.oracle.tail import tail
from tests.oracle.tree import labels, tree
from tests.pi.naive import naive_facts
from tests.strategies import SessionFile, appends, sessions

GOLDEN = sorted((Path(__file__).parent.parent / "golden").glob("*/*/session.jsonl"))


def described(data: bytes) -> dict[str, Any]:
    """What an `expect.json` holds, but for its remarks."""
    lines = tail(data)
    receipts = Counter(lines.receipts)
    found = session(lines.records)
    told: dict[str, Any] | None = None
    if found is not None:
        grown = tree(found)
        receipts += found.receipts + grown.receipts
        facts = naive_facts(data)
        assert facts is not None
        told = {
            "id": facts.session_id,
            "cwd": facts.cwd,
            "version": found.version,
            "name": facts.name,
            "leaf": facts.leaf,
            "labels": labels(found),
            "entries": [],
        }
        known = states(found, grown)
        superseded = {entry.ord for entry in grown.superseded}
        for entry in found.entries:
            row: dict[str, Any] = {"key": entry.key, "type": entry.type}
            if entry.detached:
                row |= {"detached": True, "recordedId": entry.body.get("id")}
            if entry.ord in superseded:
                row["superseded"] = True
            else:
                row["branchState"], row["selectionState"] = known[entry.key]
            told["entries"].append(row)
    return {"session": told, "receipts": dict(+receipts)}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: "/".join(p.parts[-3:-1]))
def test_golden(path: Path) -> None:
    expected = json.loads(path.with_name("expect.json").read_text())
    assert expected.pop("about")
    assert expected.pop("pi") in ("agrees", "differs", "hangs", "refuses", "starts anew")
    assert described(path.read_bytes()) == expected


def test_golden_cases_are_there() -> None:
    assert len(GOLDEN) > 50


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(st.data(), sessions(version=None))
def test_appends_only_add_and_end_at_the_whole(data: st.DataObject, file: SessionFile) -> None:
    so_far = b""
    for chunk in data.draw(appends(file.data)):
        so_far += chunk
        assert so_far == file.data[: len(so_far)]
        ended = tail(so_far[: so_far.rfind(b"\n") + 1]).records
        assert ended == tail(file.data).records[: len(ended)]
    assert so_far == file.data


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(sessions(version=None))
def test_every_entry_has_one_consistent_state(file: SessionFile) -> None:
    found = session(tail(file.data).records)
    if found is None:
        return
    grown = tree(found)
    known = states(found, grown)
    assert set(known) == {e.key for e in found.entries}
    assert (grown.leaf is None) == (not grown.path)
    for key, (branch, selection) in known.items():
        assert (branch == "selected") == (key in grown.path)
        assert (branch == "unknown") == (selection == "unknown")
        assert branch != "alternate" or selection == "not-selected"


_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(_values, st.integers(0, 30), st.sampled_from(["", " ", ",", "x", "}", '"', "\0"]))
def test_deep_parser_gives_the_same_verdict(value: Any, at: int, noise: str) -> None:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    text = (text[:at] + noise + text[at:]).strip()

    def verdict(deep: bool) -> tuple[Json, int] | None:
        try:
            return _decode_deep(text, 0) if deep else decode_at(text, 0)
        except ValueError:
            return None

    shallow, deep = verdict(deep=False), verdict(deep=True)
    assert (shallow is None) == (deep is None)
    assert shallow is None or deep is None or shallow[0] == deep[0]


@pytest.mark.parametrize(
    "text", ["NaN", "[1,]", "{'a':1}", "01", "1.", "+1", "\ufeff1", "[1] 2", '"\t"', "Infinity", ""]
)
def test_what_json_parse_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(text)


def test_what_json_parse_takes() -> None:
    assert parse("1" * 5000) == Number("1" * 5000)
    assert parse('{"a":1,"a":2.50}') == {"a": Number("2.50")}
    assert repaired(parse(r'["\ud83d","\ud83e\udd80"]')) == (["\ufffd", "🦀"], True)
    deep = parse("[" * 100_000 + "]" * 100_000)
    for _ in range(99_999):
        assert isinstance(deep, list)
        deep = deep[0]
    assert deep == []


def _entry(kind: str, body: dict[str, Json], role: str | None = None) -> Entry:
    return Entry(0, "e", "e", None, kind, role, body)


def test_fragments_of_an_assistant_message() -> None:
    call: Json = parse(
        '{"type":"toolCall","id":"c","name":"edit","arguments":{"path":"src/a.rs",'
        '"edits":[{"old":"a\\nb","n":1.50},true,null,[],{}]}}'
    )
    blocks: list[Json] = [
        {"type": "thinking", "thinking": "private"},
        {"type": "text", "text": "first"},
        call,
        {"type": "text", "text": ""},
        {"type": "text", "text": "second"},
    ]
    message: Json = {"role": "assistant", "content": blocks, "errorMessage": "overloaded"}
    assert identified(_entry("message", {"message": message}, "assistant")) == {
        "assistant.text:0": "first",
        "tool.call:0": "edit\npath: src/a.rs\nedits.0.old: a\nb\nedits.0.n: 1.50"
        "\nedits.1: true\nedits.2: null",
        "assistant.text:1": "second",
        "assistant.text:2": "overloaded",
    }


def test_fragments_of_other_types() -> None:
    two: list[Json] = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    custom: dict[str, Json] = {"customType": "review", "content": two, "display": False}
    assert identified(_entry("custom_message", custom)) == {
        "custom.message:0": "review\none",
        "custom.message:1": "two",
    }
    bare: dict[str, Json] = {"customType": "review"}
    assert identified(_entry("custom_message", bare)) == {"custom.message:0": "review"}
    name: dict[str, Json] = {"name": " a \t\n b\u2003"}
    assert identified(_entry("session_info", name)) == {"session.name:0": "a b"}
    shell: Json = {"role": "bashExecution", "command": "ls", "output": ""}
    assert identified(_entry("message", {"message": shell}, "bashExecution")) == {
        "bash.command:0": "ls"
    }
    system: Json = {"role": "system", "content": "prompt"}
    assert identified(_entry("message", {"message": system}, "system")) == {}
    assert identified(_entry("label", {"targetId": "x", "label": "words"})) == {}


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("lock tantivy", "Tantivy: the LOCK is busy", True),
        ("lock tantivy", "the lock is busy", False),
        ('"lock is busy"', "the lock is busy", True),
        ('"lock busy"', "the lock is busy", False),
        ('"lock is', "the lock is busy", True),
        ("src/main.rs", "in src/main.rs:12", True),
        ("src/main.rs", "main.rs in src", False),
        ("索引", "全文検索索引を作る", True),
        ("検引", "全文検索索引を作る", False),
        ("naive strasse", "Naïve STRASSE", True),
        ("file", "ﬁle", True),
        ("は", "ば", False),
        ("--", "anything", False),
    ],
)
def test_search(query: str, text: str, found: bool) -> None:
    assert search.surely_matches(query, text) is found
    assert search.may_match(query, text) or not found


def test_search_between_its_two_answers() -> None:
    corpus = {
        ("s", "1"): ["eventSearch"],
        ("s", "2"): ["event", "search"],
        ("s", "3"): ["event search"],
    }
    assert search.search("event search", corpus) == ({("s", "3")}, {("s", "1"), ("s", "3")})


def test_search_reaches_head_and_tail_but_not_across() -> None:
    text = "head " + "x " * search.LIMIT + "tail"
    assert search.surely_matches("head tail", text)
    assert not search.surely_matches("head missing", text)
    cut = "a" * 31_999 + " " + "b " * search.LIMIT
    assert search.surely_matches("b", cut)
