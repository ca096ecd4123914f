"""The log: private, bounded, and never in the way."""

from __future__ import annotations

from pathlib import Path

import pytest
from pi_event_search.serve import log as module
from pi_event_search.serve.log import FILE_NAME, Log


def test_entries_are_appended_by_several_writers(tmp_path: Path) -> None:
    one, two = Log(tmp_path), Log(tmp_path)
    for number in range(3):
        one.write(f"one {number}")
        two.write(f"two\n{number} \ud800")
    path = tmp_path / FILE_NAME
    assert path.stat().st_mode & 0o777 == 0o600
    lines = path.read_text().splitlines()
    assert [line for line in lines if "one" in line] == lines[::3]
    assert lines[2] == "    0 \\ud800"
    one.close()
    one.write("again")
    assert path.read_text().endswith("again\n")


def test_it_is_bounded_whoever_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 1_000)
    logs = [Log(tmp_path) for _ in range(3)]
    for number in range(300):
        logs[number % 3].write(f"entry {number} ".ljust(60, "."))
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {FILE_NAME, f"{FILE_NAME}.1"}
    assert all(path.stat().st_size < 1_300 for path in tmp_path.iterdir())
    assert "entry 299" in (tmp_path / FILE_NAME).read_text()


def test_a_failure_comes_with_its_traceback(tmp_path: Path) -> None:
    log = Log(tmp_path)
    try:
        raise ValueError("why")
    except ValueError as error:
        log.failure("what", error)
    text = (tmp_path / FILE_NAME).read_text()
    assert "what" in text
    assert "test_log.py" in text
    assert "ValueError: why" in text


def test_where_nothing_can_be_written_it_says_nothing(tmp_path: Path) -> None:
    Log(tmp_path / "missing").write("lost")
    (tmp_path / FILE_NAME).symlink_to(tmp_path / "elsewhere")
    Log(tmp_path).write("not through a link")
    assert not (tmp_path / "elsewhere").exists()
