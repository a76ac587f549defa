"""Cut a model into stages: consecutive layers, by count, by a given balance, or by measured time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.utils import _pytree as pytree

from pipekit.errors import PartitionError
from pipekit.plan import balance as best_balance
from pipekit.plan.schedules import count
from pipekit.run.values import Parcel, clone_leaves, open_parcel, tensors


def partition(
    model: nn.Module | Iterable[nn.Module],
    num_stages: int | None = None,
    balance: Sequence[int] | None = None,
    example: Any = None,
) -> list[nn.Sequential]:
    """Cut a model into stages.

    Args:
        model: an `nn.Sequential`, or modules that run one after the other. Its layers are shared, not copied:
            gradients and updates arrive in the model you gave.
        num_stages: how many stages; layers are spread evenly by count, the longer stages first.
        balance: layers per stage instead.
        example: a batch for the model; with it the cut is balanced by each layer's measured time.

    Returns:
        One `nn.Sequential` a stage.

    Raises:
        PartitionError: not a row of layers, more stages than layers, a balance that doesn't add up, one module in
            two stages.
    """
    layers = _layers(model)
    cuts = _balance(layers, num_stages, balance, example)
    ends = [sum(cuts[: stage + 1]) for stage in range(len(cuts))]
    stages = [nn.Sequential(*layers[end - length : end]) for end, length in zip(ends, cuts, strict=True)]
    for stage in stages:
        stage.training = any(layer.training for layer in stage)
    check_stages(stages)
    return stages


def _layers(model: nn.Module | Iterable[nn.Module]) -> list[nn.Module]:
    if isinstance(model, nn.Module) and not isinstance(model, nn.Sequential | nn.ModuleList):
        raise PartitionError("not_sequential", type=type(model).__name__)
    try:
        layers = list(model)
    except TypeError:
        raise PartitionError("not_sequential", type=type(model).__name__) from None
    if not layers:
        raise PartitionError("empty_model", num_layers=0)
    for index, layer in enumerate(layers):
        if not isinstance(layer, nn.Module):
            raise PartitionError("not_a_module", index=index, type=type(layer).__name__)
        if any(is_lazy(parameter) for parameter in layer.parameters()):
            raise PartitionError("lazy_parameter", index=index, type=type(layer).__name__)
    return layers


def _balance(
    layers: list[nn.Module], num_stages: int | None, balance: Sequence[int] | None, example: Any
) -> list[int]:
    if balance is None:
        if num_stages is None:
            raise PartitionError("balance_nothing")
        stages = count("num_stages", num_stages)
        if stages > len(layers):
            raise PartitionError("cut_layers", num_layers=len(layers), num_stages=stages)
        costs = [1.0] * len(layers) if example is None else layer_times(layers, example)
        return best_balance(costs, stages)
    cuts = [int(length) if isinstance(length, Integral) else length for length in balance]
    if num_stages is not None and num_stages != len(cuts):
        raise PartitionError("balance_or_number", num_stages=num_stages, balance=cuts, given=len(cuts))
    if not all(isinstance(length, Integral) and length >= 1 for length in cuts):
        raise PartitionError("balance_positive", balance=cuts, smallest=min(cuts, default=0))
    if sum(cuts) != len(layers):
        raise PartitionError("balance_sum", balance=cuts, total=sum(cuts), num_layers=len(layers))
    return cuts


def check_stages(stages: Sequence[nn.Module]) -> None:
    """Refuse one module standing in two stages: its hooks and buffers would be used by two threads at once."""
    home: dict[int, int] = {}
    for index, stage in enumerate(stages):
        for module in stage.modules():
            first = home.setdefault(id(module), index)
            if first != index:
                raise PartitionError("shared_module", type=type(module).__name__, first=first, second=index)


def layer_times(layers: Sequence[nn.Module], example: Any, repeats: int = 5) -> list[float]:
    """Seconds of each layer's forward and backward on `example`: medians of `repeats`, one thread.

    Layers are left as they were: no gradient, no buffer, no random number is spent.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    buffers = [(buffer, buffer.clone()) for layer in layers for buffer in layer.buffers()]
    try:
        with torch.random.fork_rng(devices=[]):
            return _time_in_turn(layers, example, repeats)
    finally:
        with torch.no_grad():
            for buffer, before in buffers:
                buffer.copy_(before)
        torch.set_num_threads(threads)


def _time_in_turn(layers: Sequence[nn.Module], example: Any, repeats: int) -> list[float]:
    times, value = [], example
    for layer in layers:
        parameters = [parameter for parameter in layer.parameters() if parameter.requires_grad]
        seconds = []
        for _ in range(repeats + 1):  # the first one warms up
            leaves, spec = pytree.tree_flatten(value)
            parcel = clone_leaves(Parcel(leaves, [], spec))
            parcel.want_gradients()
            given, sources = open_parcel(parcel, with_grad=True)
            begin = time.perf_counter()
            output = layer(given)
            roots = [leaf for leaf in tensors(output) if leaf.requires_grad]
            wanted = [source for source in sources if source is not None] + parameters
            if roots and wanted:
                torch.autograd.grad(
                    roots, wanted, [torch.ones_like(root) for root in roots], allow_unused=True
                )
            seconds.append(time.perf_counter() - begin)
        times.append(statistics.median(seconds[1:]))
        value = pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, output)
    return times
