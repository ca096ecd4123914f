"""The public names, so that none comes or goes unnoticed."""

from __future__ import annotations

import subprocess
import sys

import pi_event_search
import pytest

NAMES = [
    "Change",
    "Coverage",
    "Event",
    "EventIndex",
    "EventSearchError",
    "Hit",
    "IndexBusy",
    "IndexProblem",
    "InvalidArgument",
    "InvalidQuery",
    "Invocation",
    "Lineage",
    "NotFound",
    "Progress",
    "SearchPage",
    "SessionPage",
    "Status",
    "SyncReport",
    "Trace",
]
METHODS = [
    "audit",
    "catch_up",
    "close",
    "coverage",
    "lineage",
    "open",
    "read",
    "rebuild",
    "refresh",
    "search",
    "sessions",
    "status",
    "sync",
    "trace",
    "verify",
    "watch",
]


def test_names() -> None:
    assert pi_event_search.__all__ == NAMES
    for name in NAMES:
        assert getattr(pi_event_search, name).__name__ == name


def test_methods_of_the_index() -> None:
    assert [name for name in dir(pi_event_search.EventIndex) if not name.startswith("_")] == METHODS


def test_nothing_else_is_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Store'"):
        _ = pi_event_search.Store


def test_importing_loads_no_engine() -> None:
    """Only using an index does: `--help` and refused arguments answer at once."""
    code = "import sys, pi_event_search; print({'tantivy', 'sqlite3'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
