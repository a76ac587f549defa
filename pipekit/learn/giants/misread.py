"""The digits that a net read wrong, large enough to judge for oneself."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw

from pipekit.learn.data import digits
from pipekit.learn.giants.pictures import Exam
from pipekit.show import Still, png, say
from pipekit.show.fonts import drawn_language, font_for, sized

SIDE, GAP, LINE = 128, 24, 30  # pixels: a digit, between two, a line of words
MOST = 8  # digits in the picture


def misread(exam: Exam, lang: str) -> Still:
    """The first of the digits that were read wrong, with what is written and what was read below each."""
    shown = exam.mistakes[:MOST]
    drawn = drawn_language(lang)
    width = GAP + max(len(shown), 1) * (SIDE + GAP)
    picture = Image.new("L", (width, SIDE + 2 * LINE + 2 * GAP), 255)
    pen, font = ImageDraw.Draw(picture), sized(font_for(drawn), 20)
    for place, (index, written, read) in enumerate(shown):
        left = GAP + place * (SIDE + GAP)
        grey = np.round(255 * (1 - digits().test_images[index, 0].numpy())).astype(np.uint8)
        picture.paste(Image.fromarray(grey).resize((SIDE, SIDE), Image.Resampling.NEAREST), (left, GAP))
        pen.rectangle((left - 1, GAP - 1, left + SIDE, GAP + SIDE), outline=128)
        words = [say("giant_written", drawn, digit=written), say("giant_read", drawn, digit=read)]
        pen.multiline_text((left, GAP + SIDE + 6), "\n".join(words), fill=0, font=font, spacing=4)
    return Still(png(picture), _told(exam, lang))


def _told(exam: Exam, lang: str) -> str:
    """The same for whoever can't see it."""
    return "; ".join(
        f"{say('giant_written', lang, digit=written)}, {say('giant_read', lang, digit=read)}"
        for _, written, read in exam.mistakes[:MOST]
    )
