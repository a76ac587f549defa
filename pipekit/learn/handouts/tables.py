"""Tables on paper: a grey head, rows as high as their words or as high as a hand needs to write."""

from __future__ import annotations

from collections.abc import Sequence

from pipekit.learn.handouts.sheet import LEADING, MARGIN, POINT, Box, Mark, Words, wrapped

PADDING = 2.0  # millimetres beside and above words
HEAD_GREY = 0.12


def table(
    widths: Sequence[float],
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    y: float,
    least: float = 0.0,
    size: float = 10.0,
    centred: bool = True,
) -> tuple[list[Mark], float]:
    """A table from `y` down, and its height.

    Args:
        widths: of the columns, in millimetres. least: height of a row of the body.
    """
    marks: list[Mark] = []
    top = y
    for number, cells in enumerate([head, *rows]):
        lines = [wrapped(text, width - 2 * PADDING, size) for text, width in zip(cells, widths, strict=True)]
        step = size * POINT * LEADING
        height = max(least if number else 0.0, max(map(len, lines)) * step + 2 * PADDING)
        x = MARGIN
        for width, column in zip(widths, lines, strict=True):
            marks.append(Box(x, top, width, height, grey=0.0 if number else HEAD_GREY))
            first = top + (height - len(column) * step) / 2 if centred else top + PADDING
            for index, line in enumerate(column):
                where = x + width / 2 if centred else x + PADDING
                marks.append(Words(where, first + step * (index + 0.5), line, size, centred=centred))
            x += width
        top += height
    return marks, top - y
