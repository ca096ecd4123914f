"""The commands and their options, written down once: parsing and help both follow from this."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pi_event_search.types import vocabulary

PROGRAM = "pi-event-search"
SHELLS = ("bash", "zsh", "fish")
"""Shells that completion is written for."""


class Option(NamedTuple):
    """One option of a command."""

    flag: str
    argument: str
    """Name of the value after parsing; for options of a service, its argument there."""
    help: str
    metavar: str | None = None
    """None: the option takes no value."""
    many: bool = False
    """May be given several times."""
    type: Literal["text", "number"] = "text"
    values: tuple[str, ...] = ()
    """What may be given; empty: anything."""


class Command(NamedTuple):
    """One command."""

    name: str
    usage: str
    summary: str
    """One line for the list of commands."""
    details: str = ""
    words: tuple[tuple[str, str], ...] = ()
    """Positional arguments: how they are called, and what they are."""
    groups: tuple[tuple[str, tuple[Option, ...]], ...] = ()


COMMON: tuple[Option, ...] = (
    Option("--root", "root", "show sessions of this directory (default: the git worktree root)",
           "DIR", many=True),
    Option("--all-workspaces", "all_workspaces", "show sessions of every directory"),
    Option("--sessions-dir", "sessions_dir", "look for sessions here, not in Pi's directory", "DIR",
           many=True),
    Option("--exclude", "exclude", "leave out session files that match", "GLOB", many=True),
    Option("--index-dir", "index_dir", "keep the index here", "DIR"),
    Option("--json", "json", "print one JSON document"),
    Option("--help", "help", "show this help"),
)  # fmt: skip

_TIMES: tuple[Option, ...] = (
    Option("--since", "time_from", "not before T: 2026-01-31, 2026-01-31T09:30, 7d, 12h, today",
           "T"),
    Option("--until", "time_to", "not after T; a date includes that day", "T"),
)  # fmt: skip

_EVENT_WORDS = (
    ("SESSION", "session id, or the beginning of one"),
    ("ENTRY", "entry id; SESSION/ENTRY in one word does as well"),
)

_FILTERS: tuple[Option, ...] = (
    Option("--session", "session_id", "only this session: id, or the beginning of one", "ID"),
    Option("--cwd", "cwd", "only sessions recorded in this directory or below", "DIR"),
    Option("--kind", "kinds", "user.text, assistant.text, tool.call, tool.result, bash.command, "
           "bash.output, summary.compaction, summary.branch, custom.message or session.name",
           "K", many=True, values=vocabulary.SEMANTIC_KINDS),
    Option("--entry-type", "entry_types", "type of the record, as message or compaction", "T",
           many=True),
    Option("--role", "roles", "role of the message, as user or toolResult", "R", many=True),
    Option("--tool", "tool_names", "calls and results of this tool", "NAME", many=True),
    Option("--branch-state", "branch_states", "selected, alternate or unknown", "S", many=True,
           values=vocabulary.BRANCH_STATES),
    Option("--selection-state", "selection_states", "direct, summarized, not-selected, "
           "not-applicable or unknown", "S", many=True, values=vocabulary.SELECTION_STATES),
    Option("--errors", "error_only", "only what failed"),
    *_TIMES,
    Option("--file", "file", "only events that touched this file", "PATH"),
)  # fmt: skip

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command(
            "sync",
            "sync [options]",
            "bring the index up to date with the session files",
        ),
        Command(
            "search",
            "search [QUERY] [options]",
            "find events in the history",
            "Brings the index up to date, then lists the events that match best. Without a query "
            "the filters alone decide, and the newest events come first.",
            (("QUERY", 'words and "quoted phrases" that must all occur'),),
            (
                ("filters",
                 _FILTERS),
                ("answer", (
                    Option("--limit", "limit", "at most N events, 1 to 200 (default 20)", "N",
                           type="number"),
                    Option("--sort", "sort", "relevance, newest or oldest", "ORDER",
                           values=vocabulary.SORTS),
                    Option("--no-sync", "no_sync", "search the index as it is"),
                )),
            ),
        ),
        Command(
            "read",
            "read SESSION ENTRY [options]",
            "show one event with what came before and after",
            words=_EVENT_WORDS,
            groups=(
                ("text", (
                    Option("--fragment", "fragment_id", "only this part, as tool.result:0", "ID"),
                    Option("--offset", "offset", "start at character N of that part", "N",
                           type="number"),
                    Option("--window", "window", "show N characters, 1 to 4000 (default 2000)",
                           "N", type="number"),
                )),
                ("neighbours", (
                    Option("--order", "order", "branch (conversation) or append (file)", "ORDER",
                           values=vocabulary.ORDERS),
                    Option("--before", "before", "N events before, 0 to 5 (default 1)", "N",
                           type="number"),
                    Option("--after", "after", "N events after, 0 to 5 (default 1)", "N",
                           type="number"),
                )),
            ),
        ),
        Command(
            "trace",
            "trace SESSION ENTRY [options]",
            "show what one event is related to",
            "Parent, children, alternatives, tool call and result, summaries, labels and files.",
            _EVENT_WORDS,
            (("options", (
                Option("--depth", "depth", "follow relations N steps, 1 to 5 (default 1)", "N",
                       type="number"),
            )),),
        ),
        Command(
            "sessions",
            "sessions [options]",
            "list sessions, the newest activity first",
            groups=(("options", (
                Option("--limit", "limit", "at most N sessions, 1 to 10000 (default 50)", "N",
                       type="number"),
                Option("--name", "name", "only sessions with this text in their name", "TEXT"),
                *_TIMES,
            )),),
        ),
        Command(
            "lineage",
            "lineage SESSION [options]",
            "show what a session was forked from, and its forks",
            words=_EVENT_WORDS[:1],
        ),
        Command(
            "status",
            "status [options]",
            "show what is indexed, and what is not and why",
        ),
        Command(
            "verify",
            "verify [options]",
            "compare the index with one built afresh",
            "Brings the index up to date, builds another one from the session files in a temporary "
            "place, and compares facts, states, texts and what searches find. Exits with 4 when "
            "anything differs; rebuild repairs it.",
        ),
        Command(
            "watch",
            "watch [options]",
            "keep the index current, one line a change, until interrupted",
            "Looks when something happens in the session directories, and every 15 seconds. With "
            "--json each line is a JSON document.",
        ),
        Command(
            "rebuild",
            "rebuild [options]",
            "build a new index beside the old one and switch to it",
            "The old index answers until the new one is complete.",
        ),
        Command(
            "serve",
            "serve [options]",
            "answer the requests of a tool bridge, as the Pi package",
            "Speaks JSON-RPC 2.0 on standard input and output, one message a line, until standard "
            "input is closed. --root and --all-workspaces hold for requests that name no workspace "
            "of their own.",
        ),
        Command(
            "pi-extension",
            "pi-extension [options]",
            "print where the Pi package is, for pi install",
            'Install it with: pi install "$(pi-event-search pi-extension)"',
        ),
    )
}  # fmt: skip


def options_of(command: Command) -> tuple[Option, ...]:
    """All options of a command, the common ones last."""
    own = tuple(option for _, options in command.groups for option in options)
    return own + COMMON
