"""Entries -> the tree as Pi walks it: last duplicate wins, missing parents end a path."""

from collections import Counter
from dataclasses import dataclass, field

from tests.oracle.entries import Entry, Session


@dataclass
class Tree:
    nodes: dict[str, Entry] = field(default_factory=dict)
    """By id, the last record of each; in append order of those."""
    superseded: list[Entry] = field(default_factory=list)
    outside: list[Entry] = field(default_factory=list)
    """Detached and idless: no place in the tree."""
    children: dict[str, list[str]] = field(default_factory=dict)
    """In append order; also of parents that are missing."""
    roots: list[str] = field(default_factory=list)
    """As Pi lists them: no parent, a missing parent, or the entry itself as parent."""
    cycles: int = 0
    origin: dict[str, str] = field(default_factory=dict)
    """What a walk from the entry towards its root ends at: root, orphan or cycle."""
    leaf: str | None = None
    path: list[str] = field(default_factory=list)
    """Root to leaf; empty when the leaf is not known."""
    receipts: Counter[str] = field(default_factory=Counter)


def tree(session: Session) -> Tree:
    found = Tree()
    last = None
    for entry in session.entries:
        if not entry.detached:
            last = entry
        if entry.detached or entry.id is None:
            found.outside.append(entry)
            continue
        old = found.nodes.pop(entry.id, None)
        if old is not None:
            found.superseded.append(old)
        found.nodes[entry.id] = entry
    for key, entry in found.nodes.items():
        if entry.parent is not None:
            found.children.setdefault(entry.parent, []).append(key)
        if entry.parent is None or entry.parent == key or entry.parent not in found.nodes:
            found.roots.append(key)
        found.receipts["orphan"] += entry.parent is not None and entry.parent not in found.nodes
    for key in found.nodes:
        _walk(found, key)
    if last is not None and last.id is not None and found.origin[last.id] != "cycle":
        found.leaf = last.id
        found.path = walk(found, last.id)[::-1]
    found.receipts["duplicate-id"] += len(found.superseded)
    found.receipts["cycle"] += found.cycles
    return found


def walk(tree: Tree, key: str) -> list[str]:
    """From an entry that stands on no cycle up to the root of its chain."""
    found = []
    at: str | None = key
    while at is not None and at in tree.nodes:
        found.append(at)
        at = tree.nodes[at].parent
    return found


def _walk(tree: Tree, key: str) -> None:
    """Origin of `key` and of everything above it, without recursion and ending on any input."""
    way: dict[str, None] = {}
    at: str | None = key
    while at is not None and at in tree.nodes and at not in tree.origin and at not in way:
        way[at] = None
        at = tree.nodes[at].parent
    if at is None:
        origin = "root"
    elif at in tree.origin:
        origin = tree.origin[at]
    elif at in way:
        origin = "cycle"
        tree.cycles += 1
    else:
        origin = "orphan"
    tree.origin.update(dict.fromkeys(way, origin))


def labels(session: Session) -> dict[str, str]:
    """File-global: every record counts in append order, wherever in the tree, superseded or not."""
    found: dict[str, str] = {}
    for entry in session.entries:
        target, label = entry.body.get("targetId"), entry.body.get("label")
        if entry.type == "label" and not entry.detached and isinstance(target, str):
            found.pop(target, None)
            if isinstance(label, str) and label:
                found[target] = label
    return found
