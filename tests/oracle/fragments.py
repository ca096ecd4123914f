"""Entry -> its searchable texts, in order: (semantic kind, text)."""

import json

from tests.oracle.entries import Entry, Object, text
from tests.oracle.strictjson import Json, Number

Fragment = tuple[str, str]
_BLOCK_KINDS = {"user": "user.text", "assistant": "assistant.text", "toolResult": "tool.result"}
_SUMMARIES = {"compaction": "summary.compaction", "branch_summary": "summary.branch"}
_OLD_SUMMARIES = {"compactionSummary": "summary.compaction", "branchSummary": "summary.branch"}


def fragments(entry: Entry) -> list[Fragment]:
    """A block without text is no fragment; unknown types and roles have none."""
    body = entry.body
    if entry.type == "message":
        message = body.get("message")
        found = _message(entry.role, message) if isinstance(message, dict) else []
    elif entry.type in _SUMMARIES:
        found = [(_SUMMARIES[entry.type], text(body, "summary") or "")]
    elif entry.type == "custom_message":
        found = _custom(body)
    elif entry.type == "session_info":
        found = [("session.name", canonical(text(body, "name") or ""))]
    else:
        found = []
    return [(kind, words) for kind, words in found if words]


def identified(entry: Entry) -> dict[str, str]:
    """Fragment id -> text; the number counts within the kind."""
    found: dict[str, str] = {}
    for kind, words in fragments(entry):
        number = sum(name.startswith(f"{kind}:") for name in found)
        found[f"{kind}:{number}"] = words
    return found


def _message(role: str | None, message: Object) -> list[Fragment]:
    if role in _BLOCK_KINDS:
        found = _blocks(message.get("content"), _BLOCK_KINDS[role], calls=role == "assistant")
        if role == "assistant":
            found.append(("assistant.text", text(message, "errorMessage") or ""))
        return found
    if role == "bashExecution":
        names = (("bash.command", "command"), ("bash.output", "output"))
        return [(kind, text(message, name) or "") for kind, name in names]
    if role in ("custom", "hookMessage"):
        return _custom(message)
    if role in _OLD_SUMMARIES:
        return [(_OLD_SUMMARIES[role], text(message, "summary") or "")]
    return []


def _blocks(content: Json, kind: str, *, calls: bool = False) -> list[Fragment]:
    if isinstance(content, str):
        return [(kind, content)]
    found: list[Fragment] = []
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text":
            found.append((kind, text(block, "text") or ""))
        elif block.get("type") == "toolCall" and calls:
            found.append(("tool.call", "\n".join([text(block, "name") or "", *_given(block)])))
    return found


def _custom(body: Object) -> list[Fragment]:
    """The custom type stands on a line of its own above the first text."""
    found = [f for f in _blocks(body.get("content"), "custom.message") if f[1]]
    first = [words for words in (text(body, "customType"), *(w for _, w in found[:1])) if words]
    return [("custom.message", "\n".join(first)), *found[1:]]


def _given(call: Object) -> list[str]:
    """Lines of a call's arguments; what is no object stands under the name `arguments`."""
    given = call.get("arguments")
    if given is None or isinstance(given, dict):
        return _arguments(given, None) if given else []
    return _arguments(given, "arguments")


def _arguments(value: Json, path: str | None) -> list[str]:
    """One line a scalar, values decoded; an array index is a path part like any key."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        below = [(f"{path}.{key}" if path is not None else str(key), item) for key, item in items]
        return [line for deeper, item in below for line in _arguments(item, deeper)]
    if isinstance(value, Number):
        return [f"{path}: {value.text}"]
    return [f"{path}: {value if isinstance(value, str) else json.dumps(value)}"]


def canonical(name: str) -> str:
    """White space runs become one space and the ends are trimmed."""
    spaces = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"
    spaces += "".join(map(chr, range(0x2000, 0x200B)))
    words = "".join(" " if c in spaces else c for c in name).split(" ")
    return " ".join(word for word in words if word)
