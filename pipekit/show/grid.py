"""The painter: timelines -> a picture of rows (devices) and slots (time), all on one time axis.

Cells are stamped into a numpy array and labels are stamps rendered once: 8 x 64 labelled cells take a few
milliseconds, where matplotlib's text takes 300.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from pipekit.plan import Kind, Timeline
from pipekit.plan.ops import KINDS, unpack
from pipekit.plan.picture import column_time
from pipekit.show.fonts import Font, drawn_language, font_for, latin, sized
from pipekit.show.i18n import devices_words, number, say

Pixels = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]

# Okabe and Ito's colours (https://jfly.uni-koeln.de/color/), which colour-blind people can tell apart. A letter and
# a number stand in each cell too: colour is never the only cue.
FILLS: dict[Kind, Colour] = {
    Kind.FORWARD: (0, 114, 178),  # blue
    Kind.BACKWARD: (213, 94, 0),  # vermillion
    Kind.INPUT_GRAD: (230, 159, 0),  # orange
    Kind.WEIGHT_GRAD: (204, 121, 167),  # reddish purple
    Kind.RECOMPUTE: (0, 158, 115),  # bluish green
}
PAPER, INK, WHITE = (255, 255, 255), (26, 26, 26), (255, 255, 255)
IDLE, DOT, MUTED = (236, 236, 236), (120, 120, 120), (85, 85, 85)

WIDTH = 1060  # pixels: fits a 1280 pixel projector beside JupyterLab's own frame
TEXT, SMALL, SMALLEST = 18, 15, 9  # pixels
LABEL_SIZES, STACKED = (17, 14), 10  # pixels: in one line; letter over number in a narrow cell
NARROWEST_LABEL = 14  # pixels: a cell below that carries none
ROW, GAP, LINE, AXIS = 26, 2, 27, 22  # heights: a device's row and the gap under it, a line of text, the axis
MARGIN = 6


def paint(
    timelines: Sequence[Timeline],
    *,
    lang: str = "en",
    view: str = "class",
    column: float | None = None,
    notes: Sequence[str] = (),
    width: int = WIDTH,
) -> Image.Image:
    """Paint timelines one under the other on one time axis, each under the line that says where it comes from.

    Measured cells are solid, predicted ones pale with a border.

    Args:
        timelines: predicted first, then measured; an empty measured one shows waiting rows.
        view: `"class"` counts from 1, `"engineer"` from 0.
        column: seconds (or ticks) of one slot of the axis; left out: the smallest op of the first timeline.
        notes: one a timeline: what to write at the end of its line, such as its bubble.
        width: pixels.
    """
    sheet = _Sheet.for_timelines(timelines, drawn_language(lang), view, column, width)
    y = MARGIN
    for index, timeline in enumerate(timelines):
        y = sheet.caption(timeline, notes[index] if notes else "", y)
        if index == 0:
            y = sheet.axis(y)
        y = sheet.rows(timeline, y)
    sheet.legend(timelines, y)
    return Image.fromarray(sheet.pixels)


def png(image: Image.Image) -> bytes:
    """A picture as PNG; packed lightly, since making it fast matters more than a few kilobytes."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def ink_on(fill: Colour) -> Colour:
    """White on dark fills, dark on light ones: whichever can be read better."""
    return max((WHITE, INK), key=lambda ink: contrast(ink, fill))


def contrast(one: Colour, other: Colour) -> float:
    """WCAG's contrast ratio, 1 to 21; text needs 4.5."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Colour) -> float:
    parts = [c / 255 for c in colour]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _tint(fill: Colour) -> Colour:
    """A predicted cell's pale inside; its border keeps the full colour."""
    red, green, blue = (round(255 - (255 - part) * 0.22) for part in fill)
    return red, green, blue


@lru_cache(maxsize=4096)
def _stamp(text: str, font: Font, size: int, ink: Colour, ground: Colour) -> Pixels:
    """(h, w, 3): the text on its ground, trimmed to its width."""
    face = sized(font, size)
    ascent, descent = face.getmetrics()
    image = Image.new("RGB", (math.ceil(face.getlength(text)) + 1, ascent + descent), ground)
    ImageDraw.Draw(image).text((0, 0), text, font=face, fill=ink)
    stamp = np.asarray(image)
    stamp.flags.writeable = False
    return stamp


