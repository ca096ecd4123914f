"""Bytes of a session file -> its complete records in file order, and a receipt for each oddity."""

import codecs
from collections import Counter
from dataclasses import dataclass, field

from tests.oracle.strictjson import Json, Number, decode_at, parse, repaired

START = '{"type"'
_BLOCKS = ("text", "image", "thinking", "toolCall")
_JSON_SPACE = b" \t\r\n"
_JS_SPACE = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
)
_JS_SPACE += "\u2028\u2029\u202f\u205f\u3000\ufeff"


@dataclass(frozen=True)
class Record:
    """One JSON value of the file."""

    line: int
    start: int
    end: int
    value: Json
    detached: bool
    """Found on a line that Pi skips as a whole: searchable, but outside the tree."""


@dataclass
class Tail:
    """What a reader who sees exactly these bytes may know."""

    records: list[Record] = field(default_factory=list)
    receipts: Counter[str] = field(default_factory=Counter)


def tail(data: bytes) -> Tail:
    """Records end in LF and in nothing else; one whole object at the very end needs no LF."""
    found = Tail()
    at = 0
    if data.startswith(codecs.BOM_UTF8):  # Pi refuses such a file; there is no need to
        at = len(codecs.BOM_UTF8)
        found.receipts["bom"] += 1
    *lines, rest = data[at:].split(b"\n")
    for number, line in enumerate(lines, 1):
        _read_line(found, line, number, at)
        at += len(line) + 1
    last = _value(rest)
    if last is not None and isinstance(last[0], dict):
        _read_line(found, rest, len(lines) + 1, at)
    return found


def _read_line(found: Tail, line: bytes, number: int, at: int) -> None:
    body = line.strip(_JSON_SPACE)
    if not body.decode("utf-8", "replace").strip(_JS_SPACE):
        return
    start = at + line.index(body)
    value = _value(body)
    if value is not None:
        found.records.append(_record(found, value[0], body, number, start, detached=False))
        return
    if body.startswith(codecs.BOM_UTF8):  # inside a file it makes Pi skip the line
        found.receipts["bom"] += 1
        start += len(codecs.BOM_UTF8)
        body = body.removeprefix(codecs.BOM_UTF8)
    covered = 0
    for first, last in _pieces(body):
        _explain(found, body[covered:first], before_record=True)
        piece, covered = body[first:last], last
        value = _value(piece)
        assert value is not None
        found.receipts["glued"] += 1
        found.records.append(_record(found, value[0], piece, number, start + first, detached=True))
    _explain(found, body[covered:], before_record=False)


def _explain(found: Tail, rest: bytes, *, before_record: bool) -> None:
    """A receipt for a stretch of a line that is no record."""
    bare = rest.lstrip(b"\0" + _JSON_SPACE)
    if b"\0" in rest[: len(rest) - len(bare)]:
        found.receipts["nul-filled"] += 1
    if bare:
        torn = before_record and bare.startswith(b"{")
        found.receipts["torn" if torn else "malformed"] += 1


def _record(
    found: Tail, value: Json, raw: bytes, line: int, start: int, *, detached: bool
) -> Record:
    value, surrogates = repaired(value)
    if surrogates:
        found.receipts["repaired-surrogate"] += 1
    if raw.decode("utf-8", "ignore").encode() != raw:
        found.receipts["invalid-utf8"] += 1
    if not isinstance(value, dict):
        found.receipts["non-object"] += 1
    return Record(line, start, start + len(raw), value, detached)


def _value(raw: bytes) -> tuple[Json] | None:
    """What JSON.parse gives for a line decoded as Pi decodes it, or None where it throws."""
    try:
        return (parse(raw.decode("utf-8", "replace")),)
    except ValueError:
        return None


def _pieces(body: bytes) -> list[tuple[int, int]]:
    """Whole records on a line that is no JSON value.

    A record is an object with a record's fields, behind which the line or the next object begins.
    It starts with its type; only at the line's start and behind a record may another key be first.
    """
    text = body.decode("utf-8", "surrogateescape")  # keeps byte offsets recoverable
    found: list[tuple[int, int]] = []
    at, border = 0, True
    while True:
        if not (border and text[at : at + 1] == "{"):
            at = text.find(START, at)
        if at < 0:
            return found
        end = _piece_end(text, at)
        border = end is not None
        if end is None:
            at += 1
            continue
        found.append((_bytes(text, at), _bytes(text, end)))
        at = end + len(text[end:]) - len(text[end:].lstrip(" \t\r"))


def _piece_end(text: str, at: int) -> int | None:
    try:
        value, end = decode_at(text, at)
    except ValueError:
        return None
    after = text[end:].lstrip(" \t\r")
    return end if _is_record(value) and after[:1] in ("", "{") else None


def _is_record(value: Json) -> bool:
    """A content block inside a broken record begins like one, but has not its fields."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    placed = any(name in value for name in ("id", "parentId", "timestamp"))
    return isinstance(kind, str) and kind not in _BLOCKS and placed


def _bytes(text: str, chars: int) -> int:
    return len(text[:chars].encode("utf-8", "surrogateescape"))


def truthy(value: Json) -> bool:
    """JavaScript's idea of it: Pi asks `if (x)`, and there an empty list is true."""
    if isinstance(value, Number):
        return float(value.text) != 0
    return isinstance(value, list | dict) or bool(value)
