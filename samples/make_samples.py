#!/usr/bin/env python3
"""Writes the sample sessions: `make_samples.py [DIRECTORY]`, by default `sessions` beside it.

The output is committed. The same bytes come out on every machine; a test holds both to that.
"""

from __future__ import annotations

import sys
from pathlib import Path

from story_lamp import lamp_session, release_note_fork
from story_others import orchard_session, write_old_session


def write_samples(root: Path) -> list[Path]:
    """Writes every sample session below `root` and returns the files."""
    lamp, fork_point = lamp_session()
    sessions = (lamp, release_note_fork(lamp, fork_point), orchard_session())
    return [*(session.write(root) for session in sessions), write_old_session(root)]


def main() -> None:
    """Writes the samples and names them."""
    default = Path(__file__).resolve().parent / "sessions"
    for path in write_samples(Path(sys.argv[1]) if len(sys.argv) > 1 else default):
        print(path.name)


if __name__ == "__main__":
    main()
