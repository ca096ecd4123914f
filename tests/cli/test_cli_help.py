"""Help is golden, and the same in every version of Python."""

from __future__ import annotations

import pytest
from pi_event_search.cli.arguments import COMMANDS, COMMON, options_of
from pi_event_search.cli.help import help_text

from tests.cli.made_up import MadeUpIndex, check_golden

CONTRACT = {
    "sync": set(),
    "search": {
        "--limit", "--session", "--cwd", "--kind", "--entry-type", "--role", "--tool",
        "--branch-state", "--selection-state", "--errors", "--since", "--until", "--file",
        "--sort", "--no-sync",
    },
    "read": {"--fragment", "--offset", "--window", "--order", "--before", "--after"},
    "trace": {"--depth"},
    "sessions": {"--limit", "--name", "--since", "--until"},
    "lineage": set(),
    "status": set(),
    "verify": set(),
    "rebuild": set(),
    "serve": set(),
    "pi-extension": set(),
    "watch": set(),
}  # fmt: skip
EVERYWHERE = {
    "--sessions-dir", "--index-dir", "--root", "--exclude", "--all-workspaces", "--json", "--help",
}  # fmt: skip


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_help_is_golden(
    command: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert MadeUpIndex().run(*([command] if command else []), "--help") == 0
    shown = capsys.readouterr().out
    check_golden(f"help/{command or 'pi-event-search'}.txt", shown)
    assert max(map(len, shown.splitlines())) <= 80


def test_the_options_are_those_of_the_contract() -> None:
    assert {option.flag for option in COMMON} == EVERYWHERE
    own = {
        name: {option.flag for option in options_of(command)} - EVERYWHERE
        for name, command in COMMANDS.items()
    }
    assert own == CONTRACT


@pytest.mark.parametrize("width", [1, 30, 200])
def test_help_stands_any_width(width: int) -> None:
    for command in COMMANDS.values():
        text = help_text(command, width)
        assert all(option.flag in text for option in options_of(command))


def test_a_short_help_flag_and_help_before_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    index = MadeUpIndex()
    assert index.run("read", "-h") == 0
    assert index.run("--help", "read") == 0
    first, second = capsys.readouterr().out.split("usage: ")[1:]
    assert first == second
    assert index.opened == {}
