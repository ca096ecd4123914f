"""The facts of a session file as the test oracles see them."""

from tests.oracle.entries import session, text
from tests.oracle.fragments import canonical
from tests.oracle.selection import contributes, effective_edits, newest_compaction, states
from tests.oracle.tail import tail
from tests.oracle.tree import labels, tree
from tests.pi.compare import Facts


def naive_facts(data: bytes) -> Facts | None:
    """None where the file is no session."""
    found = session(tail(data).records)
    if found is None:
        return None
    grown = tree(found)
    all_states = states(found, grown)
    names = [
        canonical(text(e.body, "name") or "")
        for e in found.entries
        if e.type == "session_info" and not e.detached
    ]
    return Facts(
        session_id=text(found.header, "id") or "",
        cwd=text(found.header, "cwd") or "",
        name=names[-1] or None if names else None,
        leaf=grown.leaf,
        order=[e.id for e in found.entries if not e.detached],
        branch=grown.path,
        children=grown.children,
        roots=grown.roots,
        labels=labels(found),
        states={key: all_states[key] for key in grown.nodes},
        contributes={key: contributes(e) for key, e in grown.nodes.items()},
        types={key: e.type for key, e in grown.nodes.items()},
        compaction=newest_compaction(grown),
        edits=effective_edits(grown),
        orphans=[
            key
            for key, entry in grown.nodes.items()
            if entry.parent is not None and entry.parent not in grown.nodes
        ],
        duplicates={entry.id for entry in grown.superseded if entry.id is not None},
    )
