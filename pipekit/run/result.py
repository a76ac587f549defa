"""What a step gives back, read off its job."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from pipekit.errors import LossError
from pipekit.plan import Schedule, Spans, Timeline
from pipekit.run.devices import Devices
from pipekit.run.job import Job
from pipekit.run.pieces import Pieces
from pipekit.run.values import nbytes


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


def read_result(
    job: Job, schedule: Schedule, pieces: Pieces, devices: Devices, stages: Sequence[nn.Module]
) -> StepResult:
    """The result of a job that ended well; `LossError` if its loss is not finite."""
    loss = _mean_loss(job, pieces)
    starts = [np.array(pace.starts) - job.origin for pace in job.paces]
    ends = [np.array(pace.ends) - job.origin for pace in job.paces]
    memory = _memory(job, ends, schedule.placement, stages)
    spans = Spans(
        np.concatenate([lane.codes for lane in schedule.lanes]),
        np.repeat(np.arange(schedule.num_devices), [len(lane) for lane in schedule.lanes]),
        np.concatenate(starts),
        np.concatenate(ends),
    )
    timeline = Timeline(spans, schedule.num_devices, devices.source, devices.label(), memory)
    slips = [slip for pace in job.paces for slip in pace.slips] or [0.0]
    slip = Slip(statistics.median(slips), max(slips))
    overruns = sum(len(pace.overruns) for pace in job.paces)
    return StepResult(loss, timeline, memory, overruns, slip, pieces.total)


def _mean_loss(job: Job, pieces: Pieces) -> torch.Tensor:
    """The weighed sum of the micro-batches' losses."""
    losses = [job.losses[index].reshape(()) for index in range(len(pieces.sizes))]
    together = torch.stack([loss.to(losses[-1].device) for loss in losses])
    weight = torch.tensor(pieces.head.weights, dtype=together.dtype, device=together.device)
    weighed = torch.where(weight == 0, 0, together * weight)  # the mean over a piece without any token is nan
    finite = torch.isfinite(weighed)
    if not bool(finite.all()):
        bad = int((~finite).nonzero()[0])
        raise LossError("loss_not_finite", micro_batch=bad, loss=float(together[bad]))
    return weighed.sum()


def _memory(
    job: Job, ends: list[npt.NDArray[np.float64]], placement: Sequence[int], stages: Sequence[nn.Module]
) -> Memory:
    curves = [
        np.stack([end, log.kept_bytes, log.waiting_bytes], axis=1)
        for end, log in zip(ends, job.logs, strict=True)
    ]
    parameters, buffers, gradients = ([0] * len(curves) for _ in range(3))
    for stage, device in zip(stages, placement, strict=True):
        parameters[device] += nbytes(stage.parameters())
        buffers[device] += nbytes(stage.buffers())
        gradients[device] += nbytes(p.grad for p in stage.parameters() if p.grad is not None)
    kept, waiting = ([int(curve[:, column].max(initial=0)) for curve in curves] for column in (1, 2))
    return Memory(kept, waiting, parameters, buffers, gradients, curves)
