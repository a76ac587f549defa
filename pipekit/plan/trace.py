"""A timeline in Chrome's trace format, for chrome://tracing and https://ui.perfetto.dev."""

from __future__ import annotations

from typing import Any

from pipekit.plan.timeline import Timeline

_MICROSECONDS = 1e6


def chrome_trace(timeline: Timeline) -> dict[str, Any]:
    """The trace as a dict for `json.dump`: one row a device, one complete event a span; times in microseconds.

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
        "otherData": {"source": timeline.source, "devices": timeline.devices},
    }
