"""Authorization: by recorded directory, component by component, refused in doubt."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pi_event_search.access import authorize
from pi_event_search.access.authorize import (
    Authorizer,
    Root,
    canonical,
    git_worktree,
    resolve_roots,
)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A directory with no link and no worktree above it."""
    return tmp_path.resolve()


def allows(root: Path | str, cwd: Path | str) -> bool:
    return Authorizer(resolve_roots("/", str(root))).allows(str(cwd))


def test_equal_and_below(base: Path) -> None:
    (base / "a/b").mkdir(parents=True)
    assert allows(base / "a", base / "a")
    assert allows(base / "a", base / "a/b")
    assert allows(base / "a", base / "a/not/there")
    assert not allows(base / "a/b", base / "a")
    assert not allows(base / "a", base)


@pytest.mark.parametrize("name", ["ab", "a b", "a.", "a-b", "A", "a\n", "a\u0301"])
def test_a_name_that_goes_on_is_another_directory(base: Path, name: str) -> None:
    for exists in (False, True):
        if exists:
            (base / "a").mkdir()
            (base / name).mkdir(exist_ok=True)
        assert not allows(base / "a", base / name)
        assert not allows(base / "a", base / name / "x")
        assert not allows(base / name, base / "a")


def test_spelling_of_a_path_does_not_matter(base: Path) -> None:
    root = f"{base}/./w//a/"
    for cwd in ("w/a/", "w//a", "w/./a/.", "w/a/x/..", "w/b/../a/x/", "w/a/../a"):
        assert allows(root, f"{base}/{cwd}")
    for cwd in ("w/a/..", "w/a/../b", "w/a/x/../../ab", "w/a/../../w"):
        assert not allows(root, f"{base}/{cwd}")
    assert allows(root, f"/..{base}/w/a")
    assert allows(root, f"//{base}/w/a")


def test_links_out_of_the_root_are_refused_and_links_into_it_allowed(base: Path) -> None:
    (base / "root/in").mkdir(parents=True)
    (base / "other").mkdir()
    (base / "root/out").symlink_to(base / "other")
    (base / "root/up").symlink_to("..")
    (base / "door").symlink_to("root/in")
    assert not allows(base / "root", base / "root/out")
    assert not allows(base / "root", base / "root/out/deleted/deeper")
    assert not allows(base / "root", base / "root/up/other")
    assert not allows(base / "root", base / "root/out/../root/in/../../other")
    assert allows(base / "root", base / "door")
    assert allows(base / "root", base / "door/deleted")
    assert allows(base / "root", base / "root/up/root")
    # `..` counts from where a link leads, as it does for the system.
    assert allows(base / "root", base / "door/../in")


def test_root_behind_a_link(base: Path) -> None:
    (base / "real/sub").mkdir(parents=True)
    (base / "link").symlink_to("real")
    for root in ("link", "real"):
        for cwd in ("link", "real/sub", "link/sub", "link/deleted"):
            assert allows(base / root, base / cwd)
    assert not allows(base / "link/sub", base / "link")


def test_link_whose_target_is_gone(base: Path) -> None:
    (base / "root").mkdir()
    (base / "root/link").symlink_to(base / "elsewhere/gone")
    (base / "into").symlink_to(base / "root/gone")
    assert not allows(base / "root", base / "root/link")
    assert allows(base / "root", base / "into/x")


def test_deleted_directories_keep_their_place(base: Path) -> None:
    assert allows(base / "gone", base / "gone/deeper")
    assert not allows(base / "gone", base / "gone2")
    (base / "file").write_text("")
    assert allows(base / "file", base / "file/that/was/a/directory")


def test_link_loops_are_refused(base: Path) -> None:
    (base / "root").mkdir()
    (base / "root/loop").symlink_to("loop")
    (base / "root/a").symlink_to("b")
    (base / "root/b").symlink_to("a")
    (base / "root/self").symlink_to(".")
    for cwd in ("loop", "loop/x", "a", "b/x", "loop/../x"):
        assert not allows(base / "root", base / "root" / cwd)
    assert allows(base / "root", base / "root" / "/".join(["self"] * 40))
    assert not allows(base / "root", base / "root" / "/".join(["self"] * 41))


@pytest.mark.parametrize(
    "cwd",
    [
        "",
        ".",
        "..",
        "a",
        "./a",
        "~",
        "C:\\work",
        "\0",
        "/w/a\0",
        "/w/a/\ud83d",
    ],
)
def test_what_has_no_place_is_only_for_the_root_of_everything(cwd: str) -> None:
    assert not allows("/w", cwd)
    assert not allows("/w/a", cwd)
    assert allows("/", cwd)


