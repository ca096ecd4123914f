"""The table of texts and queries, through the real index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from pi_event_search import EventIndex, InvalidQuery

from tests.quality.history import EVERYTHING, entries, indexed, texts_story
from tests.quality.table import ANSWERED, REFUSED, ROWS, Row, Text

TEXTS = list(dict.fromkeys(row.text for row in ROWS))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EventIndex, dict[Text, str]]]:
    story, ids = texts_story(TEXTS)
    with indexed(tmp_path_factory.mktemp("table"), story) as index:
        yield index, dict(zip(TEXTS, ids, strict=True))


def test_the_table_covers_every_class() -> None:
    assert len(ROWS) >= 120
    assert len(ROWS) == len(set(ROWS))
    both = Counter((row.kind, row.found) for row in ROWS)
    assert len(both) == 2 * len({row.kind for row in ROWS}), "each class has both kinds of rows"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.kind}-{row.query[:30]!a}-{row.found}")
def test_row(row: Row, found: tuple[EventIndex, dict[Text, str]]) -> None:
    index, ids = found
    page = index.search(row.query, invocation=EVERYTHING, limit=200)
    assert (ids[row.text] in entries(page)) == row.found


@pytest.mark.parametrize("row", [row for row in ROWS if row.found], ids=lambda row: row.query[:30])
def test_what_is_found_is_marked(row: Row, found: tuple[EventIndex, dict[Text, str]]) -> None:
    index, ids = found
    page = index.search(row.query, invocation=EVERYTHING, limit=200)
    hit = next(hit for hit in page.hits if hit.entry_id == ids[row.text])
    assert hit.highlights, hit.snippet
    assert len(hit.snippet) <= 240


@pytest.mark.parametrize("query", REFUSED, ids=lambda query: repr(query[:20]))
def test_refused(query: str, found: tuple[EventIndex, dict[Text, str]]) -> None:
    with pytest.raises(InvalidQuery) as refused:
        found[0].search(query, invocation=EVERYTHING)
    sentence = refused.value.message
    assert sentence[0].isupper()
    assert sentence.endswith(".")
    assert len(sentence) < 200


@pytest.mark.parametrize("query", ANSWERED, ids=lambda query: repr(query[:20]))
def test_answered(query: str, found: tuple[EventIndex, dict[Text, str]]) -> None:
    page = found[0].search(query, invocation=EVERYTHING)
    assert page.hits or page.diagnostics
