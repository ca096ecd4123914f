"""Output for eyes: golden in several widths, and undisturbed by hostile text."""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Callable
from datetime import UTC
from typing import Any

import pytest
from pi_event_search.cli.parser import Parsed, parse
from pi_event_search.cli.render.asked import Asked, asked_for
from pi_event_search.cli.render.event import render_event
from pi_event_search.cli.render.index import render_status, render_sync, render_verification
from pi_event_search.cli.render.screen import (
    BAD,
    FAINT,
    ID,
    MATCH,
    STRONG,
    Screen,
    screen_for,
)
from pi_event_search.cli.render.search import render_search
from pi_event_search.cli.render.sessions import render_lineage, render_sessions
from pi_event_search.cli.render.trace import render_trace
from pi_event_search.cli.render.words import ago, counted, local_time, size
from pi_event_search.types.event import TextPreview
from pi_event_search.types.search import Diagnostics, DiagnosticTerm, SearchPage, TextRange
from pi_event_search.types.sessions import Lineage, SessionPage
from rich.cells import cell_len

from tests.cli.made_up import (
    NOW,
    READY,
    SESSION,
    MadeUpIndex,
    check_golden,
    different,
    equal,
    event,
    hit,
    no_hits,
    page,
    report,
    sessions,
    status,
    trace,
    whole,
)

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


HERE = Asked(("/w/a",), ("/s",), ("--errors",))


def at_home(render: Callable[[Any, Screen, Asked], None]) -> Callable[[Any, Screen], None]:
    """The rendering of what was asked in one project."""
    return lambda result, screen: render(result, screen, HERE)


ANSWERS: dict[str, tuple[Callable[[Any, Screen], None], Callable[[], Any]]] = {
    "search": (at_home(render_search), page),
    "search-nothing": (at_home(render_search), no_hits),
    "read": (render_event, event),
    "trace": (render_trace, trace),
    "sessions": (at_home(render_sessions), sessions),
    "lineage": (render_lineage, lambda: Lineage(SESSION, ("c1", "c2"), "p")),
    "status": (at_home(render_status), status),
    "sync": (at_home(render_sync), report),
    "verify": (render_verification, equal),
    "verify-different": (render_verification, different),
}
LOOKS = {"80": (80, True), "200": (200, True), "piped": (None, False), "plain-40": (40, False)}


def shown(name: str, width: int | None, colour: bool, result: Any = None) -> str:
    render, answer = ANSWERS[name]
    screen = Screen(width=width, colour=colour, now=NOW, zone=UTC)
    render(answer() if result is None else result, screen)
    return screen.text()


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", ANSWERS)
def test_screens_are_golden(name: str, look: str) -> None:
    text = shown(name, *LOOKS[look])
    check_golden(f"screen/{name}-{look}.txt", text.replace("\x1b", "␛"))
    assert ("\x1b" in text) == LOOKS[look][1]


@pytest.mark.parametrize("name", ANSWERS)
def test_colours_add_nothing_but_colours(name: str) -> None:
    plain = shown(name, 80, False).split("\n")
    coloured = ESCAPE.sub("", shown(name, 80, True)).split("\n")
    assert [line.rstrip() for line in coloured] == plain


