"""An edit in place far before the end of a file that grew as well: what finds it, and what not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pi_event_search import Change
from pi_event_search.upkeep.audit import PIECE_BYTES

from tests.lifecycle.world import OLD, World, age, header, said, talk

OTHER = "22222222-2222-7222-8222-222222222222"
MANY = 200


def grown(world: World, name: str = "a", session_id: str | None = None) -> Path:
    """A file of which the index holds a word that stands there no more."""
    head = header() if session_id is None else header(session_id)
    path = world.write(head + talk(*[f"stone {n}" for n in range(MANY)]), name)
    age(path)
    world.sync()
    edit(path, b'stone 3"', b'heron 3"')
    world.append(said(MANY + 1, "stone at the end"), name)
    assert world.sync().appended == 1, "neither header nor edge tell of it"
    return path


def edit(path: Path, old: bytes, new: bytes) -> None:
    """Other bytes in the place of some, in the same file."""
    before = path.stat()
    data = path.read_bytes()
    assert data.count(old) == 1
    with path.open("r+b") as file:
        file.write(data.replace(old, new))
    assert (path.stat().st_ino, path.stat().st_size) == (before.st_ino, before.st_size)


def pieces(world: World, budget: int = PIECE_BYTES) -> int:
    """Audits to the end; returns in how many pieces."""
    count = 0
    while world.index.audit(budget):
        count += 1
    return count


def test_a_sync_does_not_find_it_and_an_audit_does(world: World) -> None:
    grown(world)
    assert world.sync().unchanged == 1
    assert world.finds("heron") == []
    pieces(world)
    assert world.finds("heron") == ["00000004"]
    assert world.is_as_fresh()


def test_it_is_told_and_only_that_file_is_read(world: World) -> None:
    path = grown(world)
    world.write(header(OTHER) + talk("walrus"), "b")
    world.sync()
    told: list[Change] = []
    while world.index.audit(changed=told.append):
        pass
    assert [(c.change, c.path, c.events_added) for c in told] == [("rebuilt", str(path), MANY + 1)]


@pytest.mark.parametrize("budget", [1, 1_000, 10_000_000])
@pytest.mark.parametrize("number", [1, MANY // 2, MANY - 1])
def test_wherever_it_is_and_however_small_the_pieces(
    world: World, number: int, budget: int
) -> None:
    path = world.write(header() + talk(*[f"stone {n}" for n in range(MANY)]))
    world.sync()
    edit(path, b'stone %d"' % number, b'heron %d"' % number)
    world.append(said(MANY + 1, "stone at the end"))
    world.sync()
    pieces(world, budget)
    assert world.finds("heron") == [f"{number + 1:08x}"]
    assert world.is_as_fresh()


def test_a_piece_costs_what_it_may_cost(world: World) -> None:
    """A step compares about the bytes that it is given, and what was compared is not again."""
    path = world.write(header() + talk(*[f"stone {n}" for n in range(MANY)]))
    age(path)
    world.sync()
    records = len(said(MANY, f"stone {MANY}")) * MANY
    count = pieces(world, 2_000)
    assert records // 2_000 <= count <= records // 1_500
    assert pieces(world, 2_000) == 0
    world.append(said(MANY + 1, "stone"))
    world.sync()
    assert pieces(world, 2_000) >= count


def test_the_newest_file_is_first_and_one_that_grows_waits_for_the_others(world: World) -> None:
    files = [
        world.write(header(f"{n}{OTHER[1:]}") + talk("stone", "eel"), f"f{n}") for n in range(3)
    ]
    for n, path in enumerate(files):
        age(path, OLD + n)
    world.sync()
    pieces(world)
    for path in files:
        edit(path, b"stone", b"heron")
        with path.open("ab") as file:
            file.write(said(3, "eel"))
    assert world.sync().appended == 3
    told: list[Change] = []
    for n in range(6):  # each file is found, read afresh, and compared once more
        world.append(said(4 + n, "eel"), "f2")
        world.sync()
        world.index.audit(changed=told.append)
    assert [os.path.basename(c.path) for c in told] == ["f2.jsonl", "f1.jsonl", "f0.jsonl"]
    assert world.is_as_fresh()


def test_a_file_that_cannot_be_read_is_left_to_the_sync(world: World) -> None:
    path = grown(world)
    data = path.read_bytes()
    path.unlink()
    pieces(world)
    assert world.finds("stone") != []
    path.mkdir()
    pieces(world)
    path.rmdir()
    path.write_bytes(data)
    world.sync()
    assert world.is_as_fresh()


@pytest.mark.parametrize("value", ["x", -1, 1 << 40])
def test_rows_that_make_no_sense_cost_one_more_reading(world: World, value: object) -> None:
    world.write(header() + talk("walrus", "octopus"))
    world.sync()
    with world.index._store.database.transaction() as connection:
        connection.execute("UPDATE events SET byte_end = ? WHERE entry_id = '00000001'", (value,))
    pieces(world)
    assert world.is_as_fresh()


def test_watch_finds_it_when_nothing_else_happens(world: World) -> None:
    grown(world)
    told: list[Change] = []
    world.index.watch(told.append, wakeups=[None])
    assert [change.change for change in told] == ["rebuilt"]
    assert world.is_as_fresh()


def test_watch_does_not_audit_while_files_change(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write(header() + talk("walrus"))
    monkeypatch.setattr(
        type(world.index), "audit", lambda *_, **__: pytest.fail("somebody may be waiting")
    )
    told: list[Change] = []
    world.index.watch(told.append, wakeups=[None])
    assert [change.change for change in told] == ["added"]


def test_verify_tells_of_it_and_has_it_read_again(world: World) -> None:
    path = grown(world)
    first = world.index.verify()
    assert not first.equal
    assert all(str(path) in one or "search" in one for one in first.differences)
    assert world.finds("heron") == ["00000004"]
    assert world.index.verify().equal