@lru_cache(maxsize=8192)
def _label(letter: str, digits: str, width: int, fill: Colour) -> Pixels | None:
    """The stamp that fits a cell of that width: `F12` in one line, or the letter over the number, or nothing."""
    if width < NARROWEST_LABEL:
        return None
    font, ink = latin(bold=True), ink_on(fill)
    for size in LABEL_SIZES:
        stamp = _stamp(letter + digits, font, size, ink, fill)
        if stamp.shape[1] <= width - 4:
            return stamp
    lines = [_stamp(text, font, STACKED, ink, fill)[1:-1] for text in (letter, digits)]
    if max(line.shape[1] for line in lines) > width - 2:
        return None
    stamp = np.full(
        (sum(line.shape[0] for line in lines), max(line.shape[1] for line in lines), 3), fill, np.uint8
    )
    top = 0
    for line in lines:
        left = (stamp.shape[1] - line.shape[1]) // 2
        stamp[top : top + line.shape[0], left : left + line.shape[1]] = line
        top += line.shape[0]
    return stamp


@dataclass
class _Sheet:
    """One picture in the making."""

    pixels: Pixels  # (h, w, 3)
    lang: str
    view: str
    left: int  # where time 0 is, in pixels
    slot: float  # pixels of one slot
    num_slots: int
    column: float  # time of one slot

    @classmethod
    def for_timelines(
        cls, timelines: Sequence[Timeline], lang: str, view: str, column: float | None, width: int
    ) -> _Sheet:
        column = column_time(timelines[0]) if column is None else column
        longest = max(timeline.makespan for timeline in timelines)
        num_slots = max(1, math.ceil(longest / column - 0.25))  # a wake-up's lateness opens no new slot
        devices = max(timeline.num_devices for timeline in timelines)
        names = [say("device", lang, number=number(device, view)) for device in range(devices)]
        left = MARGIN + max(_stamp(name, font_for(lang), TEXT, INK, PAPER).shape[1] for name in names) + 10
        tail = _stamp(say("slot", lang), font_for(lang), SMALL, MUTED, PAPER).shape[1] + 2 * MARGIN
        rows = sum(timeline.num_devices for timeline in timelines)
        height = MARGIN + LINE * len(timelines) + AXIS + rows * (ROW + GAP) + LINE
        pixels = np.full((height, width, 3), PAPER, dtype=np.uint8)
        return cls(pixels, lang, view, left, (width - left - tail) / num_slots, num_slots, column)

    @property
    def right(self) -> int:
        """Where the last slot ends, in pixels."""
        return self.left + round(self.slot * self.num_slots)

    def text(
        self, text: str, x: int, y: int, size: int = TEXT, ink: Colour = INK, right: int | None = None
    ) -> int:
        """Write from x to at most `right`, smaller rather than cut off; returns where it ends."""
        right = self.pixels.shape[1] if right is None else right
        stamp = _stamp(text, font_for(self.lang), size, ink, PAPER)
        while size > SMALLEST and x + stamp.shape[1] > right:
            size -= 1
            stamp = _stamp(text, font_for(self.lang), size, ink, PAPER)
        self.put(stamp, x, y)
        return x + stamp.shape[1]

    def put(self, stamp: Pixels, x: int, y: int) -> None:
        """Stamp with its upper left corner at (x, y), as far as it lies on the sheet."""
        x = max(x, 0)
        target = self.pixels[y : y + stamp.shape[0], x : x + stamp.shape[1]]
        target[:] = stamp[: target.shape[0], : target.shape[1]]

    def centre(self, stamp: Pixels, left: int, width: int, top: int, height: int) -> None:
        """Stamp in the middle of a box."""
        self.put(stamp, left + (width - stamp.shape[1]) // 2, top + (height - stamp.shape[0]) // 2)

    def caption(self, timeline: Timeline, note: str, y: int) -> int:
        """The line above a grid: measured or predicted, and on what; at its end the note."""
        if not len(timeline.spans) and timeline.source != "predicted":
            source, on = say("not_measured", self.lang), ""
        else:
            source, on = devices_words(timeline, self.lang)
        noted = _stamp(note, font_for(self.lang), TEXT, INK, PAPER)
        self.put(noted, self.right - noted.shape[1], y)
        x = self.text(source, MARGIN, y, right=self.right)
        self.text(on, x + 14, y + 3, SMALL, MUTED, right=self.right - noted.shape[1] - 14)
        return y + LINE

    def axis(self, y: int) -> int:
        """The slots' numbers, as many as have room."""
        widest = _stamp(str(self.num_slots), font_for(self.lang), SMALL, MUTED, PAPER).shape[1] + 6
        step = next((s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500) if s * self.slot >= widest), 1000)
        for slot in range(self.num_slots):
            called = number(slot, self.view)
            if called % step == 0 or called == number(0, self.view):
                stamp = _stamp(str(called), font_for(self.lang), SMALL, MUTED, PAPER)
                self.centre(stamp, self.left + round(slot * self.slot), round(self.slot), y, AXIS)
        self.text(say("slot", self.lang), self.right + 6, y + 2, SMALL, MUTED)
        return y + AXIS

    def rows(self, timeline: Timeline, y: int) -> int:
        """One row a device: an idle lane with a dot in each slot, and the ops on it."""
        for device in range(timeline.num_devices):
            top = y + device * (ROW + GAP)
            name = _stamp(
                say("device", self.lang, number=number(device, self.view)),
                font_for(self.lang),
                TEXT,
                INK,
                PAPER,
            )
            self.put(name, MARGIN, top + (ROW - name.shape[0]) // 2)
            self.lane(top)
        self.ops(timeline, y)
        return y + timeline.num_devices * (ROW + GAP)

    def lane(self, top: int) -> None:
        """An empty lane: idle slots can be seen and counted."""
        self.pixels[top : top + ROW, self.left : self.right] = IDLE
        middle = top + ROW // 2
        for slot in range(self.num_slots):
            x = self.left + round(slot * self.slot)
            if self.slot >= NARROWEST_LABEL:
                self.pixels[top : top + ROW, x] = PAPER
                dot = x + round(self.slot / 2)
                self.pixels[middle - 1 : middle + 2, dot - 1 : dot + 2] = DOT

    def ops(self, timeline: Timeline, y: int) -> None:
        """Every op as a filled cell from its start to its end, with its letter and number."""
        scale = self.slot / self.column
        spans, start = timeline.spans, timeline.start
        kinds, stages, micro_batches = (part.tolist() for part in unpack(spans.codes))
        begins = np.rint(self.left + (spans.starts - start) * scale).astype(int)
        ends = np.rint(self.left + (spans.ends - start) * scale).astype(int)
        ends = np.minimum(np.maximum(ends, begins + 1), self.pixels.shape[1])
        rooms = (spans.durations * scale + 0.01).astype(
            int
        )  # equal ops get equal labels, however they are rounded
        several = timeline.num_stages > timeline.num_devices
        predicted = timeline.source == "predicted"
        places = (spans.devices.tolist(), begins.tolist(), ends.tolist(), rooms.tolist())
        for kind, stage, micro_batch, device, begin, end, room in zip(
            kinds, stages, micro_batches, *places, strict=True
        ):
            fill = FILLS[KINDS[kind]]
            top = y + device * (ROW + GAP)
            self.pixels[top : top + ROW, begin:end] = fill
            if end - begin > 3:
                self.pixels[top : top + ROW, end - 1] = PAPER  # where one op ends and the next begins
            if predicted:
                fill = _tint(fill)
                self.pixels[top + 2 : top + ROW - 2, begin + 2 : end - 3] = fill
            letter = (str(number(stage, self.view)) if several else "") + KINDS[kind].value
            stamp = _label(letter, str(number(micro_batch, self.view)), room, fill)
            if stamp is not None:
                self.centre(stamp, begin, end - begin - 1, top, ROW)

    def legend(self, timelines: Sequence[Timeline], y: int) -> None:
        """What the colours and letters mean, for the kinds that are there."""
        present = sorted({kind for timeline in timelines for kind in timeline.spans.kinds.tolist()})
        entries = [(KINDS[kind].value, FILLS[KINDS[kind]], f"kind_{KINDS[kind].value}") for kind in present]
        x = self.left
        for letter, fill, key in [*entries, ("", IDLE, "idle")]:
            box = (slice(y + 6, y + LINE - 2), slice(x, x + 26))
            self.pixels[box] = fill
            sign = _stamp(letter or "·", latin(bold=True), 14, ink_on(fill), fill)
            self.centre(sign, x, 26, y + 6, LINE - 8)
            x = self.text(say(key, self.lang), x + 32, y + 4, SMALL, MUTED) + 22
