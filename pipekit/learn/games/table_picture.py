"""A game's table as a still picture and as plain text, for where no kernel is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PIL import Image, ImageColor, ImageDraw, ImageFont

from pipekit.learn.controlroom.style import WIDTH
from pipekit.learn.games.table import Item, Scene
from pipekit.show.fonts import drawn_language, font_for, sized

GAP, MARGIN, LINE, TEXT = 2, 6, 30, 18  # pixels: between things, beside words, a line of them, its letters
BUTTON, CELL, LABEL = "#FFFFFF", "#ECECEC", "#FFFFFF"
PAPER = {"button": BUTTON, "input": BUTTON, "cell": CELL, "label": LABEL}
INK, MUTED, EDGE = "#1A1A1A", "#555555", "#767676"
EDGES = {"ok": "#00664A", "wrong": "#A01C1C", "hint": "#1A1A1A", "now": "#D55E00"}


def still(scenes: Sequence[Scene], words: Sequence[str], lang: str) -> Image.Image:
    """Lines of words, tables one under the other, and what is said under them."""
    face = sized(font_for(drawn_language(lang)), TEXT)
    heights = [scene["rows"] * (scene["row_height"] + GAP) for scene in scenes]
    said = [line for scene in scenes for line in wrapped(scene["said"]["text"], face, WIDTH - 2 * MARGIN)]
    sheet = Image.new("RGB", (WIDTH, sum(heights) + LINE * (len(words) + len(said)) + GAP), "white")
    pen = ImageDraw.Draw(sheet)
    top = 0
    for text in words:
        pen.text((MARGIN, top + 4), text, font=face, fill=MUTED)
        top += LINE
    for scene, height in zip(scenes, heights, strict=True):
        _draw(pen, scene, top, face)
        top += height
    for text in said:
        pen.text((MARGIN, top + 4), text, font=face, fill=INK)
        top += LINE
    return sheet


def wrapped(text: str, face: ImageFont.FreeTypeFont, width: int) -> list[str]:
    """A sentence as lines no wider than `width` pixels, broken at spaces and between Chinese letters."""
    parts = re.findall(r"[\u2e80-\uffef]|[^\u2e80-\uffef ]+ *| +", text)
    lines: list[str] = []
    for part in parts:
        if lines and face.getlength(lines[-1] + part) <= width:
            lines[-1] += part
        else:
            lines.append(part)
    return lines


def in_words(scenes: Sequence[Scene], words: Sequence[str]) -> str:
    """The same in letters: a table's rows, what is written in them, and what is said."""
    lines = list(words)
    for scene in scenes:
        for row in range(scene["rows"]):
            items = sorted((i for i in scene["items"] if i["row"] == row), key=lambda i: i["column"])
            lines.append(" ".join(item.get("text", "") or "." for item in items))
        lines.append(scene["said"]["text"])
    return "\n".join(line for line in lines if line)


def edges(columns: Sequence[int | str], width: int) -> list[int]:
    """Where columns begin and the last ends, in pixels; those in `fr` share what the others leave.

    >>> edges([100, "1fr", "3fr"], 500)
    [0, 100, 200, 500]
    """
    shares = [0.0 if isinstance(c, int) else float(c.removesuffix("fr")) for c in columns]
    left = width - sum(c for c in columns if isinstance(c, int))
    one = left / sum(shares) if any(shares) else 0.0
    found = [0.0]
    for column, share in zip(columns, shares, strict=True):
        found.append(found[-1] + (column if isinstance(column, int) else share * one))
    return [round(edge) for edge in found]


def _draw(pen: ImageDraw.ImageDraw, scene: Scene, top: int, face: ImageFont.FreeTypeFont) -> None:
    across = edges(scene["columns"], WIDTH)
    for item in scene["items"]:
        row, column = item["row"], item["column"]
        high = scene["row_height"] + GAP
        box = (
            across[column],
            top + row * high,
            across[column + item.get("colspan", 1)] - GAP,
            top + (row + item.get("rowspan", 1)) * high - GAP,
        )
        _draw_item(pen, item, box, face)


def _draw_item(
    pen: ImageDraw.ImageDraw, item: Item, box: tuple[int, int, int, int], face: ImageFont.FreeTypeFont
) -> None:
    left, top, right, bottom = box
    kind, mark = item["kind"], item.get("mark", "")
    edge = EDGES.get(mark) or (EDGE if kind in ("button", "input") else None)
    fill = item.get("fill") or PAPER[kind]
    pen.rectangle(box, fill=ImageColor.getrgb(fill), outline=edge, width=3 if mark else 1)
    align = item.get("align") or ("left" if kind == "label" else "center")
    x, anchor = {"left": (left + 4, "lm"), "center": ((left + right) // 2, "mm"), "right": (right - 4, "rm")}[
        align
    ]
    pen.text(
        (x, (top + bottom) // 2), item.get("text", ""), font=face, fill=item.get("ink") or INK, anchor=anchor
    )
