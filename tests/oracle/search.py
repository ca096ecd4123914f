"""Which texts a query finds: an answer from below and one from above.

The index cuts identifiers at camel humps and digits as well, and folds more letters than are worth
repeating here. So `surely_matches` is what must be found and `may_match` what may be; for ordinary
words both say the same.
"""

import re
import unicodedata

LIMIT = 65_536
"""Longer texts are searchable in their first and last halves of this many code points."""
_IGNORED = "\u00ad\u034f\u061c\u0640\u200c\u200d\u200e\u200f\u2060\ufeff"
_QUOTED = re.compile(r'"([^"]*)"?|([^\s"]+)')
_COLOURS = re.compile(r"\x1b\[[ -?]{0,64}[@-~]")
_EXTRA = str.maketrans(
    {"æ": "ae", "œ": "oe", "þ": "th", "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i"}
)
_SINGLE = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3041-\ua4cf\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def fold(text: str) -> str:
    """Compatibility form without case, diacritics and colours; kana keep their voicing marks."""
    text = _COLOURS.sub(" ", text)
    text = "".join(c for c in text if c not in _IGNORED and not "\ufe00" <= c <= "\ufe0f")
    bare = [
        c
        for c in unicodedata.normalize("NFKD", text)
        if not unicodedata.combining(c) or c in "\u3099\u309a"
    ]
    return unicodedata.normalize("NFC", "".join(bare)).casefold().translate(_EXTRA)


def tokens(text: str) -> list[str]:
    """Runs of letters and digits; characters of scripts without spaces stand alone."""
    found: list[str] = []
    word = ""
    for c in fold(text) + " ":
        single = _SINGLE.match(c) is not None and c.isalnum()
        if word and (single or not _in_word(c) or len(word) == 64):
            found.append(word)
            word = ""
        if single:
            found.append(c)
        elif _in_word(c):
            word += c
    return found


def _in_word(c: str) -> bool:
    return c.isalnum() or unicodedata.category(c) in ("Mc", "Mn")


def clauses(query: str) -> list[list[str]]:
    """Each term or quoted phrase as the tokens that must stand side by side; none for no terms."""
    found = [tokens(phrase or term) for phrase, term in _QUOTED.findall(query)]
    return [clause for clause in found if clause]


def surely_matches(query: str, text: str) -> bool:
    """Every clause stands somewhere in this one fragment."""
    half = LIMIT // 2
    parts = [text] if len(text) <= LIMIT else [text[:half], text[-half:]]
    words = [tokens(part) for part in parts]
    wanted = clauses(query)
    return bool(wanted) and all(any(_stands(c, w) for w in words) for c in wanted)


def _stands(clause: list[str], words: list[str]) -> bool:
    n = len(clause)
    return any(words[i : i + n] == clause for i in range(len(words) - n + 1))


def may_match(query: str, text: str) -> bool:
    """Every token is at least a part of some word."""
    squeezed = "".join(tokens(text))
    wanted = clauses(query)
    return bool(wanted) and all(token in squeezed for clause in wanted for token in clause)


def search(
    query: str, corpus: dict[tuple[str, str], list[str]]
) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Of (sessionId, entryId) -> fragment texts: what must be a hit, and what may be one."""
    surely = {key for key, texts in corpus.items() if any(surely_matches(query, t) for t in texts)}
    maybe = {key for key, texts in corpus.items() if any(may_match(query, t) for t in texts)}
    return surely, maybe
