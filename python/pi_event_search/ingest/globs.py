"""Exclude patterns for session files.

A pattern is matched component by component, each as in `fnmatch`: ``*`` and ``?`` never cross a
``/``, letter case counts, and a component ``**`` stands for any number of components.

- Without a ``/``: a file or directory name at any depth (``*-scratch--``, ``old.jsonl``).
- With a ``/``: the path from the session directory (``2024/*.jsonl``).
- With a leading ``/``: the full path (``/mnt/archive/**/tmp``).

A directory that matches is excluded with everything below it and not entered. ``dir/**`` does the
same for ``dir`` but spares a file of that name, and so does a slash at the end of any pattern.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

_Component = Callable[[str], object] | None  # None stands for `**`


class _Pattern(NamedTuple):
    components: tuple[_Component, ...]
    directory_only: bool


# Patterns that may still match below some directory, each with the components reached there. None
# when the directory is excluded itself.
_Level = list[tuple[_Pattern, set[int]]] | None


class Globs:
    """Parsed patterns. False when there is none."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        """Every text is a pattern; one without any component (empty, ``/``) matches nothing."""
        self._relative: list[_Pattern] = []
        self._full: list[_Pattern] = []
        # Directories hold many files: what was reached in them is worked out once.
        self._levels: dict[tuple[bytes, bytes], _Level] = {}
        for text in patterns:
            names = [name for name in text.split("/") if name not in ("", ".")]
            if names and not text.startswith("/") and "/" not in text.rstrip("/"):
                names.insert(0, "**")
            if names:
                pattern = _compile(names, text.endswith("/"))
                (self._full if text.startswith("/") else self._relative).append(pattern)

    def __bool__(self) -> bool:
        return bool(self._relative or self._full)

    def match(self, path: bytes, root: bytes, *, directory: bool) -> bool:
        """Whether an absolute path, or a directory above it, is excluded.

        `root` is the session directory it was found in. A path that is not below it (the target
        of a link) and `root` itself are held against full patterns only.
        """
        parent, _, name = path.rpartition(b"/")
        key = (parent or b"/", root)
        if key not in self._levels:
            self._levels[key] = self._level(*key)
        level = self._levels[key]
        return level is None or _excludes(level, os.fsdecode(name), directory)

    def _level(self, directory: bytes, root: bytes) -> _Level:
        full = _reach(self._full, _split(directory))
        prefix = os.path.join(root, b"")
        if full is None or not (directory == root or directory.startswith(prefix)):
            return full
        relative = _reach(self._relative, _split(directory[len(prefix) :]))
        return None if relative is None else full + relative


def _compile(names: list[str], directory_only: bool) -> _Pattern:
    if names[-1] == "**" and any(name != "**" for name in names):
        # What `dir/**` excludes is all below `dir`; leaving `dir` unread follows from that.
        directory_only = True
        while names[-1] == "**":
            names = names[:-1]
    return _Pattern(tuple(map(_component, names)), directory_only)


def _component(name: str) -> _Component:
    return None if name == "**" else re.compile(fnmatch.translate(name)).match


def _split(path: bytes) -> list[str]:
    return [part for part in os.fsdecode(path).split("/") if part]


def _reach(patterns: list[_Pattern], parts: list[str]) -> _Level:
    level = [(p, _skip_stars({0}, p.components)) for p in patterns]
    for part in parts:
        if _excludes(level, part, True):
            return None
        level = [(p, _step(reached, p.components, part)) for p, reached in level]
    return [(pattern, reached) for pattern, reached in level if reached]


def _excludes(level: list[tuple[_Pattern, set[int]]], name: str, directory: bool) -> bool:
    for pattern, reached in level:
        if pattern.directory_only and not directory:
            continue
        # Only a pattern of nothing but `**` still ends in one; see `_compile`.
        last = pattern.components[-1]
        if last is None or (len(pattern.components) - 1 in reached and last(name)):
            return True
    return False


def _step(reached: set[int], components: tuple[_Component, ...], part: str) -> set[int]:
    # All ways through the pattern are followed at once, so no pattern is slow on any path.
    following = set()
    for at in reached:
        if at < len(components):
            component = components[at]
            if component is None:
                following.add(at)
            elif component(part):
                following.add(at + 1)
    return _skip_stars(following, components) if following else following


def _skip_stars(reached: set[int], components: tuple[_Component, ...]) -> set[int]:
    """Adds what is reached when each `**` stands for nothing."""
    for at in tuple(reached):
        following = at
        while following < len(components) and components[following] is None:
            following += 1
            reached.add(following)
    return reached
