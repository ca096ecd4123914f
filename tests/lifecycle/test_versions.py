"""Versions of schema, projector and tokenizer: a new one builds anew and never reinterprets."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pi_event_search import EventIndex, IndexProblem, _core
from pi_event_search.ingest import reconcile
from pi_event_search.ingest.source import ingest_source
from pi_event_search.store.schema import SCHEMA_VERSION

from tests.lifecycle.world import EVERYTHING, World, asked_before_commit, header, said, talk

OLDER = sorted((Path(__file__).parent.parent / "golden" / "schema").glob("*.sql"))
NAMES = ("a", "b", "c")


@pytest.fixture
def three(world: World) -> World:
    """Three sessions, indexed."""
    for number, name in enumerate(NAMES):
        session_id = f"{number}1111111-1111-7111-8111-111111111111"
        world.write(header(session_id) + talk(f"walrus {name}", "octopus"), name)
    world.sync()
    return world


def sizes(world: World) -> int:
    return sum(path.stat().st_size for path in world.sessions.rglob("*.jsonl"))


def newer(monkeypatch: pytest.MonkeyPatch, name: str, by: int = 1) -> None:
    monkeypatch.setattr(_core, name, getattr(_core, name) + by)


class TestProjector:
    @pytest.mark.parametrize("by", [1, -1], ids=["upgrade", "downgrade"])
    def test_another_one_reads_every_source_again(
        self, three: World, by: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        newer(monkeypatch, "PROJECTOR_VERSION", by)
        assert three.coverage() == "partial"
        assert three.index.status(invocation=EVERYTHING).coverage.pending_bytes == sizes(three)
        with asked_before_commit(monkeypatch, lambda: len(three.finds("walrus"))) as answers:
            report = three.sync()
        assert (report.rebuilt, report.unchanged, report.bytes_read) == (3, 0, sizes(three))
        assert set(answers) == {3}, "the old readings answer until the new ones are there"
        assert three.coverage() == "ready"
        assert three.sync().bytes_read == 0
        assert three.is_as_fresh()

    def test_interrupted_in_the_middle_goes_on_where_it_was(
        self, three: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        newer(monkeypatch, "PROJECTOR_VERSION")
        done: list[int] = []

        def killed(*args: Any, **kwargs: Any) -> Any:
            if done:
                raise KeyboardInterrupt
            done.append(1)
            outcome = ingest_source(*args, **kwargs)
            args[1].commit()
            return outcome

        with monkeypatch.context() as patch:
            patch.setattr(reconcile, "ingest_source", killed)
            with pytest.raises(KeyboardInterrupt):
                three.index.sync()
        three.reopen()
        assert (len(three.finds("walrus")), three.coverage()) == (3, "partial")
        report = three.sync()
        assert (report.rebuilt, report.unchanged) == (2, 1)
        assert three.is_as_fresh()

    def test_does_not_go_on_from_what_another_one_read(
        self, three: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        newer(monkeypatch, "PROJECTOR_VERSION")
        path = three.append(said(3, "eel"), "a")
        report = three.index.sync(path)
        assert (report.appended, report.rebuilt) == (0, 1)
        assert report.bytes_read == path.stat().st_size

    def test_what_cannot_be_read_again_keeps_its_old_reading(
        self, three: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        newer(monkeypatch, "PROJECTOR_VERSION")
        three.write(b"", "b")
        assert three.sync().failed == 1
        assert (len(three.finds("walrus")), three.coverage()) == (3, "error")

    def test_files_that_were_no_sessions_get_another_chance(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = world.write(b"[]\n")
        os.utime(path, (1_700_000_000, 1_700_000_000))
        world.sync()
        newer(monkeypatch, "PROJECTOR_VERSION")
        assert world.sync().failed == 1


class TestTokenizer:
    @pytest.mark.parametrize("by", [1, -1], ids=["upgrade", "downgrade"])
    def test_another_one_makes_the_text_index_anew_and_reads_nothing(
        self, three: World, by: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (before,) = three.place.glob("text-*")
        newer(monkeypatch, "TOKENIZER_VERSION", by)
        assert three.coverage() == "partial"
        with three.open() as reader:
            assert len(three.finds("walrus", reader)) == 3
            report = three.sync()
            assert report.bytes_read == 0
            (after,) = three.place.glob("text-*")
            assert after.name != before.name
            assert len(three.finds("walrus", reader)) == 3, "whoever had the old one open"
        assert (len(three.finds("walrus")), three.coverage()) == (3, "ready")
        assert three.is_as_fresh()


def older(world: World, script: Path) -> Path:
    """An index of an older schema that knows one file that was named explicitly."""
    world.index.close()
    for path in world.place.glob("index*"):
        path.unlink()
    database = world.place / "index.sqlite"
    explicit = world.base / "named.jsonl"
    explicit.write_bytes(header("33333333-3333-7333-8333-333333333333") + talk("heron"))
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(script.read_text())
        connection.execute(
            "INSERT INTO sources (path, explicit, state) VALUES (?, 1, 'ready')",
            (os.fsencode(explicit),),
        )
        connection.commit()
    (world.place / "text-89fbb2f5-1").mkdir()
    return database


class TestSchema:
    @pytest.mark.parametrize("script", OLDER, ids=lambda path: path.stem)
    def test_an_older_one_is_built_anew_beside_and_switched(
        self, three: World, script: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        database = older(three, script)
        content = database.read_bytes()
        three.index = three.open()
        with pytest.raises(IndexProblem, match="older pi-event-search"):
            three.finds("walrus")
        there = []
        with asked_before_commit(monkeypatch, lambda: there.append(database.read_bytes())):
            report = three.sync()
        assert there
        assert set(there) == {content}, "the old one is left alone until the new one is whole"
        assert (report.rebuilt, report.coverage.state) == (4, "ready")
        assert not database.exists()
        assert [path.name for path in three.place.glob("text-89fbb2f5-1")] == []
        assert (len(three.finds("walrus")), three.finds("heron")) == (3, ["00000001"])
        assert three.sync().unchanged + three.sync().unchanged > 0

    def test_there_is_one_golden_database_of_each_older_schema(self) -> None:
        assert [int(path.stem) for path in OLDER] == list(range(1, SCHEMA_VERSION))

    def test_an_interrupted_upgrade_leaves_the_old_one(
        self, three: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        database = older(three, OLDER[0])
        content = database.read_bytes()
        three.index = three.open()

        def fail(*_: Any) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(reconcile.Reconciler, "_finished", fail)
            with pytest.raises(KeyboardInterrupt):
                three.index.sync()
        assert database.read_bytes() == content
        three.reopen()
        assert three.sync().rebuilt == 4

    def test_a_newer_one_is_refused_and_left_alone(self, three: World) -> None:
        three.index.close()
        (database,) = three.place.glob("index-*.sqlite")
        with closing(sqlite3.connect(database)) as connection:
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        before = contents(three.place)
        for _ in range(2):
            with pytest.raises(IndexProblem, match="newer pi-event-search"):
                three.open()
        assert contents(three.place) == before

    def test_one_that_became_newer_is_refused_by_who_has_it_open(self, three: World) -> None:
        (database,) = three.place.glob("index-*.sqlite")
        with closing(sqlite3.connect(database)) as connection:
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        three.append(said(3, "eel"), "a")
        for write in (three.index.sync, three.index.rebuild):
            with pytest.raises(IndexProblem, match="newer pi-event-search"):
                write()

    def test_creating_one_is_all_or_nothing(
        self, base: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from pi_event_search.store import recovery

        def killed(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        for stage in ("_write_text", "create", "install"):
            with monkeypatch.context() as patch:
                patch.setattr(recovery, stage, killed)
                with pytest.raises(KeyboardInterrupt):
                    EventIndex.open(base / "new", [base])
            assert list((base / "new").glob("index*")) == []
        with EventIndex.open(base / "new", [base]) as index:
            assert index.sync().coverage.state == "ready"
        assert len(list((base / "new").iterdir())) == 3 + (base / "new" / "waiting.lock").exists()


def contents(directory: Path) -> dict[str, bytes]:
    """Every file of a directory, with what is in it."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }
