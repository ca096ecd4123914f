"""The examples of the pages, run as on a machine with the program installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SHIM = """#!{python}
import sys
from pi_event_search.cli import main
sys.exit(main())
"""
"""The console script, for whatever interpreter runs the tests."""


def environment_in(place: Path) -> dict[str, str]:
    """As on a machine with the program installed, and with nothing of the user's own Pi."""
    script = place / "bin" / "pi-event-search"
    script.parent.mkdir()
    script.write_text(SHIM.format(python=sys.executable))
    script.chmod(0o755)
    (place / "tmp").mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PI_")}
    return {
        **kept,
        "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(place),
        "TMPDIR": str(place / "tmp"),
        "COLUMNS": "100",
    }


def run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
