"""What a file says about a timeline, looked at value by value before a `Timeline` is made of it.

`where` names the place in every error, such as `run.csv:7` or `run.json: spans[3]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from reprlib import repr as shortened
from typing import Any
from unicodedata import category

import numpy as np

from pipekit.errors import FileError, ScheduleError
from pipekit.plan.ops import KINDS, MAX_STAGES, Kind, Op
from pipekit.plan.timeline import Spans, Timeline

FORMAT, VERSION = "pipekit-timeline", 1
SOURCES = ("predicted", "measured", "shared")
UNITS = ("s", "tick")
MOST_DEVICES = 1 << 16
MOST_TIME = 1e12  # seconds or ticks: differences stay finite and as fine as 0.1 ms
MOST_OVERLAP = 1e-9  # of the makespan: a Chrome trace rounds by less, and a bubble shows nothing of it


@dataclass(frozen=True, slots=True)
class Row:
    """One span as a file says it: the op is read, the rest is not looked at yet."""

    where: str
    op: Op
    device: Any
    start: Any
    end: Any


def head_of(timeline: Timeline) -> dict[str, Any]:
    """What every file says first: its format, and where the times come from."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "source": timeline.source,
        "devices": one_line("timeline", "devices", timeline.devices),
        "unit": timeline.unit,
        "num_devices": timeline.num_devices,
    }


def check_format(where: str, head: Mapping[str, Any]) -> None:
    """Refuse what pipekit didn't write, or a later pipekit wrote."""
    if head.get("format") != FORMAT:
        raise FileError("file_kind", path=where)
    if head.get("version") != VERSION or isinstance(head["version"], bool):
        raise FileError("file_version", path=where, asked=shortened(head.get("version")), known=VERSION)


def timeline_of(where: str, head: Mapping[str, Any], rows: Iterable[Row], memory: Any = None) -> Timeline:
    """The timeline that a file's head and rows describe.

    Raises:
        FileError: the first value that can't be, with its place; then an op that runs twice, or two ops at once on
            one device, with the places and times of both.
    """
    num_devices = whole(where, "num_devices", field(where, head, "num_devices"), 1, MOST_DEVICES)
    source = choice(where, "source", field(where, head, "source"), SOURCES)
    unit = choice(where, "unit", field(where, head, "unit"), UNITS)
    devices = one_line(where, "devices", field(where, head, "devices"))
    return Timeline(_spans(rows, num_devices), num_devices, source, devices, memory, unit)


def _spans(rows: Iterable[Row], num_devices: int) -> Spans:
    places, codes, devices, starts, ends = [], [], [], [], []
    for row in rows:
        device = whole(row.where, "device", row.device, 0, MOST_DEVICES)
        if device >= num_devices:
            raise FileError(
                "file_device", where=row.where, asked=device, num_devices=num_devices, last=num_devices - 1
            )
        start, end = moment(row.where, "start", row.start), moment(row.where, "end", row.end)
        if end < start:
            raise FileError("file_order", where=row.where, op=row.op, start=start, end=end)
        places.append(row.where)
        codes.append(row.op.code)
        devices.append(device)
        starts.append(start)
        ends.append(end)
    spans = Spans(
        np.array(codes, dtype=np.int64), np.array(devices, dtype=np.int64), np.array(starts), np.array(ends)
    )
    _refuse_repeats(spans, places)
    order = np.lexsort((ends, starts, devices))
    spans = spans.where(order)
    _refuse_overlaps(spans, [places[index] for index in order])
    return spans


def _refuse_repeats(spans: Spans, places: list[str]) -> None:
    """Refuse an op that stands twice in a file's spans, on whatever devices."""
    order = np.argsort(spans.codes, kind="stable")
    again = np.flatnonzero(np.diff(spans.codes[order]) == 0)
    if len(again):
        first, second = (int(order[again[0] + step]) for step in (0, 1))
        earlier, span = spans[first], spans[second]
        raise FileError(
            "file_repeated", where=places[second], op=span.op, start=span.start, end=span.end,
            earlier=places[first], earlier_start=earlier.start, earlier_end=earlier.end,
        )  # fmt: skip


def _refuse_overlaps(spans: Spans, places: list[str]) -> None:
    """Refuse two ops at once on a device. In order of their starts, if any two overlap then two neighbours do."""
    if not len(spans):
        return
    most = MOST_OVERLAP * (spans.ends.max() - spans.starts.min())
    overlaps = (np.diff(spans.devices) == 0) & (spans.ends[:-1] - spans.starts[1:] > most)
    if overlaps.any():
        index = int(overlaps.argmax())
        earlier, span = spans[index], spans[index + 1]
        raise FileError(
            "file_overlap", where=places[index + 1], op=span.op, device=span.device, start=span.start,
            end=span.end, earlier=places[index], earlier_op=earlier.op, earlier_start=earlier.start,
            earlier_end=earlier.end,
        )  # fmt: skip


def op_of_text(where: str, text: Any) -> Op:
    """The op that `2F0` names."""
    try:
        return Op.from_code(Op.parse(text if isinstance(text, str) else "").code)  # packed: its numbers fit
    except ScheduleError as error:
        raise FileError("file_op", where=where, asked=shortened(text)) from error


def op_of_parts(where: str, stage: Any, kind: Any, micro_batch: Any) -> Op:
    """The op of this stage, kind and micro-batch."""
    letter = choice(where, "kind", kind, tuple(each.value for each in KINDS))
    last = MAX_STAGES - 1
    return Op(
        Kind(letter),
        whole(where, "stage", stage, 0, last),
        whole(where, "micro_batch", micro_batch, 0, last),
    )


def field(where: str, record: Mapping[str, Any], name: str) -> Any:
    """What the file says under that name."""
    if name not in record:
        raise FileError("file_field", where=where, name=name)
    return record[name]


def whole(where: str, name: str, value: Any, least: int, most: int) -> int:
    """A whole number within bounds."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise FileError("file_whole", where=where, name=name, least=least, most=most, asked=shortened(value))


def moment(where: str, name: str, value: Any, most: float = MOST_TIME) -> float:
    """A finite time."""
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    if numeric and abs(value) <= most:  # nan and infinity are not
        return float(value)
    raise FileError("file_number", where=where, name=name, most=most, asked=shortened(value))


def one_line(where: str, name: str, value: Any) -> str:
    """A text without line breaks or control characters, so that a picture can carry it."""
    if isinstance(value, str) and not {"Cc", "Cs", "Zl", "Zp"} & set(map(category, value)):
        return value
    raise FileError("file_text", where=where, name=name, asked=shortened(value))


def choice(where: str, name: str, value: Any, known: tuple[str, ...]) -> str:
    """One of a few words."""
    if isinstance(value, str) and value in known:
        return value
    raise FileError("file_choice", where=where, name=name, known=", ".join(known), asked=shortened(value))


def listed(where: str, name: str, value: Any, length: int | None = None) -> list[Any]:
    """A list, of that length if one is given."""
    if isinstance(value, list) and length in (None, len(value)):
        return value
    raise FileError("file_list", where=where, name=name, asked=shortened(value))


def record(where: str, value: Any) -> Mapping[str, Any]:
    """A JSON object."""
    if isinstance(value, dict):
        return value
    raise FileError("file_object", where=where, asked=shortened(value))
