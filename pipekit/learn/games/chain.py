"""A chain of sums for the scratch-paper game: exact, and readable as a class writes it down."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from unicodedata import normalize

from pipekit.learn.games.refused import Refused

STEPS = (2, 12)  # least and most in a game; the optimum is known for any
LARGEST = 1_000_000  # no value beyond it: a class computes in the head, and a cell has little room
OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "×": operator.mul,
    "÷": operator.truediv,
}
_SAME = str.maketrans({"x": "×", "X": "×", "*": "×", "/": "÷", "−": "-", "–": "-", "＋": "+"})
_STEP = re.compile(r"([-+×÷])\s*(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Step:
    """One sum: an operation and a whole number."""

    operation: str
    number: int

    def __str__(self) -> str:
        return f"{self.operation}{self.number}"

    def of(self, value: Fraction) -> Fraction:
        """What comes out of it."""
        return OPERATIONS[self.operation](value, Fraction(self.number))


@dataclass(frozen=True)
class Chain:
    """A start and steps.

    >>> print(LESSON)
    2 +4 ×3 -8 ×2 +5 ÷5 ×4 -11 ×3
    >>> [int(value) for value in LESSON.values]
    [2, 6, 18, 10, 20, 25, 5, 20, 9, 27]
    """

    start: int
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return " ".join([str(self.start), *map(str, self.steps)])

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """(N + 1): the start and the value after each step, exact."""
        return tuple(accumulate(self.steps, lambda value, step: step.of(value), initial=Fraction(self.start)))


def read(text: str) -> Chain:
    """Read a chain such as `2 +4 x3 -8 /5`, as typed on any keyboard.

    Raises:
        Refused: a word that is no step, too few or too many steps, a division by 0, or a value too large.
    """
    plain = normalize("NFKC", text).translate(_SAME).strip()
    start = re.match(r"-?\d{1,6}(?!\d)", plain)
    if start is None:
        raise Refused("chain_start", asked=plain[:12] or "-")
    steps: list[Step] = []
    rest = plain[start.end() :].lstrip(" ,，;")
    while rest:
        step = _STEP.match(rest)
        if step is None:
            raise Refused("chain_step", number=len(steps) + 1, asked=rest.split()[0][:12])
        steps.append(Step(step[1], int(step[2])))
        rest = rest[step.end() :].lstrip(" ,，;")
    least, most = STEPS
    if not least <= len(steps) <= most:
        raise Refused("chain_length", asked=len(steps), least=least, most=most)
    return _checked(Chain(int(start[0]), tuple(steps)))


def _checked(chain: Chain) -> Chain:
    value = Fraction(chain.start)
    for number, step in enumerate(chain.steps, start=1):
        if step.operation == "÷" and step.number == 0:
            raise Refused("chain_zero", number=number)
        value = step.of(value)
        if max(abs(value.numerator), value.denominator) > LARGEST:
            raise Refused("chain_large", number=number, most=LARGEST)
    return chain


LESSON = read("2 +4 x3 -8 x2 +5 /5 x4 -11 x3")
