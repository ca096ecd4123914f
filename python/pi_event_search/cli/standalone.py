"""Commands that ask the index nothing: they are a program of their own, or name a place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pi_event_search.cli.commands import invocation, places, refuse_words
from pi_event_search.cli.parser import Parsed
from pi_event_search.types.shape import dump

Write = Callable[[bytes], None]


def _serve(parsed: Parsed, write: Write) -> int:
    from pi_event_search.serve.run import serve  # only needed here

    refuse_words(parsed)
    root = invocation(parsed.values).workspace_root
    return serve(**places(parsed.values), roots=root if isinstance(root, tuple) else None)


def _pi_extension(parsed: Parsed, write: Write) -> int:
    refuse_words(parsed)
    path = str(Path(__file__).resolve().parent.parent / "pi_extension")
    write(dump({"path": path}) if parsed.values.json else path.encode("utf-8", "surrogateescape"))
    return 0


STANDALONE: dict[str, Callable[[Parsed, Write], int]] = {
    "serve": _serve,
    "pi-extension": _pi_extension,
}
"""Each gets the command line and a way to write one line, and returns the exit code."""
