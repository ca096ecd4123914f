"""The command line. `main` decides about streams and exit codes; the rest is in the modules beside.

    arguments -> parser -> commands -> (index) -> render, or JSON

Exit codes: 0 done, 1 anything unforeseen, 2 usage, query or argument, 3 not found, 4 index or
source problem, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime, tzinfo

from pi_event_search.cli import commands
from pi_event_search.cli.arguments import PROGRAM, Command
from pi_event_search.cli.clean import clean_json, one_line
from pi_event_search.cli.facade import OpenIndex, open_event_index
from pi_event_search.cli.parser import AboutProgram, Parsed, by_flag, parse, wants_json
from pi_event_search.cli.progress import ProgressBar
from pi_event_search.cli.standalone import STANDALONE
from pi_event_search.errors import (
    EventSearchError,
    IndexBusy,
    IndexProblem,
    InvalidArgument,
    InvalidQuery,
    NotFound,
)
from pi_event_search.types.coverage import Change
from pi_event_search.types.shape import Shape, dump

DONE, UNFORESEEN, USAGE, NOT_FOUND, PROBLEM, INTERRUPTED = 0, 1, 2, 3, 4, 130

_EXIT_CODES = {
    InvalidQuery: USAGE,
    InvalidArgument: USAGE,
    NotFound: NOT_FOUND,
    IndexBusy: PROBLEM,
    IndexProblem: PROBLEM,
}
_ADVICE = {
    NotFound.code: "`pi-event-search sessions` lists those that can be; --all-workspaces asks for "
    "every one.",
}
"""What to do next, where the message itself cannot know who reads it."""
_DEBUG = "PI_EVENT_SEARCH_DEBUG"
"""Set: what is unforeseen ends with its traceback."""


def main(
    argv: Sequence[str] | None = None,
    *,
    open_index: OpenIndex = open_event_index,
    now: datetime | None = None,
    zone: tzinfo | None = None,
) -> int:
    """Run one command and return its exit code; only tests pass more than `argv`."""
    argv = sys.argv[1:] if argv is None else argv
    try:
        code = _run(argv, open_index, now or datetime.now().astimezone(), zone)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough. Nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _run(argv: Sequence[str], open_index: OpenIndex, now: datetime, zone: tzinfo | None) -> int:
    as_json = wants_json(argv)
    parsed: Parsed | None = None
    try:
        if not sys.platform.startswith(("linux", "darwin")):
            raise EventSearchError(f"{PROGRAM} runs on Linux and macOS, not on {sys.platform}.")
        read = parse(argv)
        if isinstance(read, AboutProgram):
            _write(_about(read))
            return DONE
        parsed = read
        if parsed.values.help:
            _write(_help(parsed.command))
            return DONE
        if parsed.command.name in STANDALONE:
            return STANDALONE[parsed.command.name](parsed, _write_line)
        result = _answer(parsed, open_index, now, zone)
    except BrokenPipeError:
        raise
    except EventSearchError as error:
        message = by_flag(error, parsed.command) if parsed else error.message
        return _fail(_exit_code(error), error.code, message, as_json)
    except OSError as error:
        return _fail(PROBLEM, IndexProblem.code, _about_file(error), as_json)
    except Exception as error:
        if os.environ.get(_DEBUG):
            raise
        message = f"Something unforeseen happened: {type(error).__name__}: {error}"
        hint = f"{message} (set {_DEBUG}=1 for the traceback)"
        return _fail(UNFORESEEN, EventSearchError.code, hint, as_json)
    finds_difference = getattr(result, "equal", True) is False  # only a verification says so
    return PROBLEM if finds_difference else DONE


def _answer(
    parsed: Parsed, open_index: OpenIndex, now: datetime, zone: tzinfo | None
) -> Shape | None:
    with ExitStack() as stack:
        progress = None
        if sys.stderr.isatty():
            progress = stack.enter_context(ProgressBar(sys.stderr))
        tell = _write_json if parsed.values.json else _change_line(zone)
        around = commands.Surroundings(now, zone, _notice, progress, tell)
        commands.check(parsed, around)
        index = stack.enter_context(open_index(**commands.places(parsed.values)))
        result = commands.run(parsed, index, around)
    if result is None:
        return None
    if parsed.values.json:
        _write_json(result)
        return result
    from pi_event_search.cli.render import render  # loads the terminal library

    _write(render(result, parsed, around, sys.stdout))
    return result


def _change_line(zone: tzinfo | None) -> Callable[[Change], None]:
    def tell(change: Change) -> None:
        from pi_event_search.cli.render.change import change_line  # only needed here

        _write(change_line(change, datetime.now(zone)) + "\n")

    return tell


def _fail(exit_code: int, code: str, message: str, as_json: bool) -> int:
    if as_json:
        _write_json({"error": {"code": code, "message": message}})
    else:
        _notice(" ".join(filter(None, (message, _ADVICE.get(code)))))
    return exit_code


def _exit_code(error: EventSearchError) -> int:
    return next((code for kind, code in _EXIT_CODES.items() if isinstance(error, kind)), UNFORESEEN)


def _about_file(error: OSError) -> str:
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."


def _help(command: Command | None) -> str:
    from pi_event_search.cli.help import help_text  # only needed here

    return help_text(command)


def _about(asked: AboutProgram) -> str:
    match asked.topic:
        case "version":
            return _version()
        case "completion":
            from pi_event_search.cli.completion import completion_script  # only needed here

            return completion_script(asked.shell)
    return _help(None)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{PROGRAM} {version(PROGRAM)}\n"
    except PackageNotFoundError:  # run from a source tree that was never installed
        return f"{PROGRAM} (version unknown)\n"


def _notice(message: str) -> None:
    print(f"{PROGRAM}: {one_line(message)}", file=sys.stderr)


def _write_json(document: Shape | dict[str, dict[str, str]]) -> None:
    data = document.to_json() if isinstance(document, Shape) else dump(document)
    sys.stdout.flush()
    sys.stdout.buffer.write(clean_json(data) + b"\n")
    sys.stdout.buffer.flush()


def _write_line(line: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def _write(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(encoding, "replace"))
    sys.stdout.buffer.flush()
