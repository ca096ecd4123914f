"""`make bench`: measures everything, prints the table, and writes it with the JSON beside."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benches import appending, growth, indexing, queries, reading, shell, syncs
from benches.goals import Row, as_json, table
from benches.place import Place

SIZES = (10.0, 100.0, 500.0, 1_000.0)
_HERE = Path(__file__).resolve().parent.parent
_BESIDE = ("branches", "syncs", "huge", "many")


def main() -> int:
    """The exit status: 1 when a goal is not met."""
    asked = _arguments()
    place = Place(asked.dir.resolve(), asked.seed)
    place.directory.mkdir(parents=True, exist_ok=True)
    found: list[Row] = []
    for row in _rows(place, asked.mb, asked.only):
        found.append(row)
        print(table([row]).splitlines()[-1], flush=True)
    text = f"{_machine(asked.seed)}\n\n{table(found)}\n"
    (place.directory / "result.md").write_text(text, "utf-8")
    (place.directory / "result.json").write_text(as_json(found), "utf-8")
    print(f"\n{text}\nIn {place.directory}: result.md, result.json")
    missed = [row for row in found if row.met is False]
    print(f"{sum(row.met is True for row in found)} goals met, {len(missed)} not.")
    return 1 if missed else 0


def _rows(place: Place, sizes: list[float], only: list[str]) -> Iterator[Row]:
    for megabytes in sizes:
        corpus = place.mixed(megabytes)
        yield from indexing.rows(place, corpus, megabytes)
        yield from queries.rows(place, corpus, megabytes)
        yield from reading.rows(place, corpus, megabytes)
        yield from shell.rows(place, corpus, megabytes)
        yield from appending.rows(place, corpus, megabytes)
    if "branches" in only:
        yield from appending.branch_rows(place)
    if "syncs" in only:
        yield from syncs.rows(place)
    if "huge" in only:
        yield from growth.huge_rows(place)
    if "many" in only:
        yield from growth.many_rows(place, place.mixed(max(sizes, default=1_000)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--mb", type=float, nargs="*", help=f"sizes of corpora; default {SIZES}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", nargs="*", choices=_BESIDE, help="what else; default all without --mb, else none"
    )
    parser.add_argument("--dir", type=Path, default=_HERE / ".cache" / "bench")
    asked = parser.parse_args()
    if asked.only is None:
        asked.only = list(_BESIDE) if asked.mb is None else []
    if asked.mb is None:
        asked.mb = list(SIZES)
    return asked


def _machine(seed: int) -> str:
    today = datetime.now(UTC).date()
    kind = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{today}, {kind}, Python {platform.python_version()}, seed {seed}"


raise SystemExit(main())
