"""Measure what each op costs on this machine, one at a time: the costs for a prediction in real time."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from torch import nn

from pipekit.plan import Costs, Schedule
from pipekit.run.devices import CpuThreads
from pipekit.run.engine import Pipeline
from pipekit.run.microbatch import Weight
from pipekit.run.pieces import Loss


class _OneAfterAnother(CpuThreads):
    """CPU threads whose source nobody asks: the profile reads single spans, not a bubble."""

    @property
    def source(self) -> str:
        """Not a bubble measurement."""
        return "shared"

    def label(self) -> str:
        """What it is."""
        return "1 CPU thread, one op after another"


def profile(
    stages: Sequence[nn.Module],
    batch: Any,
    target: Any,
    loss: Loss,
    *,
    num_micro_batches: int = 1,
    weight: Weight = "samples",
    repeats: int = 5,
) -> Costs:
    """Seconds of every stage's ops for one micro-batch, each half of a backward too: medians of `repeats` steps.

    The stages run on one worker, one op at a time, so nothing shares a core with what is timed. Gradients, buffers
    and randomness stay as they were.
    """
    num_stages = len(stages)
    seconds: dict[str, list[list[float]]] = {kind: [[] for _ in stages] for kind in "FRBIW"}
    schedules = [_one_lane(num_stages, num_micro_batches, back) for back in ("RB", "IW")]
    with Pipeline(stages, _OneAfterAnother(1), placement=[0] * num_stages) as pipeline:
        for repeat in range(repeats + 1):  # the first one warms up
            for schedule in schedules:
                result = pipeline.step(schedule, batch, target, loss, weight, keep_gradients=False)
                for span in result.timeline.spans if repeat else []:
                    if (
                        schedule is not schedules[0] or span.op.kind.value in "RB"
                    ):  # there an F makes no graph
                        seconds[span.op.kind.value][span.op.stage].append(span.duration)
    medians = {kind: [statistics.median(times) for times in rows] for kind, rows in seconds.items()}
    return Costs(
        forward=medians["F"],
        backward=medians["B"],
        recompute=medians["R"],
        input_grad=medians["I"],
        weight_grad=medians["W"],
    )


def _one_lane(num_stages: int, num_micro_batches: int, back: str) -> Schedule:
    """All forwards, then all the way back, in these kinds of ops."""
    lane = [op for s in range(num_stages) for op in _stage_ops(s, num_micro_batches, "F")]
    lane += [op for s in reversed(range(num_stages)) for op in _stage_ops(s, num_micro_batches, back)]
    return Schedule([lane], [0] * num_stages, name="profile")


def _stage_ops(stage: int, num_micro_batches: int, kinds: str) -> list[str]:
    return [f"{stage}{kind}{m}" for m in range(num_micro_batches) for kind in kinds]
