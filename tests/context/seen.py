"""Answers about context in short forms, so that tests can state them in a line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pi_event_search import EventIndex, Invocation
from pi_event_search.types.event import EventRef
from pi_event_search.types.trace import Edge, FileRef

from tests.indexes import EVERYTHING

Indexed = Callable[..., EventIndex]
"""Writes session logs and gives an index over them."""
Fork = tuple[str, str, list[str], str | None]
"""Kind, where, all ways on, the way taken; each as `session/entry`."""


def name(ref: EventRef | FileRef) -> str:
    return ref.file_ref if isinstance(ref, FileRef) else f"{ref.session_id}/{ref.entry_id}"


def forks(
    index: EventIndex,
    ref: str,
    before: int = 1,
    after: int = 1,
    *,
    caller: Invocation = EVERYTHING,
) -> list[Fork]:
    """The fork receipts of a read."""
    session, _, entry = ref.partition("/")
    event = index.read(session, entry, invocation=caller, before=before, after=after)
    return [
        (
            fork.kind,
            name(fork.at),
            [name(candidate) for candidate in fork.candidates],
            None if fork.chosen is None else name(fork.chosen),
        )
        for fork in event.neighbors.forks
    ]


def related(
    index: EventIndex, ref: str, *, depth: int = 1, caller: Invocation = EVERYTHING
) -> list[str]:
    """The related edges of a trace, as `type: from -> to (how it is known, detail)`."""
    session, _, entry = ref.partition("/")
    trace = index.trace(session, entry, invocation=caller, depth=depth)
    assert not trace.truncated
    return lines(trace.related)


def lines(edges: Sequence[Edge]) -> list[str]:
    return [
        f"{edge.type}: {name(edge.from_)} -> {name(edge.to)} ({known(edge)}"
        f"{'' if edge.detail is None else f', {edge.detail!r}'})"
        for edge in edges
    ]


def known(edge: Edge) -> str:
    (word,) = [w for w in ("recorded", "derived", "inferred") if getattr(edge, w)]
    return word
