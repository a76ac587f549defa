"""A stage that lives on two devices: the second device works on a copy, made afresh at each step's start.

A copy shares what its modules keep in Python with the original (hooks, counters in lists, settings), so it is never
behind it; modules, parameters and buffers it has for itself. Its gradients are added to the original's when the step
succeeds, in the order of the stages. Buffers have no such sum: a stage that changes one is refused.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from types import MethodType
from typing import Any

import torch
from torch import nn

from pipekit.errors import PlacementError
from pipekit.run.inventory import Inventory

_COUNTING = nn.modules.batchnorm._BatchNorm  # changes its running statistics in every forward while it trains
_TABLES = ("_modules", "_parameters", "_buffers")


class Replica:
    """The copy of one stage on its second device, for one step.

    Args:
        stage: its number. root: its module. loss: what the last stage is followed by, else None.
        homes: the original's device and the copy's. place: the copy's torch device.
    """

    def __init__(
        self,
        stage: int,
        root: nn.Module,
        loss: Callable[..., torch.Tensor] | None,
        homes: tuple[int, ...],
        place: torch.device,
        inventory: Inventory,
    ) -> None:
        self.stage, self.homes = stage, homes
        head = [] if loss is None or inventory.head is None else list(inventory.head.modules())
        twins = _twins([*root.modules(), *head], place)
        self.module: nn.Module = twins[id(root)]
        self.loss = _twin(loss, twins)
        self.parameters = {id(each): twins[id(each)] for each in inventory.parameters[stage]}
        self._slots = [
            (slot, twins[id(slot.module)]) for slot in inventory.buffer_slots if slot.stage == stage
        ]
        self.buffers = [b for _, twin in self._slots for b in twin._buffers.values() if b is not None]

    def refuse_changed_buffers(self, before: dict[tuple[int, str], torch.Tensor | None]) -> None:
        """Raise `PlacementError` if a forward has changed a buffer of the original or of the copy.

        Args:
            before: (id of a module, name) -> the buffer as it was at the step's start.
        """
        for slot, twin in self._slots:
            start = before[id(slot.module), slot.name]
            for now in (slot.module._buffers.get(slot.name), twin._buffers.get(slot.name)):
                if not _same(start, now):
                    raise _disagreement(self.stage, self.homes, slot.module, slot.name)


def refuse_what_cannot_be_copied(stages: Sequence[nn.Module], homes: Iterable[tuple[int, ...]]) -> None:
    """Raise `PlacementError`, before anything starts, for stages with two homes that would not work there."""
    for stage, (root, devices) in enumerate(zip(stages, homes, strict=True)):
        for module in root.modules() if len(devices) > 1 else ():
            if isinstance(module, _COUNTING) and module.training and module.track_running_stats:
                raise _disagreement(stage, devices, module, "running_mean")
            if isinstance(module, torch.jit.ScriptModule | torch._dynamo.OptimizedModule):
                raise PlacementError(
                    "replica_compiled",
                    stage=stage,
                    first=devices[0],
                    second=devices[1],
                    type=type(module).__name__,
                )


def _disagreement(stage: int, homes: tuple[int, ...], module: nn.Module, name: str) -> PlacementError:
    return PlacementError(
        "replica_buffers", stage=stage, first=homes[0], second=homes[1], type=type(module).__name__, name=name
    )


def _same(before: torch.Tensor | None, now: torch.Tensor | None) -> bool:
    if before is None or now is None:
        return before is now
    return before.shape == now.shape and torch.equal(before, now.to(before.device))


def _twins(modules: Iterable[nn.Module], place: torch.device) -> dict[int, Any]:
    """The twins by id: of these modules, their parameters and their buffers."""
    originals = list(dict.fromkeys(modules))
    twins: dict[int, Any] = {id(module): module.__new__(type(module)) for module in originals}
    for module in originals:
        for parameter in module._parameters.values():
            if parameter is not None and id(parameter) not in twins:
                twins[id(parameter)] = _parameter(parameter, place)
        for buffer in module._buffers.values():
            if buffer is not None:
                twins.setdefault(id(buffer), buffer.detach().to(place, copy=True))
    for module in originals:
        twin = twins[id(module)]
        for name, value in vars(module).items():
            vars(twin)[name] = _table(value, twins) if name in _TABLES else _twin(value, twins)
    return twins


def _parameter(original: nn.Parameter, place: torch.device) -> nn.Parameter:
    twin = nn.Parameter(original.detach().to(place, copy=True), requires_grad=original.requires_grad)
    vars(twin).update(vars(original))
    return twin


def _table(table: dict[str, Any], twins: dict[int, Any]) -> dict[str, Any]:
    """A copy of its own, whatever is in it."""
    return type(table)((name, twins.get(id(value), value)) for name, value in table.items())


def _twin(value: Any, twins: dict[int, Any], depth: int = 4) -> Any:
    """The twin of a value, or of what lists, tuples and dicts hold; the value itself where nothing has a twin."""
    if id(value) in twins:
        return twins[id(value)]
    if isinstance(value, MethodType) and id(value.__self__) in twins:
        return MethodType(value.__func__, twins[id(value.__self__)])
    if depth and type(value) in (list, tuple):
        inside = [_twin(each, twins, depth - 1) for each in value]
        changed = any(new is not old for new, old in zip(inside, value, strict=True))
        return type(value)(inside) if changed else value
    if depth and type(value) in (dict, OrderedDict):
        pairs = [(key, _twin(each, twins, depth - 1)) for key, each in value.items()]
        changed = any(new is not value[key] for key, new in pairs)
        return type(value)(pairs) if changed else value
    return value
