"""What an answer was asked for, in words: where it was looked, and what narrowed it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import NamedTuple

from pi_event_search import config
from pi_event_search.access.authorize import resolve_roots
from pi_event_search.cli.arguments import COMMANDS, COMMON
from pi_event_search.cli.commands import invocation, places
from pi_event_search.cli.parser import Parsed, Values
from pi_event_search.cli.render.screen import FAINT, STRONG, Screen
from pi_event_search.errors import EventSearchError
from pi_event_search.types.coverage import Coverage

_PLACES = ("root", "all_workspaces", "sessions_dir", "index_dir")
_FILTERS = dict(COMMANDS["search"].groups)["filters"]


class Asked(NamedTuple):
    """Where an answer comes from, as far as a reader of it can change that."""

    roots: tuple[str, ...] = ()
    """Directories whose sessions were looked at; empty: all of them."""
    directories: tuple[str, ...] = ()
    """Where session files were looked for."""
    filters: tuple[str, ...] = ()
    """Flags that narrowed a search."""
    places: str = ""
    """The flags, as typed, without which another command would look elsewhere."""
    limit: int | None = None
    """How many answers were asked for at most, if anybody said so."""

    @property
    def everywhere(self) -> bool:
        """Whether sessions of every directory were looked at."""
        return not self.roots


def asked_for(parsed: Parsed) -> Asked:
    """What the command line asked for."""
    values = parsed.values
    try:
        settings = config.load(**places(values))
        asks = invocation(values)
        found = resolve_roots(asks.cwd, asks.workspace_root, configured=settings.workspace_roots)
    except (EventSearchError, OSError, ValueError):
        return Asked()  # the command itself has said what is wrong
    roots = tuple(root.path for root in found)
    return Asked(
        roots=() if "/" in roots else roots,
        directories=tuple(str(directory.path) for directory in settings.session_dirs),
        places=shlex.join(_given(values)),
        filters=tuple(o.flag for o in _FILTERS if getattr(values, o.argument, None)),
        limit=getattr(values, "limit", None),
    )


def _given(values: Values) -> Iterator[str]:
    for option in COMMON:
        value = getattr(values, option.argument)
        if option.argument in _PLACES and value:
            for one in value if isinstance(value, list) else (value,):
                yield from (option.flag,) if one is True else (option.flag, one)


def nothing_to_look_at(coverage: Coverage, asked: Asked, screen: Screen) -> bool:
    """Says so where there is no session at all, and what to do; false where there is one."""
    if coverage.discovered_sessions:
        return False
    if asked.roots:
        screen.line("No session was recorded in ", (_listed(asked.roots), STRONG), ".")
        every = f"--all-workspaces looks at every session in {_listed(asked.directories)}"
        screen.line((f"{every}; --sessions-dir names another place.", FAINT))
    else:
        screen.line("There are no session files in ", (_listed(asked.directories), STRONG), ".")
        screen.line(("--sessions-dir names another place to look for them.", FAINT))
    return True


def where(asked: Asked) -> str:
    """The directories whose sessions were looked at."""
    return _listed(asked.roots)


def _listed(paths: tuple[str, ...]) -> str:
    return " or ".join(paths) or "any directory"
