"""How thorough a run is: the usual one, or the long one of ``make test-long``."""

from __future__ import annotations

import os

LONG = bool(os.environ.get("PI_EVENT_SEARCH_LONG"))


def times(usually: int, in_long_runs: int) -> int:
    """How often something is tried."""
    return in_long_runs if LONG else usually
