"""Read a model's shape off it without computing: with fake tensors, which have sizes and a device but no numbers.

Plain tensors on torch's meta device have no numbers either, but there torch picks other kernels: attention kept 22 %
more than on the CPU.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from pipekit.errors import PartitionError
from pipekit.plan import ModelShape, StageShape
from pipekit.run.ledger import Ledger
from pipekit.run.microbatch import Whole
from pipekit.run.values import Parcel, open_parcel, pack, storage_key, tensors

_FEW, _MORE = 8, 16  # samples; two sizes tell what grows with the samples and what does not


def inspect(
    model: nn.Module | Sequence[nn.Module],
    example: Any,
    *,
    loss: Callable[..., torch.Tensor] | None = None,
    target: Any = None,
) -> ModelShape:
    """What a model's stages hold and keep, in bytes a sample; nothing is computed (but an LSTM's workspace).

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
    with FakeTensorMode(), _Workspaces():
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
    """Run all stages once on fake tensors of this many samples, and count what each keeps."""
    places = [_place(stage) for stage in stages]
    value, goal = _fake(example, samples, places[0]), _fake(target, samples, places[-1])
    outside = {storage_key(tensor) for tensor in [*tensors(value), *tensors(goal)]}
    leaves, spec = pytree.tree_flatten(value)
    parcel = Parcel(leaves, [False] * len(leaves), spec)  # the batch itself, not a copy: it is left out
    rows = []
    for index, stage in enumerate(stages):
        with _fake_weights(stage) as own, _unnoticed(stage), FlopCounterMode(display=False) as flops:
            ledger = Ledger(outside | {storage_key(tensor) for tensor in own})
            ledger.keep(0, parcel.leaves)
            stash = ledger.nbytes
            with ledger.watching(0), torch.enable_grad():
                received, _ = open_parcel(parcel, with_grad=True)
                output = stage(received)
                if loss is not None and index == len(stages) - 1:
                    _ = loss(output) if target is None else loss(output, goal)
            parcel = pack(output, places[min(index + 1, len(stages) - 1)])
        rows.append(
            {
                "stash": float(stash),
                "internals": float(ledger.nbytes),
                "output": float(parcel.nbytes),
                "flops": float(flops.get_total_flops()),
            }
        )
    return rows


def _place(stage: nn.Module) -> torch.device:
    """Where a stage computes: where its weights are."""
    return next((tensor.device for tensor in [*stage.parameters(), *stage.buffers()]), torch.device("cpu"))


def _empty(tensor: torch.Tensor, place: torch.device) -> torch.Tensor:
    """A tensor of the same size, strides and type."""
    return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=place)


def _fake(value: Any, samples: int, place: torch.device) -> Any:
    """The same structure with `samples` samples and no numbers; `run.whole` values keep their size."""

    def change(leaf: Any) -> Any:
        if isinstance(leaf, Whole):
            return pytree.tree_map_only(torch.Tensor, lambda t: _empty(t, place), leaf.value)
        if isinstance(leaf, torch.Tensor):
            return torch.empty((samples, *leaf.shape[1:]), dtype=leaf.dtype, device=place)
        return leaf

    return pytree.tree_map(change, value, is_leaf=lambda leaf: isinstance(leaf, Whole))


class _Workspaces(TorchDispatchMode):
    """Asks the CPU's LSTM how large the workspace is that it keeps: fake tensors say 0, but it is most of all."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        outputs = func(*args, **(kwargs or {}))
        if func is not torch.ops.aten.mkldnn_rnn_layer.default:
            return outputs
        with unset_fake_temporarily():
            real = pytree.tree_map_only(torch.Tensor, lambda t: torch.zeros(t.shape, dtype=t.dtype), args)
            workspace = func(*real)[3]
        return *outputs[:3], outputs[3].new_empty(workspace.shape)


@contextmanager
def _unnoticed(stage: nn.Module) -> Iterator[None]:
    """Without the user's forward hooks, and with the modules' attributes and buffers as before afterwards."""
    before = [(module, dict(module.__dict__), dict(module._buffers)) for module in stage.modules()]
    try:
        for module, attributes, _ in before:
            pre_hooks = attributes["_forward_pre_hooks"].items()
            module.__dict__["_forward_hooks"] = OrderedDict()
            module.__dict__["_forward_pre_hooks"] = OrderedDict(
                (key, hook) for key, hook in pre_hooks if type(hook).__module__.startswith("torch.nn.utils")
            )  # torch's own make a pruned or normalised weight
        yield
    finally:
        for module, attributes, buffers in before:
            module.__dict__.clear()
            module.__dict__.update(attributes)
            module._buffers.clear()
            module._buffers.update(buffers)


@contextmanager
def _fake_weights(stage: nn.Module) -> Iterator[list[torch.Tensor]]:
    """Stand-ins without numbers for the stage's parameters and buffers, put in place for a while."""
    stands: dict[int, Any] = {}
    parameters = [(m, n, p) for m in stage.modules() for n, p in m._parameters.items() if p is not None]
    buffers = [(m, n, b) for m in stage.modules() for n, b in m._buffers.items() if b is not None]
    try:
        for module, name, parameter in parameters:
            if id(parameter) not in stands:
                stands[id(parameter)] = nn.Parameter(
                    _empty(parameter, parameter.device), requires_grad=parameter.requires_grad
                )
            setattr(module, name, stands[id(parameter)])  # recurrent layers keep a list as well
        for module, name, buffer in buffers:
            module._buffers[name] = stands.setdefault(id(buffer), _empty(buffer, buffer.device))
        yield list(stands.values())
    finally:
        for module, name, parameter in parameters:
            setattr(module, name, parameter)
        for module, name, buffer in buffers:
            module._buffers[name] = buffer
