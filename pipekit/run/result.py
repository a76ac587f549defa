"""What a step gives back, read off its job."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from pipekit.errors import LossError
from pipekit.plan import Schedule, Spans, Timeline
from pipekit.run.devices import Devices
from pipekit.run.halves import WholeBackward
from pipekit.run.inventory import Inventory
from pipekit.run.job import Job, LaneLog
from pipekit.run.pieces import Pieces
from pipekit.run.replicas import Replica
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
    op_ends: npt.NDArray[np.float64]  # seconds since the step began, lane after lane
    logs: list[LaneLog]
    peak_pending_bytes: list[int]

    @property
    def curves(self) -> list[npt.NDArray[np.float64]]:
        """For each device (ops, 3): seconds since the step began, kept bytes, waiting bytes."""
        lane_ends = np.split(self.op_ends, np.cumsum([len(log.kept_bytes) for log in self.logs])[:-1])
        return [
            np.stack([ends, log.kept_bytes, log.waiting_bytes], axis=1)
            for ends, log in zip(lane_ends, self.logs, strict=True)
        ]

    @property
    def peak_bytes(self) -> list[int]:
        """All lines of each device together; kept, waiting and pending bytes may peak at different times."""
        activations = (self.peak_activation_bytes, self.peak_waiting_bytes, self.peak_pending_bytes)
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
    with any, the bubble is not to be trusted. `whole_backwards` says which parameters of which stages got their
    gradients at an I already, and why; empty if every backward was split as the schedule says.
    """

    loss: torch.Tensor
    timeline: Timeline
    memory: Memory
    overruns: int
    slip: Slip
    num_samples: int
    whole_backwards: tuple[WholeBackward, ...] = ()


def read_result(
    job: Job,
    schedule: Schedule,
    pieces: Pieces,
    devices: Devices,
    inventory: Inventory,
    homes: Sequence[tuple[int, ...]],
    replicas: Sequence[Replica],
) -> StepResult:
    """The result of a job that ended well; `LossError` if its loss is not finite."""
    loss = _mean_loss(job, pieces)
    starts = np.array([start for pace in job.paces for start in pace.starts]) - job.origin
    ends = np.array([end for pace in job.paces for end in pace.ends]) - job.origin
    memory = _memory(job, ends, inventory, homes, replicas)
    spans = Spans(job.lanes.codes, job.lanes.devices, starts, ends)
    timeline = Timeline(spans, schedule.num_devices, devices.source, devices.label(), memory)
    slips = [slip for pace in job.paces for slip in pace.slips] or [0.0]
    slip = Slip(statistics.median(slips), max(slips))
    overruns = sum(len(pace.overruns) for pace in job.paces)
    whole = {
        (each.stage, each.key): each
        for run in job.stage_runs.values()
        for each in run.whole_backwards.values()
    }
    told = tuple(whole[key] for key in sorted(whole))
    return StepResult(loss, timeline, memory, overruns, slip, pieces.total, told)


def _mean_loss(job: Job, pieces: Pieces) -> torch.Tensor:
    """The weighed sum of the micro-batches' losses; of a piece that weighs 0 even nan counts nothing."""
    total = []
    losses = job.losses
    for index, weight in enumerate(pieces.head.weights):
        loss = float(losses[index])
        if weight and not math.isfinite(loss):
            raise LossError("loss_not_finite", micro_batch=index, loss=loss)
        total.append(weight * loss if weight else 0.0)
    like = losses[0]
    return like.new_full((), math.fsum(total))


def _memory(
    job: Job,
    ends: npt.NDArray[np.float64],
    inventory: Inventory,
    homes: Sequence[tuple[int, ...]],
    replicas: Sequence[Replica],
) -> Memory:
    parameters, buffers, gradients = ([0] * len(job.logs) for _ in range(3))
    copies = {replica.stage: list(replica.parameters.values()) for replica in replicas}
    for stage, devices in enumerate(homes):
        for device, own in zip(devices, (inventory.parameters[stage], copies.get(stage, [])), strict=False):
            parameters[device] += inventory.parameter_bytes[stage]
            buffers[device] += inventory.buffer_bytes[stage]
            gradients[device] += nbytes([each.grad for each in own if each.grad is not None])
    kept = [max(log.kept_bytes, default=0) for log in job.logs]
    waiting = [max(log.waiting_bytes, default=0) for log in job.logs]
    pending = [max(log.pending_bytes, default=0) for log in job.logs]
    return Memory(kept, waiting, parameters, buffers, gradients, ends, job.logs, pending)
