"""No room to write, and no right to: nothing breaks, it is said, and the next sync goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lifecycle.world import as_somebody

STEPS = 100 if os.environ.get("PI_EVENT_SEARCH_LONG") else 10


@pytest.mark.timeout(300)
def test_no_room_at_one_write_after_the_other(base: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "tests.lifecycle.filling", str(base), str(STEPS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""


_READ_ONLY = """
import os, sys
from pathlib import Path
from pi_event_search import EventIndex, IndexProblem
from tests.lifecycle.world import World, become_nobody, header, said, talk, EVERYTHING
base = Path(sys.argv[1]) / "mine"
base.mkdir()
become_nobody(base)
world = World(base)
world.write(header() + talk("walrus"))
world.sync()
world.index.close()
texts = list(world.place.glob("text-*"))
for path in (world.place, *texts):
    path.chmod(0o500)
before = {path: path.read_bytes() for path in world.place.rglob("*") if path.is_file()}
world.append(said(2, "octopus"))
for ask in (
    lambda index: index.search("walrus", invocation=EVERYTHING),
    lambda index: index.sync(),
    lambda index: index.rebuild(),
):
    try:
        with world.open() as index:
            ask(index)
    except IndexProblem as error:
        assert "writable" in error.message or "written to" in error.message, error.message
assert before == {path: path.read_bytes() for path in world.place.rglob("*") if path.is_file()}
for path in (world.place, *texts):
    path.chmod(0o700)
world.index = world.open()
world.sync()
assert world.finds("octopus") == ["00000002"]
assert world.is_as_fresh()
world.place.chmod(0)
try:
    world.open()
except IndexProblem:
    pass
else:
    sys.exit("opened what cannot be read")
world.place.chmod(0o700)
world.index.close()
print("done")
"""


def test_a_directory_that_must_not_be_written_to(base: Path) -> None:
    """In a process of a user whom permissions bind."""
    base.chmod(0o755)
    script = base / "script.py"
    script.write_text(_READ_ONLY)
    result = as_somebody(script, base)
    assert (result.stderr, result.stdout.split()) == ("", ["done"])
