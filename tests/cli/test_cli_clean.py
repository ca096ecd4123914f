"""Nothing from a log steers the terminal."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pi_event_search.cli.clean import clean, clean_json, one_line


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain, 修改, naïve, 👩‍👩‍👧", "plain, 修改, naïve, 👩‍👩‍👧"),
        ("\x1b[31mred\x1b[0m \x1b[1;38:5:7mx\x1b[m", "red x"),
        ("\x1b[2Jx\x1b[31", "␛[2Jx␛[31"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x9b2J", "\\x9b2J"),
        ("a\x00b\x7f", "a␀b␡"),
        ("a\tb", "a    b"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("\u202egnp.exe", "<U+202E>gnp.exe"),
        ("\u2066x\u2069", "<U+2066>x<U+2069>"),
        ("a\u200b\u200e\ufeff\u00adb", "ab"),
        ("x\U000e0041y", "xy"),
        ("e" + "\u0301" * 50, "e" + "\u0301" * 4),
        ("/s/\udcff", "/s/\ufffd"),
    ],
)
def test_clean(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_one_line() -> None:
    assert one_line("a\r\n\t b\n\nc") == "a b c"


@given(st.text(st.characters()))
def test_what_is_left_is_harmless(text: str) -> None:
    for char in clean(text):
        assert char == "\n" or unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp")
        assert unicodedata.bidirectional(char) not in (
            "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI",
        )  # fmt: skip


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_keeps_its_meaning_and_loses_its_teeth(text: str) -> None:
    document = json.dumps({"a": text}, ensure_ascii=False).encode()
    cleaned = clean_json(document)
    assert json.loads(cleaned) == {"a": text}
    assert not any(unicodedata.category(char) == "Cc" for char in cleaned.decode())
    assert "\u202e" not in cleaned.decode()
