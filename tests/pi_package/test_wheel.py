"""The wheel on a machine that has nothing else: `make test-wheel`. Needs the package index."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pi_package.machine import ENTRY, SESSION, TREE, Machine, call, calls

WHEEL = os.environ.get("PI_EVENT_SEARCH_WHEEL")


def line_of_readme(beginning: str) -> str:
    """The one line of README that begins so, without its comment."""
    lines = (TREE / "README.md").read_text(encoding="utf-8").splitlines()
    (line,) = [line for line in lines if line.startswith(beginning)]
    return line.partition("#")[0].strip()


@pytest.mark.timeout(600)  # pip has its own pace
@pytest.mark.skipif(not WHEEL, reason="PI_EVENT_SEARCH_WHEEL names no wheel; see make test-wheel")
def test_the_lines_of_readme_install_it_and_pi_answers_from_its_history(
    machine: Machine, tmp_path: Path
) -> None:
    assert WHEEL is not None
    for name in ("PYTHONPATH", "PI_EVENT_SEARCH_PYTHON"):
        del machine.env[name]
    place = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    pi = place / "bin" / "pi"
    pi.write_text(f'#!/bin/sh\nexec {shlex.join(machine.command())} "$@"\n')
    pi.chmod(0o755)
    machine.env["PATH"] = f"{place / 'bin'}{os.pathsep}{machine.env['PATH']}"

    def typed(line: str) -> str:
        done = subprocess.run(
            ["sh", "-euc", line],
            env=machine.env,
            cwd=machine.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    install = line_of_readme("pip install .")
    typed(install.replace("pip install .", f"pip install -q {shlex.quote(WHEEL)}"))
    typed(line_of_readme("pi install "))
    assert str(place) in typed("pi-event-search pi-extension")
    machine.run({"text": "The zebrafish tank leaks"}, prompt="Why is it wet?", extension=False)
    run = machine.run(
        calls(call("event_search", query="zebrafish")),
        calls(call("event_read", sessionId=SESSION, entryId=ENTRY)),
        calls(call("event_trace", sessionId=SESSION, entryId=ENTRY)),
        {"text": "I see"},
        extension=False,
    )
    assert run.output == "I see"
    assert run.tools[0] == ["event_search", "event_read", "event_trace"]
    for shown in run.shown[1:]:
        assert "> The zebrafish tank leaks" in shown
    assert "The zebrafish tank leaks" in typed("pi-event-search search zebrafish")
