"""What others do meanwhile: to the same files, to the same stores, and to this process."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pi_event_search import IndexProblem
from pi_event_search.store import database

from tests.lifecycle.world import World, as_somebody, header, said, talk

MANY_CHARS = 70_000


@pytest.mark.parametrize("number", range(20))
def test_two_writers_of_one_file_whose_lines_mix(world: World, number: int) -> None:
    """Two processes append in pieces of lines, in any order; each look is at what stands there."""
    luck = random.Random(number)
    writers = [
        b"".join(said(n, f"walrus {n}") for n in range(1, 5)),
        b"".join(said(n, f"octopus {n}") for n in range(11, 15)),
    ]
    world.write(header())
    while any(writers):
        which = luck.choice([n for n in (0, 1) if writers[n]])
        size = luck.randint(1, len(writers[which]))
        world.append(writers[which][:size])
        writers[which] = writers[which][size:]
        if luck.random() < 0.5:
            world.sync()
    world.sync()
    assert world.is_as_fresh()


def test_a_reader_that_keeps_its_snapshot_is_in_nobody_s_way(world: World) -> None:
    world.write(header() + talk("walrus"))
    world.sync()
    with world.open() as reader:
        with reader._store.snapshot() as old:
            for n in range(2, 30):
                world.append(said(n, "walrus"))
                world.sync()
            count = "SELECT count(*) FROM events"
            assert old.connection.execute(count).fetchone() == (1,)
            assert len(world.finds("walrus")) == 29
        assert len(world.finds("walrus", reader)) == 29
    assert world.is_as_fresh()


def test_a_foreign_program_that_locks_the_database(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sync says so and changes nothing; searches answer; afterwards all is well."""
    monkeypatch.setattr(database, "BUSY_MS", 20)
    world.write(header() + talk("walrus"))
    world.sync()
    world.reopen()
    world.append(said(2, "octopus"))
    (path,) = world.place.glob("index-*.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            with pytest.raises(IndexProblem, match="locked"):
                world.index.sync()
            assert (world.finds("walrus"), world.finds("octopus")) == (["00000001"], [])
        other.execute("ROLLBACK")
    world.sync()
    assert world.finds("octopus") == ["00000002"]
    assert world.is_as_fresh()


def test_ids_and_texts_that_engines_cut_or_drop(world: World) -> None:
    """Tantivy drops terms of over 65,530 bytes, SQLite ends some texts at a NUL."""
    long_id, nul = "i" * MANY_CHARS, "walrus\0octopus"
    record = said(1, nul).replace(b'"00000001"', f'"{long_id}"'.encode())
    world.write(header() + record + talk(nul, "w" * MANY_CHARS, first=2))
    world.sync()
    found = world.finds("walrus")
    assert found == world.finds("octopus")
    assert found[0] == "00000002"
    assert len(found[1]) < MANY_CHARS
    assert [world.reads(entry_id) for entry_id in found] == [(nul, "exact")] * 2
    assert world.is_as_fresh()
    world.path().unlink()
    world.sync()
    assert world.finds("walrus") == []


_FORKED = """
import os, sys
from pathlib import Path
from tests.lifecycle.world import World, header, said, talk
base = Path(sys.argv[1]) / "forked"
base.mkdir()
world = World(base)
world.write(header() + talk("walrus"))
world.sync()
assert world.finds("walrus") == ["00000001"]
child = os.fork()
if child == 0:
    code = 1
    try:
        assert world.finds("walrus") == ["00000001"]
        world.append(said(2, "octopus"))
        world.sync()
        assert world.finds("octopus") == ["00000002"]
        world.index.close()
        code = 0
    finally:
        os._exit(code)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
assert world.finds("octopus") == ["00000002"]
world.append(said(3, "eel"))
world.sync()
assert world.finds("eel") == ["00000003"]
assert world.is_as_fresh()
world.index.close()
print("done")
"""

_NO_THREADS = """
import resource, sys
from pathlib import Path
from pi_event_search import IndexProblem
from tests.lifecycle.world import World, become_nobody, header, said, talk
base = Path(sys.argv[1]) / "crowded"
base.mkdir()
become_nobody(base)
world = World(base)
world.write(header() + talk("walrus"))
world.sync()
world.append(said(2, "octopus"))
soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
resource.setrlimit(resource.RLIMIT_NPROC, (1, hard))
for _ in range(2):
    try:
        world.index.sync()
    except IndexProblem as error:
        pass
    else:
        sys.exit("it had a thread")
    try:
        assert (world.finds("walrus"), world.finds("octopus")) == (["00000001"], [])
    except IndexProblem:
        pass
resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
world.sync()
assert world.finds("octopus") == ["00000002"]
assert world.is_as_fresh()
world.index.close()
print("done")
"""


@pytest.mark.parametrize("script", [_FORKED, _NO_THREADS], ids=["a fork", "no thread left"])
def test_in_a_process_of_its_own(base: Path, script: str) -> None:
    """An index that is open across a fork, and a system that gives no more threads."""
    base.chmod(0o755)
    path = base / "script.py"
    path.write_text(script)
    result = as_somebody(path, base)
    assert result.stdout.split() == ["done"], result.stderr
