"""Timelines in files: JSON, CSV and Chrome traces, written and read back; everything read is checked.

| name ends in | holds | comes back |
|---|---|---|
| `.json` | everything, and counted memory where there is some | exactly |
| `.csv` | `# name,value` lines (format, source, devices, ...), then one row a span; Excel opens it | exactly, without memory |
| `.trace.json` | for chrome://tracing and ui.perfetto.dev; microseconds | to a nanosecond, without memory |

All are UTF-8 text; a CSV begins with the mark (BOM) by which Excel knows that. pandas reads one with `comment="#"`.
A text in a CSV that a spreadsheet would run as a formula gets a `'` before it, which reading takes away again.
A measured timeline stays measured, with the words that say on what.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from pipekit.errors import FileError
from pipekit.plan.checked import (
    Row,
    check_format,
    field,
    head_of,
    listed,
    moment,
    op_of_parts,
    op_of_text,
    record,
    timeline_of,
    whole,
)
from pipekit.plan.timeline import Timeline
from pipekit.plan.trace import chrome_trace, from_chrome_trace

COLUMNS = ("device", "stage", "kind", "micro_batch", "start", "end")
MOST_BYTES = 64 << 20  # some 700,000 ops
MOST_MEMORY = 1 << 62  # bytes
_FORMULA = re.compile(r"'*\s*[=+\-@＝＋－＠]")  # '* : so that what begins like an escaped text comes back too
_BYTES = (
    "peak_activation_bytes",
    "peak_waiting_bytes",
    "parameter_bytes",
    "buffer_bytes",
    "gradient_bytes",
)


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """Bytes counted in a step that ran earlier; the same names as on the run's own record.

    Each list has one int a device. `curves`: for each device (ops, 3): seconds since the step began, kept bytes,
    waiting bytes.
    """

    peak_activation_bytes: list[int]
    peak_waiting_bytes: list[int]
    parameter_bytes: list[int]
    buffer_bytes: list[int]
    gradient_bytes: list[int]
    curves: list[npt.NDArray[np.float64]]


def write_timeline(timeline: Timeline, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
    """Write a timeline as its name's end says: `.json`, `.csv` or `.trace.json`.

    Args:
        overwrite: whether an existing file may be replaced.

    Returns:
        Where it lies now.

    Raises:
        FileError: unknown ending, a folder that isn't there, a file that is, or what the system says.
    """
    path = Path(path)
    return write_file(path, ending(path, WRITERS)(timeline), overwrite)


def read_timeline(path: str | os.PathLike[str]) -> Timeline:
    """Read a timeline that `write_timeline` wrote, whatever its name.

    Raises:
        FileError: no such file, no regular file, too large, not UTF-8, no timeline, a value that can't be, an op
            that runs twice, or two at once on a device; names the place.
    """
    path = Path(path)
    text = read_text(path)
    if text.lstrip().startswith(("{", "[")):
        return from_json(text, path.name)
    return from_csv(text, path.name)


def ending(path: Path, known: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    """What belongs to the end of a file's name; the longest that fits, in small letters or capitals."""
    for suffix in sorted(known, key=len, reverse=True):
        if path.name.lower().endswith(suffix):
            return known[suffix]
    raise FileError("file_suffix", name=path.name, known=", ".join(known))


# -- JSON


def to_json(timeline: Timeline) -> str:
    """A timeline as JSON, one span a line.

    >>> from pipekit.plan import Costs, gpipe, simulate
    >>> print(to_json(simulate(gpipe(num_stages=1, num_micro_batches=1), Costs())))  # doctest: +ELLIPSIS
    {"format": "pipekit-timeline", "version": 1, "source": "predicted", ..., "num_devices": 1, "spans": [
    {"device": 0, "op": "0F0", "start": 0.0, "end": 1.0},
    {"device": 0, "op": "0B0", "start": 1.0, "end": 3.0}
    ]}
    """
    spans = ",\n".join(
        json.dumps({"device": span.device, "op": str(span.op), "start": span.start, "end": span.end})
        for span in timeline.spans
    )
    head = json.dumps(head_of(timeline) | _memory_words(timeline.memory), ensure_ascii=False)
    return f'{head[:-1]}, "spans": [\n{spans}\n]}}'


