"""Text from logs, made harmless for a terminal.

A log can hold anything a program ever printed: colour codes, cursor movements, title changes,
right-to-left overrides. Whatever reaches the terminal passes through here; JSON output passes
through `clean_json`, which changes the spelling of such characters and not their meaning.
"""

from __future__ import annotations

import re

# Patterns are compiled where they are first used, which costs a one-line answer nothing.
_HIDDEN = (
    "["
    "\u00ad\u180e\u200b\u2060-\u2064\ufeff"  # soft hyphen, zero-width spaces, word joiners, BOM
    "\u200e\u200f\u061c"  # marks that only steer direction
    "\ufff9-\ufffb\U000e0000-\U000e0fff"  # interlinear anchors, tags and rare selectors
    "\u034f\u180b-\u180d\u180f\u206a-\u206f"  # joiner of graphemes, Mongolian and old selectors
    "]"
)
"""Dropped: they show nothing. The joiners that emoji and some scripts need (U+200C, D) stay."""

_DANGEROUS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
"""Made visible: control characters, overrides of direction, undecodable bytes of paths."""

_COLOURS = "\x1b\\[[0-9;:]{0,64}m"
"""Dropped: most tools colour what they print, and nobody looks for that."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"  # Arabic
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"  # Thai, Lao
    "\u0f71-\u0f7e\u0f80-\u0f84\u0f86\u0f87\u0f8d-\u0fbc"  # Tibetan
)
_STACKED_MARKS = f"([{_MARKS}]{{4}})[{_MARKS}]+"
"""More combining marks than any orthography stacks; they would paint over the lines above."""

_LINE_ENDS = "\r\n?|[\u2028\u2029\x85\x0b\x0c]"
_BLANKS = r"[ \t\n]+"

_JSON_UNSAFE = "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"


def clean(text: str) -> str:
    """`text` with line ends as LF, tabs as blanks, and nothing in it that a terminal would obey."""
    text = re.sub(_LINE_ENDS, "\n", re.sub(_COLOURS, "", text)).replace("\t", "    ")
    text = re.sub(_HIDDEN, "", text)
    text = re.sub(_DANGEROUS, _visible, text)
    return re.sub(_STACKED_MARKS, r"\1", text)


def one_line(text: str) -> str:
    """`clean(text)` with every run of white space as one blank."""
    return re.sub(_BLANKS, " ", clean(text))


def clean_json(document: bytes) -> bytes:
    """A JSON document without raw characters that steer a terminal: they are escaped instead."""
    if document.isascii() and b"\x7f" not in document:
        return document
    text = document.decode("utf-8")
    return re.sub(_JSON_UNSAFE, lambda found: f"\\u{ord(found[0]):04x}", text).encode("utf-8")


def _visible(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)  # the control pictures: ESC is shown as one small "ESC"
    if code == 0x7F:
        return "\u2421"
    if code < 0xA0:
        return f"\\x{code:02x}"
    if code >= 0xD800 and code <= 0xDFFF:
        return "\ufffd"
    return f"<U+{code:04X}>"
