"""Bytes of a session file -> its complete records, in file order, with a receipt for each oddity."""

import codecs
from collections import Counter
from dataclasses import dataclass, field

from tests.oracle.strictjson import Json, Number, decode_at, parse, repaired

START = '{"type":'


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
    if data.startswith(codecs.BOM_UTF8):
        at = len(codecs.BOM_UTF8)
        found.receipts["bom"] += 1
    *lines, rest = data[at:].split(b"\n")
    for number, line in enumerate(lines, 1):
        _read_line(found, line, number, at)
        at += len(line) + 1
    if isinstance(_value(rest), dict):
        _read_line(found, rest, len(lines) + 1, at)
    return found


def _read_line(found: Tail, line: bytes, number: int, at: int) -> None:
    body = line.strip()
    if not body:
        return
    start = at + line.index(body)
    value = _value(body)
    if value is not ...:
        found.records.append(_record(found, value, body, number, start, detached=False))
        return
    pieces, rest_is_blank = _pieces(body)
    for first, last in pieces:
        piece = body[first:last]
        value = _value(piece)
        assert value is not ...
        found.records.append(_record(found, value, piece, number, start + first, detached=True))
    nul = b"\0" in body
    if nul:
        found.receipts["nul-filled"] += 1
    if pieces:
        found.receipts["glued"] += 1
    if not rest_is_blank and not nul:
        found.receipts["torn" if pieces else "malformed"] += 1


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


def _value(raw: bytes) -> "Json | ellipsis":
    """What JSON.parse gives for a line decoded as Pi decodes it, or `...` where it throws."""
    try:
        return parse(raw.decode("utf-8", "replace"))
    except ValueError:
        return ...


def _pieces(body: bytes) -> tuple[list[tuple[int, int]], bool]:
    """Whole objects on a line that is no JSON value, and whether nothing but blanks is left over.

    A piece begins with `{"type":` and is followed by another such beginning or by the line's end:
    the content blocks inside a broken record begin alike, but a comma or bracket follows them.
    """
    text = body.decode("utf-8", "surrogateescape")  # keeps byte offsets recoverable
    pieces, covered, at = [], 0, text.find(START)
    blank = True
    while at >= 0:
        end = _piece_end(text, at)
        if end is None:
            at = text.find(START, at + 1)
            continue
        pieces.append((_bytes(text, at), _bytes(text, end)))
        blank = blank and not text[covered:at].strip()
        covered = end
        at = text.find(START, end)
    return pieces, blank and not text[covered:].strip()


def _piece_end(text: str, at: int) -> int | None:
    try:
        value, end = decode_at(text, at)
    except ValueError:
        return None
    after = text[end:].lstrip(" \t\r")
    return end if isinstance(value, dict) and (not after or after.startswith(START)) else None


def _bytes(text: str, chars: int) -> int:
    return len(text[:chars].encode("utf-8", "surrogateescape"))


def truthy(value: Json) -> bool:
    """JavaScript's idea of it: Pi asks `if (x)`, and there an empty list is true."""
    if isinstance(value, Number):
        return float(value.text) != 0
    return isinstance(value, list | dict) or bool(value)
