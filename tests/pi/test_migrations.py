"""What Pi changes in a session file when it opens it: old versions, torn and unended tails.

Each test states what the index says before and after.
"""

from pathlib import Path

import pytest
from pi_event_search.errors import NotFound

from tests.indexes import EVERYTHING
from tests.pi.compare import compare
from tests.pi.program import Driver, Oracle
from tests.pi.room import Room, fresh

GOLDEN = Path(__file__).parents[1] / "golden" / "damage"
SUMMARIZED = ("selected", "summarized")
DIRECT = ("selected", "direct")
ALTERNATE = ("alternate", "not-selected")


@pytest.fixture
def cwd(room: Room) -> Path:
    """A directory to work in, which Pi wants to exist."""
    path = room.place / "project"
    path.mkdir()
    return path


def _golden(case: str) -> bytes:
    return (GOLDEN / case / "session.jsonl").read_bytes()


def test_version_1_is_rewritten_in_place(room: Room, driver: Driver, oracle: Oracle) -> None:
    path = room.write("old.jsonl", _golden("v1"))
    states = [SUMMARIZED] * 2 + [DIRECT] * 4
    room.sync()
    before = room.facts(path)
    assert list(before.states.values()) == states
    assert compare(oracle.ask(path), before) == []
    inode = path.stat().st_ino

    opened = driver.do("open", file=path)

    assert path.stat().st_ino == inode
    assert b'"version":3' in path.read_bytes()
    report = room.sync()
    assert (report.rebuilt, report.appended) == (1, 0)
    after = room.facts(path)
    assert list(after.states.values()) == states
    assert compare(oracle.ask(path), after) == []
    assert after.leaf == opened["leafId"]
    assert not set(before.order) & set(after.order)
    (hit,) = room.found("question kept")
    assert hit == (after.session_id, after.order[2], ())
    with pytest.raises(NotFound):
        room.index.read(before.session_id, str(before.order[2]), invocation=EVERYTHING)


def test_version_2_is_rewritten_in_place(room: Room, driver: Driver, oracle: Oracle) -> None:
    path = room.write("old.jsonl", _golden("v2"))
    states = [SUMMARIZED] * 2 + [DIRECT] * 3 + [ALTERNATE, DIRECT]
    room.sync()
    before = room.facts(path)
    assert list(before.states.values()) == states
    (reminder,) = room.index.search("reminder", invocation=EVERYTHING).hits
    assert (reminder.role, reminder.semantic_kind) == ("custom", "custom.message")

    driver.do("open", file=path)

    assert room.sync().rebuilt == 1
    after = room.facts(path)
    assert after == before
    assert compare(oracle.ask(path), after) == []
    (migrated,) = room.index.search("reminder", invocation=EVERYTHING).hits
    assert (migrated.role, migrated.semantic_kind) == ("custom", "custom.message")
    assert migrated.entry_id == reminder.entry_id


@pytest.mark.parametrize("case", ["v1", "v2"])
def test_a_rewrite_seen_at_every_moment(case: str, room: Room, driver: Driver) -> None:
    path = room.write("old.jsonl", _golden(case))
    room.sync()
    old = room.shown(path)
    with driver.steps("open", torn=True, file=path) as steps:
        for moment in steps:
            report = room.index.sync()
            data = path.read_bytes()
            header_stands = b"\n" in data
            assert report.failed == int(not header_stands), moment
            if header_stands:
                extent = room.extent(path)
                assert extent >= data.rfind(b"\n") + 1
                assert room.shown(path) == fresh(data[:extent], room.place)
            else:  # nothing of the new file can be told yet: the last good reading answers
                assert room.shown(path) == old
                assert report.coverage.state == "error"
    assert room.sync().coverage.state == "ready"
    assert room.shown(path) == fresh(path.read_bytes(), room.place)


