"""The help texts, laid out from the tables of commands and options."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence

from pi_event_search.cli.arguments import COMMANDS, COMMON, PROGRAM, SHELLS, Command, Option

_ABOUT = "Find out what happened in your Pi history: events, with where they stand."
_LEFT = 24
"""Column at which explanations start."""


def help_text(command: Command | None, width: int | None = None) -> str:
    """Help for one command, or about all of them; `width` in columns (None: the terminal's)."""
    width = width or min(shutil.get_terminal_size().columns, 100)
    return _program_help(width) if command is None else _command_help(command, width)


def _program_help(width: int) -> str:
    commands = [(command.name, command.summary) for command in COMMANDS.values()]
    about = [
        ("COMMAND --help", "explain a command"),
        ("--version", "print the version"),
        ("--completion SHELL", f"print completion for {', '.join(SHELLS)}"),
    ]
    return "\n\n".join(
        [
            f"usage: {PROGRAM} COMMAND [options]",
            _ABOUT,
            "commands:\n" + _columns(commands, width),
            "about the program:\n" + _columns(about, width) + "\n",
        ]
    )


def _command_help(command: Command, width: int) -> str:
    opening = command.summary[0].upper() + command.summary[1:] + "."
    parts = [f"usage: {PROGRAM} {command.usage}", textwrap.fill(opening, width)]
    if command.details:
        parts.append(textwrap.fill(command.details, width))
    if command.words:
        parts.append(_columns(command.words, width))
    for title, options in (*command.groups, ("for every command", COMMON)):
        rows = [(_left(option), _right(option)) for option in options]
        parts.append(f"{title}:\n{_columns(rows, width)}")
    return "\n\n".join(parts) + "\n"


def _left(option: Option) -> str:
    if option.flag == "--help":
        return "-h, --help"
    return f"{option.flag} {option.metavar}" if option.metavar else option.flag


def _right(option: Option) -> str:
    return f"{option.help}; repeatable" if option.many else option.help


def _columns(rows: Sequence[tuple[str, str]], width: int) -> str:
    lines: list[str] = []
    for left, right in rows:
        text = textwrap.wrap(right, max(width - _LEFT, 20), break_on_hyphens=False)
        head = f"  {left}"
        if len(head) > _LEFT - 2:
            lines.append(head)
            head = ""
        lines.append(head.ljust(_LEFT) + text[0])
        lines.extend(" " * _LEFT + more for more in text[1:])
    return "\n".join(lines)
