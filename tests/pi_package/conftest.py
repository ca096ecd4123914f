"""A machine with the real Pi and a scripted model. Without Pi every test here is skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pi.conftest import pi  # noqa: F401 - skips, with one line saying so
from tests.pi_package.machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A home directory in which nothing was done yet."""
    return Machine(tmp_path)
