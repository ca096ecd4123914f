"""What a writer of the text index leaves when it is killed inside a commit."""

from __future__ import annotations

import json

from tests.lifecycle.test_publication import documents, fragments, text_of
from tests.lifecycle.world import World, header, said, talk


def test_files_of_deletions_that_were_never_committed(world: World) -> None:
    """A later writer with as many operations behind it wants the same name for one of its own."""
    world.write(header() + talk("walrus", "eel"))
    world.write(header("22222222-2222-7222-8222-222222222222") + talk("heron"), "b")
    world.sync()
    world.write(header() + talk("octopus"))  # the old documents are deleted
    world.sync()
    world.sync()
    directory = text_of(world)
    meta = json.loads((directory / "meta.json").read_bytes())
    stem = meta["segments"][0]["segment_id"].replace("-", "")
    stray = [directory / f"{stem}.{meta['opstamp'] + step}.del" for step in range(1, 40)]
    for path in stray:
        path.write_bytes(b"half of it")
    world.path("b").unlink()
    world.append(said(2, "squid"))
    world.sync()
    world.sync()
    assert not any(path.exists() and path.read_bytes() == b"half of it" for path in stray)
    assert documents(world) == fragments(world)
    assert world.finds("squid") == [f"{2:08x}"]
    assert world.finds("heron") == []
    assert world.is_as_fresh()
