"""Words that stand nowhere else, put into known entries, so that answers can be checked."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

SAID = ("user", "assistant", "result")
EVERYWHERE = (
    *SAID,
    "arguments",
    "failure",
    "thinking",
    "compaction",
    "branch_summary",
    "bash",
    "custom",
)
HIDDEN = ("thinking",)
"""Where a text is never indexed, so that nothing planted there may be found."""


@dataclass(frozen=True)
class Plant:
    """A text that is put into some entries of some kinds."""

    name: str
    text: str
    query: str | None
    """What finds it; `None` for texts that only are in the way of another's query."""
    kinds: tuple[str, ...]
    each: int
    """Entries a kind."""


def plants(megabytes: float) -> list[Plant]:
    """All of them; how often the common one is planted grows with the corpus."""
    often = max(14, int(megabytes * 4 / 3))
    return [
        Plant("rare", "zqrareword7f", "zqrareword7f", ("user",), 3),
        Plant("everywhere", "zqeverywhere3c", "zqeverywhere3c", EVERYWHERE, 2),
        Plant("common", "zqcommonmark", "zqcommonmark", SAID, often),
        Plant("both", "zqalphaone zqbetatwo", "zqalphaone zqbetatwo", SAID, 4),
        Plant("first only", "zqalphaone", None, SAID, 15),
        Plant("second only", "zqbetatwo", None, SAID, 15),
        Plant("phrase", "zqquick brown zqfox jumps", '"zqquick brown zqfox"', SAID, 3),
        Plant("scrambled", "jumps zqfox brown over zqquick", None, SAID, 8),
        Plant("identifier", "zqsnake_inner_token", "zqsnake_inner_token", SAID, 3),
        Plant("ideographs", "修改會話索引文件測試", "會話索引", SAID, 3),
        Plant("path", "zqpkg/src/core/zqfile.ts", "zqpkg/src/core/zqfile.ts", SAID, 2),
    ]


@dataclass(slots=True)
class Waiting:
    """What is still to be planted in one session, by kind of text."""

    texts: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    taken: list[tuple[str, str]] = field(default_factory=list)
    """Name and kind of what went into the entry being written."""

    def into(self, kind: str, text: str) -> str:
        """The text with the next plant of its kind in its midst, if one waits."""
        waiting = self.texts.get(kind)
        if not waiting:
            return text
        name, planted = waiting.pop()
        self.taken.append((name, kind))
        middle = text.rfind(" ", 0, len(text) // 2) + 1
        return f"{text[:middle]} {planted} {text[middle:]}"

    def left(self) -> list[str]:
        """The kinds that still wait, once for each text."""
        return [kind for kind, texts in self.texts.items() for _ in texts]


def distribute(planted: list[Plant], sessions: int, dice: random.Random) -> list[Waiting]:
    """Spreads the plants over the sessions."""
    waiting = [Waiting() for _ in range(sessions)]
    for plant in planted:
        for kind in plant.kinds:
            for _ in range(plant.each):
                texts = waiting[dice.randrange(sessions)].texts
                texts.setdefault(kind, []).append((plant.name, plant.text))
    return waiting
