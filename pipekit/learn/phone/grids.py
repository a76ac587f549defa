"""The page's timetables: every K and M, predicted by `plan` and measured in recorded runs, as numbers to look up.

A span is [kind, piece, start, end]; kinds are F and B, and three ways to be idle: `s` before a device's first work,
`m` between its forwards and its backwards, `e` after its last. Pieces count from 1, times are slots of one piece
forward on one device.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipekit import plan
from pipekit.show import devices_line, tiny

STAGES = range(1, 7)
MICRO_BATCHES = range(1, 17)
VIEWS: dict[str, tuple[str, ...]] = {"forward": ("F",), "both": ("F", "B")}
COSTS = plan.Costs(forward=1.0, backward=2.0)
RECORDED = Path(__file__).with_name("recorded.json")
DIGITS = 2  # behind the point: a hundredth of a slot is less than a pixel

SpanRow = list[Any]  # [kind, piece, start, end]


def key(num_stages: int, num_micro_batches: int) -> str:
    """Under which name the page finds a K and an M.

    >>> key(4, 16)
    '4,16'
    """
    return f"{num_stages},{num_micro_batches}"


def predicted(num_stages: int, num_micro_batches: int) -> plan.Timeline:
    """GPipe with equal pieces, a backward twice as long as a forward, in slots."""
    return plan.simulate(plan.gpipe(num_stages, num_micro_batches), COSTS)


def predicted_tables() -> dict[str, dict[str, Any]]:
    """`key(K, M)` -> view -> its grid, for every K and M of the page."""
    return {key(k, m): _predicted_views(k, m) for k in STAGES for m in MICRO_BATCHES}


def _predicted_views(num_stages: int, num_micro_batches: int) -> dict[str, Any]:
    timeline = predicted(num_stages, num_micro_batches)
    whole = plan.simulate(plan.naive(num_stages), COSTS, sizes=[num_micro_batches])
    return {
        name: {
            **grid(timeline.only(*kinds)),
            "uncut": rounded(whole.only(*kinds).makespan),
            "share": f"{timeline.only(*kinds).makespan / whole.only(*kinds).makespan:.0%}",
        }
        for name, kinds in VIEWS.items()
    }


def grid(timeline: plan.Timeline, slot: float = 1.0) -> dict[str, Any]:
    """What a page needs to draw a timeline and to say its figures.

    Args:
        slot: how much time one slot is.
    """
    return {
        "slots": rounded(timeline.makespan / slot),
        "bubble": f"{plan.bubble_fraction(timeline):.1%}",
        "busy": f"{plan.busy_devices(timeline):.2f}",
        "rows": [list(_row(timeline, device, slot)) for device in range(timeline.num_devices)],
    }


def _row(timeline: plan.Timeline, device: int, slot: float) -> Iterator[SpanRow]:
    """One device's spans, and the idle time between them, from the first slot to the last."""
    spans = list(timeline.spans.where(timeline.spans.devices == device))
    now = timeline.start
    for span in spans:
        if span.start - now > slot * 10**-DIGITS:
            yield ["s" if span is spans[0] else "m", 0, *_times(timeline, slot, now, span.start)]
        yield [
            span.op.kind.value,
            span.op.micro_batch + 1,
            *_times(timeline, slot, span.start, span.end),
        ]
        now = span.end
    if timeline.end - now > slot * 10**-DIGITS:
        yield ["e", 0, *_times(timeline, slot, now, timeline.end)]


def _times(timeline: plan.Timeline, slot: float, *times: float) -> list[float]:
    return [rounded((time - timeline.start) / slot) for time in times]


def rounded(number: float) -> float:
    """Short to write down: a whole number where it is one.

    >>> rounded(7.000000001), rounded(5.4999)
    (7, 5.5)
    """
    short = round(number, DIGITS)
    return int(short) if short == int(short) else short


# What was measured


def recorded() -> list[dict[str, Any]]:
    """The recorded runs; each says when and where it ran."""
    read: list[dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return read


def timeline_of(run: dict[str, Any]) -> plan.Timeline:
    """A recorded run as the timeline it was, in seconds."""
    ticks = run["ticks_a_second"]
    spans = [
        plan.Span(plan.Op(plan.Kind(kind), device, piece), device, start / ticks, end / ticks)
        for device, kind, piece, start, end in run["spans"]
    ]
    return plan.Timeline(plan.Spans.of(spans), run["num_stages"], run["source"], run["devices"])


def measured_tables(runs: list[dict[str, Any]], lang: str) -> dict[str, dict[str, Any]]:
    """`key(K, M)` -> the recorded run: its two grids, when and on what it ran, how far its gradients are from the
    uncut model's."""
    tables = {}
    for run in runs:
        timeline = timeline_of(run)
        slot = run["seconds_a_sample"] * run["num_samples"] / run["num_micro_batches"]
        views = {name: grid(timeline.only(*kinds), slot) for name, kinds in VIEWS.items()}
        tables[key(run["num_stages"], run["num_micro_batches"])] = {
            **views,
            "samples": run["num_samples"],
            "slot_ms": rounded(slot * 1000),
            "date": run["date"],
            "machine": run["machine"],
            "on": devices_line(timeline, lang),
            "difference": tiny(run["gradient_difference"], lang),
        }
    return tables
