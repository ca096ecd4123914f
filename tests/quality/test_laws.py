"""Laws of search over the real index, for any text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pi_event_search import EventIndex, InvalidQuery, _core

from tests.indexes import passing_place
from tests.quality.history import EVERYTHING, entries, indexed, texts_story
from tests.strategies import TEXTS

LIMIT = 200
# Each example builds an index; a few with many texts each say more than many with few.
LAW = settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)

_any = st.text(max_size=80)
_code = st.text(
    alphabet="abcXYZ012 _-./:@#+=()[]{}<>\"'\\\n\t éßЖ修改ー검ไ\u0301\u200d\x1b", max_size=80
)
_texts = st.lists(_any | _code | TEXTS, min_size=1, max_size=12)
_han = st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5)
_kana = st.characters(min_codepoint=0x3041, max_codepoint=0x3096) | st.characters(
    min_codepoint=0x30A1, max_codepoint=0x30FA
)
_hangul = st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3)
_thai = st.characters(min_codepoint=0x0E01, max_codepoint=0x0E2E)
_run = st.text(alphabet=_han | _kana | _hangul, min_size=1, max_size=14) | st.text(
    alphabet=_thai, min_size=1, max_size=14
)


def found(index: EventIndex, query: str) -> list[str]:
    """Ids of all events that a query finds, of few enough events."""
    return entries(index.search(query, invocation=EVERYTHING, limit=LIMIT))


@LAW
@given(_texts)
def test_every_token_of_a_text_finds_it(texts: list[str]) -> None:
    story, ids = texts_story(texts)
    with passing_place() as place, indexed(place.base, story) as index:
        wanted: dict[str, set[str]] = {}
        for entry_id, text in zip(ids, texts, strict=True):
            for token, *_ in _core.tokens(_repaired(text)):
                wanted.setdefault(token, set()).add(entry_id)
        for token, holders in wanted.items():
            assert holders <= set(found(index, token)), token


@LAW
@given(st.lists(st.tuples(st.text("ab ", max_size=3), _run, _any), min_size=1, max_size=8))
def test_every_substring_of_an_unspaced_run_finds_it(pieces: list[tuple[str, str, str]]) -> None:
    story, ids = texts_story([before + run + " " + after for before, run, after in pieces])
    with passing_place() as place, indexed(place.base, story) as index:
        for entry_id, (_, run, _) in zip(ids, pieces, strict=True):
            for start in range(len(run)):
                for end in range(start + 1, len(run) + 1):
                    assert entry_id in found(index, run[start:end]), run[start:end]


@LAW
@given(_texts)
def test_a_text_finds_itself_as_a_phrase(texts: list[str]) -> None:
    story, ids = texts_story(texts)
    with passing_place() as place, indexed(place.base, story) as index:
        for entry_id, text in zip(ids, texts, strict=True):
            bare = "".join(" " if unicodedata.category(c) in ("Pi", "Pf") else c for c in text)
            phrase = f'"{bare.translate(_QUOTES)}"'
            if _core.tokens(_repaired(phrase)):
                assert entry_id in found(index, phrase), phrase


_QUOTES = str.maketrans(dict.fromkeys('"＂“”„‟«»「」『』｢｣', " "))


def _repaired(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EventIndex]:
    story, _ = texts_story(
        ["getUserName in src/main.rs", "修改File名", "lock \ud83d poisoned", "x y z"]
    )
    with indexed(tmp_path_factory.mktemp("laws"), story) as index:
        yield index


_wild = st.text(
    alphabet=st.characters() | st.sampled_from('\0\x1b"“”«»「」\ud83d\udc00\u202e'), max_size=200
)
_syntax = st.lists(
    st.sampled_from(
        ["a", "AND", "OR", "NOT", "(", ")", '"', ":", "^2", "~", "*", "?", "\\", "/", "["]
    )
).map(" ".join)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_wild | _syntax | st.builds(lambda c, n: c * n, st.characters(), st.integers(900, 1100)))
@example("a" * 100_000)
@example("修" * 100_000)
@example('"' * 100_000)
@example("a\0" * 500)
@example("\ud800" * 1_000)
@example("🙂" * 1_000)
@example("e\u0301" * 500)
@example("ﷺ" * 1_000)
def test_no_query_raises_anything_but_invalid_query(index: EventIndex, query: str) -> None:
    try:
        answer = index.search(query, invocation=EVERYTHING).to_json().decode()
    except InvalidQuery as error:
        answer = f"{error.code} {error.message}"
    assert answer.startswith(("{", "INVALID_QUERY "))


@settings(max_examples=300, deadline=None)
@given(_wild)
def test_only_what_the_contract_names_is_refused(index: EventIndex, query: str) -> None:
    try:
        index.search(query, invocation=EVERYTHING)
    except InvalidQuery:
        words = query.split()
        assert not _core.tokens(_repaired(query)) or len(query) > 1_000 or len(words) > 16
