"""Discovery: what cannot be seen, and what is proven gone."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pi_event_search.config import SessionDir
from pi_event_search.ingest.discover import Entry, FileSystem, scan

from tests.scans import after_listing, failing_scandir, failing_stat, key, kinds, look, names, put


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A real directory that holds an empty session directory `s`."""
    (tmp_path / "s").mkdir()
    return tmp_path.resolve()


# What cannot be looked at


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EACCES, "permission"),
        (errno.EPERM, "permission"),
        (errno.EIO, "io"),
        (errno.ESTALE, "io"),
        (errno.ENAMETOOLONG, "io"),
        (errno.ENOENT, "vanished"),
        (errno.ENOTDIR, "vanished"),
        (errno.ELOOP, "link-loop"),
    ],
)
@pytest.mark.parametrize("call", [failing_scandir, failing_stat])
def test_an_error_costs_one_directory(
    base: Path, call: Callable[[Path, int], FileSystem], number: int, kind: str
) -> None:
    put(base / "s/bad/x.jsonl")
    put(base / "s/bad/below/y.jsonl")
    put(base / "s/good/z.jsonl")
    result = look(base, fs=call(base / "s/bad", number))
    assert names(result, base) == ["s/good/z.jsonl"]
    assert [(p.path, p.kind) for p in result.unobservable] == [(key(base / "s/bad"), kind)]
    assert os.strerror(number) in result.unobservable[0].detail
    (base / "s/bad/x.jsonl").unlink()
    assert not result.absent(key(base / "s/bad/x.jsonl"))
    assert not result.removed_with_directory(key(base / "s/bad/x.jsonl"))


def test_an_error_in_the_middle_of_a_listing_keeps_what_was_read(base: Path) -> None:
    for name in ("a", "b", "c"):
        put(base / f"s/{name}.jsonl")
    result = look(base, fs=failing_scandir(base / "s", errno.EIO, after=2))
    assert names(result, base) == ["s/a.jsonl", "s/b.jsonl"]
    assert kinds(result) == ["io"]
    (base / "s/c.jsonl").unlink()
    assert not result.absent(key(base / "s/c.jsonl"))


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind the superuser")
def test_real_permissions(base: Path) -> None:
    put(base / "s/closed/x.jsonl")
    put(base / "s/blind/y.jsonl")
    put(base / "s/good/z.jsonl")
    (base / "s/closed").chmod(0o000)
    (base / "s/blind").chmod(0o400)
    try:
        result = look(base)
        assert names(result, base) == ["s/good/z.jsonl"]
        assert sorted(kinds(result)) == ["permission", "permission"]
        assert not result.absent(key(base / "s/closed/x.jsonl"))
        assert not result.absent(key(base / "s/blind/gone.jsonl"))
    finally:
        (base / "s/closed").chmod(0o700)
        (base / "s/blind").chmod(0o700)
    assert len(look(base).files) == 3


def test_permission_lost_and_restored(base: Path) -> None:
    path = put(base / "s/d/x.jsonl")
    lost = look(base, fs=failing_scandir(base / "s/d", errno.EACCES))
    assert (names(lost, base), kinds(lost)) == ([], ["permission"])
    assert not lost.absent(key(path))
    restored = look(base)
    assert (names(restored, base), kinds(restored)) == (["s/d/x.jsonl"], [])


class Broken:
    """An entry whose stat fails."""

    def __init__(self, path: bytes, number: int, *, link: bool = False) -> None:
        self.path = path
        self.name = os.path.basename(path)
        self._error = OSError(number, os.strerror(number))
        self._link = link

    def is_symlink(self) -> bool:
        return self._link

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        raise self._error


@pytest.mark.parametrize("link", [False, True])
def test_an_error_costs_one_file(base: Path, link: bool) -> None:
    put(base / "s/good.jsonl")

    @contextmanager
    def scandir(path: bytes) -> Iterator[Iterator[Entry]]:
        broken = Broken(path + b"/bad.jsonl", errno.EIO, link=link)
        with os.scandir(path) as real:
            yield iter([broken, *real])

    result = look(base, fs=FileSystem(scandir=scandir))
    assert names(result, base) == ["s/good.jsonl"]
    assert [(p.path, p.kind) for p in result.unobservable] == [(key(base / "s/bad.jsonl"), "io")]


