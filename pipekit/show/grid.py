"""The painter: timelines -> a picture of rows (devices) and slots (time), all on one time axis.

`scene` says where each box and each word goes; `paint` stamps a scene into a numpy array, `export.svg` writes the
same scene as SVG. Labels are stamps rendered once: 8 x 64 labelled cells take a few milliseconds, where matplotlib's
text takes 300.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import signature
from itertools import count
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from pipekit.errors import CostsError
from pipekit.plan import Kind, Timeline
from pipekit.plan.ops import KINDS, unpack
from pipekit.plan.picture import column_time
from pipekit.show.fonts import Font, drawn_language, font_for, latin, sized
from pipekit.show.i18n import devices_line, devices_words, number, say

Pixels = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]
P = ParamSpec("P")
T = TypeVar("T")

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
ROW, GAP, LINE, AXIS = 26, 2, 27, 22  # heights: a device's row and the gap under it, a line of text, the axis
LABEL_SIZES, STACKED = (17 / ROW, 14 / ROW), 10 / ROW  # of a row's height: in one line; letter over number
NARROWEST_LABEL = 14  # pixels: a cell below that carries none
MARGIN = 6
BORDER, DASH = 2, 4  # pixels: a predicted cell's frame, one dash of it
CURSOR = 2  # pixels
ROUNDING = 1e-6  # of a slot: what floats may add to a whole number of slots
LABELS = ("op", "piece")


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle, in pixels; `title` is what it says when pointed at."""

    left: int
    top: int
    right: int
    bottom: int
    fill: Colour
    border: Colour | None = None
    dashed: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """Words whose left end, middle or right end (`anchor`) is at `x`, with their half height at `y`."""

    text: str
    x: int
    y: int
    size: int
    font: Font
    ink: Colour = INK
    ground: Colour = PAPER
    anchor: str = "start"

    @property
    def width(self) -> int:
        """How wide the words are, in pixels."""
        return _width_of(self.text, self.size, self.font)


@dataclass(frozen=True, slots=True)
class Place:
    """Where one timeline's rows are, in pixels: the first row's top, time 0, and how much a unit of time is wide."""

    top: int
    row: int
    left: int
    scale: float

    def box(self, device: int, start: float, end: float) -> tuple[int, int, int, int]:
        """(left, top, right, bottom) of a stretch of time, since the timeline's start, in a device's row."""
        top = self.top + device * (self.row + GAP)
        return self.left + round(start * self.scale), top, self.left + round(end * self.scale), top + self.row


@dataclass(slots=True)
class Scene:
    """A picture as boxes and words in the order of drawing; `title` says in one line what it shows."""

    width: int
    height: int
    lang: str
    title: str
    items: list[Box | Text] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)  # one a timeline


