"""What a step gives back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from pipekit.plan import Timeline


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes counted in a step; each list has one int a device.

    Activations are counted at the end of every op: what stages keep for their way back. `waiting` are inputs that
    have been received and not yet used: how many depends on who was quicker, so they are a line of their own.
    Gradients on their way between stages are not activations and are in neither.
    """

    peak_activation_bytes: list[int]
    peak_waiting_bytes: list[int]
    parameter_bytes: list[int]
    buffer_bytes: list[int]
    gradient_bytes: list[int]
    curves: list[
        npt.NDArray[np.float64]
    ]  # a device: (ops, 3), seconds since the step began, kept and waiting bytes

    @property
    def peak_bytes(self) -> list[int]:
        """All lines of each device together; kept and waiting activations may peak at different times."""
        activations = (self.peak_activation_bytes, self.peak_waiting_bytes)
        lines = (*activations, self.parameter_bytes, self.buffer_bytes, self.gradient_bytes)
        return [sum(parts) for parts in zip(*lines, strict=True)]


@dataclass(frozen=True, slots=True)
class Slip:
    """How late stand-ins woke up, in seconds; 0 for devices that declare nothing."""

    median: float
    worst: float


@dataclass(frozen=True, slots=True)
class StepResult:
    """One measured step.

    `loss` is the mini-batch loss, shape (). `overruns` counts ops that computed longer than their stand-in declared:
    with any, the bubble is not to be trusted.
    """

    loss: torch.Tensor
    timeline: Timeline
    memory: Memory
    overruns: int
    slip: Slip
    num_samples: int
