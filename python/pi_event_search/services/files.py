"""`--file`: events whose recognised tool calls or summaries touched a file.

Tools name a file as they like: relative to the session's directory, absolute, below `~`, with the
`@` that Pi takes off. All of them are resolved here, at the time of asking, against the directory
recorded in the session. The file asked for is an absolute path, a path relative to where the
caller or the session works (`../notes.md`), or the end of a path (`src/main.rs`, `main.rs`).
"""

from __future__ import annotations

import os
import posixpath
import sqlite3
import unicodedata
from collections.abc import Iterator

from pi_event_search.access.scope import Scope
from pi_event_search.store.schema import FILE_KINDS, epoch_of

_MANY = 500
_TYPED = str.maketrans(
    {"\u2019": "'", "\u202f": " ", "\u00a0": " ", "\u3000": " ", "\u2009": " ", "\u2002": " "}
)
"""Characters of file names that a keyboard does not have, and what is typed in their place."""


def events_touching(connection: sqlite3.Connection, scope: Scope, asked: str) -> set[int]:
    """Numbers of the visible events that touched the file."""
    wanted = _Wanted(asked, scope.cwd)
    found: set[int] = set()
    references = [
        reference
        for (reference,) in connection.execute(
            f"SELECT DISTINCT reference FROM relationships WHERE kind IN {FILE_KINDS}"
        )
        if wanted.may_be(reference)
    ]
    for event, reference in _mentions(connection, references):
        if scope.shows(event):
            cwd = scope.sessions[epoch_of(event)].cwd or ""
            if event not in found and wanted.matches(reference, cwd):
                found.add(event)
    return found


def _mentions(connection: sqlite3.Connection, references: list[str]) -> Iterator[tuple[int, str]]:
    for start in range(0, len(references), _MANY):
        some = references[start : start + _MANY]
        yield from connection.execute(
            f"SELECT event, reference FROM relationships WHERE kind IN {FILE_KINDS}"
            f" AND reference IN ({', '.join('?' * len(some))})",
            some,
        )


class _Wanted:
    """The file asked for, ready to be compared with many recorded paths."""

    def __init__(self, asked: str, cwd: str) -> None:
        path = _plain(asked)
        self._path = posixpath.normpath(path) if path else path
        self._here = posixpath.normpath(posixpath.join(cwd, self._path))
        self._climbs = self._path == "." or self._path.split("/", 1)[0] == ".."
        self._name = posixpath.basename(self._here if self._climbs else self._path)

    def may_be(self, reference: str) -> bool:
        """A quick look at the name alone; true for every path that matches in some session."""
        if self._climbs or reference.endswith(self._name):
            return True
        return posixpath.basename(posixpath.normpath(_plain(reference))) == self._name

    def matches(self, reference: str, cwd: str) -> bool:
        """Whether a path recorded in a session of that directory is the file."""
        recorded = posixpath.normpath(posixpath.join(_plain(cwd), _plain(reference)))
        if self._path.startswith("/"):
            # Without a recorded directory only the end of the path is known.
            ends = not recorded.startswith("/") and self._path.endswith("/" + recorded)
            return recorded == self._path or ends
        if self._climbs:
            there = posixpath.normpath(posixpath.join(_plain(cwd), self._path))
            return recorded in (self._here, there)
        return recorded == self._path or recorded.endswith("/" + self._path)


def _plain(path: str) -> str:
    """A path as Pi resolves it, spelled as it would be typed."""
    path = path.strip().removeprefix("@")
    if not path.isascii():
        path = unicodedata.normalize("NFC", path).translate(_TYPED)
    if path == "~" or path.startswith("~/"):
        return os.path.expanduser("~") + path[1:]  # noqa: PTH111
    return path