@pytest.mark.parametrize("path", ["/a\0b", "/a\ud800b"])
def test_a_path_no_system_can_have(path: str) -> None:
    result = scan([SessionDir(Path(path))])
    assert kinds(result) == ["invalid-path"]
    assert result.missing == []


def test_session_directory_that_is_a_file(base: Path) -> None:
    for path in (put(base / "file.jsonl"), base / "file.jsonl/below"):
        result = scan([SessionDir(path), SessionDir(base / "s")])
        assert [(p.path, p.kind) for p in result.unobservable] == [(key(path), "not-a-directory")]


def test_very_deep_directories(base: Path) -> None:
    """Deeper than a path can be long: an error there, and no recursion."""
    home = Path.cwd()
    try:
        os.chdir(base / "s")
        for _ in range(60):
            os.mkdir("d" * 100)  # noqa: PTH102 - relative on purpose
            os.chdir("d" * 100)
    finally:
        os.chdir(home)
    put(base / "s/x.jsonl")
    result = look(base)
    assert names(result, base) == ["s/x.jsonl"]
    assert kinds(result) == ["io"]


# What is proven gone


def test_gone_means_listed_without_it_and_still_not_there(base: Path) -> None:
    path = put(base / "s/d/x.jsonl")
    before = look(base)
    assert not before.absent(key(path))
    path.unlink()
    assert not before.absent(key(path)), "that scan saw it"
    after = look(base)
    assert after.absent(key(path))
    put(path)
    assert not after.absent(key(path)), "it is there again"


def test_a_name_of_another_kind_is_not_gone(base: Path) -> None:
    for name in ("dir.jsonl", "link.jsonl"):
        assert look(base).absent(key(base / "s" / name))
    (base / "s/dir.jsonl").mkdir()
    (base / "s/link.jsonl").symlink_to("nowhere")
    for name in ("dir.jsonl", "link.jsonl"):
        assert not look(base).absent(key(base / "s" / name))


def test_only_enoent_proves(base: Path) -> None:
    for number in (errno.EACCES, errno.EIO, errno.ESTALE, errno.ENOTDIR):

        def lstat(path: bytes, number: int = number) -> os.stat_result:
            raise OSError(number, os.strerror(number))

        assert not look(base, fs=FileSystem(lstat=lstat)).absent(key(base / "s/x.jsonl"))


def test_directories_outside_prove_nothing_by_themselves(base: Path) -> None:
    assert not look(base).absent(key(base / "x.jsonl"))
    assert not look(base).absent(b"/x.jsonl")
    assert not look(base).absent(b"x.jsonl")
    assert not look(base).removed_with_directory(b"x.jsonl")
    assert not look(base).removed_with_directory(key(base / "gone/x.jsonl"))


def test_directory_renamed_after_it_was_listed(base: Path) -> None:
    put(base / "s/d/x.jsonl")
    result = look(base)
    (base / "s/d").rename(base / "s/e")
    assert not result.absent(key(base / "s/d/y.jsonl"))
    (base / "s/d").mkdir()
    assert not result.absent(key(base / "s/d/y.jsonl")), "another directory of that name"


def test_deletion_between_listing_and_stat(base: Path) -> None:
    path = put(base / "s/d/x.jsonl")
    put(base / "s/d/y.jsonl")
    result = look(base, fs=after_listing(base / "s/d", path.unlink))
    assert names(result, base) == ["s/d/y.jsonl"]
    assert [(p.path, p.kind) for p in result.unobservable] == [(key(path), "vanished")]
    assert not result.absent(key(path)), "one scan must not both see and deny it"
    assert look(base).absent(key(path))


def test_directory_deleted_between_listing_and_visit(base: Path) -> None:
    path = put(base / "s/d/x.jsonl")
    result = look(base, fs=after_listing(base / "s", lambda: shutil.rmtree(base / "s/d")))
    assert [(p.path, p.kind) for p in result.unobservable] == [(key(base / "s/d"), "vanished")]
    assert not result.absent(key(path))
    assert not result.removed_with_directory(key(path))
    again = look(base)
    assert not again.absent(key(path))
    assert again.removed_with_directory(key(path))


