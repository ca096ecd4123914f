"""Small session files for tests in which what happens to the files matters, not what they hold."""

from __future__ import annotations

from typing import Any

from tests.strategies import Record, dump

WHEN = "2026-01-05T09:00:00.000Z"


def header(session_id: str, **fields: Any) -> bytes:
    """The first line of a session file."""
    head: Record = {"type": "session", "version": 3, "id": session_id, "timestamp": WHEN}
    return dump(head | {"cwd": "/work"} | fields) + b"\n"


def line(entry_id: str, parent: str | None, text: str, **fields: Any) -> bytes:
    """A line of a session file: what the user said."""
    message = {"role": "user", "content": text}
    record: Record = {"type": "message", "id": entry_id, "parentId": parent, "timestamp": WHEN}
    return dump(record | {"message": message} | fields) + b"\n"


def chain(first: int, count: int, text: str) -> bytes:
    """Lines of ``count`` entries from ``e<first>`` on, each below the one before."""
    return b"".join(
        line(f"e{n}", f"e{n - 1}" if n else None, f"{text} number{n}")
        for n in range(first, first + count)
    )
