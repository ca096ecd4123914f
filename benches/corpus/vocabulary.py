"""What the generated sessions are written with: words, identifiers, paths, and lines of each sort.

Words follow a Zipf law, as in any text; identifiers are compounds of them in the usual spellings.
Lines are made once and drawn again and again, as files are read and shown more than once; some
fresh tokens in each text let the vocabulary grow with the corpus.
"""

from __future__ import annotations

import base64
import math
import random
from collections.abc import Callable, Sequence
from itertools import accumulate

from benches.corpus import letters

WORDS = 24_000
IDENTIFIERS = 14_000
PATHS = 3_500
LINES = 26_000
"""How many different ones of each there are."""


class Vocabulary:
    """All of it for one seed. The dice are shared with whoever writes with it."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.words = self._made_words()
        self._word_weights = _zipf(len(self.words), 2.7, 1.05)
        self.identifiers = [self._compound() for _ in range(IDENTIFIERS)]
        self._identifier_weights = _zipf(IDENTIFIERS, 5, 0.9)
        self.paths = [self._made_path() for _ in range(PATHS)]
        self._path_weights = _zipf(PATHS, 3, 0.9)
        self.prose = self._lines(self._sentence)
        self.code = self._lines(self._code_line)
        self.logs = self._lines(self._log_line)
        self.ideographs = self._lines(self._ideographs, 1_200)
        self._hexadecimal = self.dice.randbytes(400_000).hex()
        self._base64 = base64.b64encode(self.dice.randbytes(330_000)).decode()

    def some_words(self, count: int) -> list[str]:
        """Words in their frequencies."""
        return self.dice.choices(self.words, cum_weights=self._word_weights, k=count)

    def identifier(self) -> str:
        """An identifier in its frequency."""
        return self.dice.choices(self.identifiers, cum_weights=self._identifier_weights)[0]

    def path(self) -> str:
        """A relative path in its frequency."""
        return self.dice.choices(self.paths, cum_weights=self._path_weights)[0]

    def digits(self, count: int) -> str:
        """Hexadecimal digits."""
        at = int(self.dice.random() * (len(self._hexadecimal) - count))
        return self._hexadecimal[at : at + count]

    def image(self, size: int) -> str:
        """Base64 of nothing in particular."""
        at = int(self.dice.random() * (len(self._base64) - size))
        return self._base64[at : at + size]

    def length(self, median: float, spread: float, most: int) -> int:
        """Characters of a text: log-normal, as lengths are."""
        drawn = median * math.exp(self.dice.gauss(0, spread))
        return min(most, max(8, int(drawn)))

    def text(self, lines: Sequence[str], chars: int, between: str = "\n") -> str:
        """About so many characters of lines, one in fourteen with something never seen before."""
        average = sum(map(len, lines[:64])) // 64 + 1
        chosen = self.dice.choices(lines, k=max(1, round(chars / average)))
        for _ in range(len(chosen) // 14):
            chosen[int(self.dice.random() * len(chosen))] = self._fresh_line()
        return between.join(chosen)[: chars * 3 // 2 + 80]

    def _fresh_line(self) -> str:
        number = int(self.dice.random() * 1e6)
        match number % 3:
            case 0:
                return f"{self.digits(40)} {self.identifier()}"
            case 1:
                return f"{number}: {self.identifier()}{number % 9_973} = 0x{self.digits(8)}"
        return f"{self.path()}:{number % 3_000}:{self.digits(12)}"

    def _made_words(self) -> list[str]:
        words = dict.fromkeys(letters.FREQUENT.split())
        syllables, endings = letters.SYLLABLES.split(), letters.ENDINGS.split()
        while len(words) < WORDS:
            stem = self.dice.choices(syllables, k=self.dice.choice((2, 2, 3, 3, 4)))
            words["".join(stem) + self.dice.choice(endings)] = None
        return list(words)

    def _compound(self) -> str:
        parts = self.dice.choices(self.words[20:900], k=self.dice.choice((2, 2, 3, 3, 4)))
        capitals = [part.capitalize() for part in parts]
        spelling = self.dice.random()
        if spelling < 0.5:
            return parts[0] + "".join(capitals[1:])
        if spelling < 0.75:
            return "_".join(parts)
        return "".join(capitals) if spelling < 0.9 else "_".join(parts).upper()

    def _made_path(self) -> str:
        below = self.dice.choice(("src", "src/core", "test", "docs", "src/utils"))
        package = self.dice.choice(self.words[20:60])
        name = "-".join(self.dice.choices(self.words[20:900], k=self.dice.choice((1, 2))))
        extension = self.dice.choice(letters.EXTENSIONS.split())
        return f"packages/{package}/{below}/{name}.{extension}"

    def _lines(self, make: Callable[[], str], count: int = LINES) -> list[str]:
        return [make() for _ in range(count)]

    def _sentence(self) -> str:
        words = self.some_words(self.dice.randint(5, 22))
        for at in range(len(words)):
            chance = self.dice.random()
            if chance < 0.05:
                words[at] = f"`{self.identifier()}`"
            elif chance < 0.07:
                words[at] = self.path()
            elif chance < 0.085:
                words[at] = str(self.dice.randint(1, 9_999))
        text = " ".join(words)
        return text[0].upper() + text[1:] + self.dice.choice("....?!:")

    def _code_line(self) -> str:
        a, b, c, d = (self.identifier() for _ in range(4))
        words = " ".join(self.some_words(self.dice.randint(4, 12)))
        number = self.dice.randint(0, 9_999)
        line = self.dice.choice(
            (
                f'const {a} = await {b}.{c}({d}, "{words.split()[0]}");',
                f"if ({a} !== undefined && {b}.{c} === {number}) {{",
                f'import {{ {a}, {b} }} from "./{"-".join(words.split()[:2])}.js";',
                f"export function {a}({b}: string, {c}: number): {d} {{",
                f"return {a}.map((x) => x.{b}).filter(Boolean);",
                f"// {words}",
                f"throw new Error(`{words}: ${{{a}}}`);",
                f"expect({a}({number})).toBe({b});",
                "}",
                f'{a}: {{ type: "{b}", {c}: {number} }},',
            )
        )
        return "\t" * self.dice.choice((0, 1, 1, 2, 2, 3)) + line

    def _log_line(self) -> str:
        words = " ".join(self.some_words(self.dice.randint(3, 11)))
        number = self.dice.randint(1, 2_400)
        level = self.dice.choice(("INFO", "INFO", "WARN", "DEBUG", "ERROR"))
        return self.dice.choice(
            (
                f"{self.path()}:{number}:\t{self.identifier()}({words})",
                f"[{number // 100:02d}:{number % 60:02d}:{number % 59:02d}] {level} {words}",
                f"    at {self.identifier()} ({self.path()}:{number}:{number % 80})",
                f" ✓ {self.path()} > {words} {number}ms",
                f"-rw-r--r-- 1 dev dev {number:6d} Nov {number % 30 + 1:2d} {self.path()}",
                words,
            )
        )

    def _ideographs(self) -> str:
        signs = letters.HAN if self.dice.random() < 0.75 else letters.KANA + letters.HAN
        return "".join(self.dice.choices(signs, k=self.dice.randint(6, 30))) + "。"


def _zipf(count: int, shift: float, exponent: float) -> list[float]:
    return list(accumulate(1 / (rank + shift) ** exponent for rank in range(count)))
