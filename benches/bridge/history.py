"""A long history: sessions of about a megabyte, told by people, a model and its tools."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from benches.relevance.noise import MODULES, NOUNS, VERBS, Dice
from tests.quality.history import START, Story, call

_TURNS = 150


def write(directory: Path, cwd: Path, megabytes: int) -> int:
    """Writes sessions of `cwd` until there are so many megabytes; gives their number."""
    directory.mkdir(parents=True)
    dice = Dice(megabytes)
    pieces = [_log(dice) for _ in range(500)]
    written = number = 0
    while written < megabytes << 20:
        story = _story(dice, number, cwd, pieces)
        written += story.write(directory).stat().st_size
        number += 1
    return number


def _story(dice: Dice, number: int, cwd: Path, pieces: list[str]) -> Story:
    story = Story(f"old-{number:04}", cwd=str(cwd), start=START + timedelta(hours=number))
    for turn in range(_TURNS):
        story.user(f"Why did {dice.pick(MODULES)} number{dice.below(100_000)} stop?")
        call_id = f"c{number}-{turn}"
        command = f"grep -n {dice.pick(NOUNS)} {dice.pick(MODULES)}.log"
        story.assistant("Let me look.", call(call_id, "bash", command=command))
        story.result(call_id, "bash", dice.pick(pieces) + dice.pick(pieces))
        story.assistant(f"The {dice.pick(NOUNS)} was {dice.pick(VERBS)} by {dice.pick(MODULES)}.")
    return story


def _log(dice: Dice) -> str:
    """Some lines of a log, about 3 KB."""
    return "".join(
        f"{dice.pick(MODULES)}: {dice.pick(VERBS)} {dice.pick(NOUNS)} id={dice.below(1 << 30):x}\n"
        for _ in range(75)
    )
