"""The verdict of JavaScript's JSON.parse on a text, with numbers kept as they were written.

Python's own parser does the work. Four things differ from JSON.parse and are evened out here: NaN
and Infinity are refused, numbers of any length are taken, nesting has no limit, and lone surrogates
become U+FFFD.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeAlias


@dataclass(frozen=True)
class Number:
    """A number as the text spells it; two spellings of one value are two Numbers."""

    text: str


Json: TypeAlias = "bool | Number | str | list[Json] | dict[str, Json] | None"

_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(
    r'[ \t\n\r]*(?:([\[\]{},:])|("(?:[^"\\\x00-\x1f]|\\.)*")'
    r"|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)|(true|false|null))"
)
_CLOSES = {("]", "value or ]"), ("]", ", or ]"), ("}", "key or }"), ("}", ", or }")}


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_int=Number, parse_float=Number)


def decode_at(text: str, start: int) -> tuple[Json, int]:
    """The JSON value that begins exactly at `start`, and where it ends; ValueError without one."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        return _decode_deep(text, start)
    return value, end


def parse(text: str) -> Json:
    """The only JSON value in `text`; ValueError when JSON.parse would throw."""
    body = text.strip(" \t\n\r")
    value, end = decode_at(body, 0)
    if end != len(body):
        raise ValueError(f"text behind the value at {end}")
    return value


def repaired(value: Json) -> tuple[Json, bool]:
    """The value with U+FFFD for every lone surrogate, and whether there was one."""
    found = False

    def fix(text: str) -> str:
        nonlocal found
        fixed = _SURROGATE.sub("\ufffd", text)
        found = found or fixed != text
        return fixed

    return _map_strings(value, fix), found


def _map_strings(value: Json, fix: Callable[[str], str]) -> Json:
    """Applies `fix` to every string and key; a stack instead of recursion, since depth is input."""
    top: list[Json] = [value]
    todo: list[list[Json] | dict[str, Json]] = [top]
    while todo:
        box = todo.pop()
        if isinstance(box, dict):
            items = [(fix(key), item) for key, item in box.items()]
            box.clear()
            box.update(items)
        keys = list(box) if isinstance(box, dict) else range(len(box))
        for key in keys:
            item = box[key]  # type: ignore[index]
            if isinstance(item, str):
                box[key] = fix(item)  # type: ignore[index]
            elif isinstance(item, list | dict):
                todo.append(item)
    return top[0]


def _decode_deep(text: str, start: int) -> tuple[Json, int]:
    """As `decode_at`, for nesting beyond Python's recursion limit: one stack, one token a turn."""
    stack: list[tuple[list[Json] | dict[str, Json], str | None]] = []
    box: list[Json] | dict[str, Json] = []
    key: str | None = None
    expect, at = "value", start
    while True:
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"no token at {at}")
        mark, string, number, word = match.groups()
        at = match.end()
        done: Json
        if mark is not None and mark in "[{" and expect in ("value", "value or ]"):
            stack.append((box, key))
            box, key = ([], None) if mark == "[" else ({}, None)
            expect = "value or ]" if mark == "[" else "key or }"
            continue
        if mark is not None and (mark, expect) in _CLOSES:
            done = box
            box, key = stack.pop()
        elif mark == "," and expect in (", or ]", ", or }"):
            expect = "value" if expect == ", or ]" else "key"
            continue
        elif string is not None and expect in ("key", "key or }"):
            key, expect = json.loads(string), ":"
            continue
        elif mark == ":" and expect == ":":
            expect = "value"
            continue
        elif mark is None and expect in ("value", "value or ]"):
            done = (
                json.loads(string)
                if string is not None
                else Number(number)
                if number is not None
                else {"true": True, "false": False, "null": None}[word]
            )
        else:
            raise ValueError(f"expected {expect} before {at}")
        if not stack:
            return done, at
        if isinstance(box, dict):
            box[key or ""] = done
            expect = ", or }"
        else:
            box.append(done)
            expect = ", or ]"
