"""Writes session files the way Pi does; the story chooses what happens and when."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
Block = dict[str, Any]

AGENT_SESSIONS = "/home/ada/.pi/agent/sessions"
PROVIDER = "harbour"


def to_line(value: Entry) -> str:
    """One record as JavaScript's JSON.stringify spells it, with the LF that ends it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds, as in every timestamp of a session."""
    return (
        moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
    )


def milliseconds(moment: datetime) -> int:
    """Milliseconds since 1970, as inside a message."""
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def folder(cwd: str) -> str:
    """The directory Pi makes of a working directory."""
    return "--" + cwd.strip("/").replace("/", "-") + "--"


def file_name(started: datetime, session_id: str) -> str:
    """Start time and session id."""
    stamp = iso(started).replace(":", "-").replace(".", "-")
    return f"{stamp}_{session_id}.jsonl"


def write_records(path: Path, records: list[Entry]) -> Path:
    """Writes one file and returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(to_line(record) for record in records).encode())
    return path


def text(value: str) -> Block:
    """A text block."""
    return {"type": "text", "text": value}


def thinking(value: str) -> Block:
    """A block of private reasoning; the index must never hold it."""
    signature = hashlib.sha256(value.encode()).hexdigest()
    return {"type": "thinking", "thinking": value, "thinkingSignature": signature}


def call(call_id: str, name: str, **arguments: Any) -> Block:
    """A tool call of an assistant message."""
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def image(data: str) -> Block:
    """A PNG as base64."""
    return {"type": "image", "data": data, "mimeType": "image/png"}


@dataclass
class Session:
    """One session in the making; `leaf` is the entry the next one is appended to."""

    session_id: str
    clock: datetime
    cwd: str
    model: str = "beacon-large"
    parent: Session | None = None
    leaf: str | None = None
    entries: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started = self.clock

    @property
    def location(self) -> str:
        """Directory and file name below the directory of all sessions."""
        return f"{folder(self.cwd)}/{file_name(self.started, self.session_id)}"

    def header(self) -> Entry:
        """The first record."""
        head: Entry = {
            "type": "session",
            "version": 3,
            "id": self.session_id,
            "timestamp": iso(self.started),
            "cwd": self.cwd,
        }
        if self.parent is not None:
            head["parentSession"] = f"{AGENT_SESSIONS}/{self.parent.location}"
        return head

    def wait(self, seconds: float) -> None:
        """Lets time pass."""
        self.clock += timedelta(seconds=seconds)

    def add(self, kind: str, *, after: float = 0.4, **fields: Any) -> str:
        """Appends an entry below the leaf and returns its id."""
        self.wait(after)
        number = len(self.entries)
        entry_id = hashlib.sha256(f"{self.session_id}/{number}".encode()).hexdigest()[:8]
        base = {"id": entry_id, "parentId": self.leaf, "timestamp": iso(self.clock)}
        # Pi puts what an extension wrote before the base fields, everything else behind them.
        entry = (
            {"type": kind, **fields, **base}
            if kind.startswith("custom")
            else {"type": kind, **base, **fields}
        )
        self.entries.append(entry)
        self.leaf = entry_id
        return entry_id

    def message(self, role: str, *, after: float, **fields: Any) -> str:
        """Appends a message entry."""
        moment = self.clock + timedelta(seconds=after)
        message = {"role": role, **fields, "timestamp": milliseconds(moment)}
        return self.add("message", after=after, message=message)

    def user(self, *blocks: Block | str, after: float = 42.0) -> str:
        """What the person typed."""
        content = [text(block) if isinstance(block, str) else block for block in blocks]
        return self.message("user", after=after, content=content)

    def assistant(self, *blocks: Block | str, after: float = 6.5, error: str | None = None) -> str:
        """An answer; it stops for tools when it holds a call, with an error when one is given."""
        content = [text(block) if isinstance(block, str) else block for block in blocks]
        calls = any(block["type"] == "toolCall" for block in content)
        fields: Entry = {
            "content": content,
            "api": "harbour-messages",
            "provider": PROVIDER,
            "model": self.model,
            "usage": usage(1800 + 410 * len(self.entries), len(json.dumps(content)) // 4),
            "stopReason": "error" if error else "toolUse" if calls else "stop",
        }
        if error:
            fields["errorMessage"] = error
        return self.message("assistant", after=after, **fields)

    def result(
        self,
        call_id: str,
        name: str,
        output: str,
        *,
        error: bool = False,
        details: Entry | None = None,
        after: float = 0.8,
    ) -> str:
        """What a tool gave back."""
        fields: Entry = {
            "toolCallId": call_id,
            "toolName": name,
            "content": [text(output)],
            "isError": error,
        }
        if details is not None:
            fields["details"] = details
        return self.message("toolResult", after=after, **fields)

    def bash(self, command: str, output: str, code: int, *, hidden: bool = False) -> str:
        """A command the person ran with `!` (or `!!`, which the model never sees)."""
        entry_id = self.message(
            "bashExecution",
            after=15,
            command=command,
            output=output,
            exitCode=code,
            cancelled=False,
            truncated=False,
        )
        if hidden:
            self.entries[-1]["message"]["excludeFromContext"] = True
        return entry_id

    def copy_path(self, source: Session, leaf: str) -> None:
        """Copies root to leaf as `/fork` does: same ids, labels written again at the end."""
        by_id = {entry["id"]: entry for entry in source.entries}
        path: list[Entry] = []
        at: str | None = leaf
        while at is not None:
            path.append(by_id[at])
            at = by_id[at]["parentId"]
        for entry in reversed(path):
            if entry["type"] != "label":
                self.entries.append({**entry, "parentId": self.leaf})
                self.leaf = entry["id"]
        kept = {entry["id"] for entry in self.entries}
        for entry in source.entries:
            if entry["type"] == "label" and entry["targetId"] in kept:
                self.add("label", after=0, targetId=entry["targetId"], label=entry["label"])
                self.entries[-1]["timestamp"] = entry["timestamp"]

    def write(self, root: Path) -> Path:
        """Writes the file below `root` and returns its path."""
        return write_records(root / self.location, [self.header(), *self.entries])


def usage(sent: int, received: int) -> Entry:
    """What a request cost, in tokens; the price is left at nothing."""
    return {
        "input": sent,
        "output": received,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": sent + received,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
    }
