"""Where sessions, archives and the index are: command line, environment and Pi's own settings.

The places follow Pi 1.6.0, so that what is searched is what Pi itself would list:

1. directories given explicitly, which replace everything below;
2. ``PI_CODING_AGENT_SESSION_DIR``, unless empty;
3. ``sessionDir`` of ``<cwd>/.pi/settings.json`` over that of ``<agent dir>/settings.json``;
4. ``<agent dir>/sessions``, the agent dir being ``PI_CODING_AGENT_DIR`` or ``~/.pi/agent``.

Relative paths count from the current directory, also those in settings. Nothing is looked at on
disk except the two settings files, and these only where their answer matters.
"""

from __future__ import annotations

import json
import os
import posixpath
import pwd
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

StrPath = str | os.PathLike[str]
StrPaths = StrPath | Iterable[StrPath]

# A settings file is a few kilobytes; a project's one is not trusted, so reading it is bounded.
SETTINGS_LIMIT = 4 << 20


class Problem(NamedTuple):
    """Something that could not be observed: which path, a kebab-case kind, one sentence."""

    path: bytes
    kind: str
    detail: str


class SessionDir(NamedTuple):
    """A directory to search for session files; `archive` when Pi itself does not look there."""

    path: Path
    archive: bool = False


class Config(NamedTuple):
    """Resolved places. All paths are absolute, except workspace roots that were given relative:
    those are kept as written, so that authorization can refuse them."""

    session_dirs: tuple[SessionDir, ...]
    index_dir: Path
    exclude: tuple[str, ...] = ()
    workspace_roots: tuple[Path, ...] = ()
    problems: tuple[Problem, ...] = ()


def load(
    *,
    session_dirs: StrPaths | None = None,
    index_dir: StrPath | None = None,
    exclude: Iterable[str] = (),
    cwd: StrPath | None = None,
    env: Mapping[str, str] | None = None,
) -> Config:
    """Resolves the configuration; never fails because of what the environment or a file holds.

    `session_dirs` replaces Pi's places and the extra directories (an empty iterable: no directory
    at all). `exclude` adds to ``PI_EVENT_SEARCH_EXCLUDE``. `cwd` is the directory that relative
    paths and project settings belong to, by default the current one; `env` is by default
    `os.environ`. What had to be ignored is listed in `Config.problems`.
    """
    resolver = _Resolver(os.environ if env is None else env, cwd)
    if session_dirs is None:
        dirs = [SessionDir(resolver.effective_session_dir())]
        dirs += (SessionDir(p, True) for p in resolver.path_list("PI_EVENT_SEARCH_EXTRA_DIRS"))
    else:
        dirs = [SessionDir(resolver.place(os.fspath(p))) for p in several(session_dirs)]
    index = os.fspath(index_dir) if index_dir is not None else ""
    return Config(
        session_dirs=_distinct(dirs),
        index_dir=resolver.index_dir(index),
        exclude=(*resolver.globs("PI_EVENT_SEARCH_EXCLUDE"), *map(resolver.glob, exclude)),
        workspace_roots=tuple(resolver.workspace_roots()),
        problems=tuple(resolver.problems),
    )


def agent_dir(env: Mapping[str, str] | None = None, cwd: StrPath | None = None) -> Path:
    """Pi's configuration directory: ``PI_CODING_AGENT_DIR`` or ``~/.pi/agent``, absolute."""
    return _Resolver(os.environ if env is None else env, cwd).agent_dir


def several(paths: StrPaths) -> tuple[StrPath, ...]:
    """One path or several, as a tuple."""
    return (paths,) if isinstance(paths, str | os.PathLike) else tuple(paths)


def _distinct(dirs: Iterable[SessionDir]) -> tuple[SessionDir, ...]:
    """Each path once: where Pi looks itself is not an archive, whatever else names it."""
    first: dict[Path, SessionDir] = {}
    for directory in dirs:
        first.setdefault(directory.path, directory)
    return tuple(first.values())


