"""Lines of session files from small numbers, so that a failing history is short to read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.sessions import WHEN, header, line
from tests.strategies import Record, dump

KINDS = 20
"""How many kinds of lines there are; the first ones are plain messages."""


@dataclass
class Author:
    """Writes the lines of one session file. Ids and words are never used twice by a machine."""

    session_id: str
    numbers: list[int]
    """The last number used, shared by all authors of a machine."""
    ids: list[str] = field(default_factory=list)

    def head(self, **fields: Any) -> bytes:
        """The header."""
        return header(self.session_id, **fields)

    def lines(self, kinds: list[int]) -> bytes:
        """Lines of these kinds."""
        return b"".join(self._line(kind) for kind in kinds)

    def _line(self, kind: int) -> bytes:
        leaf = self.ids[-1] if self.ids else None
        early = self.ids[kind % len(self.ids)] if self.ids else None
        text = f"common word{self.numbers[0]}"
        match kind:
            case 12:
                return line(self._new(), early, text)  # a branch
            case 13 if early is not None:
                return line(early, leaf, f"{text} once more")  # an id for the second time
            case 14:
                return line(self._new(), f"missing{self.numbers[0]}", text)
            case 15:
                return b'{"type":"message","id":"torn\n'
            case 16:
                return line(self._new(), leaf, text)[:-1] + line(self._new(), leaf, text)
            case 17:
                return line("", leaf, text)  # without an id
            case 18:
                return b"\r\n"
            case 19:
                return line(self._new(), leaf, text).replace(b'"user"', b'"user\xff"')
            case 8 | 9 | 10 | 11 if early is not None:
                return self._entry(leaf, _ENTRIES[kind - 8](early, text))
        return line(self._new(), leaf, text)

    def _entry(self, parent: str | None, fields: Record) -> bytes:
        return dump({"id": self._new(), "parentId": parent, "timestamp": WHEN} | fields) + b"\n"

    def _new(self) -> str:
        self.numbers[0] += 1
        self.ids.append(f"e{self.numbers[0]}")
        return self.ids[-1]


_ENTRIES = (
    lambda early, text: {"type": "label", "targetId": early, "label": text},
    lambda early, text: {"type": "compaction", "summary": text, "firstKeptEntryId": early},
    lambda early, text: {"type": "context_edit", "targetId": early, "replacement": None},
    lambda early, text: {"type": "session_info", "name": text},
)