def scene(
    timelines: Sequence[Timeline],
    *,
    lang: str = "en",
    view: str = "class",
    column: float | None = None,
    num_slots: float | None = None,
    notes: Sequence[str] = (),
    captions: Sequence[str] | None = None,
    annotations: Sequence[str] = (),
    footers: Sequence[str] = (),
    labels: str = "op",
    dashed: bool = False,
    legend: bool = True,
    until: float | None = None,
    cursor: float | None = None,
    row: int = ROW,
    width: int = WIDTH,
) -> Scene:
    """Lay out timelines one under the other on one time axis, each under the line that says where it comes from.

    Measured cells are solid, predicted ones pale with a border. All cells of one kind in one timeline are labelled
    alike, or none is: the usual width decides. The axis is as long as the longest timeline, to the last moment.

    Args:
        timelines: predicted first, then measured; an empty measured one shows waiting rows.
        lang: `"zh"` or `"en"`; Chinese needs a font that has it, else the picture is in English.
        view: `"class"` counts from 1, `"engineer"` from 0.
        column: seconds (or ticks) of one slot of the axis; left out: the smallest op of the first timeline.
        num_slots: the axis's least length in slots; give two pictures `slots_of` all their timelines to share an axis.
        notes: one a timeline: what to write at the end of its line, such as its bubble.
        captions: one a timeline, in place of the line that says source and devices: then say these elsewhere. With
            an empty caption and no note, the line takes no room.
        annotations: one a timeline: what to write right of its end, such as "9 slots less"; where there is one, the
            rows end with the timeline. It is written when `until` has come to that end.
        footers: one a timeline: a line under its rows, such as what stayed the same; an empty one takes no room.
        labels: `"op"` writes F1, `"piece"` only the micro-batch's number, or "whole batch" where it wasn't cut.
        dashed: predicted cells as a dashed frame, instead of a pale filling.
        legend: whether colours and letters are explained.
        until: draw what happened up to then, in time since each timeline's start.
        cursor: a vertical line through all rows that are so long, in time since the start.
        row: height of one device's row, in pixels.
        width: pixels.

    Raises:
        CostsError: no timeline, the column isn't longer than 0, or no such labels.
    """
    if not timelines:
        raise CostsError("empty_timeline")
    if labels not in LABELS:
        raise CostsError("labels", asked=labels, known=", ".join(LABELS))
    sheet = _Sheet.for_timelines(
        timelines,
        lang=drawn_language(lang),
        view=view,
        column=column,
        num_slots=num_slots,
        annotations=_each(annotations, timelines),
        labels=labels,
        dashed=dashed,
        row=row,
        width=width,
    )
    y, places = MARGIN, []
    lines = _each(captions, timelines) if captions is not None else [None] * len(timelines)
    for index, (timeline, caption, note, footer) in enumerate(
        zip(timelines, lines, _each(notes, timelines), _each(footers, timelines), strict=True)
    ):
        y = sheet.caption(timeline, caption, note, y)
        if index == 0:
            y = sheet.axis(y)
        places.append(Place(y, row, sheet.left, sheet.slot / sheet.column))
        below = sheet.rows(timeline, index, y, until)
        if cursor is not None:
            sheet.cursor(cursor, index, y, below - GAP)
        y = sheet.footer(footer, below)
    y = sheet.legend(timelines, y) if legend else y
    title = " | ".join(devices_line(timeline, sheet.lang) for timeline in timelines)
    return Scene(width, y, sheet.lang, title, sheet.items, places)


def slots_of(timelines: Sequence[Timeline], column: float | None = None) -> float:
    """How many slots long an axis for these is: a whole number, and the rest of a last op that ends a bit later.

    >>> from pipekit import plan
    >>> slots_of([plan.simulate(plan.gpipe(num_stages=4, num_micro_batches=4), plan.Costs()).only("F")])
    7.0
    """
    column = column_time(timelines[0]) if column is None else column
    if not column > 0:
        raise CostsError("picture_column", asked=column)
    longest = max(timeline.makespan for timeline in timelines) / column
    whole = _whole_slots(longest)
    return longest if longest > whole + ROUNDING else float(whole)


def _whole_slots(slots: float) -> int:
    """How many slots get a number: a wake-up's lateness of under a quarter slot opens no new one."""
    return max(1, math.ceil(slots - 0.25))


def _each(texts: Sequence[str], timelines: Sequence[Timeline]) -> list[str]:
    """One text a timeline, empty where none is given."""
    return [texts[index] if index < len(texts) else "" for index in range(len(timelines))]


def drawn(layout: Callable[P, Scene]) -> Callable[[Callable[[Scene], T]], Callable[P, T]]:
    """Make a function that draws a scene into one that takes the arguments of the layout."""

    def decorate(draw: Callable[[Scene], T]) -> Callable[P, T]:
        def composed(*args: P.args, **kwargs: P.kwargs) -> T:
            return draw(layout(*args, **kwargs))

        composed.__name__, composed.__qualname__, composed.__module__ = (
            draw.__name__,
            draw.__qualname__,
            draw.__module__,
        )
        arguments = (layout.__doc__ or "").partition("\n")[2]
        composed.__doc__ = f"{draw.__doc__}\n{arguments}"
        shown = signature(draw).return_annotation
        composed.__signature__ = signature(layout).replace(return_annotation=shown)  # type: ignore[attr-defined]
        return composed

    return decorate


