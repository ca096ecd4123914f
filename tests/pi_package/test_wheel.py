"""The wheel on a machine that has nothing else: `make test-wheel`. Needs the package index."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pi_package.machine import ENTRY, SESSION, Machine, call, calls

WHEEL = os.environ.get("PI_EVENT_SEARCH_WHEEL")


@pytest.mark.skipif(not WHEEL, reason="PI_EVENT_SEARCH_WHEEL names no wheel; see make test-wheel")
def test_two_lines_install_it_and_pi_answers_from_its_history(
    machine: Machine, tmp_path: Path
) -> None:
    assert WHEEL is not None
    for name in ("PYTHONPATH", "PI_EVENT_SEARCH_PYTHON"):
        del machine.env[name]
    place = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    subprocess.run([place / "bin" / "pip", "install", "-q", WHEEL], check=True)
    printed = subprocess.run(
        [place / "bin" / "pi-event-search", "pi-extension"],
        env=machine.env,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert printed.startswith(str(place))
    subprocess.run(
        machine.command("install", printed),
        env=machine.env,
        stdin=subprocess.DEVNULL,
        check=True,
    )
    machine.run({"text": "The zebrafish tank leaks"}, prompt="Why is it wet?", extension=False)
    run = machine.run(
        calls(call("event_search", query="zebrafish")),
        calls(call("event_read", sessionId=SESSION, entryId=ENTRY)),
        calls(call("event_trace", sessionId=SESSION, entryId=ENTRY)),
        {"text": "I see"},
        extension=False,
    )
    assert run.output == "I see"
    for shown in run.shown[1:]:
        assert "> The zebrafish tank leaks" in shown
