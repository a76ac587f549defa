"""A lesson as a still picture, for where no kernel is: lines of words, and what is drawn under them."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw

from pipekit.learn.controlroom import pictures
from pipekit.learn.controlroom.style import WIDTH
from pipekit.learn.games.table_picture import wrapped
from pipekit.show import say
from pipekit.show.fonts import drawn_language, font_for, sized

LINE, SIZE, EDGE = 38, 20, 12  # pixels
INK = (26, 26, 26)


def still(lines: Sequence[str], lang: str, below: Sequence[bytes] = ()) -> Image.Image:
    """How to bring the page alive, the lines one under another (long ones in several), and pictures (PNG) side by side below."""
    face = sized(font_for(drawn_language(lang)), SIZE)
    lines = [part for line in lines for part in wrapped(line, face, WIDTH - 2 * EDGE)]
    sheet = Image.new("RGB", (WIDTH, LINE * len(lines) + EDGE), "white")
    pen = ImageDraw.Draw(sheet)
    for number, words in enumerate(lines):
        pen.text((EDGE, EDGE // 2 + LINE * number), words, font=face, fill=INK)
    return pictures.stack(sheet, below, say("still_line", drawn_language(lang)), lang)
