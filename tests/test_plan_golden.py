"""The published numbers: `golden.json` has makespan, bubble, peak and messages of an independent event-driven model.

Its naive rows are one whole batch, so costs, peak and messages are compared times M. `stash_full` says what a device
keeps at its peak: how many stage inputs, and how many whole micro-batches.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from pipekit.plan import (
    Costs,
    ModelShape,
    StageShape,
    bubble_fraction,
    gpipe,
    naive,
    one_f_one_b,
    peak_activations,
    peak_in_flight,
    simulate,
)
from pipekit.plan.rules import NOTHING, needs_codes

ROWS = json.loads(Path(__file__).with_name("golden.json").read_text(encoding="utf-8"))
COSTS = {  # "f2b3w1": forward 2, input gradient 3, weight gradient 1
    "f1b1w1": (1, 2, 1),
    "f1bw1": (1, 1, 1),
    "f2b3w1": (2, 4, 2),
}
BUILDERS = {
    "naive(M=1 batch)": lambda k, m: naive(k),
    "gpipe": gpipe,
    "1f1b": one_f_one_b,
    "gpipe_late_always": lambda k, m: gpipe(k, m, "always", "late"),
    "gpipe_late_except_last": lambda k, m: gpipe(k, m, "except_last", "late"),
    "gpipe_early_always": lambda k, m: gpipe(k, m, "always", "early"),
    "gpipe_early_except_last": lambda k, m: gpipe(k, m, "except_last", "early"),
}


def num_messages(schedule):
    """Values that cross to another device: each once, however many ops there wait for it."""
    sent = set()
    for device, lane in enumerate(schedule.lanes):
        wanted = needs_codes(lane.codes, schedule)[:, 1]  # gradients
        forwards = needs_codes(lane.codes, schedule)[:, 0]  # activations, or what the device itself kept
        own = set(lane.codes.tolist())
        sent |= {(code, device) for code in {*wanted.tolist(), *forwards.tolist()} - own - {NOTHING}}
    return len(sent)


@pytest.mark.parametrize("name", BUILDERS)
def test_schedules_agree_with_the_golden_rows(name):
    rows = [row for row in ROWS if row["sched"] == name]
    assert len(rows) == 33
    for row in rows:
        k, m = row["K"], row["M"]
        pieces = m if name.startswith("naive") else 1  # a naive op is on the whole batch
        forward, backward, recompute = (pieces * cost for cost in COSTS[row["cost"]])
        schedule = BUILDERS[name](k, m)
        timeline = simulate(schedule, Costs(forward, backward, recompute))
        busy = float(timeline.spans.durations.sum()) / k
        assert timeline.makespan == pytest.approx(row["makespan"])
        assert busy == pytest.approx(row["ideal"])
        assert bubble_fraction(timeline) == pytest.approx(row["frac"], abs=1e-6)
        assert num_messages(schedule) * pieces == row["msgs"]
        if row["peak"] is not None:
            assert max(peak_in_flight(timeline)) * pieces == row["peak"] * row["v"]


def test_stashes_and_full_sets_at_the_peak_agree_with_the_golden_rows():
    rows = [row for row in ROWS if row["stash_full"] is not None]
    assert len(rows) == 4 * 33
    for row in rows:
        schedule = BUILDERS[row["sched"]](row["K"], row["M"])
        stashes, whole = row["stash_full"]
        for lane in schedule.lanes:  # one stash for every forward that is done again
            assert sum(op.kind == "R" for op in lane) == stashes
        # With everything recomputed the whole set's own input is one of the stashes.
        inside = 1000 - 1 if "always" in row["sched"] else 1000
        unit = ModelShape((StageShape(0, 0, stash=1, internals=1000),) * row["K"])
        assert peak_activations(schedule, unit, [1] * row["M"]) == [stashes + whole * inside] * row["K"]


def test_the_golden_rows_cover_the_cases():
    assert len(ROWS) == 231
    assert {row["cost"] for row in ROWS} == set(COSTS)
    assert np.max([row["K"] * row["M"] for row in ROWS]) == 16 * 64