def test_a_session_goes_on_after_its_migration(room: Room, driver: Driver, oracle: Oracle) -> None:
    path = room.write("old.jsonl", _golden("v1"))
    room.sync()
    driver.do("open", file=path)
    said = driver.do("say", text="and another thing")["leafId"]
    room.sync()
    facts = room.facts(path)
    assert facts.leaf == said
    assert facts.states[said] == DIRECT
    assert compare(oracle.ask(path), facts) == []
    driver.do("say", text="and yet another")
    assert room.sync().appended == 1
    assert compare(oracle.ask(path), room.facts(path)) == []


def test_pi_fork_of_version_1_has_version_3_and_no_ids(
    room: Room, driver: Driver, oracle: Oracle, cwd: Path
) -> None:
    path = room.write("old.jsonl", _golden("v1"))
    fork = Path(driver.do("forkFrom", file=path, cwd=cwd, dir=room.sessions)["file"])
    room.sync()
    facts = room.facts(fork)
    assert facts.order == [None] * 6  # which Pi cannot name either
    assert (facts.leaf, facts.states, facts.branch) == (None, {}, [])
    assert compare(oracle.ask(fork), facts) == []
    # The derived ids depend on content and position, so the fork's entries are known as copies.
    ((owner, entry, copies),) = room.found("question kept")
    assert (owner, copies) == (room.facts(path).session_id, (facts.session_id,))
    event = room.index.read(facts.session_id, entry, invocation=EVERYTHING)
    assert (event.branch_state, event.selection_state) == ("unknown", "unknown")
    assert event.fragments[0].preview.text == "Kept question"


def test_a_torn_tail_is_ended_when_pi_resumes(room: Room, driver: Driver, oracle: Oracle) -> None:
    whole = _golden("crlf").replace(b"\r\n", b"\n").rstrip() + b"\n"
    partial = b'{"type":"message","id":"aaaa0009","parentId":"aaaa0002","message":{"role":"us'
    path = room.write("torn.jsonl", whole + partial)
    report = room.sync()
    assert (report.coverage.pending_bytes, report.coverage.skipped_records) == (len(partial), 0)
    before = room.facts(path)
    assert before.leaf == "aaaa0002"

    driver.do("open", file=path)

    assert path.read_bytes() == whole + partial + b"\n"
    report = room.sync()
    assert (report.appended, report.events_added) == (1, 0)
    assert (report.coverage.pending_bytes, report.coverage.skipped_records) == (0, 1)
    assert room.receipts() == {"malformed": 1}
    assert room.facts(path) == before

    said = driver.do("say", text="it goes on")["leafId"]

    assert room.sync().events_added == 1
    facts = room.facts(path)
    assert facts.branch == [*before.branch, said]
    assert facts.states[said] == DIRECT
    assert compare(oracle.ask(path), facts) == []


def test_a_whole_last_record_gets_its_line_feed(room: Room, driver: Driver, oracle: Oracle) -> None:
    path = room.write("unended.jsonl", _golden("complete-without-lf"))
    assert not path.read_bytes().endswith(b"\n")
    room.sync()
    before = room.facts(path)
    assert before.states == {"aaaa0001": DIRECT, "aaaa0002": DIRECT}
    assert compare(oracle.ask(path), before) == []

    driver.do("open", file=path)

    assert path.read_bytes().endswith(b"\n")
    report = room.sync()
    assert (report.events_added, report.rebuilt) == (0, 0)
    assert room.facts(path) == before
    said = driver.do("say", text="it goes on")["leafId"]
    assert room.sync().events_added == 1
    assert room.facts(path).branch == [*before.branch, said]
    assert compare(oracle.ask(path), room.facts(path)) == []
    assert room.receipts() == {}


def test_an_empty_file_becomes_a_session(room: Room, driver: Driver) -> None:
    path = room.write("empty.jsonl", b"")
    room.index.sync()
    assert room.files() == set()

    session = driver.do("open", file=path)["sessionId"]

    room.sync()
    facts = room.facts(path)
    assert (facts.session_id, facts.order, facts.leaf) == (session, [], None)
    said = driver.do("say", text="hello")["leafId"]
    room.sync()
    assert room.facts(path).states == {said: DIRECT}
