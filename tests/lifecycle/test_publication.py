"""The commit point: what dies, when its documents go, and what an engine failure leaves."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path
from typing import Any

import pytest
from pi_event_search import EventIndex, IndexBusy, IndexProblem
from pi_event_search.store import store as store_module
from pi_event_search.store import text_files
from pi_event_search.store.publish import Publication
from pi_event_search.store.recovery import rebuild_text
from pi_event_search.store.text_files import documents_of
from pi_event_search.store.text_hits import matching_keys
from pi_event_search.store.text_index import TextIndex, TextProblem
from pi_event_search.store.text_query import TextFilter, build

from tests.lifecycle.world import EVERYTHING, World, asked_before_commit, header, said, talk


def text_of(world: World) -> Path:
    (directory,) = world.place.glob("text-*")
    return directory


def documents(world: World) -> list[int]:
    """The keys of all documents but the marks of commits."""
    with world.index._store.snapshot() as snapshot:
        found = matching_keys(snapshot.searcher, build(None, TextFilter()), 100_000)
        return sorted(key for key in found if key > 0)


def fragments(world: World) -> list[int]:
    with world.index._store.database.snapshot() as connection:
        return [key for (key,) in connection.execute("SELECT key FROM fragments ORDER BY key")]


class TestGarbage:
    def test_documents_live_until_their_rows_are_dead_for_good(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A batch must not delete what answers until it has committed."""
        world.write(header() + talk("walrus"))
        world.sync()
        world.write(header() + talk("octopus"))
        fail = {"now": True}
        commit_text = Publication._commit_text

        def failing(self: Any) -> None:
            commit_text(self)
            if fail["now"]:
                raise InterruptedError

        monkeypatch.setattr(Publication, "_commit_text", failing)
        for _ in range(3):
            with pytest.raises(IndexProblem):
                world.index.sync()
            assert world.finds("walrus") == ["00000001"]
        fail["now"] = False
        world.sync()
        assert (world.finds("walrus"), world.finds("octopus")) == ([], ["00000001"])
        assert documents(world) == fragments(world)

    @pytest.mark.parametrize("rounds", [1, 4])
    def test_nothing_dead_stays(self, world: World, rounds: int) -> None:
        for n in range(rounds):
            world.write(header() + talk(f"walrus {n}", "octopus"))
            world.write(header("22222222-2222-7222-8222-222222222222") + talk("eel"), f"b{n}")
            world.sync()
            world.path(f"b{n}").unlink()
            world.sync()
            assert documents(world) == fragments(world)

    def test_superseded_records_are_collected(self, world: World) -> None:
        world.write(header() + talk("walrus", "octopus"))
        world.sync()
        world.append(said(1, "eel"))
        world.sync()
        assert (world.finds("walrus"), world.finds("eel")) == ([], ["00000001"])
        assert documents(world) == fragments(world)
        assert world.is_as_fresh()

    def test_a_source_that_fails_half_way_leaves_nothing(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from pi_event_search.ingest import source as ingest

        world.write(header() + talk("walrus"))
        world.write(header("22222222-2222-7222-8222-222222222222") + talk("eel"), "b")

        def fail(*_: Any, **__: Any) -> None:
            raise ValueError("not this one")

        with monkeypatch.context() as patch:
            patch.setattr(ingest, "_save_source", fail)
            report = world.sync()
        assert (report.failed, world.coverage()) == (2, "error")
        details = {p.detail for p in world.index.status(invocation=EVERYTHING).problems}
        assert details == {"ValueError: not this one"}
        world.sync()
        assert world.coverage() == "ready"
        assert documents(world) == fragments(world)
        assert world.is_as_fresh()


class TestCompaction:
    def test_when_too_much_is_dead(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(store_module, "DEAD_FLOOR", 10)
        world.write(header() + talk(*[f"walrus {n}" for n in range(40)]))
        world.write(header("22222222-2222-7222-8222-222222222222") + talk("eel"), "b")
        world.sync()
        directory = text_of(world)
        world.write(header() + talk("octopus"))
        with world.open() as reader:
            assert world.finds("eel", reader)
            world.sync()
            assert text_of(world) != directory
            assert documents_of(text_of(world)).dead == 0
            assert world.finds("octopus", reader) == world.finds("octopus") == ["00000001"]
        assert documents(world) == fragments(world)
        assert world.is_as_fresh()

    def test_not_for_a_few(self, world: World) -> None:
        world.write(header() + talk(*[f"walrus {n}" for n in range(40)]))
        world.sync()
        directory = text_of(world)
        world.write(header() + talk("octopus"))
        world.sync()
        assert text_of(world) == directory

    def test_not_while_another_process_writes(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from pi_event_search.store.lease import writer_lease

        monkeypatch.setattr(store_module, "DEAD_FLOOR", 0)
        with writer_lease(world.place):
            assert not world.index._store.compact()


class PanicException(BaseException):
    """What a panic of the engine arrives as."""


class Broken:
    """An object of the engine that fails at one call."""

    def __init__(self, writer: Any, name: str, error: BaseException) -> None:
        self._writer = writer
        self._name = name
        self._error = error

    def __getattr__(self, name: str) -> Any:
        if name == self._name:

            def fail(*_: Any, **__: Any) -> None:
                raise self._error

            return fail
        return getattr(self._writer, name)


class TestEngineFailures:
    @pytest.mark.parametrize(
        "error", [ValueError("no"), PanicException("no")], ids=["error", "panic"]
    )
    @pytest.mark.parametrize("call", ["add_json", "commit", "delete_documents_by_term"])
    def test_the_writer_is_never_used_again(
        self, world: World, call: str, error: BaseException, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        world.write(header() + talk("walrus"))
        world.sync()
        world.write(header() + talk("walrus again"))
        world.sync()
        world.append(said(2, "octopus"))
        world.write(header("22222222-2222-7222-8222-222222222222") + talk("eel"), "b")
        world.path("b").rename(world.path("c"))
        opened: list[Any] = []
        open_writer = TextIndex._open_writer

        def opening(self: TextIndex, bulk: bool) -> Any:
            writer = open_writer(self, bulk)
            if not opened:
                opened.append(writer)
            return Broken(writer, call, error) if writer is opened[0] else writer

        with world.index._store.database.transaction() as connection:
            connection.execute("INSERT INTO dead_epochs VALUES (12345)")
        with monkeypatch.context() as patch:
            patch.setattr(TextIndex, "_open_writer", opening)
            with pytest.raises(IndexProblem, match="no") as caught:
                world.index.sync()
            # The error still refers to the writer; another one can be opened all the same.
            assert world.finds("octopus") == []
            world.sync()
            assert caught.value.__traceback__ is not None
        assert (world.finds("octopus"), world.finds("eel")) == (["00000002"], ["00000001"])
        assert documents(world) == fragments(world)
        assert world.is_as_fresh()

    @pytest.mark.parametrize(
        "error", [ValueError("no"), PanicException("no")], ids=["error", "panic"]
    )
    @pytest.mark.parametrize("call", ["search", "doc_freq", "fast_field_values"])
    def test_a_question_that_fails_is_an_error_of_the_index(
        self, world: World, call: str, error: BaseException, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        world.write(header() + talk("walrus and octopus"))
        world.sync()
        world.reopen()
        searcher = TextIndex.searcher
        with monkeypatch.context() as patch:
            patch.setattr(TextIndex, "searcher", lambda self: Broken(searcher(self), call, error))
            with pytest.raises(TextProblem, match="no"):
                world.finds("walrus octopus")
        world.sync()
        world.reopen()
        assert world.finds("walrus octopus") == ["00000001"]

    def test_a_merge_that_fails_costs_nothing(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = TextIndex.create(world.base / "text")
        text.add([_document(1)], bulk=False)
        text.commit()
        monkeypatch.setattr(
            text, "_writer", Broken(text._writer, "wait_merging_threads", ValueError("no"))
        )
        text.close()
        assert text._writer is None

    def test_a_process_stopped_with_the_files_locked_keeps_nobody_waiting(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Tantivy would wait for it without end. Who has read what is published needs no file."""
        world.write(header() + talk("walrus"))
        world.sync()
        monkeypatch.setattr(text_files, "LOCKED_SECONDS", 0.05)
        with world.open() as other, (text_of(world) / text_files.META_LOCK).open() as file:
            assert world.finds("walrus") == ["00000001"]
            fcntl.flock(file, fcntl.LOCK_EX)
            assert world.finds("walrus") == ["00000001"]
            with pytest.raises(IndexBusy, match="keeps the files"):
                world.finds("walrus", other)
            for index in (world.index, other):
                with pytest.raises(IndexBusy, match="keeps the files"):
                    index.sync()
            fcntl.flock(file, fcntl.LOCK_UN)
            assert world.finds("walrus", other) == world.finds("walrus") == ["00000001"]
        assert world.sync().unchanged == 1
        assert world.is_as_fresh()

    def test_a_lock_that_somebody_else_holds_is_an_error(self, world: World) -> None:
        first = TextIndex.create(world.base / "text")
        first.add([_document(1)], bulk=False)
        second = TextIndex(world.base / "text")
        with pytest.raises(TextProblem, match="Lock"):
            second.add([_document(2)], bulk=False)
        first.close()
        second.add([_document(2)], bulk=False)
        second.commit()
        second.close()


def _document(key: int) -> str:
    return f'{{"key":{key},"event":1,"epoch":1,"workspace":1,"moment":0,"words":["walrus"]}}'


class TestReadersDuringASwitch:
    """Threads that ask while the text index is made anew again and again; ``tests/concurrency``
    has a process that does."""

    def test_threads(self, world: World) -> None:
        world.write(header() + talk(*[f"walrus {n}" for n in range(5)]))
        world.sync()
        store = world.index._store
        errors: list[BaseException] = []
        done = threading.Event()

        def asking(index: EventIndex) -> None:
            try:
                while not done.is_set():
                    assert len(world.finds("walrus", index)) == 5
            except BaseException as error:
                errors.append(error)

        with world.open() as other:
            readers = [
                threading.Thread(target=asking, args=(index,))
                for index in (world.index, other, other)
            ]
            for reader in readers:
                reader.start()
            for _ in range(8):
                with store.turn():
                    rebuild_text(store.database, store.directory)
                    store._remove_leftovers()
            done.set()
            for reader in readers:
                reader.join()
        assert errors == []


def test_a_batch_is_seen_as_a_whole(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        session_id = f"{ord(name):08x}-1111-7111-8111-111111111111"
        world.write(header(session_id) + talk(f"walrus {name}"), name)
    with (
        world.open() as reader,
        asked_before_commit(monkeypatch, lambda: len(world.finds("walrus", reader))) as answers,
    ):
        world.sync()
        assert set(answers) <= {0, 3}
        assert len(world.finds("walrus", reader)) == 3
