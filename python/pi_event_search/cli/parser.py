"""From the words of the command line to a command and its values.

argparse reads the options; what it says and how it lays out help differs between versions of
Python, so errors and help are worded here.
"""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pi_event_search.cli.arguments import (
    COMMANDS,
    COMMON,
    PROGRAM,
    Command,
    Option,
    options_of,
)
from pi_event_search.errors import EventSearchError, InvalidArgument

_ABOUT = "Find out what happened in your Pi history: events, with where they stand."


@dataclass(frozen=True, slots=True)
class Parsed:
    """A command line that makes sense so far; values are checked by whom they are for."""

    command: Command
    values: argparse.Namespace
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AboutProgram:
    """A command line that names no command but asks for help or for the version."""

    version: bool


def wants_json(argv: Sequence[str]) -> bool:
    """Whether the answer, an error included, is to be JSON; known before anything is parsed."""
    options = argv[: argv.index("--")] if "--" in argv else argv
    return "--json" in options


def parse(argv: Sequence[str]) -> Parsed | AboutProgram:
    """Read a command line; InvalidArgument says what is wrong with it."""
    at = _command_position(argv)
    if at is None:
        return _parse_without_command(argv)
    command = COMMANDS.get(argv[at])
    if command is None:
        raise InvalidArgument(_unknown_command(argv[at]))
    values, words = _read_options([*argv[:at], *argv[at + 1 :]], command)
    return Parsed(command, values, words)


def by_flag(error: EventSearchError, command: Command) -> str:
    """The message of `error`, with an argument called by its flag on this command line."""
    if isinstance(error, InvalidArgument) and error.argument:
        for option in options_of(command):
            if option.argument == error.argument and error.message.startswith(error.argument):
                return option.flag + error.message.removeprefix(error.argument)
    return error.message


def _command_position(argv: Sequence[str]) -> int | None:
    """Index of the first word that is neither an option nor the value of a common one."""
    with_value = {option.flag for option in COMMON if option.metavar}
    at = 0
    while at < len(argv):
        if not argv[at].startswith("-"):
            return at
        at += 2 if argv[at] in with_value else 1
    return None


def _parse_without_command(argv: Sequence[str]) -> AboutProgram:
    if "--version" in argv:
        return AboutProgram(version=True)
    if "--help" in argv or "-h" in argv:
        return AboutProgram(version=False)
    raise InvalidArgument(f"A command is missing: {', '.join(COMMANDS)}. {_see(None)}")


def _unknown_command(word: str) -> str:
    from difflib import get_close_matches  # only needed to word this mistake

    close = get_close_matches(word, COMMANDS, 1)
    meant = f"did you mean {close[0]}?" if close else f"there are {', '.join(COMMANDS)}."
    return f"There is no command {word!r}; {meant} {_see(None)}"


def _see(command: Command | None) -> str:
    name = f" {command.name}" if command else ""
    return f"See: {PROGRAM}{name} --help"


class _Parser(argparse.ArgumentParser):
    """Reports by exception, so that one place decides about JSON and exit codes."""

    def error(self, message: str) -> NoReturn:
        raise InvalidArgument(f"{message}. {self.epilog}")


def _read_options(
    argv: Sequence[str], command: Command
) -> tuple[argparse.Namespace, tuple[str, ...]]:
    literal: Sequence[str] = ()
    if "--" in argv:
        end = argv.index("--")
        argv, literal = argv[:end], argv[end + 1 :]
    parser = _Parser(
        prog=f"{PROGRAM} {command.name}", add_help=False, allow_abbrev=False, epilog=_see(command)
    )
    for option in options_of(command):
        _add(parser, option)
    # Without positional arguments of its own, argparse hands back all words in their order,
    # wherever the options stand between them.
    values, words = parser.parse_known_args(argv)
    for word in words:
        if word.startswith("-") and word != "-" and not word[1:].isdigit():
            raise InvalidArgument(
                f"There is no option {word.partition('=')[0]!r}; put -- before a word that begins "
                f"with a dash. {_see(command)}"
            )
    return values, (*words, *literal)


def _add(parser: argparse.ArgumentParser, option: Option) -> None:
    flags = (option.flag, "-h") if option.flag == "--help" else (option.flag,)
    settings: dict[str, Any] = {"dest": option.argument}
    if option.metavar is None:
        settings["action"] = "store_true"
    elif option.many:
        settings |= {"action": "append", "default": []}
    elif option.type == "number":
        settings["type"] = _number(option)
    parser.add_argument(*flags, **settings)


def _number(option: Option) -> Any:
    def convert(text: str) -> int:
        try:
            return int(text)
        except ValueError:
            raise InvalidArgument(
                f"{option.flag} must be a whole number, not {text!r}.", argument=option.argument
            ) from None

    return convert


def help_text(command: Command | None, width: int | None = None) -> str:
    """Help for one command, or about all of them; `width` in columns (None: the terminal's)."""
    width = width or min(shutil.get_terminal_size().columns, 100)
    return _program_help(width) if command is None else _command_help(command, width)


def _program_help(width: int) -> str:
    commands = [(command.name, command.summary) for command in COMMANDS.values()]
    return "\n\n".join(
        [
            f"usage: {PROGRAM} COMMAND [options]",
            _ABOUT,
            "commands:\n" + _columns(commands, width),
            f"{PROGRAM} COMMAND --help explains a command; --version prints the version.\n",
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


_LEFT = 24
"""Column at which explanations start."""


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
