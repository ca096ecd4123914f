"""Discovery: what is found. What cannot be seen or is gone: test_discover_faults.py."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pi_event_search.config import SessionDir
from pi_event_search.ingest.discover import FileSystem, Found, scan

from tests.scans import failing_scandir, key, kinds, look, names, put

T = TypeVar("T")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A real directory that holds an empty session directory `s`."""
    (tmp_path / "s").mkdir()
    return tmp_path.resolve()


# What is found


def test_nothing_there(base: Path) -> None:
    result = look(base)
    assert (result.files, result.unobservable, result.missing, result.skipped) == ([], [], [], [])
    assert scan([]).files == []


def test_facts_of_a_file(base: Path) -> None:
    path = put(base / "s/x.jsonl", "12345", mtime_ns=1_700_000_000_123_456_789)
    status = path.stat()
    assert look(base).files == [
        Found(
            path=key(path),
            canonical=key(path),
            root=key(base / "s"),
            archive=False,
            device=status.st_dev,
            inode=status.st_ino,
            size=5,
            mtime_ns=1_700_000_000_123_456_789,
            ctime_ns=status.st_ctime_ns,
        )
    ]


def test_only_names_that_pi_reads_at_any_depth(base: Path) -> None:
    for name in ("a.jsonl", "d/e/f/b.jsonl", ".hidden.jsonl", ".jsonl", "x.jsonl/c.jsonl"):
        put(base / "s" / name)
    for name in ("a.json", "b.JSONL", "c.jsonl.bak", "jsonl", "d.jsonl~"):
        put(base / "s" / name)
    found = names(look(base), base)
    assert found == [
        "s/.hidden.jsonl",
        "s/.jsonl",
        "s/a.jsonl",
        "s/d/e/f/b.jsonl",
        "s/x.jsonl/c.jsonl",
    ]


def test_order_is_newest_first_then_path(base: Path) -> None:
    far = 4_000_000_000 * 10**9
    for name, mtime_ns in (("b", 5), ("a", 5), ("old", -(10**9)), ("future", far), ("d/c", 5)):
        put(base / f"s/{name}.jsonl", mtime_ns=mtime_ns)
    result = look(base)
    expected = ["s/future.jsonl", "s/a.jsonl", "s/b.jsonl", "s/d/c.jsonl", "s/old.jsonl"]
    assert names(result, base) == expected
    assert [found.mtime_ns for found in result.files] == [far, 5, 5, 5, -(10**9)]


def test_sizes_beyond_four_gigabytes(base: Path) -> None:
    os.truncate(put(base / "s/big.jsonl"), (5 << 30) + 1)
    assert look(base).files[0].size == (5 << 30) + 1


@pytest.mark.parametrize(
    "name",
    [b"\xff\xfe.jsonl", b"a\nb.jsonl", b"\xed\xa0\x80.jsonl", b" .jsonl", b"x" * 249 + b".jsonl"],
)
def test_any_name_a_file_can_have(base: Path, name: bytes) -> None:
    directory = key(base / "s") + b"/" + name.removesuffix(b".jsonl")
    try:
        os.mkdir(directory)  # noqa: PTH102 - bytes
    except OSError as error:
        pytest.skip(f"the file system refuses this name: {error}")
    path = directory + b"/" + name
    put(Path(os.fsdecode(path)))
    result = look(base)
    assert [found.path for found in result.files] == [path]
    assert result.files[0].canonical == path
    assert not result.absent(path)
    os.unlink(path)  # noqa: PTH108 - bytes
    assert look(base).absent(path)


def test_hard_links_are_two_files(base: Path) -> None:
    first = put(base / "s/a.jsonl")
    (base / "s/b.jsonl").hardlink_to(first)
    result = look(base)
    assert names(result, base) == ["s/a.jsonl", "s/b.jsonl"]
    assert len({found.inode for found in result.files}) == 1


def test_path_through_dots_and_links(base: Path) -> None:
    put(base / "s/x.jsonl")
    (base / "elsewhere/deep").mkdir(parents=True)
    (base / "link").symlink_to("elsewhere/deep")
    (base / "elsewhere/s").symlink_to(base / "s")
    dotted = base / "link/../s"
    result = scan([SessionDir(dotted)])
    assert [found.path for found in result.files] == [key(dotted / "x.jsonl")]
    assert [found.canonical for found in result.files] == [key(base / "s/x.jsonl")]


# Links


def test_link_to_a_file_outside(base: Path) -> None:
    target = put(base / "elsewhere/any-name", "123")
    (base / "s/x.jsonl").symlink_to(target)
    (base / "s/y.txt").symlink_to(target)
    found = look(base).files
    assert [(f.path, f.canonical, f.size) for f in found] == [
        (key(base / "s/x.jsonl"), key(target), 3)
    ]


