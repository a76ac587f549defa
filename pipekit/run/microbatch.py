"""Cut a mini-batch into micro-batches, and weigh them so that the sum is the whole batch's gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from pipekit.errors import BatchError
from pipekit.plan import micro_batch_sizes
from pipekit.run.values import holds_tensors, tensors

Weight = str | Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Whole:
    """A value that every micro-batch gets uncut; made by `run.whole`."""

    value: Any


def whole(value: Any) -> Whole:
    """Mark a tensor of a batch or target that must not be cut, such as a table all samples share."""
    return Whole(value)


def _leaves(value: Any) -> tuple[list[tuple[str, Any]], pytree.TreeSpec | None]:
    """The leaves with their paths, and the structure; None for a single tensor, the usual case."""
    if isinstance(value, torch.Tensor):
        return [("", value)], None
    paths, spec = pytree.tree_flatten_with_path(value, is_leaf=lambda leaf: isinstance(leaf, Whole))
    return [(pytree.keystr(path), leaf) for path, leaf in paths], spec


def num_samples(batch: Any) -> int:
    """N: the first dimension of the first tensor in `batch` that is cut."""
    for path, leaf in _leaves(batch)[0]:
        if isinstance(leaf, torch.Tensor):
            if leaf.dim() == 0:
                raise BatchError("batch_scalar", name=f"batch{path}")
            return int(leaf.shape[0])
    raise BatchError("batch_no_tensor")


def given_tensors(value: Any) -> list[torch.Tensor]:
    """All tensors of a batch or target, those in `run.whole` too."""
    return [
        tensor
        for _, leaf in _leaves(value)[0]
        for tensor in tensors(leaf.value if isinstance(leaf, Whole) else leaf)
    ]


def cut(value: Any, name: str, total: int, sizes: list[int]) -> list[Any]:
    """Cut every tensor in `value` along its first dimension into pieces of these sizes.

    Args:
        name: what to call it in an error ("batch", "target").
        total: N, which must be every tensor's first dimension.

    Returns:
        M values of the same structure; leaves that are not tensors, and `run.whole` ones, go to each.
    """
    leaves, spec = _leaves(value)
    pieces: list[list[Any]] = [[] for _ in sizes]
    for path, leaf in leaves:
        if isinstance(leaf, torch.Tensor):
            parts = _cut_tensor(leaf, name + path, total, sizes)
        else:
            parts = [_uncut(leaf, name + path)] * len(sizes)
        for piece, part in zip(pieces, parts, strict=True):
            piece.append(part)
    return [piece[0] if spec is None else pytree.tree_unflatten(piece, spec) for piece in pieces]


def _uncut(leaf: Any, name: str) -> Any:
    """What every piece gets as it is; no gradient goes back to it, as to nothing in a batch."""
    if isinstance(leaf, Whole):
        return pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, leaf.value)
    if isinstance(leaf, np.ndarray) or holds_tensors(leaf):
        raise BatchError("batch_object", name=name, type=type(leaf).__name__)
    return leaf


def _cut_tensor(tensor: torch.Tensor, name: str, total: int, sizes: list[int]) -> list[torch.Tensor]:
    if tensor.dim() == 0:
        raise BatchError("batch_scalar", name=name)
    if tensor.shape[0] != total:
        raise BatchError("batch_first", name=name, found=tensor.shape[0], num_samples=total)
    return list(torch.split_with_sizes(tensor.detach(), sizes))


def sizes_of(total: int, num_micro_batches: int) -> list[int]:
    """Samples of each micro-batch; `BatchError` if there are fewer samples than micro-batches."""
    if total < num_micro_batches:
        raise BatchError("batch_small", num_samples=total, num_micro_batches=num_micro_batches)
    return micro_batch_sizes(total, num_micro_batches)


def weights(weight: Weight, targets: list[Any], sizes: list[int]) -> list[float]:
    """How much each micro-batch's loss counts; known before the step, so the last stage can go back at once.

    `"samples"`: the loss is a mean over samples, so n / N. `"sum"`: it is a sum, so 1. A function of a target
    piece: what that piece counts (tokens that are not ignored), divided by the total.
    """
    if weight == "sum":
        return [1.0] * len(sizes)
    if weight == "samples":
        counts = [float(size) for size in sizes]
    elif callable(weight):
        counts = [float(weight(piece)) for piece in targets]
    else:
        raise BatchError("weight_name", asked=weight)
    for index, number in enumerate(counts):
        if not math.isfinite(number) or number < 0:
            raise BatchError("weight_negative", micro_batch=index, weight=number)
    total = math.fsum(counts)
    if total == 0:
        raise BatchError("weight_zero", total=total)
    return [number / total for number in counts]
