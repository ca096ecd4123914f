"""From the words of the command line to a command and its values.

Not by argparse: it takes a value that begins with a dash for an option, words its errors as each
version of Python likes, and takes longer to load than a command line to be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

from pi_event_search.cli.arguments import (
    COMMANDS,
    PROGRAM,
    SHELLS,
    Command,
    Option,
    options_of,
)
from pi_event_search.errors import EventSearchError, InvalidArgument

Values = SimpleNamespace
"""The values of the options, by their arguments: False, None or an empty list where not given."""


class Parsed(NamedTuple):
    """A command line that makes sense so far; values are checked by whom they are for."""

    command: Command
    values: Values
    words: tuple[str, ...]


class AboutProgram(NamedTuple):
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


def _read_options(argv: Sequence[str], command: Command) -> tuple[Values, tuple[str, ...]]:
    literal: Sequence[str] = ()
    if "--" in argv:
        end = argv.index("--")
        argv, literal = argv[:end], argv[end + 1 :]
    options = {option.flag: option for option in options_of(command)}
    options["-h"] = options["--help"]
    values = Values(**{option.argument: _not_given(option) for option in options.values()})
    words: list[str] = []
    rest = iter(argv)
    for word in rest:
        flag, equals, text = word.partition("=")
        option = options.get(flag)
        if option is not None:
            given = text if equals else None
            if option.metavar is not None and given is None:
                given = _following(rest, options, option, command)
            _take(values, option, given, command)
        elif word.startswith("-") and word != "-" and not word[1:].isdigit():
            raise InvalidArgument(_unknown_option(flag, command))
        else:
            words.append(word)
    return values, (*words, *literal)


def _not_given(option: Option) -> Any:
    if option.metavar is None:
        return False
    return [] if option.many else None


def _following(
    rest: Iterator[str], options: Mapping[str, Option], option: Option, command: Command
) -> str:
    """The next word as the value of an option, whatever it looks like unless it is a flag.

    Pi's session directories begin with two dashes, and so does a pattern that excludes one.
    """
    text = next(rest, None)
    if text is None or text.partition("=")[0] in options:
        raise InvalidArgument(f"{option.flag} needs a value. {_see(command)}")
    return text


def _take(values: Values, option: Option, text: str | None, command: Command) -> None:
    value: Any = text
    if option.metavar is None:
        if text is not None:
            raise InvalidArgument(f"{option.flag} takes no value, not {text!r}. {_see(command)}")
        value = True
    elif option.metavar == "DIR" and not text:
        raise InvalidArgument(f"{option.flag} must be a directory, not ''. {_see(command)}")
    elif option.type == "number":
        value = _number(option, text or "")
    if option.many:
        getattr(values, option.argument).append(value)
    else:
        setattr(values, option.argument, value)


def _number(option: Option, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidArgument(
            f"{option.flag} must be a whole number, not {text!r}.", argument=option.argument
        ) from None


def _unknown_option(word: str, command: Command) -> str:
    from difflib import get_close_matches  # only needed to word this mistake

    close = get_close_matches(word, [option.flag for option in options_of(command)], 1)
    meant = f"did you mean {close[0]}? Put" if close else "put"
    return (
        f"There is no option {word!r}; {meant} -- before a word that begins with a dash. "
        f"{_see(command)}"
    )
