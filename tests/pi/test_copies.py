"""Copies that Pi makes of a session, and files that are moved: forks, clones, exports, archives.

Each test states what the index says before and after.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.indexes import EVERYTHING
from tests.pi.compare import compare
from tests.pi.program import Driver, Oracle
from tests.pi.room import Room, fresh

SUMMARIZED = ("selected", "summarized")
DIRECT = ("selected", "direct")
METADATA = ("selected", "not-applicable")
ALTERNATE = ("alternate", "not-selected")


@dataclass
class Parent:
    """A session that Pi wrote: two branches, a label in the chain, a compaction, a name."""

    path: Path
    session_id: str
    ids: list[str]


@pytest.fixture
def project(room: Room) -> Path:
    """A directory to work in, which Pi wants to exist."""
    path = room.place / "project"
    path.mkdir()
    return path


@pytest.fixture
def parent(room: Room, driver: Driver, project: Path) -> Parent:
    header = {"type": "session", "version": 3, "id": "parent-session", "cwd": str(project)}
    header["timestamp"] = "2026-01-05T09:00:00.000Z"
    path = room.write("parent.jsonl", json.dumps(header).encode() + b"\n")
    driver.do("open", file=path)
    ids: list[str] = []

    def add(command: str, **arguments: object) -> str:
        ids.append(driver.do(command, **arguments)["leafId"])
        return ids[-1]

    first = add("say", text="first alpha question")
    add("call", method="appendLabelChange", args=[first, "start"])
    kept = add("say", text="second bravo question")
    add("say", text="charlie on another branch")
    driver.do("call", method="branch", args=[kept])
    add("say", text="delta follows it")
    add("call", method="appendCompaction", args=["summary of echo", kept, 100])
    add("call", method="appendSessionInfo", args=["The parent"])
    add("say", text="foxtrot at the end")
    room.sync()
    return Parent(path, "parent-session", ids)


PARENT_STATES = [
    *(SUMMARIZED, METADATA, DIRECT, ALTERNATE),
    *(DIRECT, DIRECT, METADATA, DIRECT),
]


def _check(room: Room, oracle: Oracle, path: Path, states: list[tuple[str, str]]) -> None:
    """The facts of a file are Pi's, and its states are these, in append order."""
    facts = room.facts(path)
    assert compare(oracle.ask(path), facts) == []
    assert [facts.states[str(key)] for key in facts.order] == states


def _lineage(room: Room, session: str) -> tuple[str | None, tuple[str, ...]]:
    lineage = room.index.lineage(session, invocation=EVERYTHING)
    return lineage.parent_session_id, lineage.child_session_ids


def test_the_parent_is_as_described(room: Room, oracle: Oracle, parent: Parent) -> None:
    _check(room, oracle, parent.path, PARENT_STATES)
    assert room.facts(parent.path).labels == {parent.ids[0]: "start"}
    assert room.facts(parent.path).name == "The parent"
    assert room.found("alpha") == [(parent.session_id, parent.ids[0], ())]


def test_pi_fork_copies_every_branch(
    room: Room, driver: Driver, oracle: Oracle, parent: Parent, project: Path
) -> None:
    before = room.facts(parent.path)
    made = driver.do("forkFrom", file=parent.path, cwd=project, dir=room.sessions)
    fork, session = Path(made["file"]), made["sessionId"]
    assert room.sync().rebuilt == 1
    assert room.facts(parent.path) == before
    _check(room, oracle, fork, PARENT_STATES)
    facts = room.facts(fork)
    assert (facts.order, facts.labels, facts.name) == (before.order, before.labels, before.name)
    assert _lineage(room, session) == (parent.session_id, ())
    assert _lineage(room, parent.session_id) == (None, (session,))
    for word, n in (("alpha", 0), ("bravo", 2), ("charlie", 3), ("echo", 5), ("foxtrot", 7)):
        assert room.found(word) == [(parent.session_id, parent.ids[n], (session,))]
        assert room.found(word, session_id=session) == [
            (session, parent.ids[n], (parent.session_id,))
        ]

    said = driver.do("say", text="golf is new in the fork")["leafId"]

    room.sync()
    _check(room, oracle, fork, [*PARENT_STATES, DIRECT])
    assert room.found("golf") == [(session, said, ())]