class _Resolver:
    """One resolution: an environment, a current directory, and the problems met on the way."""

    def __init__(self, env: Mapping[str, str], cwd: StrPath | None) -> None:
        self._env = env
        self._cwd = _working_directory(env, cwd)
        self.problems: list[Problem] = []
        self.agent_dir = self._agent_dir()

    def _agent_dir(self) -> Path:
        # Pi joins this directory with file names in a way that also folds `..` lexically.
        given = self._variable("PI_CODING_AGENT_DIR")
        place = given or Path(self._cwd, self._home(), ".pi/agent")
        return Path(posixpath.normpath(place))

    def effective_session_dir(self) -> Path:
        """The one directory Pi would store and look up sessions in."""
        given = self._variable("PI_CODING_AGENT_SESSION_DIR")
        if given is None:
            given = self._from_settings()
        return given if given is not None else self.agent_dir / "sessions"

    def _from_settings(self) -> Path | None:
        # Pi merges key by key: a project value of "", null, 0 or false also hides the user's
        # and then means the default. Pi reads this one project setting before it asks for trust.
        project = Path(self._cwd, ".pi", "settings.json")
        for path in (project, self.agent_dir / "settings.json"):
            settings = self._settings(path)
            if "sessionDir" not in settings:
                continue
            value = settings["sessionDir"]
            if not value and not isinstance(value, list | dict):
                return None
            try:
                return self._settings_place(value)
            except ValueError as error:
                self._report(path, "invalid-settings", f"sessionDir is ignored: {error}")
        return None

    def _settings_place(self, value: object) -> Path:
        if not isinstance(value, str):
            raise ValueError("it is not a text")
        # Node writes half a surrogate pair in a path as U+FFFD; Python could not write it at all.
        return self.place(re.sub("[\ud800-\udfff]", "\ufffd", value))

    def _settings(self, path: Path) -> dict[str, object]:
        try:
            settings = _read_settings(path)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            self._report(path, "unreadable-settings", f"Settings ignored: {error.strerror}.")
        except (ValueError, RecursionError) as error:
            self._report(path, "invalid-settings", f"Settings ignored: {error}.")
        else:
            return settings
        return {}

    def index_dir(self, given: str) -> Path:
        """The given directory, or ``PI_EVENT_SEARCH_INDEX_DIR``, or one beside Pi's own files."""
        if given:
            return self.place(given)
        return self._variable("PI_EVENT_SEARCH_INDEX_DIR") or self.agent_dir / "pi-event-search"

    def workspace_roots(self) -> Iterable[Path]:
        # A relative root depends on who reads it; it is passed on to be refused, not guessed.
        return map(Path, map(self._expand_home, self._list("PI_EVENT_SEARCH_WORKSPACE_ROOT")))

    def path_list(self, name: str) -> Iterable[Path]:
        # No entry can be a URL, as it would have been cut at the colon.
        return map(self.place, self._list(name))

    def globs(self, name: str) -> Iterable[str]:
        return map(self.glob, self._list(name))

    def glob(self, pattern: str) -> str:
        """A pattern with a leading ``~/`` made absolute."""
        return self._expand_home(pattern)

    def place(self, text: str) -> Path:
        """An absolute path from a text as Pi reads it; ValueError for an impossible file URL."""
        if text.startswith("file://"):
            return Path(_path_of_url(text))
        return Path(self._cwd, self._expand_home(text))

    def _expand_home(self, text: str) -> str:
        # Only `~` and `~/...`: Pi takes `~name` as an ordinary relative name.
        if text == "~":
            return self._home()
        if text.startswith("~/"):
            return posixpath.normpath(f"{self._home()}/{text[2:]}")
        return text

    def _home(self) -> str:
        home = self._env.get("HOME")
        return pwd.getpwuid(os.getuid()).pw_dir if home is None else home or "."

    def _variable(self, name: str) -> Path | None:
        text = self._env.get(name)
        try:
            return self.place(text) if text else None
        except ValueError as error:
            self._report(text or "", "invalid-path", f"{name} is ignored: {error}")
            return None

    def _list(self, name: str) -> list[str]:
        return [part for part in self._env.get(name, "").split(os.pathsep) if part]

    def _report(self, path: StrPath, kind: str, detail: str) -> None:
        self.problems.append(Problem(os.fsencode(path), kind, detail))


def _working_directory(env: Mapping[str, str], cwd: StrPath | None) -> str:
    given = os.fspath(cwd) if cwd is not None else ""
    if posixpath.isabs(given):
        return given
    try:
        current = str(Path.cwd())
    except OSError:  # the current directory was deleted; the shell still knows its name
        current = env.get("PWD", "/")
    return posixpath.join("/", current, given)


def _read_settings(path: Path) -> dict[str, object]:
    """The members of a settings file. OSError, or ValueError saying what is wrong with it."""
    # Not blocking: a project may hold anything under this name, also a pipe nobody writes to.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a regular file")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(SETTINGS_LIMIT + 1)
    finally:
        os.close(descriptor)
    if len(data) > SETTINGS_LIMIT:
        raise ValueError(f"it is larger than {SETTINGS_LIMIT} bytes")
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if not text:
        return {}
    # Numbers as float: JavaScript has no other kind, and a long one must not be an error here.
    settings = json.loads(text, parse_int=float, parse_constant=_no_constant)
    if not isinstance(settings, dict):
        raise ValueError("it does not hold a JSON object")
    return settings


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _path_of_url(url: str) -> str:
    """The path a ``file:`` URL names, by Node's rules: local, nothing hidden in escapes."""
    from urllib.parse import unquote_to_bytes, urlsplit  # only needed here

    parts = urlsplit(url.replace("\\", "/"))
    if parts.netloc.lower() not in ("", "localhost"):
        raise ValueError("a file URL must not name another host")
    if "%2f" in parts.path.lower():
        raise ValueError("a file URL must not hold an encoded slash")
    try:
        path = unquote_to_bytes(os.fsencode(parts.path)).decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("a file URL must hold UTF-8") from None
    return posixpath.normpath(f"/{path.lstrip('/')}")
