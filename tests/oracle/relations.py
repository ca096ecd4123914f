"""Session files -> every related edge of every event, from whole sets at once."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from tests.oracle.entries import Entry, Object, Session, text
from tests.oracle.tree import Tree

Ref = tuple[str, str]
"""Session id and key of an entry."""
_BY_ID = {
    "compaction": ("compacts", "firstKeptEntryId"),
    "branch_summary": ("branch-summary-from", "fromId"),
    "context_edit": ("context-edit", "targetId"),
    "label": ("labels", "targetId"),
}
_TOOLS = {"read": "file-read", "edit": "file-changed", "write": "file-changed"}


class Edge(NamedTuple):
    type: str
    start: Ref
    end: Ref | str
    known: str = "recorded"
    detail: str | None = None


@dataclass
class File:
    """One session that the caller may see; `name` is that of its file."""

    name: str
    session: Session
    tree: Tree

    @property
    def id(self) -> str:
        return text(self.session.header, "id") or ""

    @property
    def created(self) -> datetime:
        return datetime.fromisoformat(text(self.session.header, "timestamp") or "9999-12-31")

    def ref(self, key: str) -> Ref:
        return self.id, key

    def named(self) -> dict[str, Entry]:
        """By the id that others may use; what Pi does not see has it where nothing else does."""
        detached = {e.id: e for e in self.tree.outside if e.id is not None}
        return detached | self.tree.nodes

    def entries(self) -> list[tuple[str, Entry]]:
        """All that can be asked for, with what to ask for."""
        loose = [(e.key, e) for e in self.tree.outside if e.id is None]
        return sorted([*self.named().items(), *loose], key=lambda pair: pair[1].ord)

    def copies(self, parent: "File") -> set[str]:
        return {k for k, e in self.tree.nodes.items() if _same(e, parent.tree.nodes.get(k))}

    def grown(self, parent: "File") -> list[Ref]:
        """(entry behind which this file goes on, entry that the parent lacks)."""
        shared, nodes = self.copies(parent), self.tree.nodes
        return [
            (e.parent or "", k) for k, e in nodes.items() if k not in shared and e.parent in shared
        ]


def _same(one: Entry, other: Entry | None) -> bool:
    links = ("parentId", "firstKeptEntryId")
    bodies = [{k: v for k, v in e.body.items() if k not in links} for e in (one, other) if e]
    return len(bodies) == 2 and bodies[0] == bodies[1]


def parent_of(file: File, files: list[File]) -> File | None:
    wanted = (text(file.session.header, "parentSession") or "").split("/")[-1]
    found = [other for other in files if other.name == wanted]
    return found[0] if len(found) == 1 and found[0] is not file else None


def forks_of(file: File, files: list[File]) -> list[File]:
    forks = [other for other in files if parent_of(other, files) is file]
    return sorted(forks, key=lambda f: (f.created, f.id))


def edges(files: list[File]) -> set[Edge]:
    """Each edge once; an event is related by those that begin or end there."""
    return {edge for file in files for edge in (*_inside(file), *_between(file, files))}


def _inside(file: File) -> list[Edge]:
    found, named = [], file.named()
    calls = [(e, k, text(c, "id")) for k, e in file.entries() for c in _calls(e)]
    for key, e in file.entries():
        here, message = file.ref(key), e.body.get("message")
        answered = text(message, "toolCallId") if isinstance(message, dict) else None
        if e.role == "toolResult" and answered:
            made = [(c.ord, k) for c, k, call_id in calls if call_id == answered]
            before = [pair for pair in made if pair[0] < e.ord]
            for _, call in before[-1:] or made[:1]:
                found.append(Edge("tool-result-for", here, file.ref(call), detail=answered))
        kind, field = _BY_ID.get(e.type, ("", ""))
        target = e.first_kept if kind == "compacts" else text(e.body, field)
        told = kind != "context-edit" or "replacement" in e.body
        if kind and target in named and named[target] is not e and told:
            found.append(Edge(kind, here, file.ref(target), detail=_detail(e)))
        found += [Edge(kind, here, path, "inferred") for kind, path in _files(e)]
    return found


def _between(file: File, files: list[File]) -> list[Edge]:
    parent = parent_of(file, files)
    if parent is None or not file.tree.nodes:
        return []
    first, grown = next(iter(file.tree.nodes)), file.grown(parent)
    origin = first if first in file.copies(parent) else next(iter(parent.tree.nodes), None)
    found = [Edge("session-fork", parent.ref(at), file.ref(k), "derived") for at, k in grown]
    if origin is not None:
        found.append(Edge("session-parent", file.ref(first), parent.ref(origin)))
    anchors = {at for at, _ in grown} - {first}
    return found + [Edge("session-parent", file.ref(a), parent.ref(a), "derived") for a in anchors]


def _calls(e: Entry) -> list[Object]:
    message = e.body.get("message") if e.role == "assistant" else None
    content = message.get("content") if isinstance(message, dict) else None
    blocks = content if isinstance(content, list) else []
    return [b for b in blocks if isinstance(b, dict) and b.get("type") == "toolCall"]


def _files(e: Entry) -> set[tuple[str, str]]:
    found = set()
    for call in _calls(e):
        arguments, kind = call.get("arguments"), _TOOLS.get(text(call, "name") or "")
        path = isinstance(arguments, dict) and (
            text(arguments, "path") or text(arguments, "file_path")
        )
        if kind and path:
            found.add((kind, path))
    details = e.body.get("details") if e.type in ("compaction", "branch_summary") else None
    for name, kind in (("readFiles", "file-read"), ("modifiedFiles", "file-changed")):
        listed = details.get(name) if isinstance(details, dict) else None
        paths = listed if isinstance(listed, list) else []
        found |= {(kind, path) for path in paths if isinstance(path, str) and path}
    return found


def _detail(e: Entry) -> str | None:
    if e.type == "label":
        return text(e.body, "label") or ""
    omits = e.body.get("replacement") is None
    return ("omit" if omits else "replace") if e.type == "context_edit" else None
