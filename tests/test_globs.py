"""Exclude patterns, against single cases and a naive reading of the rule."""

from __future__ import annotations

import fnmatch
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pi_event_search.ingest.globs import Globs

ROOT = "/s/root"


def excluded(pattern: str, path: str, *, directory: bool = False, root: str = ROOT) -> bool:
    return Globs([pattern]).match(os.fsencode(path), os.fsencode(root), directory=directory)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        # A bare name, at any depth, and what is below a directory of that name.
        ("x.jsonl", "x.jsonl", True),
        ("x.jsonl", "a/b/x.jsonl", True),
        ("x.jsonl", "a/xx.jsonl", False),
        ("a", "a/x.jsonl", True),
        ("a", "b/a/c/x.jsonl", True),
        ("a", "ab/x.jsonl", False),
        ("A", "a/x.jsonl", False),
        ("*.tmp.jsonl", "a/b.tmp.jsonl", True),
        ("[ab]?.jsonl", "c/b1.jsonl", True),
        ("[!ab]*", "b/a.jsonl", False),
        # From the session directory.
        ("a/*.jsonl", "a/x.jsonl", True),
        ("a/*.jsonl", "b/a/x.jsonl", False),
        ("a/*.jsonl", "a/b/x.jsonl", False),
        ("*/x.jsonl", "a/x.jsonl", True),
        ("*/x.jsonl", "x.jsonl", False),
        ("a/b", "a/b/c/x.jsonl", True),
        ("./a/b", "a/b/x.jsonl", True),
        ("a//b", "a/b/x.jsonl", True),
        # Any number of components.
        ("**/x.jsonl", "x.jsonl", True),
        ("**/x.jsonl", "a/b/x.jsonl", True),
        ("a/**/x.jsonl", "a/x.jsonl", True),
        ("a/**/x.jsonl", "a/b/c/x.jsonl", True),
        ("a/**/b/**/x", "a/b/x/y.jsonl", True),
        ("a/**/b/**/x", "a/x/y.jsonl", False),
        ("a/**", "a/x.jsonl", True),
        ("a/**", "a/b/x.jsonl", True),
        ("a/**", "b/a/x.jsonl", False),
        ("a/**", "a", False),
        ("x.jsonl/**", "x.jsonl", False),
        ("**/a/**", "b/a/x.jsonl", True),
        ("**", "x.jsonl", True),
        ("**", "a/x.jsonl", True),
        # A slash at the end: directories only, still at any depth.
        ("a/", "b/a/x.jsonl", True),
        ("x.jsonl/", "a/x.jsonl", False),
        ("a/b/", "a/b/x.jsonl", True),
        # Nothing in particular.
        ("", "x.jsonl", False),
        ("/", "x.jsonl", False),
        (".", "x.jsonl", False),
        ("..", "x.jsonl", False),
        # Full paths.
        ("/s/root/a", "a/x.jsonl", True),
        ("/s/*/a", "a/x.jsonl", True),
        ("/s/**", "x.jsonl", True),
        ("/**/x.jsonl", "a/x.jsonl", True),
        ("/**", "x.jsonl", True),
        ("/a/x.jsonl", "a/x.jsonl", False),
        ("/s/root/x.jsonl", "x.jsonl", True),
        ("/s/ro", "x.jsonl", False),
        # Characters that need no special care.
        ("*.jsonl", "a\nb.jsonl", True),
        ("?.jsonl", "é.jsonl", True),
        ("?.jsonl", os.fsdecode(b"\xff.jsonl"), True),
        ("a.b", "axb", False),
    ],
)
def test_patterns(pattern: str, path: str, expected: bool) -> None:
    assert excluded(pattern, f"{ROOT}/{path}") is expected


def test_directories_themselves() -> None:
    for pattern in ("a", "a/", "a/**", "**", "/s/root/a/**"):
        assert excluded(pattern, f"{ROOT}/a", directory=True)
    assert not excluded("a/b", f"{ROOT}/a", directory=True)
    assert not excluded("a/**/b", f"{ROOT}/a", directory=True)


def test_session_directory_itself_only_by_full_path() -> None:
    assert not excluded("root", ROOT, directory=True)
    assert not excluded("**", ROOT, directory=True)
    assert excluded("/s/root", ROOT, directory=True)
    assert excluded("/s/root/**", ROOT, directory=True)


def test_targets_outside_only_by_full_path() -> None:
    assert not excluded("x.jsonl", "/elsewhere/x.jsonl")
    assert not excluded("x.jsonl", "/s/root2/x.jsonl")
    assert excluded("/elsewhere", "/elsewhere/a/x.jsonl")


def test_root_of_the_file_system_as_session_directory() -> None:
    assert excluded("x.jsonl", "/x.jsonl", root="/")
    assert excluded("a/b", "/a/b/x.jsonl", root="/")
    assert not excluded("a/b", "/c/a/b/x.jsonl", root="/")


def test_truth_says_whether_there_is_anything_to_match() -> None:
    assert not Globs()
    assert not Globs(["", "/"])
    assert Globs(["a"])
    assert Globs(["/a"])


def test_many_stars_are_no_trouble() -> None:
    pattern = "/".join(["**", "a*a*a*a*b"] * 20)
    path = "/".join(["a" * 50] * 60)
    assert not excluded(pattern, f"{ROOT}/{path}")


def naive(pattern: list[str], parts: list[str]) -> bool:
    """Whether all of a path below the session directory is matched by all of a pattern."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(naive(pattern[1:], parts[i:]) for i in range(len(parts) + 1))
    return (
        bool(parts) and fnmatch.fnmatchcase(parts[0], pattern[0]) and naive(pattern[1:], parts[1:])
    )


PIECES = st.sampled_from(["a", "b", "ab", "*", "a*", "?", "**", "[ab]"])
PARTS = st.sampled_from(["a", "b", "ab", "ba"])


@given(st.lists(PIECES, min_size=2, max_size=5), st.lists(PARTS, min_size=1, max_size=5))
def test_against_a_naive_reading(pattern: list[str], parts: list[str]) -> None:
    below = pattern[-1] == "**"
    while len(pattern) > 1 and pattern[-1] == "**":
        pattern = pattern[:-1]
    above = any(naive(pattern, parts[:i]) for i in range(len(parts)))
    expected = above or (not below and naive(pattern, parts))
    # `./` makes a lone name a path from the session directory.
    text = "./" + "/".join([*pattern, "**"] if below else pattern)
    assert excluded(text, "/".join([ROOT, *parts])) is expected
