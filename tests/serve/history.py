"""Small session files with known ids and words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class Session:
    """Writes one linear session; ids are `<session id>-0`, `-1`, ... unless given."""

    def __init__(
        self,
        directory: Path,
        session_id: str,
        cwd: str,
        *,
        hour: int = 9,
        parent: str | None = None,
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.id = session_id
        self.path = directory / f"2026-03-01T{hour:02}-00-00-000Z_{session_id}.jsonl"
        self._hour = hour
        self._count = 0
        self._last: str | None = None
        header: dict[str, Any] = {
            "type": "session",
            "version": 3,
            "id": session_id,
            "timestamp": self._time(),
            "cwd": cwd,
        }
        if parent is not None:
            header["parentSession"] = parent
        self.raw(header)

    def raw(self, record: Mapping[str, Any]) -> None:
        """Appends one record as it is."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")

    def add(self, kind: str = "message", entry_id: str | None = None, **fields: Any) -> str:
        """Appends an entry behind the last one and returns its id."""
        entry_id = entry_id or f"{self.id}-{self._count}"
        record = {
            "type": kind,
            "id": entry_id,
            "parentId": self._last,
            "timestamp": self._time(),
            **fields,
        }
        self.raw(record)
        self._count += 1
        self._last = entry_id
        return entry_id

    def user(self, text: str) -> str:
        """What a person said."""
        return self.add(message={"role": "user", "content": text, "timestamp": 1})

    def assistant(self, text: str, calls: Sequence[Mapping[str, Any]] = ()) -> str:
        """What the model said, and the tools it called: `{"id", "name", "arguments"}`."""
        content: list[Mapping[str, Any]] = [{"type": "text", "text": text}]
        content += [{"type": "toolCall", **call} for call in calls]
        return self.add(message={"role": "assistant", "content": content, "timestamp": 1})

    def result(self, call_id: str, name: str, text: str, *, is_error: bool = False) -> str:
        """What a tool returned."""
        return self.add(
            message={
                "role": "toolResult",
                "toolCallId": call_id,
                "toolName": name,
                "content": [{"type": "text", "text": text}],
                "isError": is_error,
                "timestamp": 1,
            }
        )

    def name(self, name: str) -> str:
        """The title of the session."""
        return self.add("session_info", name=name)

    def _time(self) -> str:
        return f"2026-03-01T{self._hour:02}:{self._count // 60:02}:{self._count % 60:02}.000Z"
