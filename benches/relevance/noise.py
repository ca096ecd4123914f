"""Everything in a history that is not the answer: logs, listings, plans and searches that mention
the same words. Deterministic: a seed gives the same text on every machine and Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from benches.relevance.scenes import Scene, Step, a, out, run, u

T = TypeVar("T")


class Dice:
    """A small linear congruential generator; the random module's choices differ by version."""

    def __init__(self, seed: int) -> None:
        self._state = seed * 2_654_435_761 + 1

    def below(self, end: int) -> int:
        """A number from 0 up to, not including, `end`."""
        self._state = (self._state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        return (self._state >> 33) % end

    def pick(self, values: Sequence[T]) -> T:
        """One of the values."""
        return values[self.below(len(values))]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """The values in another order."""
        left = list(values)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]


MODULES = (
    "scheduler",
    "worker",
    "router",
    "cache",
    "mailer",
    "storage",
    "import",
    "session",
    "api",
)
VERBS = (
    "started",
    "finished",
    "skipped",
    "queued",
    "renewed",
    "dropped",
    "loaded",
    "flushed",
    "opened",
)
NOUNS = (
    "batch",
    "request",
    "record",
    "page",
    "token",
    "segment",
    "row",
    "image",
    "lease",
    "report",
)
SAID = (
    "I went through the module once more and the tests cover the usual cases.",
    "The file is long, so I only looked at the parts that matter for this question.",
    "Next I would run the whole suite and compare it with yesterday's numbers.",
    "Nothing else in the project depends on this as far as I can see.",
    "There is a second place that does nearly the same, we could merge the two later.",
    "The names could be better, but renaming them is another change.",
    "I have not measured it yet; the numbers from last month may be out of date.",
    "Please keep the change small, we release on Thursday.",
    "The old behaviour stays behind a flag until everybody has moved.",
    "Documentation follows when the interface has settled.",
)


def log_line(dice: Dice, number: int) -> str:
    """A line such as services write."""
    return (
        f"09:{number // 60 % 60:02d}:{number % 60:02d} {dice.pick(MODULES)}: {dice.pick(VERBS)} "
        f"{dice.pick(NOUNS)} {dice.below(9000)} in {dice.below(400)} ms"
    )


def log(dice: Dice, words: Sequence[str], lines: int) -> str:
    """A log in which each of the words turns up somewhere, now and then twice."""
    written = [log_line(dice, number) for number in range(lines)]
    for word in words:
        for _ in range(1 + dice.below(3)):
            at = dice.below(lines)
            written[at] = f"{written[at]} {word}"
    return "\n".join(written)


def listing(dice: Dice, words: Sequence[str]) -> str:
    """Search output: a few short lines, the words on lines of their own."""
    found = [f"{dice.pick(MODULES)}/{dice.pick(NOUNS)}.txt:{dice.below(300)}: {w}" for w in words]
    more = [log_line(dice, number) for number in range(4 + dice.below(8))]
    return "\n".join(dice.shuffled([*found, *found[:1], *more]))


def speech(dice: Dice, words: Sequence[str]) -> str:
    """Somebody talking about other things and mentioning each of the words."""
    sentences = [dice.pick(SAID) for _ in range(5 + dice.below(6))]
    for word in dice.shuffled(list(words)):
        at = dice.below(len(sentences))
        sentences[at] = f"{sentences[at][:-1]}, see {word}."
    return " ".join(sentences)


def relatives(dice: Dice, words: Sequence[str]) -> str:
    """Code in which longer identifiers hold the words as parts."""
    lines = []
    for word in words:
        if word.isidentifier():
            head, tail = word[:1].upper() + word[1:], word.lower()
            lines += [f"class Old{head}:", f"    test_{tail}_twice = {head}Factory()"]
            lines += [f"    return make{head}For(test_{tail}_twice)"] * (1 + dice.below(3))
        else:
            lines.append(f"# {word}")
    return "\n".join([*lines, *(f"{dice.pick(NOUNS)} = {dice.below(99)}" for _ in range(6))])


def echoes(dice: Dice, words: Sequence[str]) -> list[Scene]:
    """Scenes of other sessions in which the words of a query occur without being the answer."""
    quoted = "\\|".join(dice.shuffled(words)).replace("'", "")
    made: list[tuple[Step, ...]] = [
        (run("tail -n 120 service.log"), out(log(dice, words, 50 + dice.below(120)))),
        (run(f"grep -rn '{quoted}' ."), out(listing(dice, words)), a(dice.pick(SAID))),
        (run("cat notes.py"), out(relatives(dice, words))),
        (u(speech(dice, words)), a(dice.pick(SAID))),
        (u(dice.pick(SAID)), a(speech(dice, words))),
    ]
    projects = ("ferry", "kiln", "herbarium", "tram", "press")
    return [Scene(dice.pick(projects), steps) for steps in made if dice.below(3)]


def filler(dice: Dice) -> Scene:
    """A scene about nothing in particular."""
    steps = (
        u(dice.pick(SAID)),
        run(f"ls {dice.pick(MODULES)}"),
        out("\n".join(f"{dice.pick(NOUNS)}_{number}.txt" for number in range(8 + dice.below(30)))),
        a(f"{dice.pick(SAID)} {dice.pick(SAID)}"),
    )
    return Scene(dice.pick(("ferry", "kiln", "herbarium", "tram", "press")), steps)
