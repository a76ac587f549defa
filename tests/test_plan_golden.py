"""The published numbers: `golden.json` has makespan, bubble, peak and messages of an independent event-driven model.

Its naive rows are one whole batch, so costs, peak and messages are compared times M. `stash_full` says what a device
keeps at its peak: how many stage inputs, and how many whole micro-batches. Costs are of a device's whole share, so one
of v chunks costs 1/v; peaks are in whole shares, so v chunks are one. The DualPipe rows count a forward and a backward
as one block, which pipekit has not: see `plan_fused`.
"""

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from plan_fused import spans_of_blocks

from pipekit.plan import (
    Costs,
    ModelShape,
    StageShape,
    bubble_fraction,
    busy_time,
    by_name,
    gpipe,
    messages,
    naive,
    peak_activations,
    peak_in_flight,
    simulate,
    span_bubble,
    validate,
)
from pipekit.plan.rules import NOTHING, needs_codes

ROWS = json.loads(Path(__file__).with_name("golden.json").read_text(encoding="utf-8"))
COSTS = {  # forward, input gradient, weight gradient, recompute of a device's whole share
    "f1b1w1": (1, 1, 1, 1),
    "f1bw1": (1, 0.5, 0.5, 1),
    "f2b3w1": (2, 3, 1, 2),
}
BUILDERS = {
    "naive(M=1 batch)": lambda k, m, v: naive(k),
    "gpipe_late_always": lambda k, m, v: gpipe(k, m, "always", "late"),
    "gpipe_late_except_last": lambda k, m, v: gpipe(k, m, "except_last", "late"),
    "gpipe_early_always": lambda k, m, v: gpipe(k, m, "always", "early"),
    "gpipe_early_except_last": lambda k, m, v: gpipe(k, m, "except_last", "early"),
    "interleaved": lambda k, m, v: by_name("interleaved_1f1b", k, m, num_chunks=v),
    "looped_bfs": lambda k, m, v: by_name("looped_bfs", k, m, num_chunks=v),
    "dualpipev": lambda k, m, v: by_name("dualpipe_v", k, m),
}
NAMES = sorted({row["sched"] for row in ROWS})
IN_BLOCKS = ("dualpipe", "dualpipev")


@functools.cache
def build(name, k, m, v):
    schedule = BUILDERS[name](k, m, v) if name in BUILDERS else by_name(name, k, m)
    validate(schedule)
    return schedule


def costs_of(row):
    """The row's costs for one of v chunks; a naive op is on the whole batch."""
    share = row["M"] if row["sched"].startswith("naive") else 1 / row["v"]
    forward, input_grad, weight_grad, recompute = (share * cost for cost in COSTS[row["cost"]])
    return Costs(forward, input_grad + weight_grad, recompute, input_grad, weight_grad)


def num_messages(schedule):
    """Values that cross to another device: each once, however many ops there wait for it."""
    sent = set()
    for device, lane in enumerate(schedule.lanes):
        needed = set(needs_codes(lane.codes, schedule).ravel().tolist())
        sent |= {(code, device) for code in needed - set(lane.codes.tolist()) - {NOTHING}}
    return len(sent)


@pytest.mark.parametrize("name", NAMES)
def test_schedules_agree_with_the_golden_rows(name):
    for row in (row for row in ROWS if row["sched"] == name):
        schedule = build(name, row["K"], row["M"], row["v"])
        timeline = simulate(schedule, costs_of(row))
        pieces = row["M"] if name.startswith("naive") else 1
        assert busy_time(timeline).mean() == pytest.approx(row["ideal"])
        assert messages(schedule) * pieces == row["msgs"]
        if row["peak"] is not None:
            assert max(peak_in_flight(timeline)) * pieces == row["peak"] * row["v"]
        if name not in IN_BLOCKS:
            assert timeline.makespan == pytest.approx(row["makespan"])
            assert timeline.makespan - busy_time(timeline).mean() == pytest.approx(row["bubble"])
            assert bubble_fraction(timeline) == pytest.approx(row["frac"], abs=1e-6)
            assert span_bubble(timeline) == pytest.approx(row["span_bubble"])


@pytest.mark.parametrize("name", IN_BLOCKS)
def test_dualpipes_golden_rows_are_those_of_blocks_and_separate_ops_are_never_slower(name):
    for row in (row for row in ROWS if row["sched"] == name):
        schedule = build(name, row["K"], row["M"], row["v"])
        first, last, busy = spans_of_blocks(schedule, costs_of(row))
        assert last.max() - first.min() == pytest.approx(row["makespan"])
        assert last.max() - first.min() - busy.mean() == pytest.approx(row["bubble"])
        assert 1 - busy.mean() / (last.max() - first.min()) == pytest.approx(row["frac"], abs=1e-6)
        assert (last - first - busy).max() == pytest.approx(row["span_bubble"])
        timeline = simulate(schedule, costs_of(row))
        assert timeline.makespan < row["makespan"] + 1e-9
        assert span_bubble(timeline) < row["span_bubble"] + 1e-9


def test_messages_are_the_values_that_cross_to_another_device():
    for row in (row for row in ROWS if row["cost"] == "f1b1w1" and row["K"] * row["M"] <= 128):
        schedule = build(row["sched"], row["K"], row["M"], row["v"])
        assert messages(schedule) == num_messages(schedule)


def test_stashes_and_full_sets_at_the_peak_agree_with_the_golden_rows():
    rows = [row for row in ROWS if row["stash_full"] is not None]
    assert len(rows) == 4 * 33
    for row in rows:
        schedule = build(row["sched"], row["K"], row["M"], row["v"])
        stashes, whole = row["stash_full"]
        for lane in schedule.lanes:  # one stash for every forward that is done again
            assert sum(op.kind == "R" for op in lane) == stashes
        # With everything recomputed the whole set's own input is one of the stashes.
        inside = 1000 - 1 if "always" in row["sched"] else 1000
        unit = ModelShape((StageShape(0, 0, stash=1, internals=1000),) * row["K"])
        assert peak_activations(schedule, unit, [1] * row["M"]) == [stashes + whole * inside] * row["K"]


def test_the_golden_rows_cover_the_cases():
    assert len(ROWS) == 543
    assert len(NAMES) == 15
    assert {row["cost"] for row in ROWS} == set(COSTS)
    assert np.max([row["K"] * row["M"] * row["v"] for row in ROWS]) == 16 * 64 * 4
