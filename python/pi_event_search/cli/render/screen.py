"""The page an answer is written on: width, colours, cleaning, and the few shapes all answers share.

Every piece of text passes `clean` on its way in, whoever wrote it, so no renderer can forget to.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TextIO

from rich.console import Console
from rich.text import Text

from pi_event_search.cli.clean import clean

Part = str | tuple[str, str]
"""Text, or text with a style."""

_LINE_END = re.compile(r"\s*\n\s*")

_ENDLESS = 100_000
"""Columns of a page that nobody looks at directly: nothing is wrapped or shortened."""

_GAP = 2
"""Blanks between two columns of a table."""
_NARROWEST = 8
"""Columns that are left of a text however little room there is."""

# Of the terminal's own palette, what is readable on dark and on light ground: no cyan, yellow or
# green, which are pale on white, and no blue, which drowns in black.
STRONG = "bold"
FAINT = "dim"
BAD = "bold red"
MATCH = "bold magenta"
ID = "magenta"


class Screen:
    """Collects an answer as text for one stream."""

    def __init__(self, *, width: int | None, colour: bool, now: datetime, zone: tzinfo | None):
        """`width` in columns; None for pipes and files."""
        self.width = width or _ENDLESS
        self.interactive = width is not None
        self.now = now
        self.zone = zone
        self._pages = io.StringIO()
        self._console = Console(
            file=self._pages,
            width=self.width,
            force_terminal=colour,
            color_system="standard" if colour else None,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    def text(self) -> str:
        """What was written, without blanks at line ends where there are no colours."""
        return "\n".join(line.rstrip(" ") for line in self._pages.getvalue().split("\n"))

    def blank(self) -> None:
        """An empty line."""
        self._console.print()

    def line(self, *parts: Part, indent: int = 0, hang: int = 0) -> None:
        """A paragraph of one logical line; further rows are indented by `hang` more."""
        self._wrapped(_joined(parts), indent, hang)

    def shortened(self, text: str, *, beside: Sequence[Part], least: int) -> str:
        """As much of a text as fits on a line beside other parts, at least some columns of it."""
        whole = _joined((text,))
        room = max(self.width - _joined(beside).cell_len, least)
        if self.interactive and whole.cell_len > room:
            whole.truncate(room, overflow="ellipsis")
        return whole.plain

    def row(self, *parts: Part, indent: int = 0) -> None:
        """One line, shortened where the terminal ends but not within an id; whole in pipes."""
        text = Text(" " * indent)
        needed = 0
        for part in parts:
            text += _joined((part,))
            if not isinstance(part, str) and part[1] == ID:
                needed = text.cell_len + 1
        if self.interactive and text.cell_len > self.width:
            text.truncate(max(self.width, needed), overflow="ellipsis")
        self._console.print(text, soft_wrap=True)

    def ids(self, *parts: Part, indent: int = 0) -> None:
        """A line to copy from: never broken, whatever the width."""
        self._console.print(Text(" " * indent) + _joined(parts), soft_wrap=True)

    def block(self, text: str, *, indent: int = 0, style: str = "") -> None:
        """Text with its own line ends."""
        for line in clean(text).split("\n"):
            self._wrapped(Text(line, style), indent, 0)

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[Part]]) -> None:
        """Aligned columns under headings."""
        grid = [[Text(column.title, STRONG) for column in columns]]
        grid += [[_joined((part,)) for part in row] for row in rows]
        widths = [max(row[at].cell_len for row in grid) for at in range(len(columns))]
        spare = self.width - sum(widths) - _GAP * (len(columns) - 1)
        for at, column in enumerate(columns):
            if column.shrinks and spare < 0:
                narrower = max(widths[at] + spare, min(widths[at], _NARROWEST))
                spare += widths[at] - narrower
                widths[at] = narrower
        for row in grid:
            line = Text()
            for at, column in enumerate(columns):
                row[at].truncate(widths[at], overflow="ellipsis")
                room = " " * (widths[at] - row[at].cell_len)
                line += Text(room) + row[at] if column.right else row[at] + Text(room)
                line.append(" " * _GAP)
            line.rstrip()
            self._console.print(line, soft_wrap=True)

    def _wrapped(self, text: Text, indent: int, hang: int) -> None:
        room = max(self.width - indent - hang, 20)
        for number, row in enumerate(text.wrap(self._console, room)):
            row.rstrip()
            margin = indent + (hang if number else 0)
            self._console.print(Text(" " * margin) + row, soft_wrap=True)


class Column:
    """One column of a table."""

    def __init__(self, title: str, *, right: bool = False, shrinks: bool = False):
        """`shrinks`: may be shortened where there is no room; the others never are."""
        self.title = title
        self.right = right
        self.shrinks = shrinks


def screen_for(stream: TextIO, now: datetime, zone: tzinfo | None) -> Screen:
    """A page for `stream`: as wide as its terminal; for a pipe without end and without colours."""
    terminal = stream.isatty()
    dumb = os.environ.get("TERM") in ("dumb", "unknown")
    colour = (terminal and not dumb) or bool(os.environ.get("FORCE_COLOR"))
    if os.environ.get("NO_COLOR"):
        colour = False
    width = _terminal_width(stream) if terminal else None
    return Screen(width=width, colour=colour, now=now, zone=zone)


def _terminal_width(stream: TextIO) -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80


def _joined(parts: Sequence[Part]) -> Text:
    text = Text()
    for part in parts:
        style = "" if isinstance(part, str) else part[1]
        text.append(_cleaned(part), style)
    return text


def _cleaned(part: Part) -> str:
    # Blanks stay as they are: they are this program's own layout as often as the log's.
    return _LINE_END.sub(" ", clean(part if isinstance(part, str) else part[0]))
