"""The demo finds the right sessions, and its tour runs where no terminal is."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
SCRIPT = REPOSITORY / "tools" / "demo.py"


@pytest.fixture
def demo() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PI_CODING_AGENT_SESSION_DIR", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_no_sessions_of_the_user(demo: dict[str, Any], home: Path) -> None:
    (home / ".pi" / "agent" / "sessions").mkdir(parents=True)
    assert demo["own_sessions"]() is None


def test_sessions_at_their_default_place(demo: dict[str, Any], home: Path) -> None:
    sessions = home / ".pi" / "agent" / "sessions"
    (sessions / "--w--").mkdir(parents=True)
    (sessions / "--w--" / "s.jsonl").touch()
    assert demo["own_sessions"]() == sessions


def test_environment_comes_first(
    demo: dict[str, Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("agent/sessions", "flat"):
        (home / name).mkdir(parents=True)
        (home / name / "s.jsonl").touch()
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "~/agent")
    assert demo["own_sessions"]() == home / "agent" / "sessions"
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(home / "flat"))
    assert demo["own_sessions"]() == home / "flat"


def run_tour(home: Path, **settings: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PI_")}
    finished = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**kept, "HOME": str(home), **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def shown_commands(output: str) -> list[str]:
    return [line.split()[2] for line in output.splitlines() if line.startswith("$ ")]


def test_tour_of_the_samples(home: Path) -> None:
    output = run_tour(home, NO_COLOR="1")
    assert shown_commands(output) == ["sync", "search", "read", "trace"]
    assert "\033" not in output
    assert "daylight saving" in output
    assert list(home.iterdir()) == [], "nothing is left in the home directory"


def test_tour_of_the_user_s_own_sessions(home: Path) -> None:
    agent = home / "agent"
    shutil.copytree(REPOSITORY / "samples" / "sessions", agent / "sessions")
    before = {path: path.read_bytes() for path in agent.rglob("*") if path.is_file()}
    output = run_tour(home, PI_CODING_AGENT_DIR=str(agent))
    assert shown_commands(output) == ["sync", "search", "read", "trace"]
    assert {path: path.read_bytes() for path in agent.rglob("*") if path.is_file()} == before
