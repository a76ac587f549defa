"""Read a model's shape off it without computing: on torch's meta device, where tensors have sizes but no numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree
from torch.utils.flop_counter import FlopCounterMode

from pipekit.errors import PartitionError
from pipekit.plan import ModelShape, StageShape
from pipekit.run.ledger import Ledger
from pipekit.run.microbatch import Whole
from pipekit.run.values import open_parcel, pack, storage_key, tensors

META = torch.device("meta")
_FEW, _MORE = 2, 4  # samples; two sizes tell what grows with the samples and what does not


def inspect(
    model: nn.Module | Sequence[nn.Module],
    example: Any,
    *,
    loss: Callable[..., torch.Tensor] | None = None,
    target: Any = None,
) -> ModelShape:
    """What a model's stages hold and keep, in bytes a sample; nothing is computed and no memory is taken.

    Args:
        model: stages, or an uncut module (one stage).
        example: a batch (N, ...); only its shapes count.
        loss: counted with the last stage if given; loss(output, target), or loss(output) without target.

    Raises:
        PartitionError: no module. What torch raises where an op cannot run without numbers.
    """
    stages = [model] if isinstance(model, nn.Module) else list(model)
    if not stages:
        raise PartitionError("empty_model", num_layers=0)
    few, more = (_kept(stages, example, loss, target, samples) for samples in (_FEW, _MORE))
    return ModelShape(
        tuple(
            _stage_shape(stage, index, a, b)
            for index, (stage, a, b) in enumerate(zip(stages, few, more, strict=True))
        )
    )


def _stage_shape(stage: nn.Module, index: int, few: dict[str, float], more: dict[str, float]) -> StageShape:
    per_sample = {name: (more[name] - few[name]) / (_MORE - _FEW) for name in few}
    return StageShape(
        parameters=sum(parameter.nbytes for parameter in stage.parameters()),
        buffers=sum(buffer.nbytes for buffer in stage.buffers()),
        stash=per_sample["stash"],
        internals=per_sample["internals"],
        internals_fixed=few["internals"] - _FEW * per_sample["internals"],
        output=per_sample["output"],
        flops=per_sample["flops"],
        name=f"stage {index}: " + ", ".join(type(layer).__name__ for layer in stage.children()),
    )


def _kept(
    stages: list[nn.Module], example: Any, loss: Callable[..., torch.Tensor] | None, target: Any, samples: int
) -> list[dict[str, float]]:
    """Run all stages once on meta tensors of this many samples, and count what each keeps."""
    value, goal = _on_meta(example, samples), _on_meta(target, samples)
    outside = {storage_key(tensor) for tensor in [*tensors(value), *tensors(goal)]}
    parcel, _ = pack(value, META)
    parcel.leaves = pytree.tree_leaves(value, is_leaf=None)  # the batch itself, not a copy: it is left out
    rows = []
    for index, stage in enumerate(stages):
        with _weights_on_meta(stage) as own, FlopCounterMode(display=False) as flops:
            ledger = Ledger(outside | {storage_key(tensor) for tensor in own})
            ledger.keep(0, parcel.leaves)
            stash = ledger.nbytes
            with ledger.watching(0), torch.enable_grad():
                received, _ = open_parcel(parcel, with_grad=True)
                output = stage(received)
                if loss is not None and index == len(stages) - 1:
                    _ = loss(output) if target is None else loss(output, goal)
            parcel, _ = pack(output, META)
        rows.append(
            {
                "stash": float(stash),
                "internals": float(ledger.nbytes),
                "output": float(parcel.nbytes),
                "flops": float(flops.get_total_flops()),
            }
        )
    return rows


def _on_meta(value: Any, samples: int) -> Any:
    """The same structure with `samples` samples and no numbers; `run.whole` values keep their size."""

    def change(leaf: Any) -> Any:
        if isinstance(leaf, Whole):
            return pytree.tree_map_only(torch.Tensor, lambda t: torch.empty_like(t, device=META), leaf.value)
        if isinstance(leaf, torch.Tensor):
            return torch.empty((samples, *leaf.shape[1:]), dtype=leaf.dtype, device=META)
        return leaf

    return pytree.tree_map(change, value, is_leaf=lambda leaf: isinstance(leaf, Whole))


@contextmanager
def _weights_on_meta(stage: nn.Module) -> Iterator[list[torch.Tensor]]:
    """Stand-ins without numbers for the stage's parameters and buffers, put in place for a while."""
    stands: dict[int, Any] = {}
    parameters = [(m, n, p) for m in stage.modules() for n, p in m._parameters.items() if p is not None]
    buffers = [(m, n, b) for m in stage.modules() for n, b in m._buffers.items() if b is not None]
    try:
        for module, name, parameter in parameters:
            if id(parameter) not in stands:
                stands[id(parameter)] = nn.Parameter(
                    torch.empty_like(parameter, device=META), requires_grad=parameter.requires_grad
                )
            setattr(module, name, stands[id(parameter)])  # recurrent layers keep a list as well
        for module, name, buffer in buffers:
            module._buffers[name] = stands.setdefault(id(buffer), torch.empty_like(buffer, device=META))
        yield list(stands.values())
    finally:
        for module, name, parameter in parameters:
            setattr(module, name, parameter)
        for module, name, buffer in buffers:
            module._buffers[name] = buffer


def total_parameters(modules: Iterable[nn.Module]) -> int:
    """How many parameters, each counted once."""
    return sum({id(p): p.numel() for module in modules for p in module.parameters()}.values())
