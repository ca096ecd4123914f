"""The table of cases names tests that exist, and every case has one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tests" / "CASES.md"
CASES = 73


def rows() -> list[tuple[int, list[str]]]:
    """Number and named tests of each case."""
    found = re.findall(r"^\| (\d+) \| [^|]+ \| (.+) \|$", TABLE.read_text(), re.MULTILINE)
    return [(int(number), re.findall(r"`([^`]+)`", tests)) for number, tests in found]


@cache
def functions_in(path: str) -> frozenset[str]:
    """The tests in a file."""
    text = (ROOT / path).read_text()
    if path.endswith(".rs"):
        return frozenset(re.findall(r"\bfn (\w+)\(", text))
    return frozenset(_named(ast.parse(text).body, ""))


def _named(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef) and statement.name.startswith("test_"):
            yield prefix + statement.name
        elif isinstance(statement, ast.ClassDef):
            yield from _named(statement.body, f"{statement.name}::")


def test_every_case_has_its_row() -> None:
    assert [number for number, _ in rows()] == list(range(1, CASES + 1))
    assert all(tests for _, tests in rows())


def test_every_named_test_exists() -> None:
    missing = [
        (number, test)
        for number, tests in rows()
        for test in tests
        if test.partition("::")[2] not in functions_in(test.partition("::")[0])
    ]
    assert missing == []
