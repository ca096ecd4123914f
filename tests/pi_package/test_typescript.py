"""The Pi package by itself: its own tests, its types and its style."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.pi.program import HOME, NODE
from tests.pi_package.machine import HERE, TREE

BIN = HOME / "node_modules" / ".bin"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs a tool of the cache in the source tree."""
    env = os.environ | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        command,
        cwd=TREE,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("file", sorted(HERE.glob("*.test.ts")), ids=lambda file: file.stem)
def test_its_own_tests(file: Path) -> None:
    done = run(NODE, "--test", file)
    assert done.returncode == 0, done.stdout
    passed = re.search(r"pass (\d+)", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 0


def test_its_types() -> None:
    if HOME != TREE / ".cache" / "pi":
        pytest.skip("the types of Pi are looked for in .cache/pi")
    done = run(BIN / "tsc", "-p", HERE)
    assert done.returncode == 0, done.stdout


def test_its_style() -> None:
    done = run(BIN / "biome", "check", "--error-on-warnings", ".")
    assert done.returncode == 0, done.stdout + done.stderr
