"""What the stages are made of at this moment: looked at once a step, asked by everybody.

A step's frame matters in small models, and `nn.Module.parameters()` walks the whole tree in Python each time: so an
inventory is made once, and each step only looks whether it still holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from pipekit.run.batch_norm import Deferred
from pipekit.run.values import nbytes


@dataclass(slots=True)
class ParameterSlot:
    """One place in a module that holds a parameter."""

    module: nn.Module
    name: str
    parameter: nn.Parameter
    stage: int


@dataclass(slots=True)
class BufferSlot:
    """One place in a module that holds a buffer, or None."""

    module: nn.Module
    name: str
    buffer: torch.Tensor | None
    stage: int


class Inventory:
    """Modules, parameters and buffers of the stages, each list in the order of the stages.

    `training` tells, stage by stage and module by module, whether it trains or evaluates; `trained`, slot by slot,
    whether a parameter wants a gradient. A loss that is a module belongs to the last stage: it may have parameters
    and buffers too.
    """

    def __init__(self, stages: Sequence[nn.Module], loss: Any = None) -> None:
        self.head = _module_of(loss)
        self.parameter_slots: list[ParameterSlot] = []
        self.buffer_slots: list[BufferSlot] = []
        self.parameters: list[list[nn.Parameter]] = []
        self.buffers: list[list[torch.Tensor]] = []
        training = []
        self.modules: list[nn.Module] = []
        for stage, root in enumerate(stages):
            modules = list(root.modules())
            if stage == len(stages) - 1 and self.head is not None:
                modules += self.head.modules()
            training.append(tuple([module.training for module in modules]))
            self._take_in(stage, modules)
            self.modules += modules
        self.deferred = [module for module in self.modules if isinstance(module, Deferred)]
        self._seen = _look(self.modules)
        self.training = tuple(training)
        self.made_of = tuple([id(slot.parameter) for slot in self.parameter_slots])
        self.trained = tuple([slot.parameter.requires_grad for slot in self.parameter_slots])
        self.parameter_bytes = [nbytes(own) for own in self.parameters]
        self.buffer_bytes = [nbytes(own) for own in self.buffers]

    def holds(self, loss: Any) -> bool:
        """Whether all is as it was: no module, parameter or buffer replaced, no flag turned, the same loss module."""
        return self.head is _module_of(loss) and self._seen == _look(self.modules)

    def _take_in(self, stage: int, modules: list[nn.Module]) -> None:
        parameters: dict[int, nn.Parameter] = {}
        buffers: list[torch.Tensor] = []
        for module in modules:
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    self.parameter_slots.append(ParameterSlot(module, name, parameter, stage))
                    parameters[id(parameter)] = parameter
            for name, buffer in module._buffers.items():
                self.buffer_slots.append(BufferSlot(module, name, buffer, stage))
                if buffer is not None:
                    buffers.append(buffer)
        self.parameters.append(list(parameters.values()))
        self.buffers.append(buffers)


def _module_of(loss: Any) -> nn.Module | None:
    head = loss if isinstance(loss, nn.Module) else getattr(loss, "__self__", None)
    return head if isinstance(head, nn.Module) else None


def _look(modules: list[nn.Module]) -> list[Any]:
    """What an inventory depends on, flat, so that two looks compare quickly; ids are of objects it keeps alive.

    Bytes belong to it: `tensor.data = other` and lazy modules change a tensor's size, and leave the object the same.
    """
    seen: list[Any] = [module.training for module in modules]
    for module in modules:
        seen += module._modules
        seen += [id(child) for child in module._modules.values()]
        for name, parameter in module._parameters.items():
            seen += (name, id(parameter))
            if parameter is not None:
                seen += (parameter.requires_grad, parameter.nbytes)
        for name, buffer in module._buffers.items():
            seen += (name, id(buffer), None if buffer is None else buffer.nbytes)
    return seen
