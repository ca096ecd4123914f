"""`verify` finds what is wrong with an index, `rebuild` makes a right one; through both faces."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from pi_event_search import EventIndex, IndexBusy, IndexProblem
from pi_event_search.cli import main
from pi_event_search.store.lease import writer_lease
from pi_event_search.store.rows import SUPERSEDED

from tests.lifecycle.world import (
    EVERYTHING,
    World,
    asked_before_commit,
    header,
    line,
    said,
    talk,
    untouched,
)

OTHER = "22222222-2222-7222-8222-222222222222"


@pytest.fixture
def filled(world: World) -> World:
    """A session with branches and a compaction, another one, and a file outside, all indexed."""
    world.write(
        header()
        + talk("walrus one", "walrus two", "walrus three")
        + said(4, "octopus", parent=2)
        + line(
            {
                "type": "compaction",
                "id": "000000aa",
                "parentId": "00000004",
                "timestamp": "2026-03-01T10:00:00.000Z",
                "summary": "about sea animals",
                "firstKeptEntryId": "00000002",
                "tokensBefore": 100,
            }
        )
        + said(5, "heron", parent=170)
        + b"{broken\n"
    )
    world.write(header(OTHER) + talk("magpie", "crow"), "b")
    world.sync()
    return world


def change(world: World, statement: str, *values: object) -> None:
    with world.index._store.database.transaction() as connection:
        assert connection.execute(statement, values).rowcount != 0


class TestVerify:
    def test_an_index_that_is_right(self, filled: World) -> None:
        with untouched(filled.sessions):
            result = filled.index.verify()
        assert (result.equal, result.differences) == (True, ())
        assert (result.sessions, result.events) == (2, 8)

    def test_an_index_that_is_behind_is_brought_up_to_date_first(self, filled: World) -> None:
        filled.append(said(6, "eel"))
        assert filled.index.verify().equal
        assert filled.finds("eel") == ["00000006"]

    def test_an_index_that_was_never_filled(self, world: World) -> None:
        world.write(header() + talk("walrus"))
        assert world.index.verify().sessions == 1

    def test_counts_files_that_were_named_explicitly(self, filled: World) -> None:
        path = filled.base / "named.jsonl"
        path.write_bytes(header("33333333-3333-7333-8333-333333333333") + talk("raven"))
        filled.index.sync(path)
        result = filled.index.verify()
        assert (result.equal, result.sessions) == (True, 3)

    def test_leaves_out_what_cannot_be_read_now(self, filled: World) -> None:
        filled.write(b"", "b")
        result = filled.index.verify()
        assert (result.equal, result.sessions) == (True, 1)

    def test_leaves_out_what_does_not_stand_still(
        self, filled: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sync, number = EventIndex.sync, iter(range(10, 100))

        def moving(self: EventIndex, *args: Any, **kwargs: Any) -> Any:
            result = sync(self, *args, **kwargs)
            filled.append(said(next(number), "eel"))
            return result

        monkeypatch.setattr(EventIndex, "sync", moving)
        result = filled.index.verify()
        assert (result.equal, result.sessions) == (True, 1)

    @pytest.mark.parametrize(
        ("statement", "told"),
        [
            ("UPDATE events SET entry_type = 'note' WHERE entry_id = '00000002'", "'note'"),
            ("UPDATE events SET ts = ts + 1 WHERE entry_id = '00000002'", "event"),
            ("UPDATE events SET parent_id = NULL WHERE entry_id = '00000002'", "event"),
            ("UPDATE events SET depth = depth + 1 WHERE entry_id = '00000003'", "event"),
            ("UPDATE events SET flags = 1 WHERE entry_id = '00000003'", "event"),
            (
                "UPDATE fragments SET kind = 1 WHERE key = FIRST",
                "fragment",
            ),
            (
                "UPDATE fragments SET chars = 7 WHERE key = FIRST",
                "fragment",
            ),
            (
                "UPDATE fragments SET text = x'0000000000' WHERE key = FIRST",
                "fragment",
            ),
            ("DELETE FROM fragments WHERE key = FIRST", "fragment"),
            ("DELETE FROM path", "path"),
            ("UPDATE path SET upto = 0", "path"),
            ("DELETE FROM relationships", "relationship"),
            ("DELETE FROM receipts", "receipt"),
            ("UPDATE receipts SET count = 9", "receipt"),
            ("UPDATE sessions SET name = 'other'", "session"),
            ("UPDATE sessions SET kept_depth = 0 WHERE kept_depth IS NOT NULL", "session"),
            ("UPDATE segments SET origin = 2", "segment"),
            ("UPDATE sources SET complete_lines = 2, entries = 3", "checkpoint"),
            ("DELETE FROM sources WHERE cast(path AS TEXT) LIKE '%b.jsonl'", ""),
            ("UPDATE sources SET epoch = NULL", "one of the two indexes only"),
        ],
    )
    def test_rows_that_are_not_what_the_files_say(
        self, filled: World, statement: str, told: str
    ) -> None:
        os.utime(filled.path(), (1_700_000_000, 1_700_000_000))
        os.utime(filled.path("b"), (1_700_000_000, 1_700_000_000))
        filled.sync()
        change(filled, "UPDATE sources SET settled = 1")
        change(filled, statement.replace("FIRST", "(SELECT min(key) FROM fragments)"))
        result = filled.index.verify()
        if not told:
            assert result.equal, "the sync before had it read again"
            return
        assert not result.equal
        assert any(told in difference for difference in result.differences), result.differences
        assert filled.index.rebuild().coverage.state == "ready"
        assert filled.index.verify().equal

    def test_documents_that_are_missing_or_too_many(self, filled: World) -> None:
        with filled.index._store.writing(bulk=False) as publication:
            publication.begin()
            (key,) = publication.connection.execute("SELECT min(key) FROM fragments").fetchone()
            publication._text.delete([(key, key)], [], bulk=False)
            publication._documents = 1
            publication.commit()
        result = filled.index.verify()
        assert any("documents" in difference for difference in result.differences)
        assert any("A search for" in difference for difference in result.differences)
        filled.index.rebuild()
        assert filled.index.verify().equal

    def test_tells_a_bounded_number_of_differences(self, world: World) -> None:
        for n in range(130):
            world.write(header(f"{n:08x}-1111-7111-8111-111111111111") + talk("eel"), f"s{n}")
        world.sync()
        change(world, "UPDATE sessions SET name = 'other'")
        result = world.index.verify()
        assert len(result.differences) == 101
        assert result.differences[-1] == "There are 30 more differences."

    def test_repairs_nothing(self, filled: World) -> None:
        filled.index.close()
        (database,) = filled.place.glob("index-*.sqlite")
        database.write_bytes(b"?" * 8_192)
        filled.index = filled.open()
        for _ in range(2):
            result = filled.index.verify()
            assert (result.equal, result.sessions) == (False, 0)
            assert "is damaged" in result.differences[0]
        assert database.read_bytes() == b"?" * 8_192
        filled.sync()
        assert filled.index.verify().equal

    def test_leaves_nothing_behind(self, filled: World, tmp_path: Path) -> None:
        before = set(filled.base.rglob("*"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TMPDIR", str(tmp_path))
            patch.setattr("tempfile.tempdir", None)
            filled.index.verify()
        assert list(tmp_path.iterdir()) == []
        assert {p.name for p in set(filled.base.rglob("*")) - before} <= {"waiting.lock"}


class TestRebuild:
    def test_gives_the_report_of_a_sync(self, filled: World) -> None:
        with untouched(filled.sessions):
            report = filled.index.rebuild()
        assert (report.discovered, report.rebuilt, report.unchanged) == (2, 2, 0)
        assert (report.events_added, report.coverage.state) == (8, "ready")
        assert filled.is_as_fresh()

    def test_the_old_one_answers_until_it_is_done(
        self, filled: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with (
            filled.open() as reader,
            asked_before_commit(monkeypatch, lambda: filled.finds("crow", reader)) as answers,
        ):
            filled.index.rebuild()
            assert answers
            assert answers == [["00000002"]] * len(answers)
            assert filled.finds("crow", reader) == ["00000002"]

    def test_leaves_one_index(self, filled: World) -> None:
        for _ in range(3):
            filled.index.rebuild()
        assert len(list(filled.place.glob("index-*.sqlite"))) == 1
        assert len(list(filled.place.glob("text-*"))) == 1
        assert not (filled.place / "building").exists()

    def test_whoever_has_the_index_open_writes_to_the_new_one(self, filled: World) -> None:
        with filled.open() as other:
            other.search("crow", invocation=EVERYTHING)
            filled.index.rebuild()
            filled.append(said(6, "eel"))
            assert other.sync().appended == 1
            assert filled.finds("eel") == filled.finds("eel", other) == ["00000006"]

    @pytest.mark.parametrize("point", ["replace.filled", "replace.text_moved"])
    def test_interrupted_leaves_the_old_one(self, filled: World, point: str) -> None:
        from pi_event_search import faults

        with (
            faults.armed(faults.Failing(point, KeyboardInterrupt)),
            pytest.raises(KeyboardInterrupt),
        ):
            filled.index.rebuild()
        filled.reopen()
        assert filled.finds("crow") == ["00000002"]
        filled.sync()
        filled.append(said(6, "eel"))
        filled.sync()
        assert filled.is_as_fresh()
        assert len(list(filled.place.glob("text-*"))) == 1

    def test_two_databases_after_a_kill_between_switch_and_removal(self, filled: World) -> None:
        from pi_event_search import faults

        with filled.open() as other:
            other.search("crow", invocation=EVERYTHING)
            with (
                faults.armed(faults.Failing("install.renamed", KeyboardInterrupt, nth=2)),
                pytest.raises(KeyboardInterrupt),
            ):
                filled.index.rebuild()
            assert len(list(filled.place.glob("index-*.sqlite"))) == 2
            filled.append(said(6, "eel"))
            assert other.sync().appended == 1, "the writer's turn goes into the new one"
        filled.reopen()
        assert filled.finds("eel") == ["00000006"]
        assert len(list(filled.place.glob("index-*.sqlite"))) == 1
        assert filled.is_as_fresh()

    def test_carries_over_what_other_directories_and_callers_brought(self, filled: World) -> None:
        other = filled.base / "archive"
        other.mkdir()
        (other / "x.jsonl").write_bytes(header("44444444-3333-7333-8333-333333333333") + talk("ox"))
        named = filled.base / "named.jsonl"
        named.write_bytes(header("33333333-3333-7333-8333-333333333333") + talk("raven"))
        filled.index.sync(named)
        with EventIndex.open(filled.place, [other]) as second:
            second.sync()
            filled.index.rebuild()
            assert second.search("ox", invocation=EVERYTHING).hits
        assert filled.finds("raven") == ["00000001"]
        assert filled.finds("ox") == []

    def test_carries_over_the_names_of_files_that_cannot_be_seen(self, filled: World) -> None:
        other = filled.base / "archive"
        other.mkdir()
        (other / "x.jsonl").write_bytes(header("44444444-3333-7333-8333-333333333333") + talk("ox"))
        with EventIndex.open(filled.place, [other]) as second:
            second.sync()
            other.rename(filled.base / "unmounted")
            filled.index.rebuild()
            coverage = second.status(invocation=EVERYTHING).coverage
            assert coverage.state == "partial"
            assert "missing" in {problem.kind for problem in coverage.problems}
            (filled.base / "unmounted").rename(other)
            second.sync()
            assert second.search("ox", invocation=EVERYTHING).hits

    def test_forgets_what_is_gone(self, filled: World) -> None:
        filled.path("b").unlink()
        report = filled.index.rebuild()
        assert (report.removed, report.rebuilt) == (1, 1)
        assert filled.is_as_fresh()

    def test_says_when_another_process_is_writing(
        self, filled: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with writer_lease(filled.place):
            monkeypatch.setattr("pi_event_search.store.lease._queue", _impatient)
            with pytest.raises(IndexBusy):
                filled.index.rebuild()

    def test_a_damaged_one(self, filled: World) -> None:
        filled.index.close()
        (database,) = filled.place.glob("index-*.sqlite")
        os.truncate(database, 10_000)
        filled.index = filled.open()
        with pytest.raises(IndexProblem):
            filled.finds("crow")
        filled.index.rebuild()
        assert filled.is_as_fresh()


def _impatient(*_: Any) -> None:
    raise IndexBusy


class TestCommandLine:
    @pytest.fixture
    def run(self, filled: World, capsys: pytest.CaptureFixture[str]) -> Any:
        def command(*argv: str) -> tuple[int, Any]:
            places = ("--sessions-dir", str(filled.sessions), "--index-dir", str(filled.place))
            code = main([*argv, *places, "--json"])
            return code, json.loads(capsys.readouterr().out)

        return command

    def test_verify_and_rebuild(self, filled: World, run: Any) -> None:
        code, document = run("verify")
        assert code == 0
        assert document == {"equal": True, "sessions": 2, "events": 8, "differences": []}
        change(filled, "UPDATE fragments SET n = 5 WHERE key = (SELECT min(key) FROM fragments)")
        code, document = run("verify")
        assert (code, document["equal"]) == (4, False)
        assert document["differences"]
        code, document = run("rebuild")
        assert (code, document["rebuilt"], document["coverage"]["state"]) == (0, 2, "ready")
        assert set(document) == {
            "discovered", "unchanged", "appended", "rebuilt", "removed", "failed", "bytesRead",
            "probedBytes", "eventsAdded", "durationMs", "coverage",
        }  # fmt: skip
        assert run("verify")[0] == 0

    def test_verify_of_a_damaged_one(self, filled: World, run: Any) -> None:
        filled.index.close()
        shutil.rmtree(next(filled.place.glob("text-*")))
        code, document = run("verify")
        assert (code, document["equal"], document["sessions"]) == (4, False, 0)
        assert run("sync")[0] == 0
        assert run("verify")[0] == 0


def test_reads_are_told_exact_for_every_event_of_the_golden_sessions(base: Path) -> None:
    """What a record says and what the index says of it is compared on every read."""
    golden = Path(__file__).parent.parent / "golden" / "damage"
    read = 0
    for path in golden.glob("*/session.jsonl"):
        with EventIndex.open(base / path.parent.name, [path.parent]) as index:
            index.sync()
            for session in index.sessions(invocation=EVERYTHING).sessions:
                for entry_id in _ids(index):
                    event = index.read(session.session_id, entry_id, invocation=EVERYTHING)
                    assert event.source.state == "exact", (session.path, entry_id)
                    read += 1
    assert read > 50


def _ids(index: EventIndex) -> list[str]:
    with index._store.database.snapshot() as connection:
        rows = connection.execute("SELECT entry_id FROM events WHERE NOT flags & ?", (SUPERSEDED,))
        return [entry_id for (entry_id,) in rows]
