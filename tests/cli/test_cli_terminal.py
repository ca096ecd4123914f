"""Every command on a terminal of its own: what is captured there is what is golden.

Nothing is asked of the colours of the terminal: the same bytes go to a dark and to a light one.
"""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.cli.made_up import GOLDEN, SESSION

TREE = Path(__file__).parents[2]
HERE = "--root /w/a --sessions-dir /s"
COMMANDS = {
    "sync": f"sync {HERE}",
    "search": "search lock",
    "read": f"read {SESSION} a1b2c3d4",
    "trace": f"trace {SESSION}/a1b2c3d4",
    "sessions": f"sessions {HERE}",
    "lineage": f"lineage {SESSION}",
    "status": f"status {HERE}",
    "verify": "verify",
    "rebuild": f"rebuild {HERE}",
}
"""What is typed for each screen. `watch` prints as `test_cli_watch.py` says, `serve` nothing."""
SAME_AS = {"rebuild": "sync"}
GROUNDS = {"dark": "15;0", "light": "0;15"}
END = "=== end of "
CHILD = f"""
import sys
from pi_event_search.types.sessions import Lineage
from tests.cli.made_up import SESSION, MadeUpIndex
for command in sys.argv[1:]:
    index = MadeUpIndex()
    index.answers["lineage"] = Lineage(SESSION, ("c1", "c2"), "p")
    code = index.run(*command.split())
    print({END!r} + f"{{command}}, {{code}}", flush=True)
"""


def captured(width: int, ground: str) -> dict[str, str]:
    """What a terminal of that width receives, by command; each has to end well."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join((str(TREE / "python"), str(TREE))),
        "TERM": "xterm-256color",
        "COLORFGBG": GROUNDS[ground],
        "LC_ALL": "C.UTF-8",
    }
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, *COMMANDS.values()],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=env,
        cwd=TREE,
    ) as child:
        os.close(terminal)
        received = _all_of(screen)
        assert child.wait() == 0, received
    shown = {}
    for name, command in COMMANDS.items():
        shown[name], ended, received = received.partition(f"{END}{command}, 0\n")
        assert ended, (command, shown[name])
    assert not received
    return shown


def _all_of(screen: int) -> str:
    """Everything that was written to a terminal until nobody has it open any more."""
    data = b""
    try:
        while piece := os.read(screen, 1 << 16):
            data += piece
    except OSError:  # how Linux says that it is closed
        pass
    finally:
        os.close(screen)
    return data.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("width", [80, 200])
def test_terminals_show_what_is_golden(width: int, ground: str) -> None:
    for name, text in captured(width, ground).items():
        golden = GOLDEN / "screen" / f"{SAME_AS.get(name, name)}-{width}.txt"
        assert text.replace("\x1b", "␛") == golden.read_text(encoding="utf-8"), name
