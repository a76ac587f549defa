"""Really train with each schedule of a comparison, on stand-ins that need what the knobs declare. No widget, no picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn

from pipekit import plan, run
from pipekit.errors import BatchError, Cancelled
from pipekit.learn.comparison.cases import Case
from pipekit.learn.comparison.rows import Measured, Row
from pipekit.learn.data import digits
from pipekit.learn.experiment import LATE, Watch, prompt_turns, seeded
from pipekit.learn.models import mlp, one_thread
from pipekit.learn.sweeping import bare
from pipekit.show.i18n import DECLARED

SLOT = 0.02  # seconds
SHORTEST = 0.01  # seconds of the shortest op: below, late wake-ups would be seen
STEPS = 3  # timed steps of each schedule; the median one is shown
FEWEST_BLOCKS, FEWEST_SAMPLES = 8, 64
NOBODY = Watch()
BETWEEN = 0.4  # seconds a schedule, roughly: making the pipeline, the uncut gradients, a picture


@dataclass(frozen=True)
class CaseStandIns(run.StandIns):
    """Stand-ins whose ops take what a case declares, at `tick` seconds a slot."""

    case: Case = field(default_factory=Case)

    def costs(self, schedule: plan.Schedule, num_samples: int, shape: plan.ModelShape | None) -> plan.Costs:
        """The declared seconds of each op."""
        return self.case.costs(schedule, self.tick or SLOT)

    def label(self) -> str:
        """How many, and what is declared and what is measured."""
        case, count = self.case, self.num_devices
        parts = (case.forward, case.input_grad, case.weight_grad, case.recompute)
        words = f"{count} stand-in{'s' if count > 1 else ''}, {(self.tick or SLOT) * 1e3:g} ms a slot"
        words += ", F:I:W:R " + ":".join(f"{part:g}" for part in parts)
        if case.overhead:
            words += f", {case.overhead:g} slots overhead an op"
        if case.latency:
            words += f", {case.latency:g} slots a hop"
        if not case.even:
            words += f", part {case.slow_part} of the model {case.slow_factor:g} x slower"
        return words + DECLARED


def slot_seconds(case: Case, rows: Sequence[Row]) -> float:
    """Seconds of a slot, the same for all rows: long enough for their shortest op."""
    shortest = math.inf
    for each in rows:
        if each.prediction is not None:
            shortest = min(shortest, float(each.prediction.timeline.spans.durations.min()))
    return max(SLOT, SHORTEST / shortest) if 0 < shortest < math.inf else SLOT


def seconds(case: Case, rows: Sequence[Row]) -> float:
    """How long measuring them will take."""
    slots = [each.prediction.figures.makespan for each in rows if each.prediction is not None]
    return sum((1 + STEPS) * slot_seconds(case, rows) * each + BETWEEN for each in slots)


class Bench:
    """One model, one mini-batch of real digits, and the uncut model's gradients, for all schedules of a comparison.

    The model has a block for each stage of the schedule that cuts it finest, and the mini-batch a multiple of every M.
    Measuring leaves the model as it is: all schedules start from the same parameters.

    Raises:
        BatchError: there are not so many digits.
    """

    def __init__(self, case: Case, rows: Sequence[Row]) -> None:
        schedules = [each.prediction.schedule for each in rows if each.prediction is not None]
        self.case, self.slot = case, slot_seconds(case, rows)
        whole = math.lcm(*(schedule.num_micro_batches for schedule in schedules))
        self.samples = whole * math.ceil(FEWEST_SAMPLES / whole)
        data = digits()
        found = len(data.train_labels)
        if self.samples > found:
            raise BatchError("batch_digits", asked=self.samples, found=found)
        self.batch, self.target = data.train_images[: self.samples], data.train_labels[: self.samples]
        blocks = max([FEWEST_BLOCKS, *(schedule.num_stages for schedule in schedules)])
        self.model = seeded(lambda: mlp(blocks))
        self.devices = CaseStandIns(
            case.num_devices, tick=self.slot, latency=case.latency * self.slot, case=case
        )
        self._uncut: list[torch.Tensor] = []

    @property
    def uncut(self) -> list[torch.Tensor]:
        """The whole model's gradients for the whole mini-batch."""
        if not self._uncut:
            with one_thread():
                loss = nn.functional.cross_entropy(self.model(self.batch), self.target)
                self._uncut = list(torch.autograd.grad(loss, list(self.model.parameters())))
        return self._uncut

    def measure(self, row: Row, watch: Watch = NOBODY) -> Measured:
        """One real training step to compare gradients, then the timed ones.

        Raises:
            PipekitError: the engine refuses the schedule, or was cancelled.
        """
        assert row.prediction is not None
        schedule, loss = row.prediction.schedule, nn.functional.cross_entropy
        _ = (
            self.devices.grain
        )  # looked at now: a picture being drawn would make this machine's clock look coarse
        stages = run.partition(self.model, schedule.num_stages)
        homes: Any = schedule.placement  # one device a stage, or two
        self.model.zero_grad()
        with prompt_turns(), run.Pipeline(stages, self.devices, placement=homes) as pipeline:
            watch.pipeline(pipeline)
            try:
                pipeline.step(schedule, self.batch, self.target, loss, on_span=watch.span)
                difference = run.relative_difference(run.gradients([self.model]), self.uncut)
                best = run.measure(
                    pipeline, schedule, self.batch, self.target, loss, steps=STEPS, warm_up=False, late=LATE,
                    on_span=watch.span,
                ).median  # fmt: skip
            finally:
                watch.pipeline(None)
                self.model.zero_grad()
        return Measured(best.timeline, self.slot, difference, best.overruns, best.slip.worst, self.samples)


def measure_all(
    case: Case,
    rows: Sequence[Row],
    keep: Callable[[int, Row], None],
    watch: Watch = NOBODY,
) -> list[Row]:
    """Measure every row that has a prediction, and hand each to `keep` with its place; one that fails keeps its reason.

    `watch.phase` is called with "compare_training" and `done`, `total`, `name` before each.

    Raises:
        Cancelled: by the watch or its pipeline; what was kept stays kept.
    """
    can = [index for index, each in enumerate(rows) if each.prediction is not None]
    measured = list(rows)
    if not can:
        return measured
    bench = Bench(case, rows)
    for done, index in enumerate(can):
        watch.phase("compare_training", done=done, total=len(can), name=rows[index].variant.name)
        try:
            measured[index] = replace(rows[index], measured=bench.measure(rows[index], watch), error=None)
        except Cancelled:
            raise
        except Exception as error:  # the engine may refuse one schedule, and the others still train
            measured[index] = replace(rows[index], measured=None, error=bare(error))
        keep(index, measured[index])
    return measured
