"""Index and query are cut by one function: what the engine indexes are the core's own tokens."""

from __future__ import annotations

import os
import tempfile

import orjson
import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st
from pi_event_search import _core

from tests.strategies import TEXTS

ANALYZER = (
    tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    .filter(tantivy.Filter.lowercase())
    .build()
)
"""As `store/text_index.py` registers it."""

QUOTES = dict.fromkeys(map(ord, '"“”„‟«»「」『』'))
"""They end a phrase."""

texts = TEXTS | st.text() | st.text(st.characters(min_codepoint=0x80), max_size=12)


analyze = ANALYZER.analyze
HEADER = b'{"type":"session","version":3,"id":"s","cwd":"/w"}\n'


def indexed(text: str) -> tuple[list[str], list[str]]:
    """The terms of the word field and of the parts field, as the engine cuts them."""
    message = {"type": "message", "id": "a", "message": {"role": "user", "content": text}}
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(HEADER + orjson.dumps(message) + b"\n")
        file.flush()
        reader = _core.SessionReader(os.fsencode(file.name), None, None, 0)
        batch = reader.next_batch(1 << 20, None)
    assert batch is not None
    rows = batch.take_rows((1, 1, 0, 0), [(0, 0)], [])
    documents = [orjson.loads(document) for document in rows.documents]
    words, parts = (
        [term for document in documents for value in document[name] for term in analyze(value)]
        for name in ("words", "parts")
    )
    return words, parts


@settings(max_examples=500, deadline=None)
@given(texts)
def test_words_are_the_tokens(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    tokens = _core.tokens(text)
    assert indexed(text)[0] == [word for word, *_ in tokens]
    assert [position for *_, position in tokens] == list(range(len(tokens)))
    assert all(0 <= start < end <= len(text) for _, start, end, _ in tokens)


@settings(max_examples=500, deadline=None)
@given(texts)
def test_a_phrase_is_cut_as_the_text_is(text: str) -> None:
    text = text.encode("utf-8", "replace").decode().translate(QUOTES)[:900]
    words, _ = indexed(text)
    if words:
        assert _core.parse_query(f'"{text}"').clauses == [words]
    else:
        with pytest.raises(ValueError, match="a letter, a digit or an ideograph"):
            _core.parse_query(f'"{text}"')