def from_json(text: str, where: str = "json") -> Timeline:
    """Read what `to_json` wrote, or the text of a Chrome trace; `where` is what to call it in errors."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError("file_json", path=where, cause=error) from error
    if isinstance(found, dict) and "traceEvents" in found:
        return from_chrome_trace(found, where)
    if not isinstance(found, dict):
        raise FileError("file_kind", path=where)
    check_format(where, found)
    spans = listed(where, "spans", field(where, found, "spans"))
    timeline = timeline_of(where, found, _json_rows(where, spans))
    if "memory" in found:
        counted = _memory_record(f"{where}: memory", found["memory"], timeline.num_devices)
        timeline = replace(timeline, memory=counted)
    return timeline


def _json_rows(where: str, spans: list[Any]) -> Iterator[Row]:
    for index, span in enumerate(spans):
        place = f"{where}: spans[{index}]"
        span = record(place, span)
        device, op, start, end = (field(place, span, name) for name in ("device", "op", "start", "end"))
        yield Row(place, op_of_text(place, op), device, start, end)


def _memory_words(memory: Any) -> dict[str, Any]:
    """Counted memory for JSON; nothing where none was counted."""
    if memory is None:
        return {}
    lists = {name: [int(number) for number in getattr(memory, name)] for name in _BYTES}
    return {"memory": lists | {"curves": [curve.tolist() for curve in memory.curves]}}


def _memory_record(where: str, found: Any, num_devices: int) -> MemoryRecord:
    found = record(where, found)
    lists = {}
    for name in _BYTES:
        numbers = listed(where, name, field(where, found, name), num_devices)
        lists[name] = [whole(where, name, number, 0, MOST_MEMORY) for number in numbers]
    curves = listed(where, "curves", field(where, found, "curves"), num_devices)
    return MemoryRecord(**lists, curves=[_curve(where, curve) for curve in curves])


def _curve(where: str, curve: Any) -> npt.NDArray[np.float64]:
    points = [listed(where, "curves", point, 3) for point in listed(where, "curves", curve)]
    numbers = [[moment(where, "curves", number, MOST_MEMORY) for number in point] for point in points]
    return np.array(numbers, dtype=float).reshape(len(points), 3)


# -- CSV


def to_csv(timeline: Timeline) -> str:
    """A timeline as CSV: lines that begin with `#` say where it comes from, then one row a span.

    >>> from pipekit.plan import Costs, gpipe, simulate
    >>> print(to_csv(simulate(gpipe(num_stages=1, num_micro_batches=1), Costs())))
    # format,pipekit-timeline
    # version,1
    # source,predicted
    # devices,1 predicted device
    # unit,s
    # num_devices,1
    device,stage,kind,micro_batch,start,end
    0,0,F,0,0.0,1.0
    0,0,B,0,1.0,3.0
    <BLANKLINE>
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows((f"# {name}", _inert(value)) for name, value in head_of(timeline).items())
    writer.writerow(COLUMNS)
    for span in timeline.spans:
        op = span.op
        writer.writerow((span.device, op.stage, op.kind.value, op.micro_batch, span.start, span.end))
    return text.getvalue()


def from_csv(text: str, where: str = "csv") -> Timeline:
    """Read what `to_csv` wrote, also after Excel saved it again; `where` is what to call it in errors."""
    head: dict[str, Any] = {}
    rows: list[tuple[str, list[str]]] = []
    for place, cells in _csv_lines(text, where):
        if cells[0].startswith("#"):
            head[cells[0].lstrip("# ")] = _as_said(cells[1]) if len(cells) > 1 else ""
        else:
            rows.append((place, cells))
    head |= {name: _number(head[name]) for name in ("version", "num_devices") if name in head}
    check_format(where, head)
    place, columns = rows[0] if rows else (where, [])
    if tuple(columns) != COLUMNS:
        raise FileError("file_columns", where=place, wanted=",".join(COLUMNS), found=",".join(columns[:10]))
    return timeline_of(where, head, (_csv_row(place, cells) for place, cells in rows[1:]))


def _inert(value: str | int) -> str | int:
    """A cell that no spreadsheet runs as a formula."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def _as_said(cell: str) -> str:
    """The text of which `_inert` made this cell."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _csv_lines(text: str, where: str) -> Iterator[tuple[str, list[str]]]:
    """(place, cells) of every line with something on it; Excel fills short lines up with empty cells."""
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        for cells in reader:
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                yield f"{where}:{reader.line_num}", cells
    except csv.Error as error:  # a cell that never ends
        raise FileError("file_kind", path=where) from error


def _csv_row(place: str, cells: list[str]) -> Row:
    if len(cells) != len(COLUMNS):
        raise FileError("file_columns", where=place, wanted=",".join(COLUMNS), found=",".join(cells[:10]))
    device, stage, kind, micro_batch, start, end = map(_number, cells)
    return Row(place, op_of_parts(place, stage, kind, micro_batch), device, start, end)


def _number(cell: str) -> int | float | str:
    """A cell as a number if it is one; if not, the checks will say so."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


# -- files

WRITERS: dict[str, Callable[[Timeline], bytes]] = {
    ".json": lambda timeline: to_json(timeline).encode(),
    ".csv": lambda timeline: to_csv(timeline).encode("utf-8-sig"),
    ".trace.json": lambda timeline: json.dumps(chrome_trace(timeline), ensure_ascii=False).encode(),
}


def write_file(path: str | os.PathLike[str], content: bytes, overwrite: bool = False) -> Path:
    """Write all of it or nothing: beside its place first, then moved there.

    Raises:
        FileError: no such folder, a folder of that name, no regular file, an existing file, or what the system says.
    """
    path = Path(path)
    place = Path(os.path.realpath(path))  # through a link, to what it points at
    beside = place.parent / f".{uuid4().hex}.tmp"
    try:
        if place.is_dir():
            raise FileError("file_folder", path=path)
        if not place.parent.is_dir():
            raise FileError("file_no_folder", path=path, folder=place.parent)
        _refuse_irregular(place, path)
        if place.exists() and not overwrite:
            raise FileError("file_exists", path=path)
        try:
            beside.write_bytes(content)
            os.replace(beside, place)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise FileError("file_refused", path=path, cause=error.strerror or error) from error
    return path


def _refuse_irregular(place: Path, path: Path) -> None:
    """Refuse a pipe, on which opening waits for somebody to write, and a device, which may never end."""
    if place.exists() and not place.is_file():
        raise FileError("file_irregular", path=path)


def read_text(path: Path) -> str:
    """A file's text, not longer than a timeline can be; `FileError` where it can't be had."""
    try:
        if path.is_dir():
            raise FileError("file_folder", path=path)
        _refuse_irregular(path, path)
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise FileError("file_missing", path=path, folder=path.resolve().parent) from error
    except OSError as error:
        raise FileError("file_refused", path=path, cause=error.strerror or error) from error
    if len(content) > MOST_BYTES:
        raise FileError("file_large", path=path, most_mb=MOST_BYTES >> 20)
    return decoded(content, path)


def decoded(content: bytes, path: str | os.PathLike[str]) -> str:
    """A file's bytes as text; `FileError` where they are not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError("file_encoding", path=path, position=error.start + 1) from error