@drawn(scene)
def paint(scene: Scene) -> Image.Image:
    """Paint timelines one under the other on one time axis, each under the line that says where it comes from."""
    return painted(scene)


def painted(scene: Scene) -> Image.Image:
    """A scene as a picture."""
    pixels = np.full((scene.height, scene.width, 3), PAPER, dtype=np.uint8)
    for item in scene.items:
        if isinstance(item, Box):
            _fill(pixels, item)
        else:
            _write(pixels, item)
    return Image.fromarray(pixels)


def _fill(pixels: Pixels, box: Box) -> None:
    room = pixels[box.top : box.bottom, box.left : box.right]
    if box.border is None:
        room[:] = box.fill
    elif box.dashed:
        room[:] = _dashed(box.right - box.left, box.bottom - box.top, box.border, box.fill)[
            : room.shape[0], : room.shape[1]
        ]
    else:
        room[:] = box.border
        room[BORDER:-BORDER, BORDER:-BORDER] = box.fill


def _write(pixels: Pixels, text: Text) -> None:
    stamp = _stamp(text.text, text.font, text.size, text.ink, text.ground)
    height, width = stamp.shape[:2]
    left = max(0, text.x - {"start": 0, "middle": width // 2, "end": width}[text.anchor])
    top = max(0, text.y - height // 2)
    target = pixels[top : top + height, left : left + width]
    target[:] = stamp[: target.shape[0], : target.shape[1]]


@lru_cache(maxsize=1024)
def _dashed(width: int, height: int, border: Colour, fill: Colour) -> Pixels:
    """(height, width, 3): a dashed frame around its fill."""
    y, x = np.ogrid[:height, :width]
    across = (x < BORDER) | (x >= width - BORDER)
    along = (y < BORDER) | (y >= height - BORDER)
    on = (along & (x // DASH % 2 == 0)) | (across & (y // DASH % 2 == 0))
    return np.where(on[..., None], np.array(border, np.uint8), np.array(fill, np.uint8))


def png(image: Image.Image) -> bytes:
    """A picture as PNG; packed lightly, since making it fast matters more than a few kilobytes."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


@lru_cache
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


@lru_cache(maxsize=4096)
def _width_of(text: str, size: int, font: Font) -> int:
    return math.ceil(sized(font, size).getlength(text)) + 1


@dataclass(frozen=True, slots=True)
class _Label:
    """How all cells of one kind are labelled: its size, and whether the letter stands over the number."""

    size: int
    stacked: bool = False
    words: str = ""  # in place of letter and number


def _label(letter: str, digits: str, room: int, row: int) -> _Label | None:
    """The largest label that fits a cell `room` pixels wide: `F12` in one line, or the letter over the number."""
    if room < NARROWEST_LABEL:
        return None
    font = latin(bold=True)
    for share in LABEL_SIZES if letter else (*LABEL_SIZES, STACKED):
        size = round(share * row)
        if _width_of(letter + digits, size, font) <= room - (4 if share > STACKED else 1):
            return _Label(size)
    size = round(STACKED * row)
    if letter and max(_width_of(text, size, font) for text in (letter, digits)) <= room - 2:
        return _Label(size, stacked=True)
    return None


def _words_label(words: str, room: int, row: int, lang: str) -> _Label | None:
    """The largest size in which these words fit."""
    for share in LABEL_SIZES:
        if _width_of(words, round(share * row), font_for(lang)) <= room - 4:
            return _Label(round(share * row), words=words)
    return None


@dataclass
class _Sheet:
    """One scene in the making."""

    lang: str
    view: str
    labels: str
    dashed: bool
    row: int
    width: int
    annotations: list[str]
    column: float  # time of one slot
    slots: list[float]  # one a timeline: how long it is
    extent: float  # how many slots the axis is long
    left: int  # where time 0 is, in pixels
    slot: float  # pixels of one slot
    items: list[Box | Text] = field(default_factory=list)

    @classmethod
    def for_timelines(
        cls,
        timelines: Sequence[Timeline],
        *,
        lang: str,
        view: str,
        column: float | None,
        num_slots: float | None,
        annotations: list[str],
        width: int,
        row: int,
        **look: Any,
    ) -> _Sheet:
        column = column_time(timelines[0]) if column is None else column
        slots = [slots_of([timeline], column) for timeline in timelines]
        extent = max(*slots, num_slots or 1.0)
        devices = max(timeline.num_devices for timeline in timelines)
        names = [say("device", lang, view, number=number(device, view)) for device in range(devices)]
        size = min(TEXT, row - 4)
        left = MARGIN + max(_width_of(name, size, font_for(lang)) for name in names) + 10
        tail = _width_of(say("slot", lang), SMALL, font_for(lang)) + 2 * MARGIN
        slot = (width - left - tail) / extent
        for long, text in zip(slots, annotations, strict=True):
            if text:  # it needs room right of its timeline's end
                taken = left + 2 * MARGIN + 8 + _width_of(text, size, font_for(lang))
                slot = min(slot, (width - taken) / long)
        return cls(
            lang=lang,
            view=view,
            row=row,
            width=width,
            annotations=annotations,
            column=column,
            slots=slots,
            extent=extent,
            left=left,
            slot=slot,
            **look,
        )

    @property
    def right(self) -> int:
        """Where the axis ends, in pixels."""
        return self.at(self.extent)

    def at(self, slots: float) -> int:
        """Where a moment is, in pixels; time in slots since the start."""
        return self.left + round(self.slot * slots)

    def text(
        self,
        text: str,
        x: int,
        y: int,
        size: int = TEXT,
        ink: Colour = INK,
        anchor: str = "start",
        room: int | None = None,
    ) -> int:
        """Write with its half height at y, smaller rather than wider than `room`; returns how wide it is."""
        font = font_for(self.lang)
        room = self.width - x if room is None else room
        while size > SMALLEST and _width_of(text, size, font) > room:
            size -= 1
        self.items.append(Text(text, x, y, size, font, ink, PAPER, anchor))
        return _width_of(text, size, font)

    def caption(self, timeline: Timeline, caption: str | None, note: str, y: int) -> int:
        """The line above a grid: measured or predicted, and on what; at its end the note."""
        if caption is not None:
            line, on = caption, ""
        elif not len(timeline.spans) and timeline.source != "predicted":
            line, on = say("not_measured", self.lang), ""
        else:
            line, on = devices_words(timeline, self.lang)
        if not (line or on or note):
            return y
        middle, end = y + LINE // 2 - 2, self.right
        if note:
            end -= self.text(note, end, middle, anchor="end", room=end - MARGIN) + 14
        x = MARGIN + self.text(line, MARGIN, middle, room=end - MARGIN) + 14
        if on:
            self.text(on, x, middle + 1, SMALL, MUTED, room=end - x)
        return y + LINE

    def footer(self, footer: str, y: int) -> int:
        """The line under a grid."""
        if not footer:
            return y
        self.text(footer, self.left, y + LINE // 2 - 2, SMALL, MUTED, room=self.width - self.left - MARGIN)
        return y + LINE

    def axis(self, y: int) -> int:
        """The slots' numbers, as many as have room."""
        slots, first = _whole_slots(self.extent), number(0, self.view)
        widest = _width_of(str(slots), SMALL, font_for(self.lang)) + 6
        steps = (digit * 10**power for power in count() for digit in (1, 2, 5))
        step = next(step for step in steps if step * self.slot >= widest)
        middle = y + AXIS // 2
        for called in sorted({first, *range(step, slots + first, step)}):
            x = self.at(called - first + 0.5)
            if x + widest // 2 <= self.right + 6:
                self.text(str(called), x, middle, SMALL, MUTED, "middle")
        self.text(say("slot", self.lang), self.right + 6, middle, SMALL, MUTED)
        return y + AXIS

    def rows(self, timeline: Timeline, index: int, y: int, until: float | None) -> int:
        """One row a device: an idle lane with a dot in each slot, and the ops on it."""
        end = self.end_of(index)
        for device in range(timeline.num_devices):
            top = y + device * (self.row + GAP)
            name = say("device", self.lang, self.view, number=number(device, self.view))
            self.text(name, MARGIN, top + self.row // 2, min(TEXT, self.row - 4))
            self.lane(top, end)
        self.ops(timeline, y, until)
        below = y + timeline.num_devices * (self.row + GAP)
        annotation = self.annotations[index]
        if annotation and (until is None or until >= timeline.makespan):  # a result is told at the end
            x, size = self.at(end) + MARGIN, min(TEXT, self.row - 4)
            self.items.append(Box(x - 2, y, x, below - GAP, MUTED))
            self.text(annotation, x + 8, (y + below - GAP) // 2, size)
        return below

    def end_of(self, index: int) -> float:
        """Where a timeline's rows end, in slots: at its own end if something is written there, else at the axis's."""
        return self.slots[index] if self.annotations[index] else self.extent

    def lane(self, top: int, slots: float) -> None:
        """An empty lane: idle slots can be seen and counted."""
        self.items.append(Box(self.left, top, self.at(slots), top + self.row, IDLE))
        middle = top + self.row // 2
        if self.slot < NARROWEST_LABEL:
            return
        for slot in range(_whole_slots(slots)):
            x, dot = self.at(slot), self.at(slot + 0.5)
            self.items.append(Box(x, top, x + 1, top + self.row, PAPER))
            self.items.append(Box(dot - 1, middle - 1, dot + 2, middle + 2, DOT))

    def ops(self, timeline: Timeline, y: int, until: float | None) -> None:
        """Every op as a filled cell from its start to its end, with its letter and number."""
        spans, scale = timeline.spans, self.slot / self.column
        starts, ends = spans.starts - timeline.start, spans.ends - timeline.start
        lefts = np.rint(self.left + starts * scale).astype(int).tolist()
        rights = np.rint(self.left + ends * scale).astype(int).tolist()
        stop = self.left + round(until * scale) if until is not None else self.width
        forms = self.forms(timeline)
        parts = (part.tolist() for part in (*unpack(spans.codes), spans.devices, starts, ends))
        several = timeline.num_stages > timeline.num_devices
        for kind, stage, micro_batch, device, start, end, left, right in zip(
            *parts, lefts, rights, strict=True
        ):
            if until is not None and start >= until:
                continue
            right = min(max(right, left + 1), stop)
            letter = (str(number(stage, self.view)) if several else "") + KINDS[kind].value
            digits = str(number(micro_batch, self.view))
            where = say("device", self.lang, self.view, number=number(device, self.view))
            title = f"{letter}{digits} · {where} · {start:.6g} - {end:.6g} {timeline.unit}"
            top = y + device * (self.row + GAP)
            ground = self.cell(timeline, KINDS[kind], left, right, top, title)
            form = forms[kind]
            if form is not None:
                self.label(form, letter, digits, (left, right - 1), top, ground)

    def cell(self, timeline: Timeline, kind: Kind, left: int, right: int, top: int, title: str) -> Colour:
        """One op's box, and a white line where it ends and the next begins; returns what its label stands on."""
        bottom, border, fill = top + self.row, None, FILLS[kind]
        if right - left > 3:
            self.items.append(Box(right - 1, top, right, bottom, PAPER))
            right -= 1
        if timeline.source == "predicted":
            border, fill = fill, PAPER if self.dashed else _tint(fill)
        dashed = border is not None and self.dashed
        self.items.append(Box(left, top, right, bottom, fill, border, dashed, title))
        return fill

    def forms(self, timeline: Timeline) -> dict[int, _Label | None]:
        """Kind code -> how its cells are labelled: the widest label must fit the usual cell."""
        kinds, stages, micro_batches = unpack(timeline.spans.codes)
        # Equal ops get equal labels, however their ends are rounded to pixels.
        rooms = timeline.spans.durations * self.slot / self.column + 0.01
        several = timeline.num_stages > timeline.num_devices
        forms: dict[int, _Label | None] = {}
        for kind in np.unique(kinds).tolist():
            chosen = kinds == kind
            room = int(np.median(rooms[chosen]))  # one op that was cut short takes no label from the others
            digits = str(number(int(micro_batches[chosen].max()), self.view))
            form = None
            if self.labels == "piece":
                letter = ""
                if timeline.num_micro_batches == 1:
                    form = _words_label(say("whole_batch", self.lang), room, self.row, self.lang)
            else:
                stage = str(number(int(stages[chosen].max()), self.view)) if several else ""
                letter = stage + KINDS[kind].value
            forms[kind] = form or _label(letter, digits, room, self.row)
        return forms

    def label(
        self, form: _Label, letter: str, digits: str, sides: tuple[int, int], top: int, ground: Colour
    ) -> None:
        """A cell's label in the middle; none in a cell that is cut off by `until` and too narrow for it."""
        font = font_for(self.lang) if form.words else latin(bold=True)
        text = form.words or (digits if self.labels == "piece" else letter + digits)
        lines = [letter, digits] if form.stacked else [text]
        if max(_width_of(line, form.size, font) for line in lines) > sides[1] - sides[0]:
            return
        x, middle, ink = sum(sides) // 2, top + self.row // 2, ink_on(ground)
        for index, line in enumerate(lines):
            y = middle + round((index - (len(lines) - 1) / 2) * form.size)
            self.items.append(Text(line, x, y, form.size, font, ink, ground, "middle"))

    def cursor(self, time: float, index: int, top: int, bottom: int) -> None:
        """A vertical line through a timeline's rows at this time; none after rows that end before."""
        slots = max(time / self.column, 0.0)
        if slots <= self.end_of(index) + ROUNDING:
            x = self.at(slots)
            self.items.append(Box(x - CURSOR // 2, top, x + CURSOR // 2, bottom, INK))

    def legend(self, timelines: Sequence[Timeline], y: int) -> int:
        """What the colours and letters mean, for the kinds that are there."""
        present = sorted({kind for timeline in timelines for kind in timeline.spans.kinds.tolist()})
        x, middle = self.left, y + LINE // 2 + 2
        box = (26, y + 6, y + LINE - 2)
        for kind in (KINDS[code] for code in present):
            x = self.entry(x, box, kind.value, FILLS[kind], say(f"kind_{kind.value}", self.lang, self.view))
        x = self.entry(x, box, "·", IDLE, say("idle", self.lang, self.view))
        if self.dashed and any(timeline.source == "predicted" for timeline in timelines):
            self.items.append(Box(x, box[1], x + box[0], box[2], PAPER, MUTED, dashed=True))
            self.text(say("dashed_frame", self.lang, self.view), x + 32, middle, SMALL, MUTED)
        return y + LINE

    def entry(self, x: int, box: tuple[int, int, int], sign: str, fill: Colour, words: str) -> int:
        """One colour with its sign and its meaning; returns where the next may stand."""
        width, top, bottom = box
        middle = (top + bottom) // 2
        self.items.append(Box(x, top, x + width, bottom, fill))
        self.items.append(
            Text(sign, x + width // 2, middle, 14, latin(bold=True), ink_on(fill), fill, "middle")
        )
        return x + 32 + self.text(words, x + 32, middle, SMALL, MUTED) + 22