def test_a_file_is_found_once_and_its_own_name_wins(base: Path) -> None:
    put(base / "s/z/real.jsonl")
    (base / "s/a.jsonl").symlink_to("z/real.jsonl")
    (base / "s/b").symlink_to("z")
    assert names(look(base), base) == ["s/z/real.jsonl"]
    # Of several links the first by name stands, whatever order the directory is in.
    (base / "s/z/real.jsonl").rename(base / "target.jsonl")
    (base / "s/a.jsonl").unlink()
    for name in ("d", "a", "c"):
        (base / f"s/{name}.jsonl").symlink_to(base / "target.jsonl")
    assert names(look(base), base) == ["s/a.jsonl"]


def test_links_to_directories_are_followed(base: Path) -> None:
    put(base / "elsewhere/d/x.jsonl")
    (base / "elsewhere/d/more").symlink_to(base / "third")
    put(base / "third/y.jsonl")
    (base / "s/link").symlink_to(base / "elsewhere")
    result = look(base)
    assert names(result, base) == ["s/link/d/more/y.jsonl", "s/link/d/x.jsonl"]
    assert [f.canonical for f in result.files] == [
        key(base / "third/y.jsonl"),
        key(base / "elsewhere/d/x.jsonl"),
    ]


def test_loops_end(base: Path) -> None:
    put(base / "s/d/x.jsonl")
    (base / "s/d/up").symlink_to("..")
    (base / "s/d/self").symlink_to(".")
    (base / "s/top").symlink_to(base)
    (base / "s/ring").symlink_to("ring")
    (base / "s/p").symlink_to("q")
    (base / "s/q").symlink_to("p")
    (base / "s/ring.jsonl").symlink_to("ring.jsonl")
    result = look(base)
    assert names(result, base) == ["s/d/x.jsonl"]
    assert [(p.path, p.kind) for p in result.unobservable] == [
        (key(base / "s/ring.jsonl"), "link-loop")
    ]


def test_broken_links(base: Path) -> None:
    (base / "s/x.jsonl").symlink_to(base / "gone.jsonl")
    (base / "s/note.txt").symlink_to(base / "gone")
    put(base / "file")
    (base / "s/y.jsonl").symlink_to(base / "file/below")
    put(base / "s/good.jsonl")
    result = look(base)
    assert names(result, base) == ["s/good.jsonl"]
    assert [(p.path, p.kind) for p in result.unobservable] == [
        (key(base / "s/x.jsonl"), "broken-link"),
        (key(base / "s/y.jsonl"), "broken-link"),
    ]


def test_switched_link_changes_the_identity(base: Path) -> None:
    one, two = put(base / "one.jsonl"), put(base / "two.jsonl")
    link = base / "s/x.jsonl"
    link.symlink_to(one)
    assert look(base).files[0].canonical == key(one)
    link.unlink()
    link.symlink_to(two)
    assert look(base).files[0].canonical == key(two)


def test_session_directory_that_is_a_link(base: Path) -> None:
    put(base / "real/x.jsonl")
    (base / "link").symlink_to("real")
    result = scan([SessionDir(base / "link"), SessionDir(base / "real")])
    assert [(f.path, f.canonical) for f in result.files] == [
        (key(base / "link/x.jsonl"), key(base / "real/x.jsonl"))
    ]
    assert not result.absent(key(base / "real/x.jsonl"))
    assert result.absent(key(base / "real/y.jsonl"))


# Things that are no regular files are never opened, so nothing here can block.


