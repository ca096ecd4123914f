"""One event as an excerpt of its conversation."""

from __future__ import annotations

from collections.abc import Sequence

from pi_event_search.cli.render.coverage import coverage_notice
from pi_event_search.cli.render.screen import BAD, FAINT, ID, STRONG, Part, Screen
from pi_event_search.cli.render.words import counted, when
from pi_event_search.types.event import Event, EventRef, ForkReceipt, Fragment, Node, TextPreview

_SOURCE = {
    "exact": "read from the file",
    "modified": "the file changed; this is what the index holds",
    "missing": "the file is gone; this is what the index holds",
}
_ORDER = {"branch": "in the conversation", "append": "in the file"}


def render_event(event: Event, screen: Screen) -> None:
    """Metadata, the events before, the texts, the events after."""
    _head(event, screen)
    where = _ORDER.get(event.neighbors.order, event.neighbors.order)
    _neighbors(f"before, {where}", event.neighbors.before, screen)
    for fragment in event.fragments:
        screen.blank()
        _fragment(fragment, screen)
    _left_out(event, screen)
    _neighbors(f"after, {where}", event.neighbors.after, screen)
    for fork in event.neighbors.forks:
        screen.blank()
        _fork(fork, event.session_id, screen)
    coverage_notice(event.coverage, screen)


def _head(event: Event, screen: Screen) -> None:
    what = f"{event.entry_type} {event.role}" if event.role else event.entry_type
    head: list[Part] = [(what, STRONG)]
    head.append(f" · {when(event.timestamp, screen.now, screen.zone)}")
    head.append((f" · {event.branch_state}, {event.selection_state}", FAINT))
    if event.label:
        head += [" · label ", (event.label, STRONG)]
    screen.line(*head, hang=2)
    screen.ids((event.session_id, ID), " ", (event.entry_id, ID))
    source = event.source
    if source.path:
        screen.ids((source.path, FAINT))
    screen.line(
        (f"line {source.line:,}, bytes {source.byte_start:,}-{source.byte_end:,}: ", FAINT),
        (_SOURCE.get(source.state, source.state), FAINT if source.state == "exact" else BAD),
        hang=2,
    )
    if event.attributes:
        pairs = (f"{name}={_scalar(value)}" for name, value in event.attributes.items())
        screen.line(("  ".join(pairs), FAINT), hang=2)


def _scalar(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _fragment(fragment: Fragment, screen: Screen) -> None:
    head: list[Part] = [(fragment.semantic_kind, STRONG)]
    if fragment.tool_name or fragment.custom_type:
        head.append(f" {fragment.tool_name or fragment.custom_type}")
    if fragment.is_error:
        head += [" ", ("error", BAD)]
    head.append((f"  {fragment.fragment_id}", FAINT))
    screen.line(*head, hang=2)
    preview = fragment.preview
    if preview.text:
        screen.block(preview.text, indent=2)
    if preview.truncated:
        screen.line((_window_note(preview, fragment.fragment_id), FAINT), indent=2)


def _window_note(preview: TextPreview, fragment_id: str) -> str:
    """Which characters are shown, and how to see the next ones that are not."""
    if not preview.shown_ranges:
        return f"[nothing is held of this part of the {preview.total_chars:,} characters]"
    shown = " and ".join(f"{part.start:,}-{part.end:,}" for part in preview.shown_ranges)
    note = f"[characters {shown} of {preview.total_chars:,}"
    begin = preview.shown_ranges[0].start
    later = [part.start for part in preview.omitted_ranges if part.start >= begin]
    following = later or [part.start for part in preview.omitted_ranges]
    if following:
        note += f"; more with --fragment {fragment_id} --offset {following[0]}"
    return note + "]"


def _left_out(event: Event, screen: Screen) -> None:
    coverage = event.fragment_coverage
    notes = [f"{counted(item.count, _omitted(item.kind, item.count))}" for item in event.omissions]
    if coverage.omitted:
        notes.insert(0, counted(coverage.omitted, "more part"))
    if notes:
        screen.blank()
        screen.line((f"[not shown: {', '.join(notes)}]", FAINT), hang=2)
    elif not event.fragments:
        screen.blank()
        screen.line(("[this event has no text]", FAINT))


def _omitted(kind: str, count: int) -> str:
    names = {
        "thinking": "thinking block",
        "image": "image",
        "details": "details field",
        "system": "system message",
        "custom-state": "custom state",
    }
    return names.get(kind, kind)


def _neighbors(title: str, nodes: Sequence[Node], screen: Screen) -> None:
    if not nodes:
        return
    screen.blank()
    screen.line((title, FAINT))
    for node in nodes:
        screen.row(*node_parts(node), indent=2)


def node_parts(node: Node) -> tuple[Part, ...]:
    """A neighbouring event on one line."""
    text = brief(node.preview)
    return (node.entry_id, ID), (f" {node.entry_type} · {node.branch_state}", FAINT), f"  {text}"


def brief(preview: TextPreview | None, limit: int = 160) -> str:
    """The beginning of a text."""
    if preview is None:
        return ""
    text = " ".join(preview.text[: 2 * limit].split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _fork(fork: ForkReceipt, session_id: str, screen: Screen) -> None:
    others = [candidate for candidate in fork.candidates if candidate != fork.chosen]
    where = "fork into another session" if fork.kind == "session-fork" else "fork"
    head: list[Part] = [(f"{where} at ", FAINT), (_ref(fork.at, session_id), ID)]
    if fork.chosen is not None:
        head += [(", followed to ", FAINT), (_ref(fork.chosen, session_id), ID)]
    screen.line(*head, hang=2)
    for other in others:
        screen.ids(("also ", FAINT), (_ref(other, session_id), ID), indent=2)


def _ref(ref: EventRef, session_id: str) -> str:
    same = ref.session_id == session_id
    return ref.entry_id if same else f"{ref.session_id} {ref.entry_id}"