@pytest.mark.parametrize("name", ["search", "read", "trace"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit_the_terminal(name: str, width: int) -> None:
    for line in shown(name, width, False).split("\n"):
        assert cell_len(line) <= width or SESSION[:8] in line


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_ids_are_never_broken(width: int) -> None:
    assert f"{SESSION} a1b2c3d4\n" in shown("search", width, False)
    assert f"{SESSION} a1b2c3d4\n" in shown("read", width, False)


def test_columns_align_with_wide_characters() -> None:
    lines = shown("sessions", 200, False).rstrip("\n").split("\n")
    starts = {cell_len(line[: line.index("/w/a")]) for line in lines[1:]}
    assert len(starts) == 1


HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07\x9b31m\u202erev\u2066\r\x00[bold]x[/bold]:smile:\x08\x7f"
    "\x1b[31mred\x1b[0m\x1b[999D\x1bc\x1bP1$r\x1b\\\x1b]8;;http://x\x1b\\\u200b\ufeff\u200f\u061c"
    "z\u0335\u0336\u0337\u0338\u0339\u033a\u033b\u0e01\u0e47\u0e47\u0e47\u0e47\u0e47\u0e47\udc9b\x85\u2028"
)


def poisoned(value: Any) -> Any:
    """The same result with hostile text in every place where text is free."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return dataclasses.replace(value, **{name: poisoned(item) for name, item in fields})
    if isinstance(value, tuple):
        return tuple(poisoned(item) for item in value)
    if isinstance(value, dict):
        return {f"{key}{HOSTILE}": poisoned(item) for key, item in value.items()}
    return f"{value}{HOSTILE}" if isinstance(value, str) else value


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("name", ANSWERS)
def test_hostile_text_reaches_no_terminal(name: str, colour: bool) -> None:
    text = ESCAPE.sub("", shown(name, 80, colour, poisoned(ANSWERS[name][1]())))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)
    assert not re.search("[\u200b\u200e\u200f\ufeff\u061c\ud800-\udfff]", text), "invisible"
    assert not re.search("[\u0300-\u036f]{5}|[\u0e31-\u0e3a\u0e47-\u0e4e]{5}", text), "stacked"
    assert "[31m" not in text
    text.encode()


def test_markup_in_logs_is_text() -> None:
    found = SearchPage((hit(snippet="[red]x[/red] :smile:", highlights=()),), READY)
    assert "[red]x[/red] :smile:" in shown("search", 80, False, found)


def test_matches_are_marked_where_they_are_in_spite_of_cleaning() -> None:
    marked = hit(snippet="\x1b\x1b lock", highlights=(TextRange(3, 7),))
    assert "\x1b[1;35mlock\x1b[0m" in shown("search", 80, True, SearchPage((marked,), READY))


@pytest.mark.parametrize(
    ("preview", "note"),
    [
        (
            TextPreview("x", 9_000, (TextRange(2_000, 4_000),),
                        (TextRange(0, 2_000), TextRange(4_000, 9_000)), True),
            "[characters 2,000-4,000 of 9,000; more with --fragment tool.result:0 --offset 4000]",
        ),
        (
            TextPreview("x", 9_000, (TextRange(5_000, 9_000),), (TextRange(0, 5_000),), True),
            "[characters 5,000-9,000 of 9,000; more with --fragment tool.result:0 --offset 0]",
        ),
        (
            TextPreview("", 9_000, (), (TextRange(0, 9_000),), True),
            "[nothing is held of this part of the 9,000 characters]",
        ),
    ],
)  # fmt: skip
def test_a_cut_text_says_how_to_go_on(preview: TextPreview, note: str) -> None:
    target = event()
    fragment = dataclasses.replace(target.fragments[0], preview=preview)
    assert note in shown("read", None, False, dataclasses.replace(target, fragments=(fragment,)))


def test_an_event_without_text_says_so() -> None:
    bare = dataclasses.replace(event(), fragments=(), omissions=(), fragment_coverage=(
        dataclasses.replace(event().fragment_coverage, total=0, returned=0, omitted=0)
    ))  # fmt: skip
    assert "[this event has no text]" in shown("read", 80, False, bare)


def test_text_that_is_not_from_the_file_says_so() -> None:
    gone = dataclasses.replace(event(), source=dataclasses.replace(event().source, state="missing"))
    assert "the file is gone; this is what the index holds" in shown("read", 200, False, gone)


def test_line_ends_of_a_text_stay() -> None:
    fragment = dataclasses.replace(event().fragments[0], preview=whole("a\n\n    b\r\nc\td"))
    text = shown("read", 80, False, dataclasses.replace(event(), fragments=(fragment,)))
    assert "\n  a\n\n      b\n  c    d\n" in text


@pytest.mark.parametrize(
    ("environment", "terminal", "colour"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
    ],
)
def test_colours_by_environment(
    environment: dict[str, str], terminal: bool, colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "66")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    screen = screen_for(Stream(), NOW, UTC)
    screen.line(("x", "bold red"))
    assert ("\x1b" in screen.text()) == colour
    assert screen.interactive == terminal
    assert (screen.width == 66) == terminal


def test_main_writes_what_is_rendered(capsys: pytest.CaptureFixture[str]) -> None:
    assert MadeUpIndex().run("search", "lock") == 0
    assert capsys.readouterr().out == shown("search", None, False)


@pytest.mark.parametrize(
    ("timestamp", "words"),
    [
        ("2026-03-14T12:00:30Z", "just now"),
        ("2026-03-14T11:59:00Z", "1 minute ago"),
        ("2026-03-14T11:00:01Z", "59 minutes ago"),
        ("2026-03-13T12:00:00Z", "1 day ago"),
        ("2026-03-13T12:00:01Z", "23 hours ago"),
        ("2026-02-28T12:00:00Z", "2 weeks ago"),
        ("2026-01-01T12:00:00Z", "2026-01-01"),
        ("2026-03-15T12:00:00Z", "2026-03-15"),
        ("2026-03-14T11:30:00", "30 minutes ago"),
        ("0001-01-01T00:00:00+14:00", "at an unknown time"),
        ("", "at an unknown time"),
        ("x", "at an unknown time"),
    ],
)
def test_ago(timestamp: str, words: str) -> None:
    assert ago(timestamp, NOW) == words


def test_numbers_in_words() -> None:
    assert [counted(1, "event"), counted(2_000, "event")] == ["1 event", "2,000 events"]
    assert [size(999), size(1_234_567), size(10**12)] == ["999 B", "1.2 MB", "1.0 TB"]
    assert local_time("x", UTC) == "x"
    assert local_time("", UTC) == "no time recorded"


PALETTES = {
    # What four widespread terminals show for red, magenta, bold red and bold magenta.
    "xterm": ("cd0000", "cd00cd", "ff0000", "ff00ff"),
    "VS Code dark": ("cd3131", "bc3fbc", "f14c4c", "d670d6"),
    "GNOME": ("c01c28", "a347ba", "f66151", "c061cb"),
    "Terminal of macOS": ("990000", "b200b2", "e50000", "e500e5"),
}


def luminance(colour: str) -> float:
    """As the guidelines for accessible content define it."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("ground", ["ffffff", "000000", "fdf6e3", "1e1e1e"])
@pytest.mark.parametrize("terminal", PALETTES)
def test_colours_are_readable_on_light_and_on_dark_ground(terminal: str, ground: str) -> None:
    names = ("red", "magenta", "bold red", "bold magenta")
    shown_as = dict(zip(names, PALETTES[terminal], strict=True))
    coloured = {style for style in (STRONG, FAINT, BAD, MATCH, ID) if style not in ("bold", "dim")}
    assert coloured <= shown_as.keys()
    for style in coloured:
        # Bold text keeps its colour in some terminals, and is brighter in others.
        assert contrast(shown_as[style], ground) >= 2.5, style


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        ((), "read SESSION ENTRY`."),
        (("--all-workspaces",), "read SESSION ENTRY --all-workspaces`."),
        (("--root", "/w/two words"), "read SESSION ENTRY --root '/w/two words'`."),
        (("--errors", "--index-dir", "/i"), "read SESSION ENTRY --index-dir /i`."),
        (("--limit", "2"), "read SESSION ENTRY`; --limit shows more."),
    ],
)
def test_the_hint_names_the_command_that_works(flags: tuple[str, ...], hint: str) -> None:
    parsed = parse(["search", "lock", *flags])
    assert isinstance(parsed, Parsed)
    screen = Screen(width=200, colour=False, now=NOW, zone=UTC)
    render_search(page(), screen, asked_for(parsed))
    assert hint in screen.text()


