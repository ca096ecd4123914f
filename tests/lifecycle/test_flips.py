"""Single flipped bits, anywhere in both stores: no panic gets out, nothing hangs, no wrong text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from pi_event_search import EventIndex
from pi_event_search.ingest import source as ingest
from pi_event_search.store import publish

from tests.learning import dictionaries, learning, sharing
from tests.lifecycle.flipping import write_sessions
from tests.lifecycle.world import untouched

FLIPS = 10_000 if os.environ.get("PI_EVENT_SEARCH_LONG") else 320
PROCESSES = 4
SECONDS_A_FLIP = 3


@pytest.mark.timeout(FLIPS * SECONDS_A_FLIP)
def test_flipped_bits(base: Path) -> None:
    write_sessions(base / "sessions")
    with (
        learning(),
        patch.object(ingest, "READ_BYTES", 1_000),
        patch.object(publish, "BATCH_BYTES", 1_000),
        EventIndex.open(base / "index", [base / "sessions"]) as index,
    ):
        index.sync()
    assert dictionaries(base / "index")
    assert any(sharing(base / "index"))
    share = FLIPS // PROCESSES
    with untouched(base / "sessions"):
        running = [
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tests.lifecycle.flipping",
                    str(base),
                    str(first),
                    str(share),
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for first in range(0, FLIPS, share)
        ]
        for process in running:
            printed, _panics = process.communicate(timeout=FLIPS * SECONDS_A_FLIP)
            assert process.returncode == 0, "a flip ended the process"
            assert printed == ""
