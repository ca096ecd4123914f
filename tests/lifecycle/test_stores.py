"""Each of the two stores ahead, behind, damaged, foreign, gone: noticed, repaired, never wrong."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from pi_event_search import EventIndex, EventSearchError, IndexProblem
from pi_event_search.store import publish
from pi_event_search.store.layout import SET_ASIDE
from pi_event_search.store.text_files import SEGMENT_FILES
from pi_event_search.store.text_hits import matching_keys
from pi_event_search.store.text_query import TextFilter, build

from tests.lifecycle.world import EVERYTHING, World, header, said, talk

OTHER = "22222222-2222-7222-8222-222222222222"


@pytest.fixture
def filled(world: World) -> World:
    """Two sessions, indexed in two batches, so that the text index has a history."""
    world.write(header() + talk("walrus", "octopus"))
    world.sync()
    world.write(header(OTHER) + talk("heron", "magpie"), "b")
    world.append(said(3, "eel"))
    world.sync()
    return world


def text_of(world: World) -> Path:
    """The directory of the text index; there is one."""
    (directory,) = world.place.glob("text-*")
    return directory


def database_of(world: World) -> Path:
    (database,) = world.place.glob("index-*.sqlite")
    return database


def holds_everything(world: World) -> None:
    """After a sync everything is found, once, and the index is as a fresh one."""
    for word, count in (("walrus", 1), ("octopus", 1), ("heron", 1), ("eel", 1)):
        assert len(world.finds(word)) == count, word
    assert world.coverage() == "ready"
    assert world.is_as_fresh()
    assert len(list(world.place.glob("index-*.sqlite"))) == 1
    assert len(list(world.place.glob("text-*"))) == 1


def never_wrong(world: World) -> None:
    """Before a sync a search answers rightly or says that it cannot; it never misses quietly."""
    with suppress(IndexProblem):
        assert (world.finds("walrus"), world.finds("eel")) == (["00000001"], ["00000003"])


class TestTextAhead:
    """Killed between the two commits."""

    @staticmethod
    def fail_between(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        commit = publish.Publication._commit_text

        def killed(self: Any) -> None:
            commit(self)
            if self._documents:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(publish.Publication, "_commit_text", killed)
            with pytest.raises(KeyboardInterrupt):
                world.index.sync()

    @pytest.mark.parametrize("reopen", [True, False])
    @pytest.mark.parametrize("times", [1, 3])
    def test_is_replayed_without_duplicates(
        self, filled: World, monkeypatch: pytest.MonkeyPatch, reopen: bool, times: int
    ) -> None:
        filled.append(said(4, "crow"))
        directory = text_of(filled)
        for _ in range(times):
            self.fail_between(filled, monkeypatch)
            if reopen:
                filled.reopen()
            assert filled.finds("crow") == []
            never_wrong(filled)
        assert filled.sync().appended == 1
        assert filled.finds("crow") == ["00000004"]
        assert text_of(filled) == directory, "nothing had to be built anew"
        holds_everything(filled)

    def test_leaves_no_dead_documents(self, filled: World, monkeypatch: pytest.MonkeyPatch) -> None:
        filled.append(said(4, "crow"))
        self.fail_between(filled, monkeypatch)
        filled.reopen()
        filled.sync()
        filled.append(said(5, "crow"))
        filled.sync()
        with filled.index._store.snapshot() as snapshot:
            rows = snapshot.connection.execute("SELECT key FROM fragments ORDER BY key")
            everything = matching_keys(snapshot.searcher, build(None, TextFilter()), 1_000)
            documents = sorted(key for key in everything if key > 0)
            assert documents == [key for (key,) in rows]

    def test_rebuild_that_did_not_happen(
        self, filled: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        filled.write(header() + talk("crow"))
        self.fail_between(filled, monkeypatch)
        assert filled.finds("walrus") == ["00000001"], "the old reading has its documents"
        filled.reopen()
        assert filled.finds("walrus") == ["00000001"]
        filled.sync()
        assert (filled.finds("walrus"), filled.finds("crow")) == ([], ["00000001"])
        assert filled.is_as_fresh()


class TestTextBehind:
    def test_an_old_state_of_the_whole_directory(self, filled: World) -> None:
        filled.index.close()
        directory = text_of(filled)
        shutil.copytree(directory, filled.base / "kept")
        filled.index = filled.open()
        filled.append(said(4, "crow"))
        filled.sync()
        filled.index.close()
        shutil.rmtree(directory)
        (filled.base / "kept").rename(directory)
        filled.index = filled.open()
        with pytest.raises(IndexProblem, match="does not belong"):
            filled.finds("crow")
        assert filled.sync().bytes_read == 0
        assert text_of(filled) != directory
        assert filled.finds("crow") == ["00000004"]
        holds_everything(filled)

    def test_its_previous_meta_file(self, filled: World) -> None:
        meta = text_of(filled) / "meta.json"
        before = meta.read_bytes()
        filled.append(said(4, "crow"))
        filled.sync()
        filled.index.close()
        assert meta.read_bytes() != before
        meta.write_bytes(before)
        filled.index = filled.open()
        never_wrong(filled)
        filled.sync()
        assert filled.finds("crow") == ["00000004"]
        holds_everything(filled)


def flip(path: Path, at: float = 0.5) -> None:
    data = bytearray(path.read_bytes())
    data[int(len(data) * at)] ^= 0x10
    path.write_bytes(data)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


Harm = Callable[[Path], None]
HARMS: dict[str, Harm] = {"gone": Path.unlink, "cut": cut, "empty": empty}


class TestTextDamaged:
    @pytest.mark.parametrize("harm", [*HARMS.values(), zero], ids=[*HARMS, "zeroed"])
    @pytest.mark.parametrize("name", ["meta.json", ".managed.json"])
    def test_its_meta_files(self, filled: World, name: str, harm: Harm) -> None:
        filled.index.close()
        harm(text_of(filled) / name)
        filled.index = filled.open()
        never_wrong(filled)
        filled.sync()
        holds_everything(filled)

    @pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
    @pytest.mark.parametrize("kind", SEGMENT_FILES)
    def test_a_file_of_a_segment(self, filled: World, kind: str, harm: Harm) -> None:
        filled.index.close()
        harm(min(text_of(filled).glob(f"*.{kind}")))
        filled.index = filled.open()
        filled.sync()
        never_wrong(filled)  # positions that are gone are missed by who asks for a phrase
        filled.sync()
        holds_everything(filled)

    @pytest.mark.parametrize("kind", SEGMENT_FILES)
    def test_a_flipped_bit_after_an_unclean_end(self, filled: World, kind: str) -> None:
        filled.index.close()
        directory = text_of(filled)
        flip(min(directory.glob(f"*.{kind}")), 0.3)
        (filled.place / "writer.lock").write_bytes(b"\1")
        filled.index = filled.open()
        filled.append(said(4, "crow"))
        filled.sync()
        assert text_of(filled) != directory, "the checksum told"
        holds_everything(filled)

    @pytest.mark.parametrize("kind", SEGMENT_FILES)
    def test_a_flipped_bit_is_seen_by_verify(self, filled: World, kind: str) -> None:
        filled.index.close()
        flip(min(text_of(filled).glob(f"*.{kind}")), 0.3)
        filled.index = filled.open()
        result = filled.index.verify()
        assert not result.equal
        assert kind in result.differences[0]

    def test_a_failed_search_has_the_next_sync_look_closely(
        self, filled: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from pi_event_search.store import text_hits

        directory = text_of(filled)
        flip(min(directory.glob("*.term")), 0.3)

        class PanicException(BaseException):
            pass

        def panic(*_: Any) -> None:
            raise PanicException("index out of bounds")

        with monkeypatch.context() as patch:
            patch.setattr(text_hits, "_columns", panic)
            with pytest.raises(IndexProblem, match="out of bounds"):
                filled.finds("walrus")
        filled.sync()
        assert text_of(filled) != directory
        holds_everything(filled)

    def test_a_failed_search_over_sound_files_builds_nothing(
        self, filled: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from pi_event_search.store import text_hits

        directory = text_of(filled)

        def fail(*_: Any) -> None:
            raise ValueError("out of luck")

        with monkeypatch.context() as patch:
            patch.setattr(text_hits, "_columns", fail)
            with pytest.raises(IndexProblem):
                filled.finds("walrus")
        filled.sync()
        assert text_of(filled) == directory
        assert not (directory / "suspect").exists()

    def test_all_of_it_gone(self, filled: World) -> None:
        filled.index.close()
        shutil.rmtree(text_of(filled))
        filled.index = filled.open()
        with pytest.raises(IndexProblem):
            filled.finds("walrus")
        filled.sync()
        holds_everything(filled)

    def test_gone_under_an_index_that_is_open(self, filled: World) -> None:
        shutil.rmtree(text_of(filled))
        filled.sync()
        holds_everything(filled)


class TestForeign:
    def test_text_of_another_index(self, filled: World, base: Path) -> None:
        with EventIndex.open(base / "other", [filled.sessions]) as other:
            other.sync()
        (theirs,) = (base / "other").glob("text-*")
        filled.index.close()
        directory = text_of(filled)
        shutil.rmtree(directory)
        shutil.copytree(theirs, directory)
        filled.index = filled.open()
        with pytest.raises(IndexProblem, match="does not belong"):
            filled.finds("walrus")
        filled.sync()
        holds_everything(filled)

    def test_database_from_a_backup(self, filled: World) -> None:
        filled.index.close()
        database = database_of(filled)
        backup = database.read_bytes()
        filled.index = filled.open()
        filled.append(said(4, "crow"))
        filled.write(header(OTHER) + talk("heron", "jackdaw"), "b")
        filled.sync()
        filled.index.close()
        database.write_bytes(backup)
        filled.index = filled.open()
        with pytest.raises(IndexProblem, match="does not belong"):
            filled.finds("crow")
        filled.sync()
        assert filled.finds("crow") == ["00000004"]
        holds_everything(filled)

    def test_two_copies_of_one_index_that_went_on_apart(self, filled: World) -> None:
        filled.index.close()
        shutil.copytree(filled.place, filled.base / "copy")
        filled.append(said(4, "crow"))
        for place in (filled.place, filled.base / "copy"):
            with EventIndex.open(place, filled.dirs) as index:
                index.sync()
        (theirs,) = (filled.base / "copy").glob("text-*")
        directory = text_of(filled)
        shutil.rmtree(directory)
        theirs.rename(directory)
        filled.index = filled.open()
        with pytest.raises(IndexProblem, match="does not belong"):
            filled.finds("crow")
        filled.sync()
        holds_everything(filled)

    def test_database_of_another_index_under_this_name(self, filled: World, base: Path) -> None:
        with EventIndex.open(base / "other", [filled.sessions]) as other:
            other.sync()
        (theirs,) = (base / "other").glob("index-*.sqlite")
        filled.index.close()
        shutil.copy(theirs, database_of(filled))
        filled.index = filled.open()
        never_wrong(filled)
        filled.sync()
        holds_everything(filled)


def page_of(database: Path, table: str) -> tuple[int, int]:
    """Offset and size of the root page of a table or index."""
    with closing(sqlite3.connect(database)) as connection:
        root = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)
        ).fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    return (root - 1) * size, size


class TestDatabaseDamaged:
    @pytest.mark.parametrize("harm", [cut, empty, zero], ids=["cut", "empty", "zeroed"])
    def test_the_file(self, filled: World, harm: Harm) -> None:
        filled.index.close()
        harm(database_of(filled))
        filled.index = filled.open()
        with pytest.raises(IndexProblem, match="the next sync builds it anew"):
            filled.finds("walrus")
        report = filled.sync()
        assert report.rebuilt == 2
        holds_everything(filled)
        assert (filled.place / SET_ASIDE).exists(), "for whoever wants to look at it"

    def test_no_database_at_all(self, filled: World) -> None:
        filled.index.close()
        database_of(filled).write_bytes(b"this was written by somebody else\n" * 400)
        filled.index = filled.open()
        with pytest.raises(IndexProblem):
            filled.finds("walrus")
        filled.sync()
        holds_everything(filled)

    def test_gone(self, filled: World) -> None:
        filled.index.close()
        database_of(filled).unlink()
        filled.index = filled.open()
        assert filled.finds("walrus") == []
        assert filled.coverage() == "partial"
        filled.sync()
        holds_everything(filled)

    def test_gone_under_an_index_that_is_open(self, filled: World) -> None:
        database_of(filled).unlink()
        with pytest.raises(IndexProblem, match="a sync makes one"):
            filled.finds("walrus")
        filled.sync()
        holds_everything(filled)

    @pytest.mark.parametrize(
        "table",
        ["metadata", "sources", "sessions", "events", "fragments", "segments", "path", "listings",
         "relationships", "workspaces", "events_by_id", "events_by_place", "receipts"],
    )  # fmt: skip
    def test_a_zeroed_page(self, filled: World, table: str) -> None:
        filled.index.close()
        database = database_of(filled)
        offset, size = page_of(database, table)
        with database.open("r+b") as file:
            file.seek(offset)
            file.write(bytes(size))
        filled.index = filled.open()
        never_wrong(filled)
        filled.append(said(4, "crow"))
        try:
            filled.sync()
        except IndexProblem:
            filled.sync()
        for word in ("walrus", "octopus", "heron", "crow"):
            try:
                assert len(filled.finds(word)) == 1
                filled.reads("00000001")
            except IndexProblem:
                filled.sync()
        if not filled.index.verify().equal:
            filled.index.rebuild()
        holds_everything(filled)

    @pytest.mark.parametrize("name", ["generation", "next_key", "text_directory", "index_uuid"])
    @pytest.mark.parametrize("value", [None, "?", b"\0"])
    def test_metadata_that_nobody_wrote(self, filled: World, name: str, value: object) -> None:
        filled.index.close()
        with closing(sqlite3.connect(database_of(filled))) as connection:
            connection.execute("UPDATE metadata SET value = ? WHERE name = ?", (value, name))
            connection.commit()
        filled.index = filled.open()
        never_wrong(filled)
        filled.append(said(4, "crow"))
        filled.sync()
        holds_everything(filled)

    @pytest.mark.parametrize("value", [None, -1, 1 << 62, "x", b"\0"])
    @pytest.mark.parametrize(
        "column",
        ["size", "inode", "complete_offset", "complete_lines", "entries", "header_hash",
         "boundary_offset", "boundary_length", "boundary_hash", "header_length", "tail_offset"],
    )  # fmt: skip
    def test_a_checkpoint_that_nobody_wrote(
        self, filled: World, column: str, value: object
    ) -> None:
        with filled.index._store.database.transaction() as connection:
            connection.execute(f"UPDATE sources SET {column} = ?, settled = 0", (value,))
        filled.append(said(4, "crow"))
        filled.sync()
        assert filled.finds("crow") == ["00000004"]
        assert filled.is_as_fresh()

    @pytest.mark.parametrize("table", ["events", "segments", "path", "sessions", "relationships"])
    def test_rows_of_a_session_that_are_gone_cost_one_more_reading(
        self, filled: World, table: str
    ) -> None:
        with filled.index._store.database.transaction() as connection:
            connection.execute(f"DELETE FROM {table}")
        filled.append(said(4, "crow"))
        filled.sync()
        assert filled.finds("crow") == ["00000004"] or not filled.index.verify().equal
        filled.index.rebuild()
        holds_everything(filled)

    def test_keeps_files_that_were_named_explicitly(self, filled: World) -> None:
        path = filled.base / "named.jsonl"
        path.write_bytes(header("33333333-3333-7333-8333-333333333333") + talk("raven"))
        filled.index.sync(path)
        filled.index.close()
        database = database_of(filled)
        offset, size = page_of(database, "events")
        with database.open("r+b") as file:
            file.seek(offset)
            file.write(bytes(size))
        filled.index = filled.open()
        with pytest.raises(IndexProblem):
            filled.finds("walrus")
        filled.sync()
        assert filled.finds("raven") == ["00000001"]
        assert filled.index.verify().equal


def image(world: World) -> None:
    """Goes on with a copy made while the index was open: as after a power cut, log included."""
    copy = world.base / "image"
    shutil.copytree(world.place, copy)
    world.index.close()
    shutil.rmtree(world.place)
    copy.rename(world.place)


class TestLog:
    @pytest.fixture
    def logged(self, filled: World) -> World:
        """A state of which the last batch is only in the write-ahead log."""
        filled.append(said(4, "crow"))
        filled.sync()
        image(filled)
        assert self.log(filled).stat().st_size > 0
        return filled

    @staticmethod
    def log(world: World) -> Path:
        (path,) = world.place.glob("*-wal")
        return path

    def test_is_read(self, logged: World) -> None:
        logged.index = logged.open()
        assert logged.finds("crow") == ["00000004"]
        holds_everything(logged)

    def test_without_its_shared_memory(self, logged: World) -> None:
        for path in logged.place.glob("*-shm"):
            path.unlink()
        logged.index = logged.open()
        assert logged.finds("crow") == ["00000004"]
        holds_everything(logged)

    @pytest.mark.parametrize("harm", [Path.unlink, cut, empty, zero, flip])
    def test_lost_or_damaged(self, logged: World, harm: Harm) -> None:
        harm(self.log(logged))
        logged.index = logged.open()
        never_wrong(logged)
        logged.sync()
        assert logged.finds("crow") == ["00000004"]
        holds_everything(logged)

    def test_of_another_index(self, logged: World, base: Path) -> None:
        sessions = base / "elsewhere"
        sessions.mkdir()
        (sessions / "x.jsonl").write_bytes(header(OTHER) + talk(*["raven"] * 300))
        with EventIndex.open(base / "other", [sessions]) as other:
            other.sync()
            (theirs,) = (base / "other").glob("*-wal")
            shutil.copy(theirs, self.log(logged))
        for path in logged.place.glob("*-shm"):
            path.unlink()
        logged.index = logged.open()
        with suppress(IndexProblem):
            assert logged.finds("raven") == []
        logged.sync()
        holds_everything(logged)

    def test_left_behind_by_a_database_that_was_set_aside(self, logged: World) -> None:
        empty(database_of(logged))
        logged.index = logged.open()
        logged.sync()
        holds_everything(logged)
        stems = {path.name.partition(".sqlite")[0] for path in logged.place.glob("index-*")}
        assert len(stems) == 1


class TestBoth:
    def test_everything_damaged(self, filled: World) -> None:
        filled.index.close()
        for path in filled.place.rglob("*"):
            if path.is_file():
                path.write_bytes(b"\xff" * 64)
        filled.index = filled.open()
        filled.sync()
        holds_everything(filled)

    def test_everything_gone(self, filled: World) -> None:
        filled.index.close()
        shutil.rmtree(filled.place)
        filled.index = filled.open()
        filled.sync()
        holds_everything(filled)

    def test_everything_gone_under_an_index_that_is_open(self, filled: World) -> None:
        shutil.rmtree(filled.place)
        with pytest.raises(IndexProblem):
            filled.finds("walrus")
        filled.place.mkdir()
        filled.sync()
        holds_everything(filled)

    def test_a_read_meets_a_row_that_was_changed(self, filled: World) -> None:
        with filled.index._store.database.transaction() as connection:
            connection.execute("UPDATE events SET byte_start = byte_start + 1")
        assert filled.reads("00000001") == ("walrus", "exact"), "read again from the file"
        filled.reads("00000001", OTHER)
        holds_everything(filled)

    def test_what_an_answer_is_made_of_is_not_believed(self, filled: World) -> None:
        """Whatever a value became, a question ends with an answer or with the index's own error."""
        columns = json.loads(_COLUMNS)
        for table, column in columns:
            with filled.index._store.database.transaction() as connection:
                kept = connection.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
                try:
                    connection.execute(f"UPDATE {table} SET {column} = ?", (1 << 40,))
                except sqlite3.IntegrityError:
                    continue
            for ask in (
                lambda: filled.finds("walrus"),
                lambda: filled.reads("00000001"),
                lambda: filled.index.sessions(invocation=EVERYTHING),
                lambda: filled.index.status(invocation=EVERYTHING),
            ):
                with suppress(EventSearchError):
                    ask()
            for marker in filled.place.glob("*.damaged"):
                marker.unlink()
            with filled.index._store.database.transaction() as connection:
                connection.executemany(
                    f"UPDATE {table} SET {column} = ? WHERE rowid = ?",
                    [(value, rowid) for rowid, value in kept],
                )


