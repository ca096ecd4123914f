"""What Pi says of a session file against what we say of it.

`Facts` is what a reader has to know to be compared; `naive.py` fills it from the test oracles, and
the package under test can be asked for the same. Pi's answer is one JSON line of `oracle.mjs`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.fragments import canonical

Answer = dict[str, Any]
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass
class Facts:
    session_id: str
    cwd: str
    name: str | None
    leaf: str | None
    """None also when it is unknown."""
    order: list[str | None]
    """A name for each entry Pi sees, in append order: its id, or None where it has none.

    Files of version 1 have no ids and get new random ones from Pi at every look, so there any
    names do: they are matched by position.
    """
    branch: list[str]
    children: dict[str, list[str]]
    """In append order, with missing parents."""
    roots: list[str]
    labels: dict[str, str]
    states: dict[str, tuple[str, str]]
    """Branch and selection state of each entry that has an id and is not superseded."""
    contributes: dict[str, bool]
    """Whether the entry's own type, role and flags let it become a message to the model."""
    types: dict[str, str]
    compaction: str | None = None
    """The newest compaction on the branch."""
    edits: dict[str, str] = field(default_factory=dict)
    """Target -> the context edit that counts for it."""
    orphans: list[str] = field(default_factory=list)
    """Entries whose parent is missing, in append order."""
    duplicates: set[str] = field(default_factory=set)
    """Ids that several records have."""


_REFUSED = "not a valid pi session"
_CYCLE = "cyclic parentId on the path from the leaf"


def answered(answer: Answer) -> bool:
    """False where Pi hangs or crashes, so that there is nothing to compare with.

    Seen: an endless getTree() over a duplicate id whose two records close a circle, and the
    version 1 migration of a line that holds a bare number or text.
    """
    error = answer.get("error", "")
    return not error or _REFUSED in error or _CYCLE in error


def compare(answer: Answer, facts: Facts | None) -> list[str]:
    """Differences, one sentence each; empty means that Pi and we agree (or Pi has no answer)."""
    error = answer.get("error", "")
    if _REFUSED in error:
        return [] if facts is None else ["Pi refuses the file, we do not"]
    if facts is None:
        return ["we refuse a file that Pi reads"]
    if not answered(answer):
        return []
    if error:  # Pi would never return from the path
        certain = [key for key, state in facts.states.items() if state != ("unknown", "unknown")]
        return [f"Pi hangs on the leaf's path, yet we are sure about {certain}"] if certain else []
    return list(_differences(_in_our_names(answer, facts), facts))


def _in_our_names(answer: Answer, facts: Facts) -> Answer:
    """Pi's answer about a version 1 file, with our names in place of Pi's random ids."""
    if (answer["versionOnDisk"] or 1) >= 2 or len(answer["order"]) != len(facts.order):
        return answer
    names = {pi: own for pi, own in zip(answer["order"], facts.order, strict=True) if pi}

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {names.get(key, key): renamed(item) for key, item in value.items()}
        if isinstance(value, list):
            return [renamed(item) for item in value]
        return names.get(value, value) if isinstance(value, str) else value

    keys = ("order", "branch", "children", "roots", "orphans", "contextEntries", "projected")
    single = ("leafId", "contextCompactionId", "labels", "effectiveEdits")
    return {key: renamed(answer[key]) if key in keys + single else answer[key] for key in answer}


def _differences(pi: Answer, facts: Facts) -> Iterator[str]:
    duplicates = {key for key in pi["duplicateIds"] if isinstance(key, str)}
    checks = {
        "session id": (pi["sessionId"], facts.session_id),
        "cwd": (pi["cwd"] or "", facts.cwd),
        "name": (_canonical(pi["name"]), facts.name),
        "leaf": (pi["leafId"] or None, facts.leaf),
        "order": (pi["order"], facts.order),
        "branch": (pi["branch"], facts.branch),
        "labels": (pi["labels"], facts.labels),
        "children": (_settled(pi["children"], duplicates), _settled(facts.children, duplicates)),
        "roots": (_roots(pi["roots"], duplicates), _roots(facts.roots, duplicates)),
        "orphans": (_orphans(pi, duplicates), _roots(facts.orphans, duplicates)),
        "duplicates": (duplicates, facts.duplicates),
        "compaction": (pi["contextCompactionId"] if pi["leafId"] else None, facts.compaction),
        "edits": (pi["effectiveEdits"] if pi["leafId"] else {}, facts.edits),
    }
    for what, (theirs, ours) in checks.items():
        if theirs != ours:
            yield f"{what}: Pi has {theirs!r}, we have {ours!r}"
    if "projected" not in pi.get("errors", {}):  # Pi throws on an edit without a replacement
        yield from _state_differences(pi, facts)


def _state_differences(pi: Answer, facts: Facts) -> Iterator[str]:
    branch = pi["branch"] or []
    context = {entry["id"]: entry for entry in pi["projected"] or []}
    known = bool(pi["leafId"])  # without a leaf Pi shows a context, but no branch to place it on
    for key, (branch_state, selection) in facts.states.items():
        if not known:
            expected = {"unknown"}
        elif key not in branch:
            expected = {"not-selected", "unknown"}
        elif key in context and context[key]["llmCount"]:
            expected = {"direct"}
        elif not facts.contributes[key]:
            expected = {"not-applicable"}
        elif key not in context or (facts.types[key] == "compaction" and key != facts.compaction):
            expected = {"summarized"}
        else:
            expected = {"not-selected"}
        if selection not in expected:
            yield f"{key}: selection state {selection}, by Pi {expected}"
        if known and (branch_state == "selected") != (key in branch):
            yield f"{key}: branch state {branch_state}, on Pi's branch: {key in branch}"


def _settled(children: dict[str, list[str]], duplicates: set[str]) -> dict[str, list[str]]:
    """Pi's list holds superseded records too; ids that occur twice are left out on both sides.

    So is the empty parent id, which Pi lists but never follows.
    """
    found = {
        parent: [key for key in keys if isinstance(key, str) and key not in duplicates]
        for parent, keys in children.items()
    }
    return {parent: keys for parent, keys in found.items() if parent and keys}


def _roots(roots: list[str], duplicates: set[str]) -> list[str]:
    return [key for key in roots if isinstance(key, str) and key not in duplicates]


def _orphans(pi: Answer, duplicates: set[str]) -> list[str]:
    """Without those of the empty parent id: to Pi they are roots like any other."""
    nameless = pi["children"].get("", [])
    return [key for key in _roots(pi["orphans"], duplicates) if key not in nameless]


def _canonical(name: str | None) -> str | None:
    """Our form of a name: one space between words, and U+FFFD for lone surrogates."""
    return canonical(_SURROGATE.sub("\ufffd", name)) if name else None
