"""A search by hand: every event of some files against every filter, one after the other."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.oracle import search as words
from tests.oracle.entries import Entry, session, text
from tests.oracle.fragments import identified
from tests.oracle.selection import states
from tests.oracle.strictjson import Number
from tests.oracle.tail import tail, truthy
from tests.oracle.tree import tree

RETRIEVAL = ("event_search", "event_read", "event_trace")


@dataclass(frozen=True)
class Part:
    kind: str
    tool: str | None
    text: str
    suppressed: bool


@dataclass(frozen=True)
class Event:
    session_id: str
    cwd: str
    entry_id: str
    type: str
    role: str | None
    ms: int
    is_error: bool
    branch: str
    selection: str
    files: frozenset[str]
    silent: bool
    """It has no text, and is no answer to a retrieval call."""
    content: str
    """What fork copies have in common."""
    parts: tuple[Part, ...] = field(compare=False)


def events(data: bytes) -> list[Event]:
    """The placed events of one file."""
    found = session(tail(data).records)
    assert found is not None
    grown = tree(found)
    known = states(found, grown)
    retrieval: dict[str, bool] = {}
    result = []
    for entry in found.entries:
        answers = _answers_retrieval(entry, retrieval)
        if grown.nodes.get(entry.key) is not entry:
            continue
        branch, selection = known[entry.key]
        parts = tuple(_parts(entry, answers))
        result.append(
            Event(
                session_id=str(found.header["id"]),
                cwd=str(found.header["cwd"]),
                entry_id=entry.key,
                type=entry.type,
                role=entry.role,
                ms=_milliseconds(entry),
                is_error=_failed(entry),
                branch=branch,
                selection=selection,
                files=_files(entry),
                silent=not parts and not answers and _tool(entry) not in RETRIEVAL,
                content=_content(entry),
                parts=parts,
            )
        )
    return result


def _message(entry: Entry) -> dict[str, Any]:
    message = entry.body.get("message") if entry.type == "message" else None
    return message if isinstance(message, dict) else {}


def _calls(entry: Entry) -> list[dict[str, Any]]:
    content = _message(entry).get("content")
    blocks = content if entry.role == "assistant" and isinstance(content, list) else []
    return [b for b in blocks if isinstance(b, dict) and b.get("type") == "toolCall"]


def _answers_retrieval(entry: Entry, retrieval: dict[str, bool]) -> bool:
    for call in _calls(entry):
        retrieval[str(call["id"])] = call["name"] in RETRIEVAL
    if entry.role != "toolResult":
        return False
    return retrieval.get(str(_message(entry).get("toolCallId")), False)


def _parts(entry: Entry, answers: bool) -> list[Part]:
    names = iter([str(call["name"]) for call in _calls(entry)])
    parts = []
    for fragment_id, said in identified(entry).items():
        kind = fragment_id.split(":")[0]
        tool = None
        if kind == "tool.call":
            tool = next(names)
        elif kind == "tool.result":
            tool = _tool(entry)
        parts.append(Part(kind, tool, said, answers or tool in RETRIEVAL))
    return parts


def _tool(entry: Entry) -> str | None:
    return text(_message(entry), "toolName") if entry.role == "toolResult" else None


def _failed(entry: Entry) -> bool:
    message = _message(entry)
    if entry.role == "toolResult":
        return truthy(message.get("isError"))
    if entry.role == "bashExecution":
        code = message.get("exitCode")
        return isinstance(code, Number) and float(code.text) != 0
    return entry.role == "assistant" and message.get("stopReason") == "error"


def _milliseconds(entry: Entry) -> int:
    recorded = datetime.fromisoformat(str(entry.body["timestamp"]))
    return round(recorded.timestamp() * 1000)


def _files(entry: Entry) -> frozenset[str]:
    found = set()
    for call in _calls(entry):
        given = call.get("arguments")
        path = given.get("path") if isinstance(given, dict) else None
        if call["name"] in ("read", "edit", "write") and isinstance(path, str) and path:
            found.add(path)
    details = entry.body.get("details")
    if entry.type in ("compaction", "branch_summary") and isinstance(details, dict):
        for name in ("readFiles", "modifiedFiles"):
            files = details.get(name)
            found.update(str(path) for path in files if isinstance(files, list))  # type: ignore[union-attr]
    return frozenset(found)


def _content(entry: Entry) -> str:
    left_out = ("parentId", "firstKeptEntryId")
    kept = {k: v for k, v in entry.body.items() if k not in left_out}
    return json.dumps(kept, default=lambda v: v.text, sort_keys=True)


@dataclass
class Answer:
    """What a search has to give."""

    hits: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Under which id each event stands -> the other sessions that hold it."""
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    """Its fragments that match."""


def search(corpus: list[Event], asked: dict[str, Any], match: Any = words.surely_matches) -> Answer:
    """Every event that passes; sessions are of one age, so the first id owns what is copied."""
    groups: dict[str, list[Event]] = {}
    answer = Answer()
    for event in sorted(corpus, key=lambda e: e.session_id):
        if _passes(event, asked) and (_matching(event, asked, match) or _listed(event, asked)):
            groups.setdefault(event.content, []).append(event)
    wanted = asked.get("session_id")
    for copies in groups.values():
        owner = next((e for e in copies if wanted in (None, e.session_id)), None)
        if owner is not None:
            key = owner.session_id, owner.entry_id
            answer.hits[key] = [e.session_id for e in copies if e is not owner]
            answer.counts[key] = _matching(owner, asked, match)
    return answer


def _matching(event: Event, asked: dict[str, Any], match: Any) -> int:
    query, kinds, tools = (asked.get(name) for name in ("query", "kinds", "tool_names"))
    return sum(
        (not query or match(query, part.text))
        and (not kinds or part.kind in kinds)
        and (part.tool in tools if tools else not part.suppressed)
        for part in event.parts
    )


def _listed(event: Event, asked: dict[str, Any]) -> bool:
    """Without words, what has no text is listed too; but it is of no kind and of no tool."""
    others = ("query", "kinds", "tool_names")
    return event.silent and bool(asked.get("entry_types")) and not any(map(asked.get, others))


def _passes(event: Event, asked: dict[str, Any]) -> bool:
    def among(name: str, value: str | None) -> bool:
        return not asked.get(name) or value in asked[name]

    cwd = asked.get("cwd")
    file = asked.get("file")
    return (
        among("entry_types", event.type)
        and among("roles", event.role)
        and among("branch_states", event.branch)
        and among("selection_states", event.selection)
        and (not asked.get("error_only") or event.is_error)
        and ("time_from" not in asked or event.ms >= _asked_ms(asked["time_from"]))
        and ("time_to" not in asked or event.ms <= _asked_ms(asked["time_to"]))
        and (cwd is None or event.cwd == cwd or event.cwd.startswith(f"{cwd}/"))
        and (file is None or file in event.files)
    )


def _asked_ms(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1000)
