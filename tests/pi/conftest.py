"""Fixtures around the real Pi. Without it every test here is skipped, with one line saying so."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pi.program import Driver, Oracle, installed, pinned
from tests.pi.room import Room
from tests.pi.tally import TALLY


@pytest.fixture(scope="session", autouse=True)
def pi() -> None:
    """The real Pi, or no test."""
    version = installed()
    if version == pinned():
        return
    if os.environ.get("PI_EVENT_SEARCH_LONG"):
        pytest.fail("the long tests compare with the real Pi, and it is not there: run `make pi`")
    if shutil.which("npm") is None:
        pytest.skip("nothing is compared with the real Pi: npm is not installed")
    pytest.skip(f"nothing is compared with the real Pi {pinned()}: `make pi` did not install it")


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
