"""Named places where tests make the program fail, die or stop. Nothing happens there otherwise.

A place is marked by ``point("publish.text_committed")`` and has to stand in :data:`POINTS`. While
nothing is armed, a point is one comparison. Tests arm an action, which is then called with the
name of every point that is passed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

POINTS = frozenset(
    {
        "compact.begun",
        "create.begun",
        "create.commit",
        "create.committed",
        "create.text",
        "dictionary.learned",
        "epoch.removed",
        "epoch.removing",
        "ingest.begun",
        "ingest.checkpoint",
        "ingest.flipped",
        "ingest.piece_published",
        "ingest.planned",
        "ingest.session_saved",
        "ingest.written",
        "install.rename",
        "install.renamed",
        "layout.left_over",
        "layout.set_aside",
        "lease.taken",
        "publish.begun",
        "publish.collected",
        "publish.commit",
        "publish.committed",
        "publish.documents",
        "publish.gathered",
        "publish.reserved",
        "publish.rows",
        "publish.savepoint",
        "publish.settled",
        "publish.text_committed",
        "rebuild.committed",
        "rebuild.created",
        "rebuild.documents",
        "rebuild.switch",
        "rebuild.switched",
        "reconcile.failure_noted",
        "reconcile.finished",
        "reconcile.handed_over",
        "reconcile.registered",
        "reconcile.source_added",
        "reconcile.source_removed",
        "reconcile.troubles",
        "recovery.begun",
        "recovery.discarded",
        "recovery.done",
        "replace.filled",
        "replace.text_moved",
        "text.add",
        "text.commit",
        "text.committed",
        "text.create",
        "text.delete",
        "text.writer",
        "transaction.begun",
        "transaction.commit",
        "transaction.committed",
        "tree.rebuilt",
    }
)

Action = Callable[[str], None]

_armed: Action | None = None


def point(name: str) -> None:
    """A place where a test may interfere."""
    if _armed is not None:
        _armed(name)


@contextmanager
def armed(action: Action) -> Iterator[None]:
    """Has ``action`` called at every point while the block runs."""
    global _armed
    before, _armed = _armed, action
    try:
        yield
    finally:
        _armed = before


class Failing:
    """Raises at one point: at its ``nth`` passing (from 1) only, or from then on for ever."""

    def __init__(
        self, name: str, error: Callable[[], BaseException], *, nth: int = 1, ever: bool = False
    ) -> None:
        _check(name)
        self._name = name
        self._error = error
        self._nth = nth
        self._ever = ever
        self.passed = 0
        self.fired = 0

    def __call__(self, name: str) -> None:
        _check(name)
        if name != self._name:
            return
        self.passed += 1
        if self.passed == self._nth or (self._ever and self.passed > self._nth):
            self.fired += 1
            raise self._error()


class Pausing:
    """Says through a pipe that a point is reached, and waits for an answer that may never come.

    What is said is the name as a line, on ``say``; the answer is one byte on ``hear``. Whoever
    holds the other ends kills this process there, stops it, or lets it go on.
    """

    def __init__(self, name: str, say: int, hear: int, *, nth: int = 1) -> None:
        _check(name)
        self._name = name
        self._say = say
        self._hear = hear
        self._left = nth

    def __call__(self, name: str) -> None:
        _check(name)
        if name == self._name:
            self._left -= 1
            if self._left == 0:
                os.write(self._say, f"{name}\n".encode())
                os.read(self._hear, 1)


class Noting:
    """Keeps the names of the points that are passed, in their order."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, name: str) -> None:
        _check(name)
        self.names.append(name)


def _check(name: str) -> None:
    if name not in POINTS:
        raise LookupError(f"there is no point called {name!r}")
