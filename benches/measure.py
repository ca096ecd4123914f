"""Times and memory: taken side by side, told as medians and percentiles."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Times:
    """Repeated measurements of one thing, in milliseconds."""

    samples: Sequence[float] = ()

    @property
    def median(self) -> float:
        return self.percentile(50)

    def percentile(self, share: float) -> float:
        """The value that so many percent of the samples do not exceed."""
        ordered = sorted(self.samples)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share / 100))]

    def __add__(self, other: Times) -> Times:
        return Times([*self.samples, *other.samples])


def timed(action: Callable[[], object]) -> float:
    """How long it takes, in milliseconds."""
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


def in_turns(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Times]:
    """Each way of doing something, one after the other and again from the start, so that whatever
    else the machine does falls on all of them. The first round only warms up."""
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, action in ways.items():
            gc.collect()
            took = timed(action)
            if turn:
                samples[name].append(took)
    return {name: Times(taken) for name, taken in samples.items()}


def status_bytes(name: str, process: int | str = "self") -> int:
    """A figure of `/proc/PID/status`; 0 where there is none."""
    try:
        lines = Path(f"/proc/{process}/status").read_text("ascii", "replace").splitlines()
    except OSError:
        return 0
    found = [line for line in lines if line.startswith(f"{name}:")]
    return int(found[0].split()[1]) * 1024 if found else 0


def bytes_below(directory: Path) -> int:
    """Bytes of all files in a directory."""
    return sum(_sizes(directory.rglob("*")))


def _sizes(paths: Iterable[Path]) -> Iterable[int]:
    for path in paths:
        if path.is_file():
            yield path.stat().st_size
