"""Rows of the result: what was measured, what it should be, and whether it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    """One figure."""

    work: str
    """What was done; rows of the same work stand together."""
    figure: str
    value: float | None
    """`None`: it could not be measured, and the note says why."""
    unit: str = "ms"
    goal: float | None = None
    """The most it may be; `None` where no goal is set for this size of corpus."""
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; `None` without one, or without a value."""
        if self.goal is None or self.value is None:
            return None
        return self.value <= self.goal


def at(size: float, where: float, goal: float) -> float | None:
    """A goal that is set for one size of corpus only."""
    return goal if size == where else None


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| work | figure | measured | goal | met | |", "|---|---|--:|--:|---|---|"]
    last = None
    for row in rows:
        cells = (
            "" if row.work == last else row.work,
            row.figure,
            "-" if row.value is None else _with_unit(row.value, row.unit),
            "" if row.goal is None else f"<= {_with_unit(row.goal, row.unit)}",
            {True: "yes", False: "**no**", None: ""}[row.met],
            row.note,
        )
        lines.append(f"| {' | '.join(cells)} |")
        last = row.work
    return "\n".join(lines)


def as_json(rows: Iterable[Row]) -> str:
    """The rows as JSON, one object each."""
    return json.dumps([asdict(row) | {"met": row.met} for row in rows], indent=1)


def _with_unit(value: float, unit: str) -> str:
    number = f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
    return f"{number} {unit}".strip()
