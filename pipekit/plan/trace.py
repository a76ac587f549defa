"""A timeline in Chrome's trace format, for chrome://tracing and https://ui.perfetto.dev; and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipekit.plan.checked import (
    MOST_TIME,
    Row,
    check_format,
    field,
    head_of,
    listed,
    moment,
    op_of_text,
    record,
    timeline_of,
)
from pipekit.plan.timeline import Timeline

_MICROSECONDS = 1e6


def chrome_trace(timeline: Timeline) -> dict[str, Any]:
    """The trace as a dict for `json.dump`: one row a device, one complete event a span; times in microseconds.

    Times count from the first op's start; `otherData` says when that was, and where the times come from.

    >>> from pipekit.plan import Costs, gpipe, simulate
    >>> chrome_trace(simulate(gpipe(num_stages=1, num_micro_batches=1), Costs()))["traceEvents"][1]["name"]
    '0F0'
    """
    names = [
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": device, "args": {"name": f"device {device}"}}
        for device in range(timeline.num_devices)
    ]
    events = [
        {
            "name": str(span.op),
            "cat": span.op.kind.name.lower(),
            "ph": "X",
            "ts": (span.start - timeline.start) * _MICROSECONDS,
            "dur": span.duration * _MICROSECONDS,
            "pid": 0,
            "tid": span.device,
            "args": {"stage": span.op.stage, "micro_batch": span.op.micro_batch},
        }
        for span in timeline.spans
    ]
    return {
        "traceEvents": [*names, *events],
        "displayTimeUnit": "ms",
        "otherData": head_of(timeline) | {"start": timeline.start},
    }


def from_chrome_trace(trace: Any, where: str = "trace") -> Timeline:
    """Read what `chrome_trace` made, out of `json.load`.

    Going through microseconds rounds: of a run of some seconds, times come back to within a nanosecond.

    Args:
        where: what to call it in errors, such as the file's name.

    Raises:
        FileError: not from pipekit, or a value that can't be; names the event.
    """
    trace = record(where, trace)
    head = record(f"{where}: otherData", trace.get("otherData", {}))
    check_format(where, head)
    origin = moment(where, "start", field(where, head, "start"))
    events = listed(where, "traceEvents", field(where, trace, "traceEvents"))
    return timeline_of(where, head, _rows(where, events, origin))


def _rows(where: str, events: list[Any], origin: float) -> Iterator[Row]:
    for index, event in enumerate(events):
        place = f"{where}: traceEvents[{index}]"
        event = record(place, event)
        if event.get("ph") != "X":
            continue  # names of rows, and what viewers add
        op = op_of_text(place, field(place, event, "name"))
        begin, lasts = (
            moment(place, name, field(place, event, name), MOST_TIME * _MICROSECONDS)
            for name in ("ts", "dur")
        )
        start = origin + begin / _MICROSECONDS
        yield Row(place, op, field(place, event, "tid"), start, start + lasts / _MICROSECONDS)
