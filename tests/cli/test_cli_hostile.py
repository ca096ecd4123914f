"""A log in which every text is hostile, through the whole program: no terminal is disturbed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pi_event_search.cli import main

from tests.cli.test_cli_render import ESCAPE, HOSTILE
from tests.quality.history import Story, call

NAME = re.sub("[\x00/\ud800-\udfff]", "", HOSTILE)
"""As much of it as a file may be called."""
STEERS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]"
    "|[\u200b\u200e\u200f\ufeff\u061c\ud800-\udfff]"
    "|[\u0300-\u036f]{5}|[\u0e31-\u0e3a\u0e47-\u0e4e]{5}"
)
"""What a terminal would obey, what cannot be seen, and what piles up over other lines."""
COMMANDS = (
    "sync",
    "search zebra",
    "search zebra --sort oldest",
    "search --entry-type label --entry-type model_change",
    "search --file {name}.txt",
    "search zebra {hostile} nothing",
    "read {session} {entry}",
    "read {session} {result} --before 5 --after 5 --order append",
    "trace {session} {entry} --depth 3",
    "trace {session} {result} --depth 3",
    "sessions",
    "sessions --name zebra",
    "lineage {session}",
    "status",
    "verify",
    "rebuild",
)
ALSO_REFUSED = (
    "read {hostile} {hostile}",
    "search zebra --kind {hostile}",
    "search zebra --session {hostile}",
    "lineage {hostile}",
    "{hostile}",
)


@pytest.fixture
def typed(tmp_path: Path) -> dict[str, str]:
    """What the fields of the commands stand for; the history lies beside."""
    sessions = tmp_path / f"s{NAME}"
    sessions.mkdir()
    parent = Story("parent", cwd=f"/w/{HOSTILE}")
    entry = parent.user(f"zebra {HOSTILE}", HOSTILE * 200, id=f"id{NAME}")
    parent.add("session_info", name=f"zebra {HOSTILE}")
    story = Story("fork", cwd=f"/w/{HOSTILE}", parent=parent.write(sessions))
    story.records, story.leaf = list(parent.records), parent.leaf
    story.add("label", targetId=entry, label=f"zebra {HOSTILE}")
    story.add("model_change", provider=HOSTILE, modelId=HOSTILE)
    tool = f"edit{HOSTILE}"
    story.assistant(f"zebra {HOSTILE}", call("c", tool, path=f"{HOSTILE}/{NAME}.txt"))
    result = story.result("c", tool, f"zebra {HOSTILE}\n" * 800, error=True)
    story.add(f"new{HOSTILE}", zebra=HOSTILE)
    story.add("custom_message", customType=HOSTILE, content=f"zebra {HOSTILE}", display=True)
    story.add("compaction", summary=f"zebra {HOSTILE}", firstKeptEntryId=result, tokensBefore=1)
    with story.write(sessions).open("a") as file:
        file.write(f'{{"broken {NAME}\n' + json.dumps({"type": "message", "id": HOSTILE}) + "\n")
    (sessions / f"no{NAME}.jsonl").write_text(f"{NAME}\n")
    fields = {"session": "fork", "entry": entry, "result": result, "name": NAME}
    return fields | {"hostile": HOSTILE.replace("\x00", ""), "place": str(tmp_path)}


@pytest.mark.parametrize("colour", ["FORCE_COLOR", "NO_COLOR"])
def test_nothing_of_it_reaches_the_terminal(
    typed: dict[str, str],
    colour: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(colour, "1")
    place = Path(typed["place"])
    options = ["--sessions-dir", str(place / f"s{NAME}"), "--index-dir", str(place / f"i{NAME}")]
    for command in (*COMMANDS, *ALSO_REFUSED):
        words = [word.format_map(typed) for word in command.split()]
        code = main([*words, *options, "--all-workspaces"])
        out, err = capsys.readouterr()
        assert code == 0 or command in ALSO_REFUSED, (command, err)
        for stream in (out, err):
            found = STEERS.search(ESCAPE.sub("", stream))
            assert found is None, (command, found, stream)
            stream.encode()


def test_json_is_ascii_where_it_could_steer(
    typed: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    place = Path(typed["place"])
    options = ["--sessions-dir", str(place / f"s{NAME}"), "--index-dir", str(place / f"i{NAME}")]
    for command in (*COMMANDS, *ALSO_REFUSED):
        words = [word.format_map(typed) for word in command.split()]
        main([*words, *options, "--all-workspaces", "--json"])
        out, _ = capsys.readouterr()
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", out)
        json.loads(out)
