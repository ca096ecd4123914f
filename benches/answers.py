"""Whether answers are right, by what was planted and by the session files themselves."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

from pi_event_search import EventIndex, Hit, Invocation, SearchPage

from benches.asks import MOST, Ask
from benches.corpus.generate import Corpus

_READ = 3
"""Hits of an answer that are compared with their records."""


class Wrong(AssertionError):  # noqa: N818
    """An answer is not what it should be; a figure taken with it would mean nothing."""


def check(
    ask: Ask, index: EventIndex, caller: Invocation, corpus: Corpus, *, found_by_engine: bool
) -> None:
    """Compares one answer with what is known.

    :raises Wrong: it differs.
    """
    page = ask.of(index, caller)
    finds = bool(page.hits)
    right = finds == ask.finds if ask.finds is not None else finds or not found_by_engine
    if not right or finds != (page.diagnostics is None):
        raise Wrong(f"{ask}: {len(page.hits)} hits, diagnostics: {page.diagnostics}")
    if page.coverage.state != "ready":
        raise Wrong(f"{ask}: coverage is {page.coverage}")
    for hit in page.hits:
        _passes(ask, hit)
    for hit in page.hits[:_READ]:
        _holds(ask, index, caller, hit)
    if not ask.filters and ask.words in corpus.expected:
        _complete(ask, ask.of(index, caller, MOST), set(corpus.expected[ask.words]))


def _complete(ask: Ask, page: SearchPage, expected: set[str]) -> None:
    found = {f"{hit.session_id}/{hit.entry_id}" for hit in page.hits}
    right = found == expected if len(expected) < MOST else found <= expected
    if not right or len(found) != min(len(expected), MOST):
        raise Wrong(f"{ask}: {found ^ expected}")


def _passes(ask: Ask, hit: Hit) -> None:
    """Whether a hit is what the filters ask for."""
    filters = ask.filters
    right = (
        hit.semantic_kind in filters.get("kinds", [hit.semantic_kind])
        and hit.tool_name in filters.get("tool_names", [hit.tool_name])
        and hit.branch_state in filters.get("branch_states", [hit.branch_state])
        and hit.selection_state in filters.get("selection_states", [hit.selection_state])
        and hit.cwd.startswith(filters.get("cwd", ""))
        and datetime.fromisoformat(hit.timestamp).timestamp() * 1000 >= (ask.since_ms or 0)
    )
    if not right:
        raise Wrong(f"{ask}: {hit}")


def _holds(ask: Ask, index: EventIndex, caller: Invocation, hit: Hit) -> None:
    """Whether the record that a hit stands for holds every word, read straight from the file."""
    source = index.read(hit.session_id, hit.entry_id, invocation=caller).source
    if source.path is None or source.state != "exact":
        raise Wrong(f"{ask}: {source}")
    with Path(source.path).open("rb") as file:
        file.seek(source.byte_start)
        record = file.read(source.byte_end - source.byte_start).decode().lower()
    words = re.findall(r"\w+", ask.words.lower())
    missing = [word for word in words if word not in record and not _in_pieces(word, record)]
    if missing or f'"id":"{hit.entry_id}"' not in record:
        raise Wrong(f"{ask}: {missing} not in {source}")


def _in_pieces(word: str, record: str) -> bool:
    """Identifiers are also found by their parts, in whatever way these are joined."""
    return all(piece in record for piece in word.split("_"))
