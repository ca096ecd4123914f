"""Golden session files through the index: what each gives is in the `expect.json` beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.facts import Told, dump, hits, receipts, told
from tests.indexes import Place, passing_place
from tests.oracle.entries import session
from tests.oracle.fragments import identified
from tests.oracle.search import tokens
from tests.oracle.tail import tail
from tests.pi.indexed import indexed_facts

CASES = sorted((Path(__file__).parent / "golden").glob("*/*/session.jsonl"))
DERIVED = re.compile(r"~(\d+)-[0-9a-f]{8}")

each_case = pytest.mark.parametrize("case", CASES, ids=lambda p: "/".join(p.parts[-3:-1]))


def described(place: Place, path: Path) -> dict[str, Any]:
    """What an `expect.json` holds, but for its remarks; derived ids by position alone."""
    with place.index() as index:
        index.sync()
        facts, events = indexed_facts(index).get(path), told(index, path)
        tables = dump(index, path)
        problems = receipts(index, path)
    if facts is None or events is None:
        return {"session": None, "problems": problems}
    return {
        "session": {
            "id": facts.session_id,
            "cwd": facts.cwd,
            "version": tables["sessions"][0]["version"],
            "name": facts.name,
            "leaf": positional(facts.leaf),
            "labels": {positional(target): label for target, label in facts.labels.items()},
            "entries": [row(event) for event in events],
        },
        "receipts": problems,
    }


def row(event: Told) -> dict[str, Any]:
    key = positional(event.entry_id)
    found: dict[str, Any] = {"key": key, "type": event.row.entry_type}
    if event.detached:
        found |= {"key": f"~{event.row.ord}", "detached": True}
        found["recordedId"] = None if DERIVED.fullmatch(event.entry_id) else event.entry_id
    if event.superseded:
        found["superseded"] = True
    else:
        found["branchState"], found["selectionState"] = event.states
    return found


def positional(entry_id: str | None) -> str | None:
    derived = DERIVED.fullmatch(entry_id or "")
    return f"~{derived[1]}" if derived else entry_id


def expected(case: Path) -> dict[str, Any]:
    """The expectation of a case, in the terms of `described`."""
    found: dict[str, Any] = json.loads(case.with_name("expect.json").read_text())
    if found["session"] is None:
        return {"session": None, "problems": {"not-a-session": 1}}
    # Derived ids are made of the position among all records, not of Pi's index into its list.
    names = {entry["key"]: f"~{n}" for n, entry in enumerate(found["session"]["entries"])}
    names = {key: name for key, name in names.items() if re.fullmatch(r"#\d+", key)}
    for entry in found["session"]["entries"]:
        entry["key"] = names.get(entry["key"], entry["key"])
    found["session"]["leaf"] = names.get(found["session"]["leaf"], found["session"]["leaf"])
    return {"session": found["session"], "receipts": found["receipts"]}


@each_case
def test_what_the_index_says(case: Path) -> None:
    with passing_place() as place:
        path = place.put("golden", case.read_bytes())
        assert described(place, path) == expected(case)


@each_case
def test_all_content_is_found(case: Path) -> None:
    data = case.read_bytes()
    found = session(tail(data).records)
    with passing_place() as place, place.index() as index:
        path = place.put("golden", data)
        index.sync()
        events = told(index, path)
        if found is None:
            assert events is None
            return
        assert events is not None
        for entry, event in zip(found.entries, events, strict=True):
            texts = {} if event.superseded else identified(entry)
            assert event.fragments == texts
            for text in texts.values():
                if not tokens(text):
                    continue
                assert (str(found.header["id"]), event.entry_id) in hits(index, f'"{text}"')


def test_cases_are_there() -> None:
    assert len(CASES) > 50
