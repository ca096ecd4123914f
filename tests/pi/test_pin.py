"""The version of Pi that everything is compared with is one line."""

import json
import re
from pathlib import Path

from tests.pi.program import HERE, PACKAGE, installed, pinned

ROOT = Path(__file__).parents[2]


def test_the_version_is_exact_installed_and_named_once() -> None:
    pins = json.loads((HERE / "package.json").read_text())["dependencies"]
    assert set(pins) == {PACKAGE, "node"}
    for version in pins.values():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert installed() == pinned()

    files = [ROOT / "Makefile", ROOT / "tools" / "pi.sh", ROOT / ".ci" / "run"]
    files += [*HERE.glob("*.py"), *HERE.glob("**/*.mjs")]
    naming = [file.name for file in files if pinned() in file.read_text()]
    assert naming == []
