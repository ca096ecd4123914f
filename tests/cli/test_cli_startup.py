"""What a search from the shell loads: half of its time would go into modules it has no use for."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from pathlib import Path

import pytest
from pi_event_search import __main__ as process

from tests.context.writing import Log
from tests.indexes import passing_place

SCRIPT = """
import sys
from pi_event_search.__main__ import run
sys.argv[0] = "pi-event-search"
code = run()
print(*sys.modules, sep="\\n", file=sys.stderr)
sys.exit(code)
"""
USELESS = {
    "concurrent.futures": "nothing runs beside a search",
    "hashlib": "loads OpenSSL",
    "pi_event_search.cli.help": "nobody asked for help",
    "pi_event_search.cli.render": "JSON needs no tables",
    "pi_event_search.serve": "another command",
    "pi_event_search.services.read": "another question",
    "pi_event_search.services.sessions": "another question",
    "pi_event_search.services.trace": "another question",
    "pi_event_search.upkeep.verify": "another command",
    "pi_event_search.upkeep.watch": "another command",
    "random": "loads hashlib",
    "rich": "JSON needs no tables",
    "secrets": "loads hashlib",
    "shutil": "loads the libraries of archives",
    "signal": "only watch catches any",
    "subprocess": "no other program is run",
    "tempfile": "nothing is written",
    "watchfiles": "another command",
}


def test_a_search_loads_nothing_it_has_no_use_for() -> None:
    with passing_place() as place:
        place.put("s1", Log("s1", cwd="/work").user("a", None, "a needle").data)
        with place.index() as index:
            index.sync()
        done = subprocess.run(
            [
                *(sys.executable, "-c", SCRIPT, "search", "needle", "--json", "--root=/work"),
                *(f"--index-dir={place.base / 'index'}", f"--sessions-dir={place.sessions}"),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    assert [hit["entryId"] for hit in json.loads(done.stdout)["hits"]] == ["a"]
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stderr.split("\n")) - set(bare.stdout.split())
    assert "pi_event_search.services.search" in loaded
    assert sorted(loaded & USELESS.keys()) == []


def test_a_process_leaves_its_memory_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def main() -> int:
        done.append("main")
        return 3

    monkeypatch.setattr("pi_event_search.cli.main", main)
    monkeypatch.setattr(gc, "freeze", lambda: done.append("freeze"))
    monkeypatch.setattr(gc, "set_threshold", lambda count: done.append(f"threshold {count}"))
    assert process.run() == 3
    assert done == ["threshold 20000", "main", "freeze"]


def test_the_script_is_the_process() -> None:
    project = Path(__file__).parent.parent.parent / "pyproject.toml"
    assert 'pi-event-search = "pi_event_search.__main__:run"' in project.read_text()
