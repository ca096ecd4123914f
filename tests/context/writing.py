"""Session files written entry by entry, the way Pi would write them."""

from __future__ import annotations

from typing import Any

from tests.strategies import Record, dump


class Log:
    """One session file in the making. Times advance by a second an entry."""

    def __init__(self, session_id: str, *, cwd: str = "/work", parent: str | None = None) -> None:
        self.id = session_id
        self.header: Record = {
            "type": "session", "version": 3, "id": session_id, "timestamp": time_of(0), "cwd": cwd,
        }  # fmt: skip
        if parent is not None:
            self.header["parentSession"] = parent
        self.entries: list[Record] = []

    @property
    def data(self) -> bytes:
        return b"".join(dump(record) + b"\n" for record in [self.header, *self.entries])

    def tail(self, count: int) -> bytes:
        """The last entries as bytes."""
        return b"".join(dump(record) + b"\n" for record in self.entries[-count:])

    def entry(self, own: str, parent: str | None, kind: str, **fields: Any) -> Log:
        """Appends an entry of any type."""
        at = time_of(len(self.entries) + 1)
        self.entries.append(
            {"type": kind, "id": own, "parentId": parent, "timestamp": at, **fields}
        )
        return self

    def message(self, own: str, parent: str | None, role: str, content: Any, **fields: Any) -> Log:
        return self.entry(
            own, parent, "message", message={"role": role, "content": content, **fields}
        )

    def user(self, own: str, parent: str | None, text: str = "") -> Log:
        return self.message(own, parent, "user", text or f"text of {own}")

    def calls(self, own: str, parent: str | None, *calls: str, tool: str = "bash") -> Log:
        """An assistant message with tool calls of these ids."""
        blocks = [{"type": "toolCall", "id": c, "name": tool, "arguments": {}} for c in calls]
        return self.message(own, parent, "assistant", blocks, stopReason="toolUse")

    def result(self, own: str, parent: str | None, call: str, tool: str = "bash") -> Log:
        return self.message(
            own, parent, "toolResult", f"result of {call}", toolCallId=call, toolName=tool
        )

    def chain(self, *ids: str, parent: str | None = None) -> Log:
        """User messages, each the child of the one before."""
        for own in ids:
            self.user(own, parent)
            parent = own
        return self

    def fork(self, session_id: str, *ids: str, cwd: str = "/work", parent: str = "") -> Log:
        """A new session that begins with copies of these entries, or of all."""
        log = Log(session_id, cwd=cwd, parent=parent or f"/sessions/{self.id}.jsonl")
        log.entries = [dict(e) for e in self.entries if not ids or e["id"] in ids]
        return log


def time_of(second: int) -> str:
    return f"2026-01-05T09:{second // 60:02d}:{second % 60:02d}.000Z"
