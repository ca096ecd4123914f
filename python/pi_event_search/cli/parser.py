"""From the words of the command line to a command and its values.

argparse reads the options; its errors and its help differ between versions of Python, so both are
worded here and in `help`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NoReturn

from pi_event_search.cli.arguments import (
    COMMANDS,
    PROGRAM,
    SHELLS,
    Command,
    Option,
    options_of,
)
from pi_event_search.errors import EventSearchError, InvalidArgument
from pi_event_search.values import dataclass


@dataclass(frozen=True, slots=True)
class Parsed:
    """A command line that makes sense so far; values are checked by whom they are for."""

    command: Command
    values: argparse.Namespace
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AboutProgram:
    """A command line that names no command but asks about the program itself."""

    topic: Literal["help", "version", "completion"]
    shell: str = ""
    """The shell to write completion for."""


def wants_json(argv: Sequence[str]) -> bool:
    """Whether the answer, an error included, is to be JSON; known before anything is parsed."""
    options = argv[: argv.index("--")] if "--" in argv else argv
    return "--json" in options


def parse(argv: Sequence[str]) -> Parsed | AboutProgram:
    """Read a command line; InvalidArgument says what is wrong with it."""
    if argv and argv[0].partition("=")[0] == "--completion":
        return _completion(argv)
    at = _command_position(argv)
    if at is None:
        return _parse_without_command(argv)
    command = COMMANDS.get(argv[at])
    if command is None:
        raise InvalidArgument(_unknown_command(argv[at]))
    values, words = _read_options([*argv[:at], *argv[at + 1 :]], command)
    return Parsed(command, values, words)


def by_flag(error: EventSearchError, command: Command) -> str:
    """The message of `error`, with an argument called as it is on this command line."""
    if not isinstance(error, InvalidArgument) or not error.argument:
        return error.message
    if not error.message.startswith(error.argument):
        return error.message
    flags = {option.argument: option.flag for option in options_of(command)}
    name = flags.get(error.argument) or _WORDS.get(error.argument, error.argument)
    return name + error.message.removeprefix(error.argument)


_WORDS = {"session_id": "SESSION", "entry_id": "ENTRY"}
"""How the help calls what is given without a flag."""


def _command_position(argv: Sequence[str]) -> int | None:
    """Index of the first word that is neither an option nor the value of one.

    Options stand before the command as well as behind it, and no flag takes a value with one
    command and none with another.
    """
    at = 0
    while at < len(argv):
        if not argv[at].startswith("-"):
            return at
        at += 2 if argv[at] in _WITH_VALUE else 1
    return None


_WITH_VALUE = {
    option.flag
    for command in COMMANDS.values()
    for option in options_of(command)
    if option.metavar is not None
}


def _parse_without_command(argv: Sequence[str]) -> AboutProgram:
    if "--version" in argv:
        return AboutProgram("version")
    if "--help" in argv or "-h" in argv:
        return AboutProgram("help")
    raise InvalidArgument(f"A command is missing: {', '.join(COMMANDS)}. {_see(None)}")


def _completion(argv: Sequence[str]) -> AboutProgram:
    shells = [argv[0].partition("=")[2]] if "=" in argv[0] else list(argv[1:])
    if len(shells) != 1 or shells[0] not in SHELLS:
        raise InvalidArgument(f"--completion takes one of {', '.join(SHELLS)}.")
    return AboutProgram("completion", shells[0])


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
    values, words = parser.parse_known_args(list(_with_dashed_values(argv, command)))
    for option in options_of(command):
        if option.metavar == "DIR" and "" in _given(values, option):
            raise InvalidArgument(f"{option.flag} must be a directory, not ''. {_see(command)}")
    for word in words:
        if word.startswith("-") and word != "-" and not word[1:].isdigit():
            raise InvalidArgument(_unknown_option(word.partition("=")[0], command))
    return values, (*words, *literal)


def _unknown_option(word: str, command: Command) -> str:
    from difflib import get_close_matches  # only needed to word this mistake

    close = get_close_matches(word, [option.flag for option in options_of(command)], 1)
    meant = f"did you mean {close[0]}? Put" if close else "put"
    return (
        f"There is no option {word!r}; {meant} -- before a word that begins with a dash. "
        f"{_see(command)}"
    )


def _with_dashed_values(argv: Sequence[str], command: Command) -> Iterator[str]:
    """Ties a value that begins with a dash to its option, as argparse would not take it for one.

    Pi's session directories begin with two dashes, and so does a pattern that excludes one.
    """
    flags = {"-h", *(option.flag for option in options_of(command))}
    words = iter(argv)
    for word in words:
        if word in _WITH_VALUE and word in flags:
            value = next(words, None)
            if value is None or value.partition("=")[0] in flags:
                yield from (word, *(() if value is None else (value,)))
            else:
                yield f"{word}={value}"
        else:
            yield word


def _given(values: argparse.Namespace, option: Option) -> Sequence[str]:
    value = getattr(values, option.argument)
    return value if option.many else () if value is None else (value,)


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
