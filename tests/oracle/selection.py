"""Tree -> (branch state, selection state) of every entry.

What Pi 1.6.0 does was read off the real program (see tests/pi); each rule says where it comes from.
"""

from tests.oracle.entries import Entry, Object, Session
from tests.oracle.tail import truthy
from tests.oracle.tree import Tree

States = tuple[str, str]

# Roles whose message reaches the request. Observed: content may be empty, missing or null, the
# stop reason `error` or `aborted`, `display` false: still one message each. (Providers drop failed
# assistant messages later, while they build their own format; that is beyond Pi's projection.)
_ROLES = {
    "user", "assistant", "toolResult", "custom", "branchSummary", "compactionSummary", "system",
}  # fmt: skip


def states(session: Session, tree: Tree) -> dict[str, States]:
    """By key. A superseded record has no state: the last one of its id stands for it."""
    found = {entry.key: ("unknown", "unknown") for entry in tree.outside}
    on_path = set(tree.path)
    for key in tree.nodes:
        if tree.leaf is None:  # no leaf (idless last record) or a cycle above it: nothing is known
            found[key] = ("unknown", "unknown")
        elif key not in on_path:
            known = tree.origin[key] == "root"
            found[key] = ("alternate", "not-selected") if known else ("unknown", "unknown")
    for key, state in _on_path(tree).items():
        found[key] = ("selected", state)
    return found


def _on_path(tree: Tree) -> dict[str, str]:
    path = [tree.nodes[key] for key in tree.path]
    # Only the newest compaction counts, whatever an older one kept.
    newest = max((i for i, e in enumerate(path) if e.type == "compaction"), default=None)
    start = 0 if newest is None else _kept_from(path, newest)
    edits = _effective(path, start, newest)
    return {e.key: _state(e, i, start, newest, edits) for i, e in enumerate(path)}


def _state(entry: Entry, i: int, start: int, newest: int | None, edits: dict[str, Object]) -> str:
    if not contributes(entry):
        return "not-applicable"
    # Before the kept range; and within it what Pi leaves out there: system messages, which the
    # compaction restates in its `systemMessage`, and older compactions.
    left_out = i < start or entry.role == "system" or entry.type == "compaction"
    if newest is not None and i < newest and left_out:
        return "summarized"
    # An edit reaches every contributing type, the newest compaction and system messages too,
    # although Pi itself writes edits only for user, assistant, toolResult and custom messages.
    edit = edits.get(entry.key)
    omitted = edit is not None and edit.get("replacement") is None
    return "not-selected" if omitted else "direct"


def contributes(entry: Entry) -> bool:
    """Can this entry put a message into the request? Decided by the entry alone."""
    if entry.type == "message":
        message = entry.body.get("message")
        if entry.role == "bashExecution" and isinstance(message, dict):
            return not truthy(message.get("excludeFromContext"))
        return entry.role in _ROLES  # an unknown role is projected, then dropped
    if entry.type == "branch_summary":  # Pi skips one whose summary is missing or empty
        return truthy(entry.body.get("summary"))
    return entry.type in ("compaction", "custom_message")  # here an empty text is sent all the same


def _kept_from(path: list[Entry], newest: int) -> int:
    """Where the kept range begins; missing, own, later and off-path ids keep nothing."""
    wanted = path[newest].first_kept
    return next((i for i, e in enumerate(path[:newest]) if e.key == wanted), newest)


def _effective(path: list[Entry], start: int, newest: int | None) -> dict[str, Object]:
    """Edits in the kept range or behind the compaction, the last one for a target wins.

    Their place relative to the target does not matter. Before the kept range they are void. One
    without any `replacement` makes Pi throw; it says nothing here.
    """
    found: dict[str, Object] = {}
    for i, entry in enumerate(path):
        target = entry.body.get("targetId")
        inside = (newest is None or i >= start) and "replacement" in entry.body
        if entry.type == "context_edit" and inside and isinstance(target, str):
            found[target] = entry.body
    return found


def effective_edits(tree: Tree) -> dict[str, str]:
    """Target id -> id of the edit that counts for it."""
    path = [tree.nodes[key] for key in tree.path]
    newest = max((i for i, e in enumerate(path) if e.type == "compaction"), default=None)
    start = 0 if newest is None else _kept_from(path, newest)
    edits = _effective(path, start, newest)
    keys = {id(e.body): e.key for e in path}
    return {target: keys[id(body)] for target, body in edits.items()}


def newest_compaction(tree: Tree) -> str | None:
    found = [key for key in tree.path if tree.nodes[key].type == "compaction"]
    return found[-1] if found else None
