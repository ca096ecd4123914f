"""The package in the real Pi: what the model is shown, and what it is never shown."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.pi_package.machine import ENTRY, HERE, SESSION, Machine, call, calls
from tests.serve.history import Session

PYTHON = "PI_EVENT_SEARCH_PYTHON"
READ = calls(call("event_read", sessionId=SESSION, entryId=ENTRY))
TRACE = calls(call("event_trace", sessionId=SESSION, entryId=ENTRY))


def search(query: str, **more: Any) -> dict[str, Any]:
    """A step that searches."""
    return calls(call("event_search", query=query, **more))


def test_it_is_installed_and_searched_read_and_traced(machine: Machine) -> None:
    path = subprocess.run(
        [sys.executable, "-m", "pi_event_search", "pi-extension"],
        env=machine.env,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    subprocess.run(
        machine.command("install", path),
        env=machine.env,
        cwd=machine.project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    machine.run({"text": "The zebrafish tank leaks"}, prompt="Why is it wet?", extension=False)
    run = machine.run(search("zebrafish"), READ, TRACE, {"text": "I see"}, extension=False)
    assert run.output == "I see"
    assert run.tools[0] == ["event_search", "event_read", "event_trace"]
    found, read, trace = run.shown[1:]
    assert found.startswith("1 event found.")
    assert "> The zebrafish tank leaks" in found
    assert "> The zebrafish tank leaks" in read
    assert "> Why is it wet?" in read
    assert "- parent, selected" in trace
    for path_part in (str(machine.agent), ".jsonl"):
        assert not any(path_part in shown for shown in run.shown)


def test_the_call_that_asks_and_what_is_later_are_never_shown(machine: Machine) -> None:
    machine.run({"text": "said before: quokka"}, prompt="the quokka question")
    asking = calls(
        call("event_search", query="quokka", sessionId="current"),
        call("event_search", query="wombat", sessionId="current"),
        call("say_later", what="wombat and quokka"),
        call("event_search", query="quokka wombat"),
        text="now: wombat",
    )
    run = machine.run(
        asking,
        calls(call("event_search", query="wombat", sessionId="current")),
        calls(call("event_search", query="quokka")),
        {"text": "done"},
        prompt="wombat, asks the user",
        options=["--continue", "-e", str(HERE / "sequential_tool.ts")],
    )
    (session,) = machine.sessions()
    assert [result.splitlines()[0].partition(".")[0] for result in _results(session)] == [
        "2 events found",  # question and answer of the first run
        "1 event found",  # the prompt of this run; not the message that asks, which says it too
        "wombat and quokka",
        "0 events found",  # nothing outside this session, and nothing of it unless it is asked for
        "3 events found",  # also message and result of the step before; not this one
        "0 events found",
    ]
    assert run.output == "done"


def test_another_workspace_cannot_be_seen(machine: Machine, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    machine.run({"text": "the vault code is armadillo"}, cwd=other)
    (file,) = machine.sessions()
    records = [json.loads(line) for line in file.read_text().splitlines()]
    known = {"sessionId": records[0]["id"], "entryId": records[-1]["id"]}
    run = machine.run(
        search("armadillo"),
        calls(call("event_read", **known), call("event_trace", **known)),
        {"text": "done"},
    )
    assert '- "armadillo" alone: 0 events' in run.shown[1]
    denied = "No such session or event can be seen from this workspace."
    assert _results(machine.sessions()[-1])[1:] == [denied, denied]
    run = machine.run(search("armadillo"), {"text": "done"}, cwd=other)
    assert run.shown[1].startswith("1 event found.")


def test_without_a_session_of_its_own_it_sees_the_others(machine: Machine) -> None:
    machine.run({"text": "about a pangolin"})
    run = machine.run(
        search("pangolin"),
        calls(call("event_search", query="pangolin", sessionId="current")),
        {"text": "done"},
        options=["--no-session"],
    )
    assert run.shown[1].startswith("1 event found.")
    assert "event found" not in run.shown[2]
    assert len(machine.sessions()) == 1


def test_a_fork_is_answered_from_the_session_it_was_made_of(machine: Machine) -> None:
    machine.run({"text": "the ocelot sleeps"})
    (file,) = machine.sessions()
    original = json.loads(file.read_text().splitlines()[0])["id"]
    run = machine.run(search("ocelot"), {"text": "done"}, options=["--fork", str(file)])
    assert run.shown[1].startswith("1 event found.")
    assert f"sessionId: {original}, " in run.shown[1]
    assert len(machine.sessions()) == 2


def test_sessions_come_and_go_and_servers_die_in_one_pi(machine: Machine) -> None:
    machine.run({"text": "first the tapir"})
    found = "1 event found."
    with machine.conversation(
        search("tapir"), {"text": "second the dugong"},
        search("dugong"), {"text": "third"},
        search("tapir"), {"text": "fourth"},
        search("dugong", sessionId="current"), {"text": "fifth"},
        search("tapir"), {"text": "sixth"},
        search("tapir"), {"text": "seventh"},
    ) as pi:  # fmt: skip
        assert pi.prompt("one").startswith(found)
        second = pi.send("get_state")["sessionFile"]
        pi.send("new_session")
        assert pi.prompt("two").startswith(found)
        _kill_server(machine)
        assert pi.prompt("three").startswith(found)
        pi.send("switch_session", sessionPath=second)
        assert found in pi.prompt("four")
        pi.send("clone")
        assert pi.prompt("five").startswith(found)
        pi.send("fork", entryId=pi.send("get_fork_messages")["messages"][-1]["entryId"])
        assert pi.prompt("six").startswith(found)
        assert not pi.notices
        assert "dugong" in pi.command("/event-search dugong")
        assert pi.command("/event-search").startswith("Usage")
        assert "sessions of this project are indexed" in pi.command("/event-status")


@pytest.mark.parametrize("named_by", ["environment", "settings"])
def test_where_python_is_missing_it_says_what_to_do(machine: Machine, named_by: str) -> None:
    nowhere = "/nowhere/python"
    env = {PYTHON: nowhere} if named_by == "environment" else {}
    if named_by == "settings":
        settings = {"eventSearch": {"python": nowhere}}
        (machine.agent / "settings.json").write_text(json.dumps(settings))
    run = machine.run(search("anything"), {"text": "done"}, env=env)
    assert run.output == "done"
    assert run.shown[1].startswith("The history search needs the Python it was installed with")
    assert PYTHON in run.shown[1]


def test_a_session_directory_of_the_command_line_counts(machine: Machine, tmp_path: Path) -> None:
    machine.run({"text": "the numbat in the usual place"})
    elsewhere = ["--session-dir", str(tmp_path / "elsewhere")]
    machine.run({"text": "the numbat elsewhere"}, options=elsewhere)
    run = machine.run(search("numbat"), {"text": "done"}, options=elsewhere)
    assert run.shown[1].startswith("1 event found.")
    assert "> the numbat elsewhere" in run.shown[1]


def test_a_history_that_is_not_read_yet_is_said_to_be_so(machine: Machine) -> None:
    """The server never gets to look at the directories; the index holds one session of two."""
    machine.run({"text": "the first iguana"})
    machine.run(search("iguana"), {"text": "now it is indexed"})
    machine.run({"text": "the second iguana"}, extension=False)
    changed = machine.wrapped_python("exec {python} -m tests.serve.tampered behind 1,0")
    run = machine.run(search("iguana"), {"text": "done"}, env={PYTHON: changed})
    assert "1 event found. The index is just being brought up to date" in run.shown[1]


def test_twenty_megabytes_are_searched_while_they_are_read(machine: Machine) -> None:
    place = machine.agent / "sessions" / "old"
    place.mkdir(parents=True)
    for number in range(20):
        session = Session(place, f"old-{number}", str(machine.project), hour=number)
        session.user("capybara " + "filler words of a long log " * 40_000)
        session.user(f"capybara number {number}")
    run = machine.run(search('"capybara number"'), {"text": "done"})
    count, _, said = run.shown[1].splitlines()[0].partition(" events found.")
    assert count == "20" or said.lstrip().startswith("The index is still catching up (")


def test_pi_does_not_wait_for_a_server_that_does_not_end(machine: Machine) -> None:
    """It answers nothing, and ignores the end of its input and every signal that it can."""
    fifo = machine.agent / "fifo"
    os.mkfifo(fifo)
    stubborn = machine.wrapped_python(
        f"trap '' TERM HUP INT; echo $$ > {fifo}; exec tail -f /dev/null"
    )
    run = machine.run(
        calls(call("bash", command=f"cat {fifo}")),
        {"text": "done"},
        env={PYTHON: stubborn},
    )
    assert run.output == "done"
    os.kill(int(run.shown[1]), signal.SIGKILL)  # it is there still: nobody waited for it


def test_scripts_of_a_model_cannot_call_the_tools(machine: Machine) -> None:
    machine.run({"text": "the gecko climbs"})
    script = "return Object.keys(tools).filter((name) => name.startsWith('event_')).join() + '!'"
    run = machine.run(
        calls(call("codemode", code=script)),
        search("gecko"),
        {"text": "done"},
        options=["-e", "builtin:codemode", "--tools", "+codemode"],
    )
    assert "event_" not in run.shown[1]
    assert run.shown[1].rstrip().endswith("!")
    assert run.shown[2].startswith("1 event found.")


def test_ids_are_all_that_is_kept_beside_the_text(machine: Machine) -> None:
    machine.run({"text": "a lonely axolotl"}, options=["--name", "Secret title"])
    machine.run(search("axolotl"), READ, TRACE, {"text": "done"})
    details = [
        record["message"]["details"]
        for record in map(json.loads, machine.sessions()[-1].read_text().splitlines())
        if record.get("message", {}).get("role") == "toolResult"
    ]
    assert [sorted(detail["events"][0]) for detail in details] == [
        ["entryId", "fragmentId", "sessionId"],
        ["entryId", "sessionId"],
        ["entryId", "sessionId"],
    ]
    assert "axolotl" not in json.dumps(details)


def _results(file: Path) -> list[str]:
    """The texts of all tool results of a session."""
    records = map(json.loads, file.read_text().splitlines())
    messages = [record["message"] for record in records if record["type"] == "message"]
    return [m["content"][0]["text"] for m in messages if m["role"] == "toolResult"]


def _kill_server(machine: Machine) -> None:
    """Kills the newest server, as its log names it."""
    pid = machine.server_log().rstrip().splitlines()[-1].partition("[")[2].partition("]")[0]
    subprocess.run(["kill", "-9", pid], check=True)
