"""Sheets as a PDF: black on white, the letters as outlines, so that every printer has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib
from matplotlib import ft2font
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Rectangle

from pipekit.errors import FileError
from pipekit.learn.handouts.sheet import HEIGHT, POINT, WIDTH, Box, Circle, Line, Sheet, Words
from pipekit.show.fonts import Font, chinese, font_for, latin

INCH = 25.4
DASHES = (0, (4, 3))


def write(sheets: Sequence[Sheet], path: Path, lang: str) -> Path:
    """Write sheets into one PDF.

    Raises:
        FileError: Chinese was asked for and there's no Chinese font, or the font lacks a character (boxes instead of
            words are worse than no file); or it can't be written there.
    """
    if lang == "zh" and chinese() is None:
        raise FileError("font_missing")
    absent = lacking(sheets, lang)
    if absent:
        raise FileError("font_lacks", name=font_for(lang).name, characters=" ".join(sorted(absent)))
    try:
        with (
            matplotlib.rc_context(
                {"pdf.fonttype": 3}
            ),  # outlines: the other way can't hold every Chinese font
            PdfPages(path, metadata={"CreationDate": None, "Title": sheets[0].name}) as pages,
        ):
            for sheet in sheets:
                pages.savefig(painted(sheet, lang))
    except OSError as error:
        raise FileError("file_refused", path=path, cause=error.strerror or type(error).__name__) from None
    return path


def lacking(sheets: Iterable[Sheet], lang: str) -> set[str]:
    """Characters that no font of this language's has."""
    there = _characters(font_for(lang)) | _characters(latin())
    return {letter for sheet in sheets for text in sheet.words for letter in text if ord(letter) not in there}


def _characters(font: Font) -> set[int]:
    return set(ft2font.FT2Font(font.path).get_charmap())


def painted(sheet: Sheet, lang: str) -> Figure:
    """The page as a figure of A4's size."""
    figure = Figure(figsize=(WIDTH / INCH, HEIGHT / INCH))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    axes.set_axis_off()
    families = list(dict.fromkeys([font_for(lang).name, latin().name]))
    for mark in sheet.marks:
        if isinstance(mark, Words):
            axes.text(
                mark.x,
                mark.y,
                mark.text,
                fontsize=mark.size,
                fontfamily=families,
                fontweight="bold" if mark.bold and lang == "en" else "normal",
                ha="center" if mark.centred else "left",
                va="center_baseline",
                parse_math=False,
            )
        else:
            axes.add_artist(_shape(mark))
    return figure


def _shape(mark: Line | Box | Circle) -> matplotlib.artist.Artist:
    if isinstance(mark, Line):
        return matplotlib.lines.Line2D(
            [mark.x, mark.to_x],
            [mark.y, mark.to_y],
            color="black",
            linewidth=mark.thick / POINT,
            linestyle=DASHES if mark.dashed else "-",
        )
    if isinstance(mark, Circle):
        size = 2 * mark.radius
        dashes = DASHES if mark.dashed else "-"
        return Ellipse((mark.x, mark.y), size, size, fill=False, linewidth=0.7, linestyle=dashes)
    fill = str(1 - mark.grey)
    return Rectangle(
        (mark.x, mark.y),
        mark.width,
        mark.height,
        facecolor=fill,
        edgecolor="black",
        linewidth=mark.thick / POINT,
    )
