"""Which fragments are a search of history itself, so that they answer only when asked for."""

import re

from tests.oracle.entries import Entry, Object, Session, text
from tests.oracle.fragments import identified
from tests.oracle.strictjson import Json

TOOLS = ("event_search", "event_read", "event_trace")
_COMMAND = re.compile(r"(^|[\s;&|(/])pi-event-search(\s|$)")
"""Good enough for command lines without quoting and comments."""


def retrieval(session: Session) -> set[tuple[int, str]]:
    """(ord, fragment id) of calls that search history and of the results that answer them.

    A result answers the last call of its id before it, whatever became of the call's record.
    """
    found: set[tuple[int, str]] = set()
    calls: dict[str, bool] = {}
    for entry in session.entries:
        message = entry.body.get("message")
        message = message if entry.type == "message" and isinstance(message, dict) else {}
        made = _calls(message.get("content")) if entry.role == "assistant" else []
        calls |= {text(call, "id") or "": _asks(call) for call in made}
        # A call without any text has no fragment, so the number counts the others.
        spoken = [call for call in made if text(call, "name") or call.get("arguments")]
        found |= {(entry.ord, f"tool.call:{n}") for n, call in enumerate(spoken) if _asks(call)}
        if _answers(entry, message, calls):
            found |= {(entry.ord, name) for name in identified(entry)}
    return found


def _calls(content: Json) -> list[Object]:
    blocks = content if isinstance(content, list) else []
    return [b for b in blocks if isinstance(b, dict) and b.get("type") == "toolCall"]


def _answers(entry: Entry, message: Object, calls: dict[str, bool]) -> bool:
    if entry.role == "toolResult":
        answered = text(message, "toolCallId")
        asks = answered is not None and calls.get(answered, False)
        return asks or text(message, "toolName") in TOOLS
    command = text(message, "command") or ""
    return entry.role == "bashExecution" and _COMMAND.search(command) is not None


def _asks(call: Object) -> bool:
    if text(call, "name") in ("bash", "powershell"):
        given = call.get("arguments")
        command = text(given, "command") if isinstance(given, dict) else None
        return _COMMAND.search(command or "") is not None
    return text(call, "name") in TOOLS
