"""Complete records -> header and entries, versions evened out as Pi's migration does it."""

import json
from collections import Counter
from dataclasses import dataclass, field

from tests.oracle.strictjson import Json, Number
from tests.oracle.tail import Record, truthy

Object = dict[str, Json]


@dataclass(frozen=True)
class Entry:
    """One entry; `key` names it in tests.

    That is its id, `#n` where Pi's migration would invent one, or `~n` where it has no place in the
    tree for want of an id or because Pi does not see it.
    """

    ord: int
    key: str
    id: str | None
    parent: str | None
    type: str
    role: str | None
    body: Object = field(compare=False)
    detached: bool = False
    first_kept: str | None = None
    record: Record | None = field(default=None, compare=False)


@dataclass
class Session:
    header: Object
    version: int
    entries: list[Entry] = field(default_factory=list)
    receipts: Counter[str] = field(default_factory=Counter)


def session(records: list[Record]) -> Session | None:
    """None: Pi refuses the file, because its first usable value is no header."""
    seen = [r for r in records if r.detached or truthy(r.value)]  # Pi drops null, false, 0 and ""
    first = next((r for r in seen if not r.detached), None)
    header = first.value if first is not None else None
    if not isinstance(header, dict) or header.get("type") != "session" or not text(header, "id"):
        return None
    found = Session(header, _version(header))
    index = 0  # Pi's index into its list of values, by which v1 names entries; the header has 0
    previous: str | None = None
    for record in seen:
        if record is first:
            continue
        index += not record.detached
        body = record.value if isinstance(record.value, dict) else {}
        if body.get("type") == "session":
            continue  # a second header is no entry, yet it counts for the v1 index
        entry = _entry(found, record, body, index, previous)
        found.entries.append(entry)
        if found.version == 1 and not entry.detached:
            previous = entry.id
    return found


def _entry(found: Session, record: Record, body: Object, index: int, previous: str | None) -> Entry:
    ordinal = len(found.entries)
    own, parent = text(body, "id"), text(body, "parentId") or _odd_parent(body)
    kept = text(body, "firstKeptEntryId")
    if found.version == 1 and not record.detached:  # written ids do not survive the migration
        own, parent, kept = f"#{index}", previous, _kept_by_index(found, body, index)
    elif own is None and found.version > 1:  # whose records have no ids to miss
        found.receipts["missing-id"] += 1
    kind = text(body, "type") or ""
    message = body.get("message") if kind == "message" else None
    role = text(message, "role") if isinstance(message, dict) else None
    if found.version < 3 and role == "hookMessage":
        role = "custom"
    key = own if own is not None and not record.detached else f"~{ordinal}"
    return Entry(ordinal, key, own, parent, kind, role, body, record.detached, kept, record)


def _kept_by_index(found: Session, body: Object, index: int) -> str | None:
    """Only earlier entries have their new ids while Pi migrates; other indexes keep nothing."""
    number = body.get("firstKeptEntryIndex")
    if not isinstance(number, Number):
        return None
    wanted = f"#{float(number.text):g}"
    return wanted if any(e.id == wanted for e in found.entries if not e.detached) else None


def _odd_parent(body: Object) -> str | None:
    """A parent that is no text names no entry; to Pi the entry is an orphan, not a root."""
    parent = body.get("parentId")
    return f"~{_spelled(parent)}" if truthy(parent) else None


def _spelled(value: Json) -> str:
    """Compact JSON, as Pi writes it."""
    if isinstance(value, list):
        return "[" + ",".join(map(_spelled, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{_spelled(k)}:{_spelled(v)}" for k, v in value.items()) + "}"
    return value.text if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


def _version(header: Object) -> int:
    """Missing or null means 1, above 3 means 3. Pi compares loosely: "2" is 2, other texts as 3."""
    value = header.get("version")
    if value is None or isinstance(value, bool) or value == "":
        return 1
    try:
        number = float(value.text if isinstance(value, Number) else str(value))
    except ValueError:
        return 3
    return int(min(max(number, 1), 3))


def text(body: Object, name: str) -> str | None:
    """A field that is a non-empty text; Pi treats the empty one as absent wherever it matters."""
    value = body.get(name)
    return value if isinstance(value, str) and value else None
