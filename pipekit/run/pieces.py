"""A mini-batch cut for one schedule: what each micro-batch gets, and what it weighs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from pipekit.plan import Schedule
from pipekit.plan.ops import F
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
    places: Sequence[torch.device],
) -> Pieces:
    """Cut batch and target into the schedule's micro-batches, each on the device of the stage that needs it.

    Args:
        places: the torch device of each of the schedule's devices.

    Raises:
        BatchError: fewer samples than micro-batches, tensors of different lengths, weights that don't add up.
    """
    total = num_samples(batch)
    sizes = sizes_of(total, schedule.num_micro_batches)
    first, last = ([places[device] for device in schedule.device_of[F, stage]] for stage in (0, -1))
    inputs = [given(piece, at) for piece, at in zip(cut(batch, "batch", total, sizes), first, strict=True)]
    targets = cut(target, "target", total, sizes)
    if any(at.type != "cpu" for at in last):
        targets = [_moved(piece, at) for piece, at in zip(targets, last, strict=True)]
    head = Head(loss, targets, weights(weight, targets, sizes), has_target=target is not None)
    return Pieces(total, sizes, inputs, head, (batch, target))


def _moved(value: Any, place: torch.device) -> Any:
    return pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.to(place), value)