_COLUMNS = """[["events", "ts"], ["events", "context_role"], ["events", "contribution"],
 ["events", "segment"], ["events", "depth"], ["events", "first_key"], ["events", "fragments"],
 ["events", "entry_type"], ["events", "byte_end"], ["events", "flags"],
 ["fragments", "kind"], ["fragments", "n"], ["fragments", "head"], ["fragments", "text"],
 ["fragments", "chars"], ["sessions", "last_ts"], ["sessions", "workspace"],
 ["sessions", "leaf_ord"], ["sessions", "version"], ["sources", "path"], ["sources", "size"],
 ["sources", "epoch"], ["workspaces", "cwd"]]"""


def test_looking_at_a_database_ends_no_lock_on_it(filled: World) -> None:
    """Closing any descriptor of a file ends the process's locks on it, SQLite's among them. Another
    process would then think that it is the last user, and remove the log under this one."""
    filled.append(said(4, "crow"))
    filled.sync()
    (log,) = filled.place.glob("*-wal")
    before = log.stat().st_ino
    for look in (filled.index.sync, filled.index.verify, filled.open().close):
        look()
        subprocess.run(
            [sys.executable, "-c", _LOOK, str(filled.place), str(filled.sessions)], check=True
        )
        assert log.stat().st_ino == before
    filled.append(said(5, "crow"))
    filled.sync()
    assert len(filled.finds("crow")) == 2
    assert filled.is_as_fresh()


_LOOK = """
import sys
from pi_event_search import EventIndex, Invocation
with EventIndex.open(sys.argv[1], [sys.argv[2]]) as index:
    index.search("crow", invocation=Invocation(cwd="/", workspace_root="/"))
"""
