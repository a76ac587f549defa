"""All schedules of a comparison as grids on one time axis: cells with labels, or, where they'd be too small, a mixture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from PIL import Image

from pipekit import plan, show
from pipekit.learn.comparison import sentences, tables
from pipekit.learn.comparison.cases import Case
from pipekit.learn.comparison.dense import block
from pipekit.learn.comparison.rows import Row
from pipekit.plan.ops import KINDS
from pipekit.show import say
from pipekit.show.fonts import drawn_language, font_for
from pipekit.show.grid import (
    AXIS,
    IDLE,
    INK,
    LINE,
    MARGIN,
    MUTED,
    PAPER,
    SMALL,
    SMALLEST,
    TEXT,
    Box,
    Scene,
    Text,
    painted,
)  # fmt: skip

WIDTH = 1180  # pixels, as the control room
ROWS = 84  # pixels of one schedule's rows: at four devices 21 each
TALLEST, THINNEST = 21, 2  # pixels of a row
CELLS = 4  # pixels: where the usual cell is narrower, or a row lower than a label, no cells are drawn
LOWEST = 12  # pixels of a row with cells
ROOM = 110  # pixels left of the axis in a dense picture


def draw(case: Case, rows: Sequence[Row], lang: str, view: str, pieces: bool = False) -> Image.Image:
    """The picture: each schedule's grid under its name, where it comes from and what it says, and what stayed below it.

    Args:
        pieces: whether each says its own M.
    """
    lang = drawn_language(lang)
    shown = [each for each in rows if each.figures is not None]
    if not shown:
        return painted(_lines([say("compare_nothing", lang, view)], lang))
    timelines = [timeline_of(each) for each in shown]
    row = max(THINNEST, min(TALLEST, ROWS // case.num_devices))
    width_of_cell = (WIDTH - ROOM) / show.slots_of(timelines, 1.0) * _usual_op(timelines)
    captions = [sentences.caption(each, lang, view, pieces) for each in shown]
    footers = [sentences.equality(each, lang, view) for each in shown]
    drawing = _cells if row >= LOWEST and width_of_cell >= CELLS else _mixtures
    image = drawing(case, timelines, captions, footers, row, lang, view)
    source = painted(_lines(sentences.source(case, shown, lang, view), lang))
    return Image.fromarray(np.concatenate([np.asarray(image), np.asarray(source)]))


def still(
    case: Case, rows: Sequence[Row], lang: str, view: str, pieces: bool = False, below: str = ""
) -> Image.Image:
    """The picture with its table, and a line of words below it if there is one: for slides, and where no kernel is."""
    lang = drawn_language(lang)
    parts = [draw(case, rows, lang, view, pieces)]
    if rows:
        parts.append(painted(_table(rows, lang, view, pieces)))
    if below:
        parts.append(painted(_lines([below], lang)))
    return Image.fromarray(np.concatenate([np.asarray(part) for part in parts]))


def _table(rows: Sequence[Row], lang: str, view: str, pieces: bool) -> Scene:
    """A class's columns, in words on lines; a schedule without numbers says why."""
    shown = tables.columns(lang, view, pieces, few=True)
    first = 300
    wide = (WIDTH - MARGIN - first) // (len(shown) - 1)
    items: list[Box | Text] = []

    def write(text: str, column: int, y: int, ink: tuple[int, int, int] = INK) -> None:
        x, anchor = (MARGIN, "start") if column == 0 else (first + column * wide, "end")
        items.append(_fitted(text, x, y, (first if column == 0 else wide) - 8, lang, ink, anchor))

    for head, columns in tables.groups(shown):
        if len(columns) == 1:
            write(head, columns[0], LINE // 2, MUTED)
            continue
        middle = first + round((columns[0] + columns[-1] - 1) / 2 * wide) + 8
        items.append(_fitted(head, middle, LINE // 2, len(columns) * wide - 8, lang, MUTED, "middle"))
        for column in columns:
            write(shown[column].below, column, LINE + LINE // 2 - 4, MUTED)
    for index, row in enumerate(rows):
        y = LINE * (index + 2)
        items.append(Box(MARGIN, y - 2, WIDTH - MARGIN, y - 1, IDLE))
        if row.prediction is None and row.error is not None:
            why = sentences.row_error(row, lang, view)
            items.append(_fitted(why, MARGIN, y + LINE // 2, WIDTH - 2 * MARGIN, lang))
            continue
        for column, each in enumerate(shown):
            write(each.cell(row), column, y + LINE // 2)
    return Scene(WIDTH, LINE * (len(rows) + 2), lang, "", items)


def timeline_of(row: Row) -> plan.Timeline:
    """The measured timeline in slots, or else the predicted one."""
    if row.measured is None:
        assert row.prediction is not None
        return row.prediction.timeline
    timeline, slot = row.measured.timeline, row.measured.slot
    spans = plan.Spans(
        timeline.spans.codes,
        timeline.spans.devices,
        timeline.spans.starts / slot,
        timeline.spans.ends / slot,
    )
    return replace(timeline, spans=spans, unit="slot")


def _usual_op(timelines: Sequence[plan.Timeline]) -> float:
    return min(float(np.median(timeline.spans.durations)) for timeline in timelines)


def _cells(
    case: Case,
    timelines: Sequence[plan.Timeline],
    captions: Sequence[str],
    footers: Sequence[str],
    row: int,
    lang: str,
    view: str,
) -> Image.Image:
    return show.paint(
        timelines,
        lang=lang,
        view=view,
        column=1.0,
        captions=captions,
        footers=footers,
        labels="piece",
        row=row,
        width=WIDTH,
    )


def _mixtures(
    case: Case,
    timelines: Sequence[plan.Timeline],
    captions: Sequence[str],
    footers: Sequence[str],
    row: int,
    lang: str,
    view: str,
) -> Image.Image:
    """The same without cells: words around blocks of pixels."""
    font, left, tall = font_for(lang), ROOM, row * case.num_devices
    until = max(timeline.makespan for timeline in timelines)
    items: list[Box | Text] = []
    blocks: list[int] = []
    y = MARGIN
    for index, (caption, footer) in enumerate(zip(captions, footers, strict=True)):
        items.append(Text(caption, MARGIN, y + LINE // 2, TEXT, font))
        y += LINE
        if index == 0:
            items += _ruler(until, left, y, lang)
            y += AXIS
        first, last = (show.number(device, view) for device in (0, case.num_devices - 1))
        for device, place in ((first, y + 8), (last, y + max(tall, 24) - 8)):
            items.append(Text(say("device", lang, view, number=device), MARGIN, place, SMALL, font))
        blocks.append(y)
        y += max(tall, 24)
        items.append(Text(footer, left, y + LINE // 2, SMALL, font, MUTED))
        y += LINE
    y = _legend(timelines, left, y, items, lang, view)
    pixels = np.array(painted(Scene(WIDTH, y, lang, "", items)))
    for top, timeline in zip(blocks, timelines, strict=True):
        pixels[top : top + tall, left : WIDTH - 2 * MARGIN] = block(
            timeline, WIDTH - 2 * MARGIN - left, until, row
        )
    return Image.fromarray(pixels)


def _ruler(until: float, left: int, y: int, lang: str) -> list[Box | Text]:
    """About ten round numbers of slots over the blocks."""
    scale = (WIDTH - 2 * MARGIN - left) / until
    power = 10 ** int(np.floor(np.log10(max(until / 10, 1))))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit * 12 >= until)
    marks: list[Box | Text] = []
    for slots in range(0, int(until) + 1, step):
        x = left + round(slots * scale)
        marks.append(Text(str(slots), x, y + AXIS // 2 - 2, SMALL, font_for(lang), MUTED, PAPER, "middle"))
        marks.append(Box(x, y + AXIS - 3, x + 1, y + AXIS, MUTED))
    marks.append(Text(say("slot", lang), MARGIN, y + AXIS // 2 - 2, SMALL, font_for(lang), MUTED))
    return marks


def _legend(
    timelines: Sequence[plan.Timeline], x: int, y: int, items: list[Box | Text], lang: str, view: str
) -> int:
    kinds = sorted({kind for timeline in timelines for kind in np.unique(timeline.spans.kinds).tolist()})
    entries = [(show.FILLS[KINDS[kind]], f"kind_{KINDS[kind].value}") for kind in kinds] + [(IDLE, "idle")]
    for fill, key in entries:
        items.append(Box(x, y + 6, x + 26, y + LINE - 2, fill))
        words = Text(say(key, lang, view), x + 32, y + LINE // 2 + 2, SMALL, font_for(lang), MUTED)
        items.append(words)
        x += 32 + words.width + 22
    return y + LINE


def _lines(texts: Sequence[str], lang: str) -> Scene:
    """Sentences, one a line."""
    room = WIDTH - 2 * MARGIN
    items: list[Box | Text] = [
        _fitted(text, MARGIN, LINE * index + LINE // 2, room, lang) for index, text in enumerate(texts)
    ]
    return Scene(WIDTH, LINE * len(texts), lang, "", items)


def _fitted(
    text: str, x: int, y: int, room: int, lang: str, ink: tuple[int, int, int] = INK, anchor: str = "start"
) -> Text:
    """Words written smaller rather than cut off."""
    made = Text(text, x, y, SMALL, font_for(lang), ink, PAPER, anchor)
    while made.size > SMALLEST and made.width > room:
        made = replace(made, size=made.size - 1)
    return made
