"""Commands that ask the index nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.made_up import MadeUpIndex


def test_the_pi_package_is_where_the_command_says(capsys: pytest.CaptureFixture[str]) -> None:
    index = MadeUpIndex()
    assert index.run("pi-extension") == 0
    path = Path(capsys.readouterr().out.removesuffix("\n"))
    assert path.is_absolute()
    package = json.loads((path / "package.json").read_text())
    for extension in package["pi"]["extensions"]:
        assert (path / extension).is_file()
    assert index.run("pi-extension", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"path": str(path)}
    assert index.opened == {}


@pytest.mark.parametrize("command", ["serve", "pi-extension"])
def test_words_are_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert MadeUpIndex().run(command, "word") == 2
    assert "takes no word" in capsys.readouterr().err
