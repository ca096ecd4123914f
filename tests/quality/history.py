"""Small histories for the tests of search: texts in, an index over real session files out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pi_event_search import EventIndex, Invocation, SearchPage

Entry = dict[str, Any]
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
EVERYTHING = Invocation(cwd="/", workspace_root="/")


def iso(moment: datetime) -> str:
    """A time as Pi writes it."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def text(value: str) -> Entry:
    """A text block."""
    return {"type": "text", "text": value}


def call(call_id: str, name: str, **arguments: Any) -> Entry:
    """A tool call block."""
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


@dataclass
class Story:
    """One session being written: every entry follows the one before, a minute later."""

    session_id: str
    cwd: str = "/work/project"
    start: datetime = START
    parent: Path | None = None
    records: list[Entry] = field(default_factory=list)
    leaf: str | None = None

    def add(self, type_: str, **fields: Any) -> str:
        """Appends an entry; gives its id."""
        number = len(self.records)
        entry_id = str(fields.pop("id", f"{number:08x}"))
        when = fields.pop("timestamp", iso(self.start + timedelta(minutes=number)))
        parent = fields.pop("parentId", self.leaf)
        base = {"type": type_, "id": entry_id, "parentId": parent, "timestamp": when}
        self.records.append(base | fields)
        self.leaf = entry_id
        return entry_id

    def user(self, *texts: str, **fields: Any) -> str:
        """A user message of one text block each."""
        blocks = [text(value) for value in texts]
        return self.add("message", message={"role": "user", "content": blocks}, **fields)

    def assistant(self, *blocks: str | Entry, **fields: Any) -> str:
        """An assistant message of texts and blocks."""
        content = [text(block) if isinstance(block, str) else block for block in blocks]
        message = {"role": "assistant", "content": content, "provider": "p", "model": "m"}
        return self.add("message", message=message, **fields)

    def result(self, call_id: str, tool: str, value: str, *, error: bool = False) -> str:
        """A tool result."""
        message = {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": tool,
            "content": [text(value)],
            "isError": error,
        }
        return self.add("message", message=message)

    def write(self, directory: Path) -> Path:
        """Writes the session file and gives its path."""
        header = {
            "type": "session",
            "version": 3,
            "id": self.session_id,
            "timestamp": iso(self.start),
            "cwd": self.cwd,
        }
        if self.parent is not None:
            header["parentSession"] = str(self.parent)
        path = directory / f"{self.session_id}.jsonl"
        lines = [json.dumps(record, ensure_ascii=False) for record in (header, *self.records)]
        path.write_bytes(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))
        return path


@contextmanager
def indexed(place: Path, *stories: Story) -> Iterator[EventIndex]:
    """An index over the stories, which are written below `place`."""
    sessions = place / "sessions"
    sessions.mkdir(parents=True, exist_ok=True)
    for story in stories:
        story.write(sessions)
    with EventIndex.open(index_dir=place / "index", session_dirs=[sessions]) as index:
        index.sync()
        yield index


def entries(page: SearchPage) -> list[str]:
    """The entry ids of a page, best first."""
    return [hit.entry_id for hit in page.hits]


def texts_story(texts: Sequence[str | Sequence[str]]) -> tuple[Story, list[str]]:
    """A session with one user message a text (or one message of several blocks), and their ids."""
    story = Story("texts")
    ids = [story.user(value) if isinstance(value, str) else story.user(*value) for value in texts]
    return story, ids
