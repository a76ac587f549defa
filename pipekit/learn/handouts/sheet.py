"""A sheet of paper as data: lines, boxes and words on A4, in millimetres from the upper left corner."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from pipekit.show.fonts import latin, sized

WIDTH, HEIGHT = 210.0, 297.0
MARGIN = 15.0
POINT = 25.4 / 72  # millimetres
LEADING = 1.45  # line to line, in sizes
NEVER_FIRST = "，。！？、；：）”》…,.!?;:)%"  # a line doesn't begin with one of these
NEVER_LAST = "（“《("
WIDE = "“”…·"  # in a Chinese font as wide as a character


@dataclass(frozen=True, slots=True)
class Line:
    """From one point to another; dashed where paper is cut or folded."""

    x: float
    y: float
    to_x: float
    to_y: float
    thick: float = 0.25
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle. `grey`: how dark it is filled, 0 white, 1 black; light enough that a copier keeps its words."""

    x: float
    y: float
    width: float
    height: float
    grey: float = 0.0
    thick: float = 0.25


@dataclass(frozen=True, slots=True)
class Circle:
    """A place to draw in."""

    x: float
    y: float
    radius: float
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """One line of text; `x` is where it starts, or its middle; `y` is the middle of its height. `size` in points."""

    x: float
    y: float
    text: str
    size: float = 11.0
    centred: bool = False
    bold: bool = False


Mark = Line | Box | Circle | Words


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page: its name, for the file's table of contents, and what is on it."""

    name: str
    marks: tuple[Mark, ...]

    @property
    def words(self) -> list[str]:
        """Everything written on it, in the order in which it was put there."""
        return [mark.text for mark in self.marks if isinstance(mark, Words)]


def width_of(text: str, size: float) -> float:
    """Millimetres that a line takes: a Chinese character is as wide as it is high, others as in DejaVu Sans.

    No Chinese font is asked, so that a sheet is laid out the same with each of them.
    """
    return sum(_width_in_sizes(letter) for letter in text) * size * POINT


@cache
def _width_in_sizes(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF" or letter in WIDE:
        return 1.0
    return sized(latin(), 100).getlength(letter) / 100


def wrapped(text: str, width: float, size: float) -> list[str]:
    """A paragraph as lines no wider than `width`: broken at spaces, and between Chinese characters."""
    lines, line = [], ""
    for piece in _pieces(text):
        if line and width_of(line + piece.rstrip(), size) > width:
            lines.append(line.rstrip())
            line = piece.lstrip()
        else:
            line += piece
    return [*lines, line.rstrip()]


def _pieces(text: str) -> list[str]:
    """What can't be broken: a Latin word with its space, a Chinese character with the punctuation that sticks to it."""
    pieces = [""]
    for before, letter in zip(" " + text, text, strict=False):
        chinese = "W" in (unicodedata.east_asian_width(before), unicodedata.east_asian_width(letter))
        breaks = (
            before == " "
            or chinese
            or (before in NEVER_FIRST and unicodedata.east_asian_width(before) == "F")
        )
        if breaks and letter not in NEVER_FIRST + " " and before not in NEVER_LAST:
            pieces.append(letter)
        else:
            pieces[-1] += letter
    return [piece for piece in pieces if piece]


def paragraph(
    x: float, y: float, text: str, width: float, size: float = 11.0, bold: bool = False
) -> tuple[list[Words], float]:
    """A paragraph from `y` down, and where the next one may begin."""
    step = size * POINT * LEADING
    lines = wrapped(text, width, size)
    words = [Words(x, y + step * (number + 0.5), line, size, bold=bold) for number, line in enumerate(lines)]
    return words, y + step * len(lines)


class Column:
    """A sheet filled from above: each call adds below what is there already, or says that it doesn't fit."""

    def __init__(self, name: str) -> None:
        self.name, self.y = name, MARGIN
        self.marks: list[Mark] = []

    def write(
        self, text: str, size: float = 11.0, bold: bool = False, x: float = MARGIN, gap: float = 1.5
    ) -> None:
        """A paragraph across the page."""
        words, self.y = paragraph(x, self.y, text, WIDTH - MARGIN - x, size, bold)
        self.marks += words
        self.y += gap

    def add(self, marks: Iterable[Mark], height: float) -> None:
        """Marks placed from `self.y` down, by the caller, that take `height` millimetres."""
        self.marks += marks
        self.y += height

    def sheet(self) -> Sheet:
        """The finished page."""
        if self.y > HEIGHT - MARGIN / 2:
            raise AssertionError(f"the sheet {self.name!r} is {self.y:.0f} mm long, A4 has {HEIGHT:.0f}")
        return Sheet(self.name, tuple(self.marks))
