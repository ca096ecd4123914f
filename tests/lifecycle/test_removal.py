"""A source is forgotten only when it is proven to be gone; what cannot be seen stays."""

from __future__ import annotations

import errno
import os
import shutil
import stat as modes
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pi_event_search import EventIndex
from pi_event_search.ingest import survey
from pi_event_search.ingest.discover import FileSystem
from pi_event_search.ingest.discover import scan as real_scan

from tests.lifecycle.world import EVERYTHING, World, as_somebody, header, said, talk

OTHER = "22222222-2222-7222-8222-222222222222"


@pytest.fixture
def two(world: World) -> World:
    """Two sessions in two projects, indexed."""
    world.write(header() + talk("walrus"), "one/a")
    world.write(header(OTHER) + talk("octopus"), "two/b")
    world.sync()
    return world


class Scans:
    """Stands in for the scan: things happen before the first, the second ... of them."""

    def __init__(self, *before: Any) -> None:
        self._before = list(before)
        self.count = 0

    def __call__(self, *args: Any) -> Any:
        self.count += 1
        if self._before:
            self._before.pop(0)()
        return real_scan(*args)


def nothing() -> None:
    """Nothing happens."""


class TestGone:
    def test_a_file(self, two: World) -> None:
        two.path("one/a").unlink()
        report = two.sync()
        assert (report.removed, report.discovered) == (1, 1)
        assert (two.finds("walrus"), two.finds("octopus")) == ([], ["00000001"])
        assert two.coverage() == "ready"
        assert two.is_as_fresh()

    def test_a_project_directory(self, two: World) -> None:
        shutil.rmtree(two.sessions / "one")
        assert two.sync().removed == 1
        assert two.coverage() == "ready"
        assert two.is_as_fresh()

    def test_a_directory_put_in_the_place_of_another(self, two: World) -> None:
        shutil.rmtree(two.sessions / "one")
        (two.sessions / "one").mkdir()
        assert two.sync().removed == 1

    def test_an_explicit_file(self, two: World) -> None:
        path = two.base / "elsewhere.jsonl"
        path.write_bytes(header("33333333-3333-7333-8333-333333333333") + talk("heron"))
        two.index.sync(path)
        assert two.finds("heron")
        path.unlink()
        assert two.sync().removed == 1
        assert two.finds("heron") == []

    def test_what_is_gone_and_back_is_read_again(self, two: World) -> None:
        data = two.path("one/a").read_bytes()
        two.path("one/a").unlink()
        two.sync()
        two.write(data, "one/a")
        assert two.sync().rebuilt == 1
        assert two.is_as_fresh()

    def test_documents_go_with_the_next_batch(self, two: World) -> None:
        two.path("one/a").unlink()
        two.sync()
        with two.index._store.snapshot() as snapshot:
            for table in ("dead_epochs", "dead_keys", "reservations"):
                rows = snapshot.connection.execute(f"SELECT * FROM {table}").fetchall()
                assert rows == [], table


