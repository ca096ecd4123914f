"""A machine that lacks something is told so in one sentence."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "tools" / "preflight.sh"


class Machine:
    """A PATH on which only what was put there can be found."""

    def __init__(self, place: Path) -> None:
        self.place = place
        for name in ("sh", "sed", "printf"):
            found = shutil.which(name)
            assert found is not None
            (place / name).symlink_to(found)
        self.put("uname", "echo Linux")

    def put(self, name: str, script: str) -> None:
        program = self.place / name
        program.write_text(f"#!{self.place}/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)

    def check(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.place / "sh"), str(SCRIPT), *arguments],
            env={"PATH": str(self.place), **settings},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def put_rust(machine: Machine, version: str = "1.95.0") -> None:
    machine.put("cargo", 'case "$1" in fmt|clippy) exit 101 ;; esac')
    machine.put("rustc", f'echo "rustc {version} (0123abcd 2026-04-14)"')
    machine.put("cc", "exit 0")


def refused(finished: subprocess.CompletedProcess[str]) -> str:
    """The sentence of a refusal."""
    assert finished.returncode == 1
    assert finished.stdout == ""
    (sentence,) = finished.stderr.splitlines()
    assert sentence.startswith("pi-event-search: ")
    assert sentence.endswith(".")
    return sentence


def test_another_operating_system(machine: Machine) -> None:
    machine.put("uname", "echo MINGW64_NT-10.0")
    assert "Linux and macOS" in refused(machine.check("python"))


def test_no_python(machine: Machine) -> None:
    assert "Python 3.11 or newer" in refused(machine.check("python"))


def test_an_old_python_is_passed_over(machine: Machine) -> None:
    machine.put("python3", "exit 1")
    machine.put("python3.13", "exit 0")
    finished = machine.check("python")
    assert (finished.returncode, finished.stdout) == (0, "python3.13\n")


def test_a_named_python_is_taken_or_refused(machine: Machine) -> None:
    machine.put("python3", "exit 0")
    machine.put("mine", "exit 0")
    assert machine.check("python", PYTHON="mine").stdout == "mine\n"
    assert "PYTHON=other" in refused(machine.check("python", PYTHON="other"))


def test_python_without_venv(machine: Machine) -> None:
    machine.put("python3", 'case "$2" in *ensurepip*) exit 1 ;; esac')
    assert "no venv module" in refused(machine.check("python"))


def test_no_cargo(machine: Machine) -> None:
    assert "cargo is needed" in refused(machine.check("rust"))


def test_old_rust(machine: Machine) -> None:
    put_rust(machine, "1.70.0")
    assert "this is rustc 1.70.0" in refused(machine.check("rust"))


def test_no_c_compiler(machine: Machine) -> None:
    put_rust(machine)
    assert machine.check("rust").returncode == 0
    (machine.place / "cc").unlink()
    assert "C compiler" in refused(machine.check("rust"))


def test_no_nightly_compiler_and_no_fuzzer(machine: Machine) -> None:
    put_rust(machine)
    machine.put("cargo", 'case "$1" in +nightly) exit 1 ;; esac')
    assert "needs a nightly compiler" in refused(machine.check("fuzz"))
    machine.put("cargo", 'case "$1" in fuzz) exit 1 ;; esac')
    assert "needs cargo-fuzz" in refused(machine.check("fuzz"))
    machine.put("cargo", "exit 0")
    assert machine.check("fuzz").returncode == 0


def test_no_clippy_and_no_rustup(machine: Machine) -> None:
    put_rust(machine)
    assert "rustfmt is needed" in refused(machine.check("lint"))


def test_rustup_adds_what_is_missing(machine: Machine) -> None:
    put_rust(machine)
    machine.put("rustup", f'echo "$3" >> "{machine.place}/added"')
    assert machine.check("lint").returncode == 0
    assert (machine.place / "added").read_text(encoding="utf-8").split() == ["rustfmt", "clippy"]
