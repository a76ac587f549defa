"""A lane's clock: when its ops started and ended, read by the worker while it works.

Both ends of a span are readings of the clock. A stand-in also carries the time that is due from device to device:
a deadline counted from an observed start would add up late wake-ups hop by hop.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from pipekit.plan import Costs, Schedule
from pipekit.plan.ops import F, unpack
from pipekit.run.channels import Message, Stopped
from pipekit.run.devices import StandIns

SLICE = 0.02  # seconds; the longest sleep before looking whether the step was stopped


class WallPace:
    """Real time on the CPU: an op starts when the worker starts it, and ends when it has computed."""

    def __init__(self) -> None:
        self.began = 0.0  # when the op that runs now started
        self.starts: list[float] = []
        self.ends: list[float] = []
        self.overruns: list[int] = []
        self.slips: list[float] = []

    def begin(self, messages: list[Message]) -> None:
        """The op's inputs are there."""
        self.began = time.perf_counter()
        self.starts.append(self.began)

    def computed(self, place: int) -> None:
        """The op has really been computed; what it sends may leave."""

    def stamp(self, message: Message, device: int, target: int, place: int) -> None:
        """Write on a message when it is due."""

    def finish(self) -> float:
        """The op is over; returns when."""
        self.ends.append(time.perf_counter())
        return self.ends[-1]

    def close(self) -> None:
        """The lane is done."""


class StandInPace(WallPace):
    """A slow device's time: an op occupies it until its declared time is over.

    deadline = max(when the input is due, own previous deadline) + declared time. A message leaves when the real
    computation is done, stamped with the deadline, and its receiver sleeps until then.

    Args:
        declared: seconds of each op of the lane. transfer: seconds its message occupies the link.
        stopped: tells whether the step was stopped.
        origin: when the step begins, by the devices' clock.
    """

    def __init__(
        self,
        devices: StandIns,
        declared: list[float],
        transfer: list[float],
        stopped: Callable[[], bool],
        origin: float,
    ) -> None:
        super().__init__()
        self.devices, self.declared, self.transfer, self.stopped = devices, declared, transfer, stopped
        self.clock, self.sleep = devices.clock, devices.sleep
        self.deadline = origin
        self.link_free: dict[int, float] = {}

    def begin(self, messages: list[Message]) -> None:
        """Sleep until the inputs are due, then start."""
        for message in messages:
            self.deadline = max(self.deadline, message.due)
        self._sleep_until(self.deadline)
        self.began = self.clock()
        self.slips.append(self.began - self.deadline)
        self.starts.append(self.began)

    def computed(self, place: int) -> None:
        """Carry the deadline; an op that computed longer than declared is an overrun."""
        self.deadline += self.declared[place]
        now = self.clock()
        if now > self.deadline:
            self.overruns.append(place)
            self.deadline = now

    def stamp(self, message: Message, device: int, target: int, place: int) -> None:
        """Due when the op's deadline, the link's queue and the hop's latency are over."""
        message.due = self.deadline
        if target != device:
            sent = max(self.deadline, self.link_free.get(target, 0.0)) + self.transfer[place]
            self.link_free[target] = sent
            message.due = sent + self.devices.latency

    def finish(self) -> float:
        """Stay occupied until the deadline."""
        self._sleep_until(self.deadline)
        self.ends.append(self.clock())
        self.slips.append(self.ends[-1] - self.deadline)
        return self.ends[-1]

    def _sleep_until(self, target: float) -> None:
        left = target - self.clock()
        while left > 0:
            if self.stopped():
                raise Stopped
            self.sleep(min(left, SLICE))
            left = target - self.clock()


class CudaPace(WallPace):
    """A GPU's time: events on the lane's stream, read back when the lane is done.

    Events of two GPUs can't be subtracted, so each device has a base event with a host time, taken after a
    synchronise at the lane's start; a span is that host time plus what elapsed on the device.
    """

    def __init__(self, device: torch.device, stream: torch.cuda.Stream) -> None:
        super().__init__()
        self.device, self.stream = device, stream
        self.events: list[tuple[Any, Any]] = []
        torch.cuda.synchronize(device)
        self.base = torch.cuda.Event(enable_timing=True)
        self.base.record(stream)
        self.base.synchronize()
        self.base_time = time.perf_counter()

    def _event(self) -> torch.cuda.Event:
        event = torch.cuda.Event(enable_timing=True)
        event.record(self.stream)
        return event

    def begin(self, messages: list[Message]) -> None:
        """Have the stream wait for what other streams still compute."""
        for message in messages:
            if message.ready is not None:
                self.stream.wait_event(message.ready)
        self.began = time.perf_counter()
        self.events.append((self._event(), None))

    def computed(self, place: int) -> None:
        """Mark the end of the op on the stream."""
        self.events[-1] = (self.events[-1][0], self._event())

    def stamp(self, message: Message, device: int, target: int, place: int) -> None:
        """The receiver's stream waits for this op's end."""
        message.ready = self.events[-1][1]

    def finish(self) -> float:
        """The host goes on while the GPU computes."""
        return time.perf_counter()

    def close(self) -> None:
        """Read all events back as host times."""
        torch.cuda.synchronize(self.device)
        for begin, end in self.events:
            self.starts.append(self.base_time + self.base.elapsed_time(begin) / 1e3)
            self.ends.append(self.base_time + self.base.elapsed_time(end) / 1e3)


def declared_times(
    schedule: Schedule, sizes: list[int], costs: Costs, proportional: bool
) -> tuple[list[list[float]], list[list[float]]]:
    """For each lane the declared seconds of its ops, and how long what they send occupies the link.

    Args:
        sizes: samples of each micro-batch; they count where the clock is `proportional` to them.
    """
    table, transfer = costs.table(schedule.num_stages), costs.transfer(schedule.num_stages)
    share = np.array(sizes if proportional else [1] * len(sizes), dtype=float)
    declared, links = [], []
    for lane in schedule.lanes:
        kind, stage, micro_batch = unpack(lane.codes)
        cut_behind = np.where(kind == F, stage, np.maximum(stage - 1, 0))
        declared.append((costs.overhead + table[kind, stage] * share[micro_batch]).tolist())
        links.append((transfer[cut_behind] * share[micro_batch]).tolist())
    return declared, links
