"""Which sessions a caller may see, decided by the directory each session recorded.

Where a session file lies says nothing; what counts is the recorded working directory against the
caller's authorization roots, component by component, after symbolic links are resolved as far as
the directories still exist. Whatever cannot be resolved is refused.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pi_event_search.config import StrPath, StrPaths, several

Origin = Literal["explicit", "configured", "git", "cwd"]

# As many links as Linux follows in one path before it gives up.
_LINK_LIMIT = 40


class Root(NamedTuple):
    """A canonical absolute directory: sessions recorded in it or below it are authorized."""

    path: str
    origin: Origin


def resolve_roots(
    cwd: StrPath,
    workspace_root: StrPaths | None = None,
    configured: Sequence[StrPath] = (),
) -> tuple[Root, ...]:
    """The authorization roots of a caller working in `cwd`.

    The first of these that is there: `workspace_root` (one or several), `configured`, the git
    worktree holding `cwd`, `cwd` itself. A relative `cwd` counts from the process's directory.
    Directories need not exist any more. ValueError, in one sentence for the user: a root that is
    relative, an explicit list without any root, a path that cannot be resolved.
    """
    if workspace_root is not None:
        explicit = several(workspace_root)
        if not explicit:
            raise ValueError("The list of workspace roots is empty.")
        return _distinct(Root(_root(path), "explicit") for path in explicit)
    if configured:
        return _distinct(Root(_root(path), "configured") for path in configured)
    here = _working_directory(os.fspath(cwd))
    worktree = git_worktree(here)
    return (Root(here, "cwd") if worktree is None else Root(worktree, "git"),)


def git_worktree(directory: str) -> str | None:
    """The nearest directory at or above a canonical one that holds ``.git`` (a directory, or the
    file a linked worktree or submodule has). None also when a level cannot be looked at: going on
    upwards from there could only widen what is authorized."""
    while True:
        try:
            mode = Path(directory, ".git").stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError:
            return None
        else:
            if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                return directory
        parent = posixpath.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def canonical(path: str, looked_at: Links | None = None) -> str | None:
    """An absolute path with every link in its existing part resolved, without ``.``, ``..`` and
    superfluous slashes. What does not exist is kept as written, so deleted directories have a
    canonical form too. None for a relative or empty path, one with a NUL, and where something
    other than absence (permission, a link loop, an I/O error) hides what the path means.

    ``looked_at`` keeps what was seen on the way, for other paths that go through the same places.
    """
    looked_at = {} if looked_at is None else looked_at
    if not path.startswith("/"):
        return None
    here = ""  # the root directory, and every place so far, without the slash at its end
    ahead = path.split("/")[::-1]
    links = 0
    while ahead:
        name = ahead.pop()
        if name in ("", "."):
            continue
        if name == "..":
            here = here.rpartition("/")[0]
            continue
        at = f"{here}/{name}"
        if at in looked_at:
            target = looked_at[at]
        else:
            target = looked_at[at] = _link_target(at)
        if isinstance(target, _Unresolvable):
            return None
        if target is None:
            here = at
            continue
        links += 1
        if links > _LINK_LIMIT:
            return None
        if target.startswith("/"):
            here = ""
        ahead += target.split("/")[::-1]
    return here or "/"


class Authorizer:
    """Answers, for recorded working directories, whether their sessions may be shown.

    Answers are remembered. Links can be switched at any time, so what is about to be shown is
    asked for again with `fresh`. May be used from several threads.
    """

    def __init__(self, roots: Iterable[Root]) -> None:
        self.roots = tuple(roots)
        self._paths = frozenset(root.path for root in self.roots)
        self._everything = "/" in self._paths
        self._answers: dict[str, bool] = {}
        self._links: Links = {}

    @property
    def allows_everything(self) -> bool:
        """Whether the root directory itself is a root."""
        return self._everything

    def allows(self, cwd: str, *, fresh: bool = False) -> bool:
        """Whether the directory is one of the roots or below one. Only the root ``/`` allows
        what has no place in the file system: an empty, relative or impossible path."""
        if self._everything:
            return True
        answer = None if fresh else self._answers.get(cwd)
        if answer is None:
            if fresh:
                self._links.clear()
            answer = self._decide(cwd)
            self._answers[cwd] = answer
        return answer

    def _decide(self, cwd: str) -> bool:
        place = canonical(cwd, self._links)
        return place is not None and any(
            place == root or place.startswith(root + "/") for root in self._paths
        )


class _Unresolvable:
    """A path component that cannot be looked at."""


_UNRESOLVABLE = _Unresolvable()
Links = dict[str, "str | _Unresolvable | None"]
"""What the places on the way to some paths were seen to be: see :func:`_link_target`."""


def _link_target(path: str) -> str | _Unresolvable | None:
    """What a link holds; None for anything that is no link, or not there at all."""
    try:
        return os.readlink(path)  # noqa: PTH115 - the text as it stands, not as a Path has it
    except OSError as error:
        # EINVAL: it is there and is no link.
        plain = error.errno in (errno.EINVAL, errno.ENOENT, errno.ENOTDIR)
        return None if plain else _UNRESOLVABLE
    except ValueError:  # a NUL, or text that no file name can hold
        return _UNRESOLVABLE


def _root(path: StrPath) -> str:
    text = os.fspath(path)
    if not text.startswith("/"):
        raise ValueError(f"A workspace root must be an absolute path, not {text!r}.")
    resolved = canonical(text)
    if resolved is None:
        raise ValueError(f"The workspace root {text!r} cannot be resolved.")
    return resolved


def _working_directory(cwd: str) -> str:
    if not cwd:
        raise ValueError("The current working directory of the caller is empty.")
    try:
        absolute = cwd if cwd.startswith("/") else f"{Path.cwd()}/{cwd}"
    except OSError:
        raise ValueError("The current working directory no longer exists.") from None
    resolved = canonical(absolute)
    if resolved is None:
        raise ValueError(f"The working directory {cwd!r} cannot be resolved.")
    return resolved


def _distinct(roots: Iterable[Root]) -> tuple[Root, ...]:
    return tuple(dict.fromkeys(roots))
