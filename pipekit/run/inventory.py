"""What the stages are made of at this moment: looked at once a step, asked by everybody.

A step's frame matters in small models, and `nn.Module.parameters()` walks the whole tree in Python each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True, slots=True)
class ParameterSlot:
    """One place in a module that holds a parameter."""

    module: nn.Module
    name: str
    parameter: nn.Parameter
    stage: int


@dataclass(frozen=True, slots=True)
class BufferSlot:
    """One place in a module that holds a buffer, or None."""

    module: nn.Module
    name: str
    buffer: torch.Tensor | None
    stage: int


class Inventory:
    """Modules, parameters and buffers of the stages, each list in the order of the stages.

    `training` tells, stage by stage and module by module, whether it trains or evaluates; `trained`, slot by slot,
    whether a parameter wants a gradient.
    """

    def __init__(self, stages: Sequence[nn.Module]) -> None:
        modules = [list(stage.modules()) for stage in stages]
        self.training = tuple(tuple([module.training for module in of_stage]) for of_stage in modules)
        self.parameter_slots = [
            ParameterSlot(module, name, parameter, stage)
            for stage, of_stage in enumerate(modules)
            for module in of_stage
            for name, parameter in module._parameters.items()
            if parameter is not None
        ]
        self.buffer_slots = [
            BufferSlot(module, name, buffer, stage)
            for stage, of_stage in enumerate(modules)
            for module in of_stage
            for name, buffer in module._buffers.items()
        ]
        self.trained = tuple([slot.parameter.requires_grad for slot in self.parameter_slots])
        parameters: list[dict[int, nn.Parameter]] = [{} for _ in stages]
        for slot in self.parameter_slots:
            parameters[slot.stage][id(slot.parameter)] = slot.parameter
        self.parameters = [list(of_stage.values()) for of_stage in parameters]
        self.buffers: list[list[torch.Tensor]] = [[] for _ in stages]
        for place in self.buffer_slots:
            if place.buffer is not None:
                self.buffers[place.stage].append(place.buffer)
