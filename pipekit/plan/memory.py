"""Memory as arithmetic: what each device keeps, op by op, from the shape of a model and a schedule.

GPipe's O(N + (L/K)(N/M)) made exact. With a = bytes of one sample's stage input, i = bytes of one sample's
internals (input included), n = samples of one piece and N = samples of the batch, a GPipe device peaks at

    never        N i
    except_last  (N - n) a + n i
    always       N a + n (i - a)

Other schedules are found by walking their lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipekit.errors import CostsError
from pipekit.plan.ops import B, F, R, W, unpack
from pipekit.plan.schedule import Schedule


@dataclass(frozen=True, slots=True)
class StageShape:
    """What one stage holds, in bytes.

    `stash` and `internals` are a (per sample) and i (per sample, input included); `internals_fixed` is what one
    micro-batch keeps whatever its size (a BatchNorm's saved statistics); `output` is what crosses to the next
    stage, per sample; `flops` is the forward's floating point operations per sample, 0 if they were not counted.
    """

    parameters: int
    buffers: int
    stash: float
    internals: float
    internals_fixed: float = 0.0
    output: float = 0.0
    flops: float = 0.0
    name: str = ""


@dataclass(frozen=True, slots=True)
class ModelShape:
    """The shape of a model cut into stages."""

    stages: tuple[StageShape, ...]


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """Predicted bytes on one device; activations are the peak over its lane's op ends."""

    parameters: int
    gradients: int
    activations: float

    @property
    def total(self) -> float:
        """All lines added up."""
        return self.parameters + self.gradients + self.activations


def activation_curves(
    schedule: Schedule, shape: ModelShape, sizes: Sequence[int]
) -> list[npt.NDArray[np.float64]]:
    """For each device the kept activation bytes at the end of every op of its lane.

    Args:
        sizes: samples of each micro-batch, M numbers.
    """
    if len(shape.stages) != schedule.num_stages:
        raise CostsError("shape_stages", given=len(shape.stages), num_stages=schedule.num_stages)
    if len(sizes) != schedule.num_micro_batches:
        raise CostsError("sizes_length", given=len(sizes), num_micro_batches=schedule.num_micro_batches)
    samples = np.asarray(sizes, dtype=float)
    stash = np.array([stage.stash for stage in shape.stages])
    inside = np.array([stage.internals for stage in shape.stages])
    fixed = np.array([stage.internals_fixed for stage in shape.stages])
    curves = []
    for lane in schedule.lanes:
        kind, stage, micro_batch = unpack(lane.codes)
        small = stash[stage] * samples[micro_batch]
        full = inside[stage] * samples[micro_batch] + fixed[stage]
        later = schedule.device_of[R, stage, micro_batch] >= 0
        change = np.select(
            [kind == F, kind == R, (kind == B) | (kind == W)],
            [np.where(later, small, full), full - small, -full],
            0.0,
        )
        curves.append(np.cumsum(change))
    return curves


def peak_activations(schedule: Schedule, shape: ModelShape, sizes: Sequence[int]) -> list[float]:
    """For each device the most activation bytes at an op's end.

    >>> from pipekit.plan import one_f_one_b
    >>> unit = ModelShape((StageShape(0, 0, stash=1, internals=10),) * 4)
    >>> peak_activations(one_f_one_b(4, 8, checkpoint="except_last"), unit, [1] * 8)
    [22.0, 21.0, 20.0, 10.0]
    """
    return [float(curve.max(initial=0.0)) for curve in activation_curves(schedule, shape, sizes)]


def predict_memory(schedule: Schedule, shape: ModelShape, sizes: Sequence[int]) -> list[DeviceMemory]:
    """Parameters, gradients and peak activations of each device, in bytes.

    A stage with two homes (`schedule.homes`) has its parameters, and gradients for them, on both.
    """
    peaks = peak_activations(schedule, shape, sizes)
    parameters = [0] * schedule.num_devices
    for stage, devices in zip(shape.stages, schedule.homes, strict=True):
        for device in devices:
            parameters[device] += stage.parameters
    return [DeviceMemory(weights, weights, peak) for weights, peak in zip(parameters, peaks, strict=True)]


def micro_batch_sizes(num_samples: int, num_micro_batches: int) -> list[int]:
    """How many samples each micro-batch gets: they differ by at most one, larger first.

    >>> micro_batch_sizes(9, 4)
    [3, 2, 2, 2]
    """
    small, more = divmod(num_samples, num_micro_batches)
    return [small + (index < more) for index in range(num_micro_batches)]
