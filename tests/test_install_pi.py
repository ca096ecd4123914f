"""Pi is installed once for each set of pins; where it cannot be, one sentence says what follows."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NODE = 'cache=.; while [ $# -gt 0 ]; do [ "$1" = --prefix ] && cache=$2; shift; done\n'
NODE += 'mkdir -p "$cache/node_modules/.bin"; echo done >> "$cache/calls"\n'
NODE += 'cp "$(command -v node24)" "$cache/node_modules/.bin/node"\n'


class Repository:
    """A repository with the script and the pins, on a machine with little else."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.cache = place / ".cache" / "pi"
        self.pins = place / "tests" / "pi" / "package.json"
        for file in ("tools/pi.sh", "tests/pi/package.json"):
            (place / file).parent.mkdir(parents=True)
            shutil.copy(ROOT / file, place / file)
        self.programs = place / "programs"
        self.programs.mkdir()
        for name in ("sh", "dirname", "cmp", "mkdir", "cp", "rm"):
            found = shutil.which(name)
            assert found is not None
            (self.programs / name).symlink_to(found)
        self.put("node24", "exit 0")

    def put(self, name: str, script: str) -> None:
        program = self.programs / name
        program.write_text(f"#!{self.programs}/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)

    def install(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.programs / "sh", self.place / "tools" / "pi.sh", *arguments],
            env={"PATH": str(self.programs)},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.mark.parametrize("npm", [None, "exit 1", "exit 0"])
def test_what_cannot_be_installed_is_said_in_one_line(
    npm: str | None, repository: Repository
) -> None:
    if npm is not None:
        repository.put("npm", npm)
    demanded = repository.install()
    assert demanded.returncode == 1
    wished = repository.install("--if-any")
    assert wished.returncode == 0
    for finished in (demanded, wished):
        assert finished.stdout == ""
        (sentence,) = finished.stderr.splitlines()
        assert sentence.startswith("pi-event-search: npm ")
    assert "the comparisons with the real Pi are skipped" in wished.stderr
    assert not (repository.cache / "installed.json").exists()


def test_each_set_of_pins_is_installed_once(repository: Repository) -> None:
    repository.put("npm", NODE)
    for _ in range(2):
        assert repository.install().returncode == 0
        assert (repository.cache / "calls").read_text() == "done\n"
    repository.pins.write_text(repository.pins.read_text().replace("24.", "26."))
    assert repository.install("--if-any").returncode == 0
    assert (repository.cache / "calls").read_text() == "done\ndone\n"


def test_an_installation_that_lost_its_node_is_done_again(repository: Repository) -> None:
    repository.put("npm", NODE)
    repository.install()
    (repository.cache / "node_modules" / ".bin" / "node").unlink()
    assert repository.install().returncode == 0
    assert (repository.cache / "calls").read_text() == "done\ndone\n"