class TestTwoScans:
    def test_one_that_does_not_see_a_file_is_not_enough(
        self, two: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = two.path("one/a")
        aside = two.base / "aside"
        path.rename(aside)
        scans = Scans(nothing, lambda: aside.rename(path))
        monkeypatch.setattr(survey, "scan", scans)
        assert two.index.sync().removed == 0
        assert scans.count == 2
        assert two.finds("walrus") == ["00000001"]

    def test_a_rename_in_progress_is_no_removal(
        self, two: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, moved = two.path("one/a"), two.path("zwei/a")
        aside = two.base / "aside"
        moved.parent.mkdir()
        path.rename(aside)
        monkeypatch.setattr(survey, "scan", Scans(nothing, lambda: aside.rename(moved)))
        report = two.index.sync()
        assert (report.removed, report.rebuilt) == (1, 1)
        assert two.finds("walrus") == ["00000001"]
        monkeypatch.undo()
        assert two.is_as_fresh()

    def test_a_second_one_only_where_something_is_missed(
        self, two: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        scans = Scans()
        monkeypatch.setattr(survey, "scan", scans)
        two.index.sync()
        assert scans.count == 1


class TestUnobservable:
    def test_a_session_directory_that_is_not_there(self, two: World) -> None:
        two.sessions.rename(two.base / "unmounted")
        report = two.index.sync()
        assert (report.removed, report.discovered) == (0, 0)
        assert (two.finds("walrus"), two.coverage()) == (["00000001"], "partial")
        assert "missing" in two.problems()
        (two.base / "unmounted").rename(two.sessions)
        assert two.sync().removed == 0
        assert two.coverage() == "ready"
        assert two.is_as_fresh()

    def test_an_empty_mount_point(self, two: World) -> None:
        """The directory is there and empty, and stands on another disk than the files did."""
        with two.index._store.database.transaction() as connection:
            connection.execute("UPDATE sources SET device = device + 1")
        (two.base / "disk").mkdir()
        for name in ("one", "two"):
            (two.sessions / name).rename(two.base / "disk" / name)
        assert two.index.sync().removed == 0
        assert (two.finds("walrus"), two.coverage()) == (["00000001"], "partial")
        assert two.problems() == {"unreadable"}
        for name in ("one", "two"):
            (two.base / "disk" / name).rename(two.sessions / name)
        two.sync()
        assert two.coverage() == "ready"
        assert two.is_as_fresh()

    def test_a_disk_that_changed_its_number_still_proves_removals(self, two: World) -> None:
        two.write(header("33333333-3333-7333-8333-333333333333") + talk("heron"), "one/c")
        two.sync()
        with two.index._store.database.transaction() as connection:
            connection.execute("UPDATE sources SET device = device + 1")
        two.path("one/a").unlink()
        assert two.sync().removed == 1, "a known session beside it shows that the disk is there"

    @pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE])
    def test_a_directory_that_cannot_be_listed(
        self, two: World, number: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        closed = os.fsencode(two.sessions / "one")

        def scandir(path: bytes) -> Any:
            if path == closed:
                raise OSError(number, os.strerror(number))
            return os.scandir(path)

        def scan(dirs: Any, exclude: Any) -> Any:
            return real_scan(dirs, exclude, FileSystem(scandir=scandir))

        with monkeypatch.context() as patch:
            patch.setattr(survey, "scan", scan)
            report = two.index.sync()
            assert (report.removed, report.discovered) == (0, 1)
            assert (two.finds("walrus"), two.coverage()) == (["00000001"], "partial")
        two.sync()
        assert two.coverage() == "ready"
        assert two.is_as_fresh()

    def test_an_explicit_file_whose_directory_is_gone(self, two: World) -> None:
        path = two.base / "far" / "away.jsonl"
        path.parent.mkdir()
        path.write_bytes(header("33333333-3333-7333-8333-333333333333") + talk("heron"))
        two.index.sync(path)
        path.parent.rename(two.base / "unmounted")
        assert two.sync().removed == 0
        assert (two.finds("heron"), two.coverage()) == (["00000001"], "partial")
        (two.base / "unmounted").rename(path.parent)
        two.sync()
        assert two.coverage() == "ready"

    def test_an_explicit_file_is_looked_at_by_every_sync(self, two: World) -> None:
        path = two.base / "elsewhere.jsonl"
        path.write_bytes(header("33333333-3333-7333-8333-333333333333") + talk("heron"))
        two.index.sync(path)
        with path.open("ab") as file:
            file.write(said(2, "heron again"))
        report = two.sync()
        assert (report.discovered, report.appended) == (3, 1)
        assert len(two.finds("heron")) == 2

    def test_naming_a_file_that_has_not_changed_leaves_nothing_to_do(
        self, two: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        later = SimpleNamespace(time_ns=lambda: time.time_ns() + 3_000_000_000)
        monkeypatch.setattr("pi_event_search.ingest.source.time", later)
        path = two.write(header("33333333-3333-7333-8333-333333333333") + talk("heron"), "c")
        two.sync()
        assert two.index.sync(path).unchanged == 1
        assert two.coverage() == "ready"


class TestPermission:
    """In a process of a user whom permissions bind."""

    def test_lost_and_restored(self, base: Path) -> None:
        base.chmod(0o755)
        script = base / "script.py"
        script.write_text(_SCRIPT)
        result = as_somebody(script, base)
        assert result.stderr == ""
        assert result.stdout.split() == ["done"]


_SCRIPT = """
import os, sys, traceback
from pathlib import Path
from tests.lifecycle.world import World, become_nobody, header, said, talk
base = Path(sys.argv[1]) / "mine"
base.mkdir()
become_nobody(base)
world = World(base)
path = world.write(header() + talk("walrus"), "one/a")
world.sync()
for closed in (path, path.parent, world.sessions):
    mode = closed.stat().st_mode
    closed.chmod(0)
    try:
        closed.open("rb").close() if closed.is_file() else os.listdir(closed)
    except PermissionError:
        pass
    else:
        sys.exit("permissions do not bind")
    report = world.index.sync()
    assert report.removed == 0
    assert world.finds("walrus") == ["00000001"], closed
    assert world.coverage() == "partial", closed
    closed.chmod(mode)
    world.sync()
    assert world.coverage() == "ready", (closed, world.problems())
    assert world.is_as_fresh()
world.append(said(2, "walrus"), "one/a")
path.chmod(0)
report = world.index.sync()
assert (report.failed, world.finds("walrus")) == (1, ["00000001"])
path.chmod(0o600)
world.sync()
assert len(world.finds("walrus")) == 2
world.index.close()
print("done")
"""


class TestRaces:
    """The file goes away between two looks at it (no clocks: at a named call)."""

    @pytest.mark.parametrize("moment", ["listed", "registered", "opened"])
    def test_deleted_while_it_is_being_indexed(
        self, two: World, moment: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = two.write(header("33333333-3333-7333-8333-333333333333") + talk("heron"), "one/c")
        for index in vanishing(two.index, path, moment, monkeypatch):
            report = index.sync()
            assert report.removed == 0
        two.sync()
        assert two.finds("heron") == []
        assert (two.coverage(), two.states()) == ("ready", ["ready", "ready"])
        assert two.is_as_fresh()

    def test_put_in_its_place_while_it_is_being_read(
        self, two: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from pi_event_search.ingest import source as ingest

        path = two.path("one/a")
        two.append(talk(*["walrus"] * 50, first=2), "one/a")
        new = two.base / "new"
        new.write_bytes(header() + talk("heron"))
        read = ingest._read_piece

        def replacing(*args: Any) -> bool:
            ended = read(*args)
            if new.exists():
                new.replace(path)
            return ended

        monkeypatch.setattr(ingest, "_read_piece", replacing)
        two.index.sync()
        monkeypatch.undo()
        two.sync()
        assert two.finds("heron") == ["00000001"]
        assert two.is_as_fresh()


def vanishing(
    index: EventIndex, path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[EventIndex]:
    """The index, for one sync during which the file vanishes."""
    from pi_event_search import _core
    from pi_event_search.ingest import reconcile

    with monkeypatch.context() as patch:
        if moment == "listed":
            found = survey._sort_in

            def vanished(*args: Any) -> None:
                found(*args)
                path.unlink(missing_ok=True)

            patch.setattr(survey, "_sort_in", vanished)
        elif moment == "registered":
            commit = reconcile.Reconciler._commit

            def removing(self: Any, publication: Any) -> None:
                commit(self, publication)
                path.unlink(missing_ok=True)

            patch.setattr(reconcile.Reconciler, "_commit", removing)
        else:
            opened = _core.SessionReader

            def reader(*args: Any) -> Any:
                made = opened(*args)
                path.unlink(missing_ok=True)
                return made

            patch.setattr(_core, "SessionReader", reader)
        yield index


def test_a_file_that_is_no_file_any_more(two: World) -> None:
    path = two.path("one/a")
    path.unlink()
    os.mkfifo(path)
    assert modes.S_ISFIFO(path.stat().st_mode)
    report = two.index.sync()
    assert report.removed == 0
    assert two.finds("walrus") == ["00000001"], "the name is still there: nothing is proven"
    assert two.coverage() == "partial"
    page = two.index.sessions(invocation=EVERYTHING)
    assert len(page.sessions) == 2
