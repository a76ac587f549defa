"""The text picture: one row a device, one column a slot of time."""

from __future__ import annotations

import numpy as np

from pipekit.errors import CostsError
from pipekit.plan.ops import KINDS, unpack
from pipekit.plan.timeline import Timeline

MAX_COLUMNS = 160
IDLE = "."


def column_time(timeline: Timeline) -> float:
    """The time of one column: the smallest op's time; at most `MAX_COLUMNS` of them.

    Measured ops of one kind and stage differ by microseconds, so of a measured run it is the median of the
    quickest kind and stage.
    """
    durations = timeline.spans.durations
    positive = durations > 0
    if not positive.any():
        raise CostsError("costs_zero" if len(durations) else "empty_timeline")
    if timeline.source == "predicted":
        smallest = float(durations[positive].min())
    else:
        kind, stage, _ = unpack(timeline.spans.codes)
        groups = kind * (timeline.num_stages + 1) + stage
        smallest = min(
            float(np.median(durations[positive & (groups == g)]))
            for g in np.unique(groups[positive]).tolist()
        )
    return max(smallest, timeline.makespan / MAX_COLUMNS)


def cells(timeline: Timeline, column: float | None = None) -> list[list[str]]:
    """The picture as labels: (K rows, columns); `.` is an idle cell, a longer op repeats its label.

    A cell shows the op that runs in the middle of its column. Labels are `F0` with one stage a device, `2F0` with
    several. There are at most `MAX_COLUMNS`, however short a column was asked for.
    """
    column = column_time(timeline) if column is None else column
    if not column > 0:
        raise CostsError("picture_column", asked=column)
    num_columns = max(1, round(min(timeline.makespan / column, MAX_COLUMNS)))
    middles = timeline.start + (np.arange(num_columns) + 0.5) * (timeline.makespan / num_columns)
    kind, stage, micro_batch = (part.tolist() for part in unpack(timeline.spans.codes))
    homes = set(zip(timeline.spans.devices.tolist(), stage, strict=True))
    several = len(homes) > len({device for device, _ in homes})
    rows = [[IDLE] * num_columns for _ in range(timeline.num_devices)]
    first = np.searchsorted(middles, timeline.spans.starts)
    last = np.searchsorted(middles, timeline.spans.ends)
    for i, (device, begin, end) in enumerate(
        zip(timeline.spans.devices.tolist(), first.tolist(), last.tolist(), strict=True)
    ):
        label = f"{stage[i] if several else ''}{KINDS[kind[i]].value}{micro_batch[i]}"
        rows[device][begin:end] = [label] * (end - begin)
    return rows


def picture(timeline: Timeline, column: float | None = None) -> str:
    """Draw a timeline as text.

    Args:
        column: how much time one column stands for; left out: the smallest op's time.

    >>> from pipekit.plan import Costs, gpipe, simulate
    >>> print(picture(simulate(gpipe(num_stages=2, num_micro_batches=2), Costs(backward=1))))
    F0 F1 .  .  B1 B0
    .  F0 F1 B1 B0 .
    """
    rows = cells(timeline, column)
    width = max(len(cell) for row in rows for cell in row)
    return "\n".join(" ".join(cell.ljust(width) for cell in row).rstrip() for row in rows)