@pytest.mark.parametrize("terms", [("lock*", 0, True), ("lock*", 3, False), ("lock", 0, False)])
def test_wildcards_that_find_nothing_are_explained(terms: tuple[str, int, bool]) -> None:
    word, events, explained = terms
    why = Diagnostics((DiagnosticTerm(word, events),), 0, False)
    text = shown("search", 200, False, SearchPage((), READY, why))
    assert ("`*`" in text) == explained


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("name", ["search", "sessions", "status", "sync"])
def test_where_there_is_nothing_at_all(name: str, everywhere: bool) -> None:
    nothing = dataclasses.replace(READY, indexed_sessions=0, discovered_sessions=0)
    why = Diagnostics((DiagnosticTerm("lock", 0),), 0, False)
    answers = {
        "search": SearchPage((), nothing, why),
        "sessions": SessionPage((), nothing),
        "status": dataclasses.replace(status(), coverage=nothing, problems=()),
        "sync": dataclasses.replace(report(), discovered=0, coverage=nothing),
    }
    renderers: dict[str, Callable[[Any, Screen, Asked], None]] = {
        "search": render_search,
        "sessions": render_sessions,
        "status": render_status,
        "sync": render_sync,
    }
    screen = Screen(width=80, colour=False, now=NOW, zone=UTC)
    renderers[name](answers[name], screen, Asked(() if everywhere else ("/w/a",), ("/s",)))
    if everywhere:
        assert "There are no session files in /s.\n--sessions-dir names" in screen.text()
    else:
        assert (
            "No session was recorded in /w/a. --all-workspaces looks at every session in /s; "
            "--sessions-dir names another place."
        ) in " ".join(screen.text().split())
