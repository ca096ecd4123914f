"""Hypothesis strategies for sets of session files that were forked from one another."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.strategies import TIMES, Record, appends, bodies, dump, sessions


@dataclass(frozen=True)
class Part:
    """One session file of a history."""

    name: str
    header: Record
    records: list[Record]

    @property
    def data(self) -> bytes:
        return b"".join(dump(record) + b"\n" for record in [self.header, *self.records])


@st.composite
def histories(draw: st.DrawFn, *, damaged: bool = False) -> list[Part]:
    """One session, and up to three forks of it and of each other."""
    first = draw(sessions(damaged=damaged, max_entries=14, session_id="s0"))
    parts = [Part("s0", first.header, draw(_busy(first.records)))]
    for number in range(1, draw(st.integers(0, 3)) + 1):
        parent = draw(st.sampled_from(parts))
        parts.append(draw(_forked(parent, f"s{number}")))
    return parts


_few = st.sampled_from(["call_1", "call_2"])
_calls = st.lists(_few, min_size=1, max_size=2).map(
    lambda ids: {
        "role": "assistant",
        "content": [{"type": "toolCall", "id": i, "name": "bash", "arguments": {}} for i in ids],
    }
)
_results = _few.map(
    lambda i: {"role": "toolResult", "toolCallId": i, "toolName": "bash", "content": "done"}
)


@st.composite
def _busy(draw: st.DrawFn, records: list[Record]) -> list[Record]:
    """The same entries with more tool calls and results, in any order."""
    return [
        record | {"message": draw(_calls | _results)}
        if record["type"] == "message" and draw(st.booleans())
        else record
        for record in records
    ]


@st.composite
def _forked(draw: st.DrawFn, parent: Part, own: str) -> Part:
    """A fork of what the parent was at some time, with entries of its own behind any of them."""
    then = parent.records[: draw(st.integers(0, len(parent.records)))]
    copied = draw(st.sampled_from([_copy_all, _copy_branch]))(then, own)
    named = [f"/moved/{parent.name}.jsonl"] * 5 + ["/gone.jsonl", "s9", ""]
    header: Record = {
        "type": "session", "version": 3, "id": own, "cwd": "/work",
        "timestamp": draw(st.sampled_from(TIMES)), "parentSession": draw(st.sampled_from(named)),
    }  # fmt: skip
    records = list(copied)
    for number in range(draw(st.integers(0, 4))):
        ids = [r["id"] for r in records if "id" in r]
        theirs = [r["id"] for r in parent.records if "id" in r and r["id"] not in ids]
        # Rarely an id that the parent session has too, but for another entry.
        new = draw(st.sampled_from([f"{own}-{number}"] * 9 + theirs[:1]))
        record = draw(bodies(ids or [new], new))
        place = {"id": new, "parentId": draw(st.sampled_from([*ids[-1:] * 4, *ids, None]))}
        records.append(record | place | {"timestamp": draw(st.sampled_from(TIMES))})
    return Part(own, header, records)


def _copy_all(records: list[Record], own: str) -> list[Record]:
    return list(records)


def _copy_branch(records: list[Record], own: str) -> list[Record]:
    """The path to the last entry as Pi clones it: without labels, which come back at the end."""
    by_id = {record["id"]: record for record in records if "id" in record}
    at = records[-1].get("id") if records else None
    path: list[Record] = []
    while at in by_id and by_id[at] not in path:
        path.insert(0, by_id[at])
        at = by_id[at].get("parentId")
    kept = [record for record in path if record["type"] != "label"]
    chain: list[Record] = []
    for record in kept:
        chain.append(record | {"parentId": chain[-1]["id"] if chain else None})
    labels = {r["targetId"]: r.get("label") for r in records if r["type"] == "label"}
    for number, (target, label) in enumerate(labels.items()):
        if label and target in {record["id"] for record in kept}:
            entry = {"type": "label", "targetId": target, "label": label, "timestamp": TIMES[0]}
            chain.append(entry | {"id": f"{own}-label-{number}", "parentId": chain[-1]["id"]})
    return chain


@st.composite
def writings(draw: st.DrawFn, parts: list[Part]) -> list[tuple[str, bytes, bool]]:
    """The files as appends in a random order: name, bytes, and whether a sync comes behind."""
    queues = {part.name: draw(appends(part.data, max_cuts=2)) for part in parts}
    found = []
    while queues:
        name = draw(st.sampled_from(sorted(queues)))
        found.append((name, queues[name].pop(0), draw(st.booleans())))
        if not queues[name]:
            del queues[name]
    return found
