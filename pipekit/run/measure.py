"""Measure a step properly: warm up, repeat what overran or woke up late, keep the median."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pipekit.plan import Schedule
from pipekit.run.engine import Pipeline
from pipekit.run.job import OnSpan
from pipekit.run.microbatch import Weight
from pipekit.run.pieces import Loss
from pipekit.run.result import StepResult

RETRIES = 2  # how often one step is repeated because an op overran


@dataclass(frozen=True, slots=True)
class Measurement:
    """Steps measured the same way; `repeated` counts steps thrown away because an op overran or woke up late."""

    results: list[StepResult]
    repeated: int

    @property
    def median(self) -> StepResult:
        """The step whose makespan is the median (of those with the fewest overruns)."""
        fewest = min(result.overruns for result in self.results)
        clean = [result for result in self.results if result.overruns == fewest]
        return sorted(clean, key=lambda result: result.timeline.makespan)[(len(clean) - 1) // 2]


def measure(
    pipeline: Pipeline,
    schedule: Schedule,
    batch: Any,
    target: Any,
    loss: Loss,
    *,
    steps: int = 5,
    warm_up: bool = True,
    late: float = float("inf"),
    weight: Weight = "samples",
    on_span: OnSpan | None = None,
    on_step: Callable[[int, StepResult], None] | None = None,
) -> Measurement:
    """Run one untimed step, then `steps` measured ones; gradients, buffers and randomness stay as they were.

    Args:
        warm_up: False leaves the untimed step out, where the same was run a moment ago.
        late: seconds that a stand-in may wake up late; a step in which one is later is repeated once.
        on_span: as in `Pipeline.step`. on_step: called with the number of measured steps done and the last one.

    Raises: as `Pipeline.step`.
    """

    def run() -> StepResult:
        return pipeline.step(schedule, batch, target, loss, weight, on_span=on_span, keep_gradients=False)

    if warm_up:
        pipeline.step(schedule, batch, target, loss, weight, keep_gradients=False)
    results: list[StepResult] = []
    repeated = 0
    for done in range(1, steps + 1):
        result = run()
        for again in range(RETRIES):
            if not result.overruns and (again or result.slip.worst <= late):
                break
            repeated += 1
            result = min(result, run(), key=lambda each: (each.overruns, each.slip.worst))
        results.append(result)
        if on_step is not None:
            on_step(done, result)
    return Measurement(results, repeated)
