"""Every way in which a session file changes, one test each.

Each test first asserts what it is about (same inode, same size, same bytes at the edge ...), so
that it cannot pass for nothing, and ends with an index that equals a fresh one over these bytes.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.lifecycle.world import (
    EVERYTHING,
    OLD,
    SESSION,
    World,
    age,
    asked_before_commit,
    header,
    line,
    said,
    talk,
)

OTHER = "22222222-2222-7222-8222-222222222222"


def inode(path: Path) -> int:
    return path.stat().st_ino


class TestAppends:
    @pytest.mark.parametrize("count", [1, 2, 40])
    def test_entries(self, world: World, count: int) -> None:
        path = world.write(header() + talk("walrus one"))
        world.sync()
        before, size = inode(path), path.stat().st_size
        world.append(talk(*[f"walrus {n}" for n in range(count)], first=2))
        assert (inode(path), path.stat().st_size > size) == (before, True)
        report = world.sync()
        assert (report.appended, report.rebuilt, report.events_added) == (1, 0, count)
        assert report.bytes_read == path.stat().st_size - size
        assert len(world.finds("walrus")) == count + 1
        assert world.is_as_fresh()

    def test_a_branch(self, world: World) -> None:
        world.write(header() + talk("walrus a", "walrus b", "walrus c"))
        world.sync()
        world.append(said(4, "walrus d", parent=1))
        world.sync()
        world.append(said(5, "walrus e") + said(6, "walrus f", parent=3))
        assert world.sync().appended == 1
        assert world.is_as_fresh()

    def test_nothing(self, world: World) -> None:
        path = world.write(header() + talk("walrus"))
        age(path)
        world.sync()
        report = world.sync()
        assert (report.unchanged, report.bytes_read, report.events_added) == (1, 0, 0)

    def test_records_of_which_nothing_can_be_taken_in(self, world: World) -> None:
        path = world.write(header() + talk("walrus"))
        world.sync()
        world.append(b"{broken\n[1,\nnull\n")
        world.sync()
        size = path.stat().st_size
        world.append(said(2, "walrus again"))
        report = world.sync()
        assert report.bytes_read == path.stat().st_size - size, "what was skipped is behind"
        assert world.is_as_fresh()


class TestPartialTails:
    def test_completed_later(self, world: World) -> None:
        record = said(2, "walrus at last")
        world.write(header() + talk("walrus") + record[:30])
        world.sync()
        assert world.finds("walrus") == ["00000001"]
        world.reopen()
        world.append(record[30:])
        world.sync()
        assert world.finds("walrus") == ["00000001", "00000002"]
        assert world.is_as_fresh()

    def test_completed_with_other_bytes(self, world: World) -> None:
        base = header() + talk("walrus")
        world.write(base + b'{"type":"mess')
        world.sync()
        path = world.write(base + said(2, "octopus instead"))
        assert path.read_bytes().startswith(base)
        world.sync()
        assert world.finds("octopus") == ["00000002"]
        assert world.is_as_fresh()

    def test_of_the_same_length_completed_with_other_bytes(self, world: World) -> None:
        base = header() + talk("walrus")
        path = world.write(base + b'{"type":"message","id":"0000')
        world.sync()
        size = path.stat().st_size
        world.write(base + b"\n" + b" " * 27)
        assert path.stat().st_size == size
        world.sync()
        world.append(b"\n" + said(2, "octopus"))
        world.sync()
        assert world.finds("octopus") == ["00000002"]
        assert world.is_as_fresh()

    @pytest.mark.parametrize("behind", [b"\n", b"", b"\n" + said(3, "eel"), said(3, "eel")])
    def test_a_whole_record_without_a_line_end(self, world: World, behind: bytes) -> None:
        world.write(header() + talk("walrus") + said(2, "octopus").rstrip(b"\n"))
        world.sync()
        assert world.finds("octopus") == ["00000002"], "a JSON object delimits itself"
        world.append(behind)
        world.sync()
        assert world.finds("octopus") == ["00000002"]
        assert world.is_as_fresh()

    def test_a_torn_record_glued_to_the_next(self, world: World) -> None:
        world.write(header() + talk("walrus") + said(2, "octopus")[:40])
        world.sync()
        world.append(said(3, "eel"))
        world.sync()
        assert world.finds("eel") == ["00000003"]
        assert "torn" in world.problems()
        assert world.is_as_fresh()


class TestShrinking:
    def test_to_nothing(self, world: World) -> None:
        path = world.write(header() + talk("walrus"))
        world.sync()
        before = inode(path)
        world.write(b"")
        assert (inode(path), path.stat().st_size) == (before, 0)
        report = world.sync()
        assert report.failed == 1
        assert world.finds("walrus") == ["00000001"], "the last good reading stays"
        assert world.coverage() == "error"

    @pytest.mark.parametrize("cut", [3, 30, 1])
    def test_into_a_record(self, world: World, cut: int) -> None:
        data = header() + talk("walrus", "octopus", "eel")
        path = world.write(data)
        world.sync()
        os.truncate(path, len(data) - cut)
        world.sync()
        assert world.is_as_fresh()

    def test_to_the_edge_of_a_record(self, world: World) -> None:
        path = world.write(header() + talk("walrus", "octopus"))
        world.sync()
        os.truncate(path, len(header() + talk("walrus")))
        assert path.read_bytes().endswith(b"\n")
        assert world.sync().rebuilt == 1
        assert world.finds("octopus") == []
        assert world.is_as_fresh()

    def test_and_growing_past_the_old_size(self, world: World) -> None:
        path = world.write(header() + talk("walrus", "octopus"))
        world.sync()
        before, size = inode(path), path.stat().st_size
        world.write(header() + talk("heron", "magpie", "jackdaw", "crow"))
        assert (inode(path), path.stat().st_size > size) == (before, True)
        world.sync()
        assert (world.finds("walrus"), len(world.finds("crow"))) == ([], 1)
        assert world.is_as_fresh()

    def test_and_growing_with_the_same_edge_but_another_header(self, world: World) -> None:
        path = world.write(header() + talk("walrus", "octopus"))
        world.sync()
        size = path.stat().st_size
        edge = path.read_bytes()[-100:]
        new = header().replace(b"2026-03-01T09:00", b"2026-03-01T08:00")
        assert len(new) == len(header())
        world.write(new + talk("walrus", "octopus", "eel"))
        assert path.read_bytes()[size - 100 : size] == edge
        assert world.sync().rebuilt == 1
        assert world.is_as_fresh()

    def test_flickering_between_nothing_and_the_whole(self, world: World) -> None:
        data = header() + talk("walrus")
        path = world.write(data)
        world.sync()
        for _ in range(3):
            world.write(b"")
            world.sync()
            world.write(data)
            assert path.stat().st_size == len(data)
            world.sync()
            assert world.finds("walrus") == ["00000001"]
        assert world.coverage() == "ready"
        assert world.is_as_fresh()

    def test_a_hole_left_by_a_writer_that_did_not_notice(self, world: World) -> None:
        data = header() + talk("walrus", "octopus")
        path = world.write(data)
        world.sync()
        with path.open("r+b") as stale:
            stale.seek(len(data))
            os.truncate(path, len(header()))
            stale.write(said(3, "eel"))
        assert b"\0\0\0" in path.read_bytes()
        world.sync()
        assert world.finds("eel") == ["00000003"]
        assert "nul-filled" in world.problems()
        assert world.is_as_fresh()


class TestRewriting:
    def test_of_the_same_size_with_the_old_time(self, world: World) -> None:
        path = world.write(header() + talk("walrus", "octopus"))
        age(path)
        world.sync()
        before = path.stat()
        world.write(header() + talk("heron!", "octopus"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        after = path.stat()
        assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
        assert after.st_mtime_ns == before.st_mtime_ns
        assert after.st_ctime_ns != before.st_ctime_ns
        assert world.sync().rebuilt == 1
        assert (world.finds("walrus"), world.finds("heron")) == ([], ["00000001"])
        assert world.is_as_fresh()

    def test_in_place_far_before_the_end(self, world: World) -> None:
        texts = [f"stone {n}" for n in range(200)]
        path = world.write(header() + talk(*texts))
        world.sync()
        before = path.stat()
        data = path.read_bytes().replace(b'stone 3"', b'heron 3"')
        with path.open("r+b") as file:
            file.write(data)
        assert (inode(path), path.stat().st_size) == (before.st_ino, before.st_size)
        world.sync()
        assert world.finds("heron") == ["00000004"]
        assert world.is_as_fresh()

    def test_in_place_under_a_growing_end_is_found_by_the_read_that_meets_it(
        self, world: World
    ) -> None:
        texts = [f"stone {n}" for n in range(200)]
        path = world.write(header() + talk(*texts))
        world.sync()
        data = path.read_bytes().replace(b'stone 3"', b'heron 3"')
        with path.open("r+b") as file:
            file.write(data)
        world.append(said(201, "stone at the end"))
        report = world.sync()
        assert report.appended == 1, "neither header nor edge tell of it"
        assert any("should be" in one for one in world.differences()), "verify finds it"
        assert world.reads("00000004") == ("heron 3", "exact")
        assert world.finds("heron") == ["00000004"]
        assert world.is_as_fresh()

    @pytest.mark.parametrize("grown", [False, True])
    def test_by_another_file_put_in_its_place(self, world: World, grown: bool) -> None:
        path = world.write(header() + talk("walrus"))
        world.sync()
        before = inode(path)
        new = world.base / "new"
        new.write_bytes(header() + talk("walrus", *(["octopus"] if grown else [])))
        new.replace(path)
        assert inode(path) != before
        assert world.sync().rebuilt == 1
        assert world.is_as_fresh()

    def test_by_a_new_file_that_got_the_old_inode(self, world: World) -> None:
        path = world.write(header() + talk("walrus", "octopus"))
        world.sync()
        path.unlink()
        world.write(header() + talk("heron", "magpie", "crow"))
        # Whether a file system gives the number out again is luck; to the index it has.
        with world.index._store.database.transaction() as connection:
            connection.execute("UPDATE sources SET inode = ?", (inode(path),))
        world.sync()
        assert (world.finds("walrus"), world.finds("crow")) == ([], ["00000003"])
        assert world.is_as_fresh()

    def test_with_a_new_session_id(self, world: World) -> None:
        path = world.write(header() + talk("walrus"))
        world.sync()
        before = inode(path)
        world.write(header(OTHER) + talk("octopus", "eel", "heron"))
        assert inode(path) == before
        world.sync()
        listed = world.index.sessions(invocation=EVERYTHING).sessions
        assert [session.session_id for session in listed] == [OTHER]
        assert world.is_as_fresh()

    def test_with_another_working_directory(self, world: World) -> None:
        world.write(header() + talk("walrus"))
        world.sync()
        world.write(header(cwd="/home/ada/play") + talk("walrus"))
        world.sync()
        (session,) = world.index.sessions(invocation=EVERYTHING).sessions
        assert session.cwd == "/home/ada/play"
        assert world.is_as_fresh()

    def test_by_a_migration_seen_half_way(self, world: World) -> None:
        old = line({"type": "session", "id": SESSION, "timestamp": "2026-03-01T09:00:00.000Z"})
        old += b"".join(
            line({"type": "message", "message": {"role": "user", "content": f"walrus {n}"}})
            for n in range(20)
        )
        path = world.write(old)
        world.sync()
        assert len(world.finds("walrus")) == 20
        new = header() + talk(*[f"walrus {n}" for n in range(20)])
        before = inode(path)
        for cut in (40, 0, len(header()) - 2, len(header()), len(header()) + 100, 900):
            world.write(new[:cut])
            assert inode(path) == before
            failed = world.sync().failed
            assert failed == (cut < len(header()) - 1)
            if failed:
                assert len(world.finds("walrus")) == 20, "the last reading that made sense"
            else:
                assert world.is_as_fresh()
        world.write(new)
        world.sync()
        assert len(world.finds("walrus")) == 20
        assert world.is_as_fresh()

    def test_answers_with_the_old_reading_until_the_new_one_is_whole(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        world.write(header() + talk("walrus", "walrus"))
        world.sync()
        world.write(header() + talk("octopus"))
        with (
            world.open() as reader,
            asked_before_commit(
                monkeypatch, lambda: (world.finds("walrus", reader), world.finds("octopus", reader))
            ) as answers,
        ):
            world.sync()
        old: tuple[list[str], list[str]] = (["00000001", "00000002"], [])
        new: tuple[list[str], list[str]] = ([], ["00000001"])
        assert answers[0] == old
        assert answers == sorted(answers, key=[old, new].index), "one or the other, and no way back"
        assert (world.finds("walrus"), world.finds("octopus")) == new


class TestDamage:
    @pytest.mark.parametrize(
        "damage",
        [b"", b"not json at all\n", b"\n\n\n", b"\0" * 500, b'{"type":"message"}\n', b"[]\n"],
        ids=["empty", "text", "blank", "nul", "no-header", "array"],
    )
    def test_keeps_the_last_reading_and_says_so(self, world: World, damage: bytes) -> None:
        data = header() + talk("walrus")
        world.write(data)
        world.sync()
        world.write(damage)
        report = world.sync()
        assert report.failed == 1
        assert (world.finds("walrus"), world.coverage()) == (["00000001"], "error")
        assert "failed" in world.problems()
        (session,) = world.index.sessions(invocation=EVERYTHING).sessions
        assert session.state == "error"
        text, state = world.reads("00000001")
        assert (text, state) == ("walrus", "modified"), "held evidence, and marked as such"
        world.write(data + said(2, "octopus"))
        world.sync()
        assert world.coverage() == "ready"
        assert world.is_as_fresh()

    def test_of_one_file_costs_no_other(self, world: World) -> None:
        world.write(header() + talk("walrus"))
        world.write(header(OTHER) + talk("walrus"), "b")
        world.sync()
        world.write(b"", "a")
        world.append(said(2, "walrus"), "b")
        report = world.sync()
        assert (report.failed, report.appended) == (1, 1)

    def test_a_byte_order_mark_comes_and_goes(self, world: World) -> None:
        data = header() + talk("walrus")
        world.write(data)
        world.sync()
        world.write(b"\xef\xbb\xbf" + data)
        world.sync()
        assert "bom" in world.problems()
        assert world.is_as_fresh()
        world.append(said(2, "octopus"))
        assert world.sync().appended == 1
        assert world.is_as_fresh()
        world.write(data)
        world.sync()
        assert "bom" not in world.problems()
        assert world.is_as_fresh()


class TestTimes:
    @pytest.mark.parametrize("seconds", [OLD, 4_000_000_000, 1, 0])
    def test_decide_nothing_alone(self, world: World, seconds: int) -> None:
        path = world.write(header() + talk("walrus"))
        age(path, seconds)
        world.sync()
        world.append(said(2, "octopus"))
        age(path, seconds)
        assert path.stat().st_mtime == seconds
        world.sync()
        assert world.finds("octopus") == ["00000002"]
        size = path.stat().st_size
        world.write(header() + talk("walrus") + said(2, "cuttles"))
        age(path, seconds)
        assert path.stat().st_size == size
        world.sync()
        assert world.finds("cuttles") == ["00000002"]
        assert world.is_as_fresh()

    def test_before_1970(self, world: World) -> None:
        path = world.write(header() + talk("walrus"))
        try:
            os.utime(path, (-86_400, -86_400))
        except OSError:
            pytest.skip("this file system has no such times")
        assert path.stat().st_mtime_ns < 0
        world.sync()
        world.append(said(2, "octopus"))
        world.sync()
        assert world.is_as_fresh()

    def test_jumping_back(self, world: World) -> None:
        path = world.write(header() + talk("walrus"))
        age(path, OLD)
        world.sync()
        world.append(said(2, "octopus"))
        age(path, OLD - 1_000)
        world.sync()
        assert world.finds("octopus") == ["00000002"]

    def test_touched(self, world: World) -> None:
        path = world.write(header() + talk("walrus"))
        age(path)
        world.sync()
        age(path, OLD + 10)
        assert world.sync().rebuilt == 1, "an edit far before the end would look the same"
        assert world.is_as_fresh()


class TestForksAndCopies:
    def test_a_fork_seen_half_written(self, world: World) -> None:
        parent = world.write(header() + talk("walrus", "octopus", "eel"))
        fork = header(OTHER, parentSession=str(parent)) + talk("walrus", "octopus", "eel")
        for cut in (10, len(fork) // 2, len(fork) - 1, len(fork)):
            world.write(fork[:cut], "fork")
            world.sync()
        assert world.is_as_fresh()
        (hit,) = world.index.search("octopus", invocation=EVERYTHING).hits
        assert hit.also_in_total == 1

    def test_two_files_with_one_session_id(self, world: World) -> None:
        data = header() + talk("walrus", "octopus")
        world.write(data)
        world.write(data + said(3, "eel"), "copy")
        world.sync()
        assert "duplicate-session" in world.problems()
        assert world.finds("eel") == ["00000003"]
        (session,) = world.index.sessions(invocation=EVERYTHING).sessions
        assert session.path == str(world.path("copy"))
        world.append(said(3, "heron") + said(4, "heron"), "a")
        world.sync()
        (session,) = world.index.sessions(invocation=EVERYTHING).sessions
        assert session.path == str(world.path("a")), "the one with most records"
        assert (world.finds("eel"), len(world.finds("heron"))) == ([], 2), "never mixed"
        world.path("a").unlink()
        world.sync()
        assert (world.finds("eel"), world.finds("heron")) == (["00000003"], [])
        assert world.is_as_fresh()

    def test_moved(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        path = world.write(header() + talk("walrus"))
        world.sync()
        (world.sessions / "archive").mkdir()
        path.rename(world.path("archive/a"))
        with asked_before_commit(monkeypatch, lambda: world.finds("walrus")) as answers:
            report = world.sync()
        assert answers == [["00000001"]] * len(answers), "one of the two always answers"
        assert report.removed == 1
        assert world.is_as_fresh()


class TestSizes:
    def test_a_sparse_file_of_more_than_4_gib(self, world: World) -> None:
        path = world.write(header() + talk("walrus"))
        world.sync()
        os.truncate(path, 5 << 30)
        with path.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            file.write(b"\n")
            begins = file.tell()
            file.write(said(2, "octopus"))
        assert path.stat().st_size > 1 << 32
        report = world.sync()
        assert world.finds("octopus") == ["00000002"]
        assert report.appended == 1
        event = world.index.read(SESSION, "00000002", invocation=EVERYTHING)
        assert (event.source.byte_start, event.source.state) == (begins, "exact")