def test_a_name_too_long_to_look_at_is_refused(base: Path) -> None:
    assert not allows(base, base / ("x" * 300))
    assert not allows(base, base / "/".join(["x" * 200] * 30))


def test_root_of_everything(base: Path) -> None:
    (base / "loop").symlink_to("loop")
    for cwd in ("/", "/a", str(base / "loop"), "//", "/../.."):
        assert allows("/", cwd)
        assert allows("//", cwd)
    assert not allows("/a", "/")


def test_a_hidden_path_is_refused(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.readlink

    def readlink(path: str) -> str:
        if path.startswith(f"{base}/root/locked/"):
            raise PermissionError(13, "Permission denied")
        if path == f"{base}/root/broken":
            raise OSError(5, "Input/output error")
        return real(path)

    monkeypatch.setattr("pi_event_search.access.authorize.os.readlink", readlink)
    assert allows(base / "root", base / "root/locked")
    assert not allows(base / "root", base / "root/locked/x")
    assert not allows(base / "root", base / "root/broken")
    with pytest.raises(ValueError, match="cannot be resolved"):
        resolve_roots("/", base / "root/broken")


def test_several_roots(base: Path) -> None:
    roots = resolve_roots("/", [base / "a", str(base / "b"), base / "a/"])
    assert roots == (Root(f"{base}/a", "explicit"), Root(f"{base}/b", "explicit"))
    authorizer = Authorizer(roots)
    assert authorizer.roots == roots
    assert authorizer.allows(f"{base}/a/x")
    assert authorizer.allows(f"{base}/b")
    assert not authorizer.allows(f"{base}/ab")
    assert not authorizer.allows(str(base))


def test_no_root_allows_nothing() -> None:
    assert not Authorizer(()).allows("/")
    assert not Authorizer(()).allows("")


def test_order_of_sources(base: Path) -> None:
    work = base / "work/tree/sub"
    work.mkdir(parents=True)
    (base / "work/tree/.git").mkdir()
    one, two = base / "one", base / "two"
    assert resolve_roots(work, one, [two]) == (Root(str(one), "explicit"),)
    assert resolve_roots(work, None, [two]) == (Root(str(two), "configured"),)
    assert resolve_roots(work) == (Root(f"{base}/work/tree", "git"),)
    (base / "work/tree/.git").rmdir()
    assert resolve_roots(work) == (Root(str(work), "cwd"),)


@pytest.mark.parametrize("root", ["", ".", "relative", "~/x", "./a", "C:\\work"])
def test_relative_roots_are_an_error(root: str) -> None:
    for arguments in ((root, ()), ([Path("/ok"), root], ()), (None, [root])):
        with pytest.raises(ValueError, match=r"^A workspace root must be an absolute path, not '"):
            resolve_roots("/", *arguments)


def test_empty_and_impossible_roots_are_an_error() -> None:
    with pytest.raises(ValueError, match="list of workspace roots is empty"):
        resolve_roots("/", [])
    with pytest.raises(ValueError, match="cannot be resolved"):
        resolve_roots("/", "/a\0b")


def test_working_directory_forms(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (base / "real").mkdir()
    (base / "link").symlink_to("real")
    assert resolve_roots(base / "link") == (Root(f"{base}/real", "cwd"),)
    assert resolve_roots(base / "gone/x/..") == (Root(f"{base}/gone", "cwd"),)
    monkeypatch.chdir(base / "link")
    assert resolve_roots(".") == (Root(f"{base}/real", "cwd"),)
    assert resolve_roots("../x") == (Root(f"{base}/x", "cwd"),)
    for cwd in ("", "a\0b"):
        with pytest.raises(ValueError, match="working directory"):
            resolve_roots(cwd)


def test_deleted_process_directory(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = base / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ValueError, match="no longer exists"):
        resolve_roots(".")
    assert resolve_roots(gone) == (Root(str(gone), "cwd"),)


def test_git_worktrees(base: Path) -> None:
    outer, linked = base / "outer", base / "outer/linked"
    (linked / "deep").mkdir(parents=True)
    (outer / ".git").mkdir()
    assert git_worktree(f"{linked}/deep") == str(outer)
    (linked / ".git").write_text("gitdir: elsewhere\n")
    assert git_worktree(f"{linked}/deep") == str(linked)
    assert git_worktree(f"{linked}/deleted/deeper") == str(linked)
    assert git_worktree(str(outer)) == str(outer)
    assert git_worktree(f"{outer}/.git") == str(outer)
    (linked / ".git").unlink()
    os.mkfifo(linked / ".git")
    assert git_worktree(str(linked)) == str(outer)
    (outer / ".git").rmdir()
    assert git_worktree(str(linked)) is None


def test_git_lookup_follows_a_linked_working_directory(base: Path) -> None:
    (base / "tree/sub").mkdir(parents=True)
    (base / "tree/.git").mkdir()
    (base / "door").symlink_to("tree/sub")
    assert resolve_roots(base / "door") == (Root(f"{base}/tree", "git"),)


def test_git_lookup_never_widens_past_what_it_cannot_see(base: Path) -> None:
    (base / "tree/sub/deep").mkdir(parents=True)
    (base / "tree/.git").mkdir()
    (base / "tree/sub/.git").symlink_to(".git")  # a loop: something is there, nobody knows what
    assert git_worktree(f"{base}/tree/sub/deep") is None
    here = base / "tree/sub/deep"
    assert resolve_roots(here) == (Root(str(here), "cwd"),)


def test_answers_are_remembered_until_asked_afresh(base: Path) -> None:
    (base / "root").mkdir()
    (base / "other").mkdir()
    link = base / "root/link"
    authorizer = Authorizer(resolve_roots("/", base / "root"))
    assert authorizer.allows(str(link))
    link.symlink_to(base / "other")
    assert authorizer.allows(str(link))
    assert not authorizer.allows(str(link), fresh=True)
    assert not authorizer.allows(str(link))
    link.unlink()
    assert not authorizer.allows(str(link))
    assert authorizer.allows(str(link), fresh=True)


def test_remembering_saves_looking(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def spy(path: str, *_: object) -> str | None:
        asked.append(path)
        return path

    authorizer = Authorizer(resolve_roots("/", base))
    monkeypatch.setattr(authorize, "canonical", spy)
    for _ in range(3):
        assert authorizer.allows(f"{base}/x")
        assert not authorizer.allows("/y")
    assert asked == [f"{base}/x", "/y"]


# Against naive oracles. Few and similar names, so that prefixes, `..` and links meet often.

NAMES = st.sampled_from(["a", "ab", "a.", "b", "A", "..", ".", "", "...", "é"])
PATHS = st.lists(NAMES, max_size=6).map("/".join)
NOWHERE = "/a-directory-that-no-machine-has"


def naive(path: str) -> list[str]:
    parts: list[str] = []
    for name in path.split("/"):
        if name == "..":
            parts = parts[:-1]
        elif name not in ("", "."):
            parts = [*parts, name]
    return parts


@given(PATHS, PATHS)
def test_boundary_rule_against_component_lists(root: str, cwd: str) -> None:
    root, cwd = f"{NOWHERE}/w/x/y/z/{root}", f"{NOWHERE}/w/x/y/z/{cwd}"
    expected = naive(cwd)[: len(naive(root))] == naive(root)
    assert allows(root, cwd) is expected


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, str | None]]:
    """Directories (None) and links, by path below some directory."""
    names = st.lists(st.sampled_from(["a", "ab", "b"]), min_size=1, max_size=3).map("/".join)
    targets = st.one_of(st.none(), PATHS.filter(bool), PATHS.map("{base}/".__add__))
    return draw(st.lists(st.tuples(names, targets), max_size=6))


def build(base: str, tree: list[tuple[str, str | None]]) -> None:
    for name, target in tree:
        path = Path(base, name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if target is None:
                path.mkdir()
            else:
                path.symlink_to(target.replace("{base}", base))
        except OSError:
            continue  # what an earlier one left no place for


@pytest.fixture(scope="module")
def fresh_directories() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as directory:
        yield os.path.realpath(directory)


@given(trees(), PATHS)
def test_canonical_form_against_the_system(
    fresh_directories: str, tree: list[tuple[str, str | None]], path: str
) -> None:
    base = tempfile.mkdtemp(dir=fresh_directories)
    build(base, tree)
    found = canonical(f"{base}/{path}")
    try:
        expected = os.path.realpath(f"{base}/{path}", strict=True)
    except (FileNotFoundError, NotADirectoryError):
        assert found is None or canonical(found) == found
    except OSError:  # a loop
        assert found is None
    else:
        assert found == expected
