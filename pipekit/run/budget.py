"""Refuse what would not fit into memory: running out on a CPU is a kill, not an exception.

Before a step whose batch or weights are large the model's shape is read off it. What that cannot foresee is caught
while the first micro-batch of each stage comes by: what it keeps tells what all of them will.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import torch

from pipekit.errors import MemoryBudgetError
from pipekit.plan import ModelShape, Schedule, StageShape, peak_activations
from pipekit.plan.ops import F, R
from pipekit.run.lanes import Task

SHARE = 0.8  # of what is available
_USUAL_GROWTH = 1000  # a model whose activations stay below so many times its batch needs no look beforehand


def may_be_large(batch: Sequence[torch.Tensor], parameter_bytes: int, available: int | None) -> bool:
    """Whether a step could come near the available memory, by a very rough and generous estimate."""
    given = sum(tensor.numel() * tensor.element_size() for tensor in batch)
    return available is not None and _USUAL_GROWTH * given + 2 * parameter_bytes > SHARE * available


def refuse_over(predicted: float, available: float | None, device: int) -> None:
    """Raise `MemoryBudgetError` if `predicted` bytes are over the share of `available` that may be used."""
    if available is not None and predicted > SHARE * available:
        raise MemoryBudgetError(
            "memory_budget",
            device=device,
            predicted_mib=predicted / 2**20,
            available_mib=SHARE * available / 2**20,
        )


class Projection:
    """Watches the first step of a kind: from one micro-batch's kept bytes to the peak of all.

    Args:
        sizes: samples of each micro-batch. parameter_bytes: so much the gradients will take as well.
        available: bytes; None never refuses.
    """

    def __init__(
        self, schedule: Schedule, sizes: Sequence[int], parameter_bytes: int, available: int | None
    ) -> None:
        self.schedule, self.sizes, self.available = schedule, sizes, available
        self.parameter_bytes = parameter_bytes
        nothing = StageShape(parameters=0, buffers=0, stash=0.0, internals=0.0)
        self.stages = [nothing] * schedule.num_stages
        self._seen: set[tuple[int, int]] = set()
        self._lock = threading.Lock()

    def note(self, task: Task, kept_bytes: int) -> None:
        """An F or R has run and keeps so much for its micro-batch; any worker may call it."""
        with self._lock:
            if task.kind not in (F, R) or (task.kind, task.stage) in self._seen:
                return
            self._seen.add((task.kind, task.stage))
            per_sample = kept_bytes / self.sizes[task.micro_batch]
            stashed = task.kind == F and self.schedule.has(R, task.stage, task.micro_batch)
            stash = per_sample if stashed else self.stages[task.stage].stash
            self.stages[task.stage] = StageShape(0, 0, stash=stash, internals=per_sample)
            peaks = peak_activations(self.schedule, ModelShape(tuple(self.stages)), self.sizes)
        refuse_over(sum(peaks) + self.parameter_bytes, self.available, self.schedule.homes[task.stage][0])
