"""Session files are only read: whatever a test does, the package changes none of them.

The core opens files through one function, which asks for reading alone. For everything that Python
does, the interpreter tells of each file that is opened for writing, renamed, removed or touched.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any

import pi_event_search

_CHANGES = frozenset(
    {
        "os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir",
        "os.setxattr", "os.symlink", "os.truncate", "os.utime", "shutil.copyfile", "shutil.move",
    }
)  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_PACKAGE = os.path.join(os.path.dirname(pi_event_search.__file__), "")
_TESTS = os.path.join(os.path.dirname(__file__), "")

changes: list[str] = []
"""What the package did to session files since somebody looked."""


def watch() -> None:
    """Has the interpreter tell; for the rest of its life."""
    sys.addaudithook(_told)


def _told(event: str, args: tuple[Any, ...]) -> None:
    if event == "open":
        if isinstance(args[2], int) and args[2] & _WRITING and _names_a_session(args[:1]):
            _note(event, args)
    elif event in _CHANGES and _names_a_session(args):
        _note(event, args)


def _names_a_session(args: Iterable[Any]) -> bool:
    return any(
        isinstance(arg, (str, bytes, os.PathLike)) and os.fsencode(arg).endswith(b".jsonl")
        for arg in args
    )


def _note(event: str, args: tuple[Any, ...]) -> None:
    """Whoever is nearest counts: a test may do it while the package calls it."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_TESTS):
            return
        if name.startswith(_PACKAGE):
            changes.append(f"{event}{args} at {name}:{frame.f_lineno}")
            return
        frame = frame.f_back