def test_fork_command_copies_the_path_to_a_message(
    room: Room, driver: Driver, oracle: Oracle, parent: Parent
) -> None:
    driver.do("open", file=parent.path)
    made = driver.do("fork", entry=parent.ids[4])  # in front of "delta follows it"
    fork, session = Path(made["file"]), made["sessionId"]
    room.sync()
    _check(room, oracle, parent.path, PARENT_STATES)
    _check(room, oracle, fork, [DIRECT, DIRECT, METADATA])
    facts = room.facts(fork)
    first, second, label = facts.order
    assert [first, second] == [parent.ids[0], parent.ids[2]]
    assert label not in parent.ids  # written again, behind the path it is not part of any more
    assert facts.labels == {first: "start"}
    assert facts.children[str(first)] == [second]
    assert room.facts(parent.path).children[str(first)] == [parent.ids[1]]
    assert _lineage(room, session) == (parent.session_id, ())
    # The parents of "bravo" differ, and it is the same event all the same.
    assert room.found("bravo") == [(parent.session_id, parent.ids[2], (session,))]
    assert room.found("charlie") == [(parent.session_id, parent.ids[3], ())]


def test_fork_command_at_the_first_message_starts_empty(
    room: Room, driver: Driver, oracle: Oracle, parent: Parent
) -> None:
    driver.do("open", file=parent.path)
    made = driver.do("fork", entry=parent.ids[0])
    assert not Path(made["file"]).exists()  # Pi writes a session with its first message
    said = driver.do("say", text="another start")["leafId"]
    room.sync()
    _check(room, oracle, Path(made["file"]), [DIRECT])
    assert room.facts(Path(made["file"])).leaf == said
    assert _lineage(room, made["sessionId"]) == (parent.session_id, ())


def test_clone_command_copies_the_path_to_the_leaf(
    room: Room, driver: Driver, oracle: Oracle, parent: Parent
) -> None:
    driver.do("open", file=parent.path)
    made = driver.do("clone")
    clone, session = Path(made["file"]), made["sessionId"]
    room.sync()
    _check(room, oracle, parent.path, PARENT_STATES)
    _check(
        room,
        oracle,
        clone,
        [SUMMARIZED, DIRECT, DIRECT, DIRECT, METADATA, DIRECT, METADATA],
    )
    assert room.facts(clone).order[:-1] == [parent.ids[n] for n in (0, 2, 4, 5, 6, 7)]
    assert room.facts(clone).name == "The parent"
    assert room.found("foxtrot") == [(parent.session_id, parent.ids[7], (session,))]
    assert room.found("charlie") == [(parent.session_id, parent.ids[3], ())]
    assert _lineage(room, parent.session_id) == (None, (session,))


@pytest.mark.parametrize("command", ["forkFrom", "clone"])
def test_a_copy_seen_half_done(
    command: str, room: Room, driver: Driver, oracle: Oracle, parent: Parent, project: Path
) -> None:
    arguments: dict[str, Any] = {}
    if command == "forkFrom":
        arguments = {"file": parent.path, "cwd": project, "dir": room.sessions}
    else:
        driver.do("open", file=parent.path)
    old = room.shown(parent.path)
    seen = []
    with driver.steps(command, torn=True, **arguments) as steps:
        for moment in steps:
            room.index.sync()
            assert room.shown(parent.path) == old
            (copy,) = set(room.sessions.iterdir()) - {parent.path}
            data = copy.read_bytes()
            if moment == "torn":
                data = data[: data.rfind(b"\n") + 1]
            if not data:  # no header yet, so nobody's session yet
                assert room.files() == {parent.path.resolve()}
                continue
            assert room.shown(copy) == fresh(data, room.place)
            session = room.facts(copy).session_id
            for entry in room.facts(copy).states:
                # Each message stands under the oldest session it is in; none is there twice.
                for word, n in (("alpha", 0), ("delta", 4), ("echo", 5)):
                    if entry == parent.ids[n]:
                        assert room.found(word) == [(parent.session_id, entry, (session,))]
            seen.append(len(room.facts(copy).order))
    assert seen == sorted(seen)
    assert set(range(seen[-1])) <= set(seen)
    room.sync()
    assert room.shown(copy) == fresh(copy.read_bytes(), room.place)
    assert compare(oracle.ask(copy), room.facts(copy)) == []


def test_an_export_in_the_same_place_is_a_second_file_of_the_session(
    room: Room, driver: Driver, oracle: Oracle, parent: Parent
) -> None:
    driver.do("open", file=parent.path)
    before = room.facts(parent.path)
    export = room.sessions / "export.jsonl"
    driver.do("export", file=export)
    header = json.loads(export.read_bytes().splitlines()[0])
    assert header["id"] == parent.session_id
    assert header["timestamp"] != "2026-01-05T09:00:00.000Z"
    room.sync()
    assert room.files() == {parent.path.resolve()}
    assert room.facts(parent.path) == before
    assert room.receipts() == {"duplicate-session": 1}
    assert room.found("alpha") == [(parent.session_id, parent.ids[0], ())]

    parent.path.unlink()

    assert room.sync().removed == 1
    assert room.files() == {export.resolve()}
    assert room.receipts() == {}
    _check(
        room,
        oracle,
        export,
        [SUMMARIZED, METADATA, DIRECT, DIRECT, DIRECT, METADATA, DIRECT],
    )
    assert room.found("alpha") == [(parent.session_id, parent.ids[0], ())]
    assert room.found("charlie") == []