def test_pipes_sockets_and_devices(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(base / "s")  # a socket address must be short
    os.mkfifo(base / "s/pipe.jsonl")
    os.mkfifo(base / "s/pipe")
    (base / "s/null.jsonl").symlink_to("/dev/null")
    (base / "s/directory.jsonl").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.jsonl")
        result = look(base)
    assert result.files == []
    assert result.unobservable == []
    assert {(p.path, p.kind) for p in result.skipped} == {
        (key(base / f"s/{name}.jsonl"), "not-a-regular-file") for name in ("pipe", "socket", "null")
    }


# Cost, counted in calls


def test_one_listing_and_one_stat_a_directory_and_no_resolving_of_plain_files(base: Path) -> None:
    for number in range(30):
        put(base / f"s/{number % 3}/{number}.jsonl")
    (base / "s/link.jsonl").symlink_to(put(base / "elsewhere.jsonl"))
    calls: list[str] = []

    def counted(name: str, call: Callable[[bytes], T]) -> Callable[[bytes], T]:
        def count(path: bytes) -> T:
            calls.append(name)
            return call(path)

        return count

    fs = FileSystem(
        scandir=counted("scandir", os.scandir),
        stat=counted("stat", os.stat),
        lstat=counted("lstat", os.lstat),
        realpath=counted("realpath", os.path.realpath),
    )
    assert len(look(base, fs=fs).files) == 31
    assert sorted(calls) == ["realpath"] * 2 + ["scandir"] * 4 + ["stat"] * 4


# Several directories


def test_pi_directories_come_before_archives(base: Path) -> None:
    put(base / "a/x.jsonl")
    put(base / "a/sub/y.jsonl")
    put(base / "other/z.jsonl")
    dirs = [SessionDir(base / "a", archive=True), SessionDir(base / "a/sub")]
    dirs += [SessionDir(base / "other", archive=True), SessionDir(base / "other", archive=True)]
    result = scan(dirs)
    assert [
        (name, f.archive) for name, f in zip(names(result, base), result.files, strict=True)
    ] == [
        ("a/sub/y.jsonl", False),
        ("a/x.jsonl", True),
        ("other/z.jsonl", True),
    ]


def test_what_pi_reaches_through_a_link_is_no_archive(base: Path) -> None:
    put(base / "archive/x.jsonl")
    (base / "s/link").symlink_to(base / "archive")
    result = scan([SessionDir(base / "archive", archive=True), SessionDir(base / "s")])
    assert [(f.path, f.archive) for f in result.files] == [(key(base / "s/link/x.jsonl"), False)]


# Excludes (the patterns themselves: test_globs.py)


def test_excluded_directories_are_not_entered(base: Path) -> None:
    put(base / "s/private/x.jsonl")
    put(base / "s/open/x.jsonl")
    fs = failing_scandir(base / "s/private", errno.EACCES)
    for pattern in ("private/**", "private", "private/", f"{base}/s/private"):
        result = look(base, pattern, fs=fs)
        assert names(result, base) == ["s/open/x.jsonl"]
        assert result.unobservable == []
    assert look(base, f"{base}/s/**").files == []


def test_excluded_files_are_not_looked_at(base: Path) -> None:
    put(base / "s/a/x.jsonl")
    put(base / "s/a/y.jsonl")
    os.mkfifo(base / "s/a/pipe.jsonl")
    result = look(base, "x.jsonl", "a/pipe*")
    assert names(result, base) == ["s/a/y.jsonl"]
    assert result.skipped == []


def test_a_link_is_no_way_around_an_exclusion(base: Path) -> None:
    put(base / "s/private/deep/x.jsonl")
    put(base / "elsewhere/y.jsonl")
    (base / "s/a").symlink_to("private/deep")
    (base / "s/b.jsonl").symlink_to("private/deep/x.jsonl")
    (base / "s/c").symlink_to(base / "elsewhere")
    for pattern in ("private", "private/**", f"{base}/s/private/**"):
        assert names(look(base, pattern), base) == ["s/c/y.jsonl"]
    assert names(look(base, "private", f"{base}/elsewhere"), base) == []
    assert names(look(base, "private", "c"), base) == []


def test_exclusion_proves_nothing(base: Path) -> None:
    (base / "s/private").mkdir()
    result = look(base, "private")
    assert not result.absent(key(base / "s/private/x.jsonl"))
    assert not result.removed_with_directory(key(base / "s/private/x.jsonl"))


# Against a naive oracle

SEGMENT = st.sampled_from(["a", "b.jsonl", "c", "d.jsonl"])
PLACES = st.lists(SEGMENT, min_size=1, max_size=3).map("/".join)
TREES = st.lists(st.tuples(PLACES, st.none() | PLACES), max_size=8)


def naive(root: str) -> set[str]:
    """Canonical paths of all session files, by the most direct walk that ends."""
    found: set[str] = set()
    seen: set[str] = set()
    ahead = [root]
    while ahead:
        directory = os.path.realpath(ahead.pop())
        if directory in seen:
            continue
        seen.add(directory)
        for name in os.listdir(directory):
            path = os.path.join(directory, name)
            if os.path.isdir(path):  # noqa: PTH112
                ahead.append(path)
            elif os.path.isfile(path) and name.endswith(".jsonl"):  # noqa: PTH113
                found.add(os.path.realpath(path))
    return found


@given(TREES)
def test_against_a_naive_walk(
    tmp_path_factory: pytest.TempPathFactory, tree: list[tuple[str, str | None]]
) -> None:
    root = tmp_path_factory.mktemp("tree").resolve()
    for place, target in tree:
        path = root / place
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if target is not None:
                path.symlink_to(root / target)
            elif place.endswith(".jsonl"):
                path.touch(exist_ok=False)
            else:
                path.mkdir()
        except OSError:
            continue  # an earlier one is in the way
    result = scan([SessionDir(root)])
    canonical = [os.fsdecode(found.canonical) for found in result.files]
    assert sorted(canonical) == sorted(naive(str(root)))
    for found in result.files:
        assert os.path.realpath(found.path) == found.canonical
        assert not result.absent(found.canonical)
    assert not set(kinds(result)) - {"broken-link", "link-loop"}
