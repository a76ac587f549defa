"""A mini-batch cut for one schedule: what each micro-batch gets, and what it weighs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from pipekit.plan import Schedule
from pipekit.run.microbatch import Weight, cut, given_tensors, num_samples, sizes_of, weights
from pipekit.run.stage import Head
from pipekit.run.values import Parcel, given, storage_key

Loss = Callable[..., torch.Tensor]


@dataclass(slots=True)
class Pieces:
    """N samples in M micro-batches.

    `inputs` go to the first stage, `head` to the last; `given` are batch and target as they came.
    """

    total: int
    sizes: list[int]
    inputs: list[Parcel]
    head: Head
    given: tuple[Any, Any]

    def outside(self) -> set[int]:
        """The storages of batch and target, which no stage keeps on its own account."""
        return {storage_key(tensor) for value in self.given for tensor in given_tensors(value)}


def cut_batch(
    schedule: Schedule,
    batch: Any,
    target: Any,
    loss: Loss,
    weight: Weight,
    first: torch.device,
    last: torch.device,
) -> Pieces:
    """Cut batch and target into the schedule's micro-batches, each on the device of the stage that needs it.

    Raises:
        BatchError: fewer samples than micro-batches, tensors of different lengths, weights that don't add up.
    """
    total = num_samples(batch)
    sizes = sizes_of(total, schedule.num_micro_batches)
    inputs = [given(piece, first) for piece in cut(batch, "batch", total, sizes)]
    targets = cut(target, "target", total, sizes)
    if last.type != "cpu":
        targets = [pytree.tree_map_only(torch.Tensor, lambda t: t.to(last), piece) for piece in targets]
    head = Head(loss, targets, weights(weight, targets, sizes), has_target=target is not None)
    return Pieces(total, sizes, inputs, head, (batch, target))
