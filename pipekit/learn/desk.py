"""What lies on a GPU's desk while it trains: parameters, gradients, the optimizer's notes, activations, in bytes.

Predicted from shapes alone, so that giants can be weighed that no machine here could hold; and counted in a real step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import nn

from pipekit import plan, run
from pipekit.learn.giants import num_parameters

MB, GB = 10**6, 10**9
NOTES = 2  # numbers that Adam keeps for each parameter: the mean of its gradients, and of their squares
TRANSLATOR_LAYERS, TRANSLATOR_WIDTH = 128, 1976

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class Desk(NamedTuple):
    """Bytes on one device."""

    parameters: float
    gradients: float
    notes: float
    activations: float

    @property
    def total(self) -> float:
        """All of it."""
        return sum(self)


def predict_desks(
    stages: Sequence[nn.Module], schedule: plan.Schedule, batch: Any, target: Any, loss: Loss
) -> list[Desk]:
    """What each device will keep at most, training with Adam; nothing is computed."""
    shape = run.inspect(stages, batch, loss=loss, target=target)
    sizes = run.sizes_of(len(target), schedule.num_micro_batches)
    return [
        Desk(each.parameters, each.gradients, NOTES * each.parameters, each.activations)
        for each in plan.predict_memory(schedule, shape, sizes)
    ]


def count_desks(
    stages: Sequence[nn.Module], schedule: plan.Schedule, batch: Any, target: Any, loss: Loss
) -> list[Desk]:
    """What each device kept at most in one real step with Adam, one stage a device."""
    with run.Pipeline(stages, run.cpu(schedule.num_devices)) as pipeline:
        optimizer = torch.optim.Adam(pipeline.parameters())
        memory = pipeline.step(schedule, batch, target, loss).memory
        optimizer.step()
    notes = [
        sum(
            note.nbytes
            for weight in stage.parameters()
            for note in optimizer.state[weight].values()
            if note.dim()
        )
        for stage in stages
    ]
    columns = (memory.parameter_bytes, memory.gradient_bytes, notes, memory.peak_activation_bytes)
    return [Desk(*map(float, row)) for row in zip(*columns, strict=True)]


def layers_of(stages: Sequence[nn.Sequential]) -> list[tuple[int, int]]:
    """First and last layer of each stage, counted from 1.

    >>> from pipekit.learn import mlp
    >>> layers_of(run.partition(mlp(num_blocks=40), num_stages=4))
    [(1, 10), (11, 20), (21, 30), (31, 40)]
    """
    ends = [sum(map(len, stages[: stage + 1])) for stage in range(len(stages))]
    return [(end - len(stage) + 1, end) for stage, end in zip(stages, ends, strict=True)]


def alexnet() -> nn.Sequential:
    """AlexNet's layers with parameters, in two groups as on its two GPUs (Krizhevsky and others, 2012); without numbers.

    >>> num_parameters(alexnet())
    60965224
    """
    with torch.device("meta"):
        return nn.Sequential(
            nn.Conv2d(3, 96, 11, stride=4),
            nn.Conv2d(96, 256, 5, padding=2, groups=2),
            nn.Conv2d(256, 384, 3, padding=1),
            nn.Conv2d(384, 384, 3, padding=1, groups=2),
            nn.Conv2d(384, 256, 3, padding=1, groups=2),
            nn.Linear(256 * 6 * 6, 4096),
            nn.Linear(4096, 4096),
            nn.Linear(4096, 1000),
        )


def translator() -> nn.Sequential:
    """A tower as high and as heavy as GPipe's translator: 128 Transformer layers, 6 billion parameters; without numbers.

    All layers are alike here; the published model's are not.
    """
    width = TRANSLATOR_WIDTH
    with torch.device("meta"):
        return nn.Sequential(
            *(
                nn.TransformerEncoderLayer(width, nhead=8, dim_feedforward=4 * width)
                for _ in range(TRANSLATOR_LAYERS)
            )
        )


def weigh(stages: Sequence[nn.Module]) -> list[Desk]:
    """What lies on each device before the first sheet of scratch paper, training with Adam in 4-byte numbers."""
    bytes_ = [4.0 * num_parameters(stage) for stage in stages]
    return [Desk(each, each, NOTES * each, 0.0) for each in bytes_]
