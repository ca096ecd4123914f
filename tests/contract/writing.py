"""Session files for these tests, written record by record as Pi writes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from tests.strategies import dump

Record = dict[str, Any]
START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def iso(moment: datetime) -> str:
    """As in every record: UTC with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def said(text: str) -> Record:
    """A text block."""
    return {"type": "text", "text": text}


def call(call_id: str, name: str, **arguments: Any) -> Record:
    """A tool call block."""
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


class Pi:
    """One session in the making. Every method appends a record below the leaf and gives its id."""

    def __init__(
        self,
        session_id: str,
        cwd: Path | str | None,
        *,
        started: datetime = START,
        parent: Path | None = None,
    ) -> None:
        self.session_id = session_id
        self.clock = started
        self.leaf: str | None = None
        self.header: Record = {
            "type": "session",
            "version": 3,
            "id": session_id,
            "timestamp": iso(started),
        }
        if cwd is not None:
            self.header["cwd"] = str(cwd)
        if parent is not None:
            self.header["parentSession"] = str(parent)
        self.entries: list[Record] = []
        self.path = Path()
        self._written = 0

    def add(
        self, kind: str, *, at: datetime | None = None, entry_id: str = "", **fields: Any
    ) -> str:
        """Any entry. It gets the next minute unless a time is given."""
        self.clock += timedelta(minutes=1)
        entry_id = entry_id or f"{self.session_id}-{len(self.entries)}"
        record = {
            "type": kind,
            "id": entry_id,
            "parentId": self.leaf,
            "timestamp": iso(at or self.clock),
            **fields,
        }
        self.entries.append(record)
        self.leaf = entry_id
        return entry_id

    def message(
        self, role: str, *, at: datetime | None = None, entry_id: str = "", **fields: Any
    ) -> str:
        return self.add("message", at=at, entry_id=entry_id, message={"role": role, **fields})

    def user(self, text: str, **where: Any) -> str:
        return self.message("user", content=[said(text)], **where)

    def assistant(self, *blocks: Record | str, error: str | None = None, **where: Any) -> str:
        content = [said(block) if isinstance(block, str) else block for block in blocks]
        fields: Record = {"content": content, "stopReason": "error" if error else "stop"}
        if error:
            fields["errorMessage"] = error
        return self.message("assistant", **fields, **where)

    def result(self, call_id: str, name: str, text: str, *, failed: bool = False) -> str:
        return self.message(
            "toolResult",
            toolCallId=call_id,
            toolName=name,
            content=[said(text)],
            isError=failed,
        )

    def bash(self, command: str, output: str, code: int | None = 0, *, hidden: bool = False) -> str:
        extra: Record = {"excludeFromContext": True} if hidden else {}
        return self.message("bashExecution", command=command, output=output, exitCode=code, **extra)

    def name(self, name: str) -> str:
        return self.add("session_info", name=name)

    def label(self, target: str, label: str | None) -> str:
        fields: Record = {} if label is None else {"label": label}
        return self.add("label", targetId=target, **fields)

    def compaction(self, summary: str, first_kept: str) -> str:
        return self.add("compaction", summary=summary, firstKeptEntryId=first_kept, tokensBefore=9)

    def edit(self, target: str, replacement: Record | None) -> str:
        return self.add("context_edit", targetId=target, replacement=replacement)

    def rewind(self, leaf: str | None) -> Self:
        """The next entry goes below another one."""
        self.leaf = leaf
        return self

    def fork(self, session_id: str, leaf: str, cwd: Path | str | None = None, days: int = 1) -> Pi:
        """A session that begins with copies of the path to an entry, as `/fork` writes it."""
        by_id = {record["id"]: record for record in self.entries}
        path: list[Record] = []
        at: str | None = leaf
        while at is not None:
            path.append(by_id[at])
            at = by_id[at]["parentId"]
        child = Pi(
            session_id,
            self.header.get("cwd") if cwd is None else cwd,
            started=START + timedelta(days=days),
            parent=self.path if self._written else Path(f"/sessions/{self.session_id}.jsonl"),
        )
        for record in reversed(path):
            if record["type"] != "label":  # dropped, and what follows hangs on what came before
                child.entries.append({**record, "parentId": child.leaf})
                child.leaf = record["id"]
        return child

    def data(self) -> bytes:
        return b"".join(line(record) for record in [self.header, *self.entries])

    def write(self, directory: Path, name: str | None = None) -> Path:
        """Writes the whole file."""
        self.path = directory / (name or f"{self.session_id}.jsonl")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(self.data())
        self._written = len(self.entries)
        return self.path

    def flush(self) -> None:
        """Appends the records that are not in the file yet."""
        with self.path.open("ab") as file:
            file.write(b"".join(line(record) for record in self.entries[self._written :]))
        self._written = len(self.entries)


def line(record: Record) -> bytes:
    return dump(record) + b"\n"