def test_rename_between_listing_and_stat(base: Path) -> None:
    path = put(base / "s/d/x.jsonl")
    renamed = base / "s/d/renamed.jsonl"
    result = look(base, fs=after_listing(base / "s/d", lambda: path.rename(renamed)))
    assert (names(result, base), kinds(result)) == ([], ["vanished"])
    after = look(base)
    assert names(after, base) == ["s/d/renamed.jsonl"]
    assert after.absent(key(path))


def test_file_that_appears_after_the_listing_waits_for_the_next_scan(base: Path) -> None:
    path = base / "s/x.jsonl"
    result = look(base, fs=after_listing(base / "s", lambda: put(path)))
    assert result.files == []
    assert not result.absent(key(path))
    assert names(look(base), base) == ["s/x.jsonl"]


def test_pipe_put_in_the_place_of_a_listed_file(base: Path) -> None:
    path = put(base / "s/x.jsonl")

    def swap() -> None:
        path.unlink()
        os.mkfifo(path)

    result = look(base, fs=after_listing(base / "s", swap))
    assert result.files == []
    assert [p.kind for p in result.skipped] == ["not-a-regular-file"]


def test_removed_with_its_directories(base: Path) -> None:
    path = put(base / "s/d/e/x.jsonl")
    kept = put(base / "s/d2/x.jsonl")
    assert not look(base).removed_with_directory(key(path))
    shutil.rmtree(base / "s/d")
    result = look(base)
    assert not result.absent(key(path)), "its directory was not listed"
    assert result.removed_with_directory(key(path))
    assert not result.removed_with_directory(key(kept))
    (base / "s/d").mkdir()
    assert not result.removed_with_directory(key(path)), "it is there again"


def test_missing_session_directory_is_not_an_empty_one(base: Path) -> None:
    path = put(base / "s/d/x.jsonl")
    shutil.rmtree(base / "s")
    result = look(base)
    assert (result.files, result.unobservable) == ([], [])
    assert [(p.path, p.kind) for p in result.missing] == [(key(base / "s"), "missing")]
    assert not result.absent(key(path))
    assert not result.removed_with_directory(key(path))
    assert result.lost([key(base / "other/x.jsonl"), key(path)]) == result.missing
    assert result.lost([key(base / "s2/x.jsonl"), key(base / "s")]) == []
    assert result.lost([]) == []


def test_missing_session_directory_inside_another(base: Path) -> None:
    path = key(base / "s/mount/x.jsonl")
    result = scan([SessionDir(base / "s"), SessionDir(base / "s/mount", archive=True)])
    assert [p.path for p in result.missing] == [key(base / "s/mount")]
    assert not result.removed_with_directory(path)
    assert look(base).removed_with_directory(path)


def test_session_directory_gone_after_the_scan(base: Path) -> None:
    result = look(base)
    (base / "s").rmdir()
    assert not result.absent(key(base / "s/x.jsonl"))


def test_absence_outside_of_the_session_directories(base: Path) -> None:
    target = put(base / "elsewhere/x.jsonl")
    (base / "s/x.jsonl").symlink_to(target)
    assert not look(base).absent_outside(key(target))
    target.unlink()
    result = look(base)
    assert not result.absent(key(target))
    assert result.absent_outside(key(target))
    assert not result.absent_outside(key(base / "nowhere/x.jsonl"))
    failing = look(base, fs=failing_scandir(base / "elsewhere", errno.EACCES))
    assert not failing.absent_outside(key(target))


def test_absence_below_a_session_directory_is_never_looked_up_late(base: Path) -> None:
    put(base / "s/d/x.jsonl")
    result = look(base, fs=failing_stat(base / "s/d", errno.EACCES))
    assert not result.absent_outside(key(base / "s/d/gone.jsonl"))
    assert result.absent_outside(key(base / "s/gone.jsonl"))


def test_nothing_stays_open(base: Path) -> None:
    put(base / "s/d/x.jsonl")
    before = len(os.listdir("/dev/fd"))
    for _ in range(20):
        look(base)
        look(base, fs=failing_scandir(base / "s/d", errno.EIO, after=1))
    assert len(os.listdir("/dev/fd")) == before
