"""What processes do that have not opened any index before; see ``test_dictionary``."""

from __future__ import annotations

from pathlib import Path

from pi_event_search import EventIndex, IndexProblem

from tests.lifecycle.world import EVERYTHING
from tests.processes import say, wait_for_word


def search(base: str, word: str) -> None:
    """Says the snippets of all hits, or that the index is damaged."""
    with _index(base) as index:
        _search(index, word)


def search_twice(base: str, word: str) -> None:
    """Searches, waits, and searches again with the same index."""
    with _index(base) as index:
        _search(index, word)
        wait_for_word()
        _search(index, word)


def sync_and_search(base: str, word: str) -> None:
    """Brings the index up to date first."""
    with _index(base) as index:
        index.sync()
        _search(index, word)


def verify(base: str) -> None:
    """Says what is wrong with the index."""
    with _index(base) as index:
        result = index.verify()
        say(f"equal: {result.equal}")
        for difference in result.differences:
            say(difference)


def _index(base: str) -> EventIndex:
    return EventIndex.open(Path(base, "index"), [Path(base, "sessions")])


def _search(index: EventIndex, word: str) -> None:
    try:
        page = index.search(word, invocation=EVERYTHING, limit=200)
    except IndexProblem as error:
        say(error.message)
    else:
        for hit in page.hits:
            say(f"{hit.entry_id} {hit.snippet}")
    say("that is all")