def test_an_import_is_a_second_file_of_the_session(
    room: Room, driver: Driver, oracle: Oracle, parent: Parent
) -> None:
    driver.do("open", file=parent.path)
    export = room.place / "parent.jsonl"
    driver.do("export", file=export)
    imported = Path(driver.do("import", file=export)["file"])
    assert imported == room.sessions / "parent-1.jsonl"
    room.sync()
    assert room.files() == {parent.path.resolve()}
    assert room.receipts() == {"duplicate-session": 1}

    for n in range(3):  # the copy goes on, and is then the one with the most records
        said = driver.do("say", text=f"hotel {n} in the imported session")["leafId"]
    room.sync()
    assert room.files() == {imported.resolve()}
    assert compare(oracle.ask(imported), room.facts(imported)) == []
    assert room.facts(imported).leaf == said
    assert len(room.found("hotel")) == 3
    assert room.receipts() == {"duplicate-session": 1}
    assert room.found("charlie") == []  # the export took the path only


def test_an_import_from_another_machine(
    room: Room, driver: Driver, oracle: Oracle, project: Path, parent: Parent
) -> None:
    driver.do("open", file=parent.path)
    text = parent.path.read_text().replace("parent-session", "remote-session")
    export = room.place / "from-elsewhere.jsonl"
    export.write_text(text.replace(str(project), "/nowhere/on/this/machine"))
    made = driver.do("import", file=export, cwd=str(project))
    room.sync()
    imported = Path(made["file"])
    _check(room, oracle, imported, PARENT_STATES)
    # The directory asked for counts while Pi runs; what is recorded stays as it was.
    assert room.facts(imported).cwd == "/nowhere/on/this/machine"
    assert room.found("alpha") == [
        (parent.session_id, parent.ids[0], ("remote-session",)),
    ]


@pytest.fixture
def archived(
    room: Room, parent: Parent, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Room, Path]]:
    """The same index, over an archive as well."""
    archive = room.place / "archive"
    archive.mkdir()
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(room.place / "agent"))
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(room.sessions))
    monkeypatch.setenv("PI_EVENT_SEARCH_EXTRA_DIRS", str(archive))
    with Room(room.place, by_environment=True) as both:
        both.sync()
        yield both, archive


def test_a_session_moved_to_an_archive(
    archived: tuple[Room, Path], oracle: Oracle, parent: Parent
) -> None:
    room, archive = archived
    before = room.shown(parent.path, ("alpha", "foxtrot"))
    moved = parent.path.rename(archive / parent.path.name)
    report = room.sync()
    assert (report.removed, report.rebuilt) == (1, 1)
    assert room.files() == {moved.resolve()}
    assert room.shown(moved, ("alpha", "foxtrot")) == before
    _check(room, oracle, moved, PARENT_STATES)
    event = room.index.read(parent.session_id, parent.ids[0], invocation=EVERYTHING)
    assert (event.source.state, event.source.path) == ("exact", str(moved.resolve()))
    assert room.receipts() == {}


def test_a_session_copied_to_an_archive_and_then_removed(
    archived: tuple[Room, Path], oracle: Oracle, parent: Parent
) -> None:
    room, archive = archived
    before = room.shown(parent.path, ("alpha",))
    copy = Path(shutil.copy(parent.path, archive / "copy.jsonl"))
    room.sync()
    assert room.files() == {parent.path.resolve()}  # as many records; Pi's own directory first
    assert room.receipts() == {"duplicate-session": 1}
    assert room.found("alpha") == [(parent.session_id, parent.ids[0], ())]
    parent.path.unlink()
    assert room.sync().removed == 1
    assert room.files() == {copy.resolve()}
    assert room.shown(copy, ("alpha",)) == before
    _check(room, oracle, copy, PARENT_STATES)
    assert room.receipts() == {}


def test_a_session_whose_parent_was_archived_keeps_its_parent(
    archived: tuple[Room, Path], driver: Driver, parent: Parent, project: Path
) -> None:
    room, archive = archived
    made = driver.do("forkFrom", file=parent.path, cwd=project, dir=room.sessions)
    room.sync()
    assert _lineage(room, made["sessionId"]) == (parent.session_id, ())
    parent.path.rename(archive / parent.path.name)
    room.sync()
    # The header still names the file where it was.
    assert _lineage(room, made["sessionId"]) == (parent.session_id, ())
    assert _lineage(room, parent.session_id) == (None, (made["sessionId"],))
    assert room.found("alpha") == [(parent.session_id, parent.ids[0], (made["sessionId"],))]
