"""Fixtures around the real Pi. Without it everything here is skipped, and one line says so."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pi.program import Driver, Oracle, installed, pinned
from tests.pi.room import Room
from tests.pi.tally import TALLY


def _missing() -> str | None:
    """Why nothing can be compared; None where Pi is there."""
    if installed() == pinned():
        return None
    if shutil.which("npm") is None:
        return "npm is not installed"
    return "`make pi` did not install it"


MISSING = _missing()
if MISSING:  # then one test is left, to be skipped with the reason
    collect_ignore_glob = ["test_[!p]*.py"]


@pytest.fixture(scope="session", autouse=True)
def pi() -> None:
    """The real Pi, or no test."""
    if MISSING and os.environ.get("PI_EVENT_SEARCH_LONG"):
        pytest.fail(f"the long tests need the real Pi: {MISSING}")
    if MISSING:
        pytest.skip(f"all of tests/pi, as Pi {pinned()} is not there: {MISSING}")


@pytest.fixture(scope="session")
def oracle(pi: None) -> Iterator[Oracle]:
    """Says what Pi makes of a file."""
    with Oracle() as oracle:
        yield oracle


@pytest.fixture(scope="session")
def driver(pi: None) -> Iterator[Driver]:
    """Lets Pi work on session files."""
    with Driver() as driver:
        yield driver


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """An index over an empty session directory."""
    with Room(tmp_path) as room:
        yield room


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    sentence = TALLY.sentence()
    if sentence:
        terminalreporter.write_line(f"Pi {pinned()}: {sentence}")
