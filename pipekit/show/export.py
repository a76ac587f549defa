"""Pictures and timelines into files: SVG to print, GIF to replay on a slide, and `save`, which goes by the file's name."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from PIL import Image

from pipekit.errors import FileError
from pipekit.plan import Timeline, column_time
from pipekit.plan.files import WRITERS, ending, write_file, write_timeline
from pipekit.show.fonts import CHINESE_NAMES, LATIN, Font, font_for, latin
from pipekit.show.grid import BORDER, DASH, Box, Colour, Scene, Text, drawn, paint, png, scene, slots_of

SLOT_SECONDS, LAST_SECONDS = 0.5, 2.0  # how long a GIF shows a slot, and the whole at the end
GIF_COLOURS = 64  # few are needed: fills, and the greys at the edges of letters
APART = 16  # of 255: Pillow takes colours that are closer for the same
BASELINE = 0.36  # of a font's size: from a line's half height down to where letters stand
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def save(
    timelines: Timeline | Sequence[Timeline],
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    **options: Any,
) -> Path:
    """Save timelines, predicted or measured, as the file's name says.

    Args:
        timelines: one, or several that a picture shows one under the other.
        path: ends in `.png`, `.svg`, `.gif` (a replay), or `.json`, `.csv`, `.trace.json` (one timeline, as data that
            `plan.read_timeline` reads back; see `plan.files`).
        overwrite: whether an existing file may be replaced.
        options: how a picture looks: what `paint` takes, for a GIF what `gif` takes. Data have no looks.

    Returns:
        Where it lies now.

    Raises:
        FileError: unknown ending, a folder that isn't there, a file that is, or what the system says.
    """
    path = Path(path)
    several = [timelines] if isinstance(timelines, Timeline) else list(timelines)
    writer = ending(path, {**PICTURES, **WRITERS})
    if writer in PICTURES.values():
        return write_file(path, writer(several, **options), overwrite)
    if len(several) != 1:
        raise FileError("file_several", name=path.name, given=len(several))
    return write_timeline(several[0], path, overwrite)


# -- SVG


@drawn(scene)
def svg(scene: Scene) -> str:
    """Draw timelines as SVG: the same picture as `paint`, in text and lines that print sharply at any size.

    Pointing at an op says when it ran; a screen reader hears where the picture comes from.
    """
    title = escape(_xml(scene.title))
    family = _family(font_for(scene.lang))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{scene.width}" height="{scene.height}" '
        f'viewBox="0 0 {scene.width} {scene.height}" role="img" aria-label={quoteattr(_xml(scene.title))} '
        f'lang="{scene.lang}" font-family="{family}" style="print-color-adjust: exact; '
        '-webkit-print-color-adjust: exact">'
    )
    paper = f'<rect width="{scene.width}" height="{scene.height}" fill="#ffffff"/>'
    items = [_box(item) if isinstance(item, Box) else _text(item, family) for item in scene.items]
    return "\n".join([head, f"<title>{title}</title>", paper, *items, "</svg>\n"])


def _box(box: Box) -> str:
    width, height, frame = box.right - box.left, box.bottom - box.top, ""
    left, top = float(box.left), float(box.top)
    if box.border is not None:  # a line lies half inside and half outside, so it is moved in
        left, top = left + BORDER / 2, top + BORDER / 2
        width, height = max(width - BORDER, 1), max(height - BORDER, 1)
        frame = f' stroke="{_hex(box.border)}" stroke-width="{BORDER}"'
        frame += f' stroke-dasharray="{DASH}"' if box.dashed else ""
    rect = f'<rect x="{left:g}" y="{top:g}" width="{width}" height="{height}" fill="{_hex(box.fill)}"{frame}'
    return f"{rect}><title>{escape(_xml(box.title))}</title></rect>" if box.title else f"{rect}/>"


def _text(text: Text, family: str) -> str:
    own = _family(text.font)
    face = f' font-family="{own}"' if own != family else ""
    face += ' font-weight="bold"' if text.font == latin(bold=True) else ""
    return (
        f'<text x="{text.x}" y="{text.y + BASELINE * text.size:.1f}" font-size="{text.size}"{face} '
        f'fill="{_hex(text.ink)}" text-anchor="{text.anchor}" textLength="{text.width}" '
        f'lengthAdjust="spacingAndGlyphs" pointer-events="none">{escape(_xml(text.text))}</text>'
    )


def _family(font: Font) -> str:
    """The font it was laid out in, then what other machines have."""
    others = (LATIN, "Verdana") if font.name == LATIN else (*CHINESE_NAMES, LATIN)
    return ", ".join([f"'{name}'" for name in dict.fromkeys((font.name, *others))] + ["sans-serif"])


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _xml(text: str) -> str:
    """Without the characters that XML forbids."""
    return _NOT_XML.sub("", text)


# -- GIF


def frames(
    timelines: Sequence[Timeline], *, column: float | None = None, **options: Any
) -> Iterator[Image.Image]:
    """A replay: one picture a slot, with a cursor through all rows; what comes after the cursor isn't drawn yet.

    The first shows empty rows, the last the whole without a cursor.

    Args:
        column: seconds (or ticks) of one slot; left out: the smallest op of the first timeline.
        options: what `paint` takes.
    """
    column = column_time(timelines[0]) if column is None else column
    slot = 0
    while slot < slots_of(timelines, column):
        yield paint(timelines, column=column, until=slot * column, cursor=slot * column, **options)
        slot += 1
    yield paint(timelines, column=column, **options)


def gif(timelines: Sequence[Timeline], *, slot_seconds: float = SLOT_SECONDS, **options: Any) -> bytes:
    """A replay as an animated GIF that starts over at its end.

    Args:
        slot_seconds: how long each slot is shown.
        options: what `paint` takes.
    """
    pictures = list(frames(timelines, **options))
    palette = _palette(pictures[-1])
    reduced = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    buffer = io.BytesIO()
    durations = [round(1000 * slot_seconds)] * (len(reduced) - 1) + [round(1000 * LAST_SECONDS)]
    reduced[0].save(
        buffer, "GIF", save_all=True, append_images=reduced[1:], duration=durations, loop=0, optimize=True
    )
    return buffer.getvalue()


def _palette(picture: Image.Image) -> Image.Image:
    """The commonest colours that can be told apart; shared by all frames, so that nothing flickers."""
    packed, counts = np.unique(np.asarray(picture) @ np.array([1 << 16, 1 << 8, 1]), return_counts=True)
    chosen: list[Colour] = []
    for number in packed[np.argsort(-counts)].tolist():
        colour = number >> 16, number >> 8 & 255, number & 255
        apart = all(max(abs(a - b) for a, b in zip(colour, other, strict=True)) >= APART for other in chosen)
        if apart and len(chosen) < GIF_COLOURS:
            chosen.append(colour)
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in chosen for part in colour])
    return palette


def _png(timelines: Sequence[Timeline], **options: Any) -> bytes:
    return png(paint(timelines, **options))


def _svg(timelines: Sequence[Timeline], **options: Any) -> bytes:
    return svg(timelines, **options).encode()


PICTURES: dict[str, Callable[..., bytes]] = {".png": _png, ".svg": _svg, ".gif": gif}
