"""Train: batch after batch through a pipeline."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any

import torch

from pipekit.errors import Cancelled
from pipekit.plan import Schedule, bubble_fraction
from pipekit.run.engine import Pipeline
from pipekit.run.job import OnSpan
from pipekit.run.microbatch import Weight, num_samples
from pipekit.run.pieces import Loss
from pipekit.run.result import StepResult


@dataclass(slots=True)
class History:
    """What happened, step by step."""

    losses: list[float] = field(default_factory=list)
    bubbles: list[float] = field(default_factory=list)
    overruns: int = 0
    dropped: int = 0  # short batches that the schedule could not cut
    cancelled: bool = False
    last: StepResult | None = None

    def note(self, result: StepResult) -> None:
        """Add one step."""
        self.losses.append(float(result.loss))
        self.bubbles.append(bubble_fraction(result.timeline))
        self.overruns += result.overruns
        self.last = result


def fit(
    pipeline: Pipeline,
    schedule: Schedule | Callable[[int], Schedule],
    batches: Iterable[tuple[Any, Any]],
    loss: Loss,
    optimizer: torch.optim.Optimizer,
    *,
    epochs: int = 1,
    weight: Weight = "samples",
    on_step: Callable[[int, StepResult], None] | None = None,
    on_span: OnSpan | None = None,
    stop: threading.Event | None = None,
) -> History:
    """Train for some epochs; the optimizer steps once after each mini-batch.

    Args:
        schedule: a schedule; a batch with fewer samples than micro-batches is then dropped, said once. Or a builder
            of one from M: a batch of n samples gets min(M, n) micro-batches, with the M that the builder has as
            default (`lambda m=8: plan.gpipe(4, m)`), or 4 K (`lambda m: plan.gpipe(4, m)`; GPipe, section 2.3).
        batches: (batch, target) pairs; anything that can be iterated once an epoch, such as a DataLoader.
        on_step: called with the step's number (from 0) and its result.
        stop: when set, training ends after the step that runs.

    Returns:
        The history; also when `pipeline.cancel()` ended it.
    """
    history = History()
    most = None if isinstance(schedule, Schedule) else _most(schedule, 4 * pipeline.num_devices)
    pairs: Iterable[tuple[Any, Any]] = batches if epochs == 1 else _again(batches)
    step = 0
    for _ in range(epochs):
        for batch, target in pairs:
            if stop is not None and stop.is_set():
                history.cancelled = True
                return history
            plan = _for_batch(schedule, most, num_samples(batch), history)
            if plan is None:
                continue
            optimizer.zero_grad(set_to_none=True)
            try:
                result = pipeline.step(plan, batch, target, loss, weight, on_span=on_span)
            except Cancelled:
                history.cancelled = True
                return history
            optimizer.step()
            history.note(result)
            if on_step is not None:
                on_step(step, result)
            step += 1
    return history


def _again(batches: Iterable[Any]) -> Iterable[Any]:
    """What can be iterated once is kept for the next epochs; anything else begins anew by itself."""
    return list(batches) if iter(batches) is batches else batches


def _most(builder: Callable[[int], Schedule], otherwise: int) -> int:
    """The M that a builder has as its default, or `otherwise`."""
    parameter = next(iter(signature(builder).parameters.values()))
    return otherwise if parameter.default is Parameter.empty else int(parameter.default)


def _for_batch(
    schedule: Schedule | Callable[[int], Schedule], most: int | None, samples: int, history: History
) -> Schedule | None:
    """The schedule for a batch of this many samples; None drops it."""
    if not isinstance(schedule, Schedule):
        return schedule(min(most or 1, samples))
    if samples >= schedule.num_micro_batches:
        return schedule
    if not history.dropped:
        warnings.warn(
            f"a batch of {samples} samples can't be cut into {schedule.num_micro_batches} micro-batches and is "
            "dropped; give fit a builder such as lambda m=8: plan.gpipe(4, m) to use it",
            stacklevel=3,
        )
    history.dropped += 1
    return None
