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
from dataclasses import dataclass
from typing import NamedTuple

_Component = Callable[[str], object] | None  # None stands for `**`


class _Pattern(NamedTuple):
    components: tuple[_Component, ...]
    directory_only: bool


@dataclass(frozen=True, slots=True)
class Globs:
    """Parsed patterns. False when there is none."""

    relative: tuple[_Pattern, ...] = ()
    full: tuple[_Pattern, ...] = ()

    @classmethod
    def parse(cls, patterns: Iterable[str]) -> Globs:
        """Every text is a pattern; one without any component (empty, ``/``) matches nothing."""
        relative: list[_Pattern] = []
        full: list[_Pattern] = []
        for text in patterns:
            names = [name for name in text.split("/") if name not in ("", ".")]
            if names and not text.startswith("/") and "/" not in text.rstrip("/"):
                names.insert(0, "**")
            if names:
                pattern = _compile(names, text.endswith("/"))
                (full if text.startswith("/") else relative).append(pattern)
        return cls(tuple(relative), tuple(full))

    def __bool__(self) -> bool:
        return bool(self.relative or self.full)

    def match(self, path: bytes, root: bytes, *, directory: bool) -> bool:
        """Whether a path, or a directory above it, is excluded.

        `root` is the session directory it was found in. A path that is not below it (the target
        of a link) and `root` itself are held against full patterns only.
        """
        if _any(self.full, _split(path), directory):
            return True
        prefix = root.rstrip(b"/") + b"/"
        if not path.startswith(prefix):
            return False
        return _any(self.relative, _split(path[len(prefix) :]), directory)


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


def _any(patterns: tuple[_Pattern, ...], parts: list[str], directory: bool) -> bool:
    return any(_excludes(pattern, parts, directory) for pattern in patterns)


def _excludes(pattern: _Pattern, parts: list[str], directory: bool) -> bool:
    # All ways through the pattern are followed at once, so no pattern is slow on any path.
    components = pattern.components
    reached = _skip_stars({0}, components)
    for depth, part in enumerate(parts, 1):
        reached = _skip_stars(_step(reached, components, part), components)
        is_directory = directory or depth < len(parts)
        if len(components) in reached and (is_directory or not pattern.directory_only):
            return True
    return False


def _step(reached: set[int], components: tuple[_Component, ...], part: str) -> set[int]:
    following = set()
    for at in reached:
        if at < len(components):
            component = components[at]
            if component is None:
                following.add(at)
            elif component(part):
                following.add(at + 1)
    return following


def _skip_stars(reached: set[int], components: tuple[_Component, ...]) -> set[int]:
    """Adds what is reached when each `**` stands for nothing."""
    for at in tuple(reached):
        following = at
        while following < len(components) and components[following] is None:
            following += 1
            reached.add(following)
    return reached
