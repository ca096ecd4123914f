"""Every failure a caller can meet.

    EventSearchError             code              a caller would
    ├── InvalidQuery             INVALID_QUERY     reword the query
    ├── InvalidArgument          INVALID_ARGUMENT  correct the argument it names
    ├── NotFound                 NOT_FOUND         search again, or ask for another workspace
    ├── IndexBusy                INDEX_BUSY        wait and try again
    └── IndexProblem             INDEX_ERROR       look at `status`, or rebuild the index

Each carries one sentence for a person (`message`, also `str(error)`) and one word for a program
(`code`).
"""

# The names say what is wrong; `Error` on each would only repeat the base.
# ruff: noqa: N818

from __future__ import annotations

from typing import ClassVar


class EventSearchError(Exception):
    """Base of everything this package raises on purpose."""

    code: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidQuery(EventSearchError):
    """The query text cannot be searched for."""

    code = "INVALID_QUERY"


class InvalidArgument(EventSearchError):
    """An argument other than the query is out of range or of the wrong shape.

    `argument` is its snake_case name where one argument is to blame; the message starts with it, so
    that a face which spells its arguments differently can put its own spelling there.
    """

    code = "INVALID_ARGUMENT"

    def __init__(self, message: str, *, argument: str | None = None) -> None:
        super().__init__(message)
        self.argument = argument


class NotFound(EventSearchError):
    """The session or event does not exist, or the caller may not see it.

    There is one message for both, and no way to pass another: a difference would tell an
    unauthorized caller what exists.
    """

    code = "NOT_FOUND"

    def __init__(self) -> None:
        super().__init__("No such session or event can be seen from this workspace.")

    def __reduce__(self) -> tuple[type[NotFound], tuple[()]]:
        return type(self), ()


class IndexBusy(EventSearchError):
    """Another process holds the right to write the index."""

    code = "INDEX_BUSY"

    def __init__(
        self, message: str = "Another process is updating the index; try again in a moment."
    ) -> None:
        super().__init__(message)


class IndexProblem(EventSearchError):
    """The index, or a session file behind it, cannot be used."""

    code = "INDEX_ERROR"
