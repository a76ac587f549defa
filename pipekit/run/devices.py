"""Devices: what a lane runs on, and what "measured" means there.

| devices | clock |
|---|---|
| GPUs | CUDA events per op |
| CPU, real time | wall clock, one thread a worker; on shared cores it is not called a bubble measurement |
| stand-ins | wall clock: the op really computes, then the device stays occupied until its declared time is over |
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from pipekit.errors import DeviceError
from pipekit.plan import Costs, ModelShape, Schedule
from pipekit.plan.schedules import count
from pipekit.run.cores import SHARED_SLOWDOWN, sleep_grain, slowdown_together, usable_cores

HEAD_START = 0.002  # seconds in which all workers wake up, so that they start together
COARSE = 2.0  # a declared op must last at least this many grains of the machine's sleep
_CLOCKS = ("batch_time", "tick", "per_sample", "speed")


@dataclass(frozen=True)
class Devices(ABC):
    """K devices; `label` says in words what they are, and stands under every picture."""

    num_devices: int

    def torch_device(self, device: int) -> torch.device:
        """Where the weights and values of one device live."""
        return torch.device("cpu")

    @property
    def source(self) -> str:
        """`"measured"`, or `"shared"` where the times are no bubble measurement."""
        return "measured"

    @abstractmethod
    def label(self) -> str:
        """In words: how many of what, and whose time it is."""

    def starting_time(self) -> float:
        """When a step that is set going now begins, by the clock that its ops are timed with."""
        return time.perf_counter()

    def costs(self, schedule: Schedule, num_samples: int, shape: ModelShape | None) -> Costs | None:
        """What each op is declared to take, or None where nothing is declared."""
        return None


@dataclass(frozen=True)
class CpuThreads(Devices):
    """One CPU thread a device, in real time."""

    @cached_property
    def probe(self) -> tuple[float, float]:
        """Seconds of one piece of work (alone, all together): a 0.3 s measurement, made once."""
        return slowdown_together(self.num_devices)

    @cached_property
    def source(self) -> str:
        """Measured if there is a core for each device: by count, and by the probe."""
        alone, together = self.probe
        enough = self.num_devices <= usable_cores()
        return "measured" if enough and together < alone * SHARED_SLOWDOWN else "shared"

    def label(self) -> str:
        """Names the probe's two numbers where cores are shared."""
        words = f"{self.num_devices} CPU thread{'s' if self.num_devices > 1 else ''}, real time"
        if self.source == "measured":
            return words
        alone, together = self.probe
        return (
            f"{words}, shared cores: not a bubble measurement "
            f"(a piece of work takes {alone * 1e6:.0f} us alone, {together * 1e6:.0f} us together)"
        )


@dataclass(frozen=True)
class Cuda(Devices):
    """GPUs; several stages of one GPU run on streams of their own."""

    def torch_device(self, device: int) -> torch.device:
        """`cuda:device`."""
        return torch.device("cuda", device)

    def label(self) -> str:
        """Names the GPU."""
        return f"{self.num_devices} x {torch.cuda.get_device_name(0)}"


@dataclass(frozen=True)
class StandIns(Devices):
    """Slow devices played by the CPU: it computes each op, then waits until the op's declared time is over."""

    batch_time: float | None = None
    tick: float | None = None
    per_sample: float | None = None
    speed: float | None = None
    overhead: float = 0.0
    latency: float = 0.0
    bandwidth: float | None = None
    slow: Mapping[int, float] = field(default_factory=dict)
    clock: Callable[[], float] = time.perf_counter
    sleep: Callable[[float], None] = time.sleep

    @cached_property
    def grain(self) -> float:
        """Seconds by which a sleep overshoots on this machine."""
        return sleep_grain(self.clock, self.sleep)

    def starting_time(self) -> float:
        """A little later than now, by the clock given."""
        return self.clock() + HEAD_START

    def costs(self, schedule: Schedule, num_samples: int, shape: ModelShape | None) -> Costs:
        """The declared times: per sample, or per op with `tick=`; what `simulate` and the workers both read."""
        forward = [
            self._unit(stage, schedule, num_samples, shape) * self._slowness(stage, homes)
            for stage, homes in enumerate(schedule.homes)
        ]
        twice = [2 * seconds for seconds in forward]
        message: float | list[float] = 1.0
        if self.bandwidth is not None and shape is not None:
            # A sample's bytes; with `tick=` nothing follows the samples, so those of a mean micro-batch.
            samples = 1 if self.proportional else num_samples / schedule.num_micro_batches
            message = [stage.output * samples for stage in shape.stages]
        return Costs(
            forward=forward,
            backward=twice,
            recompute=forward,
            input_grad=forward,
            weight_grad=forward,
            overhead=self.overhead,
            latency=self.latency,
            bandwidth=self.bandwidth,
            message_bytes=message,
        )

    def _unit(self, stage: int, schedule: Schedule, num_samples: int, shape: ModelShape | None) -> float:
        """Declared forward seconds of a stage: for one sample, or for one op with `tick=`."""
        device = schedule.homes[stage][0]
        # v: stages on this device; one that is there twice does half of its micro-batches here.
        share = sum(1 / len(homes) for homes in schedule.homes if device in homes)
        if self.tick is not None:
            return self.tick / share
        if self.batch_time is not None:
            return self.batch_time / (num_samples * share)
        if self.per_sample is not None:
            return self.per_sample / share
        assert self.speed is not None and shape is not None
        flops = shape.stages[stage].flops
        if flops == 0:
            raise DeviceError("speed_zero", stage=stage, layers=shape.stages[stage].name)
        return flops / self.speed

    def _slowness(self, stage: int, homes: tuple[int, ...]) -> float:
        """How many times slower than declared a stage's device is; both of its devices, if it has two."""
        factors = [self.slow.get(device, 1.0) for device in homes]
        if factors[0] != factors[-1]:
            raise DeviceError("clock_slow_copies", stage=stage, first=homes[0], second=homes[-1])
        return factors[0]

    @property
    def proportional(self) -> bool:
        """Whether an op's time follows its samples (all clocks but `tick=`)."""
        return self.tick is None

    @property
    def needs_shape(self) -> bool:
        """Whether the declared times follow from the model's FLOP or message sizes."""
        return self.speed is not None or self.bandwidth is not None

    def check_grain(self, smallest: float) -> None:
        """Refuse ops too short for this machine's clock: `DeviceError` with both numbers and a slower clock."""
        if smallest < COARSE * self.grain:
            factor = COARSE * self.grain / smallest
            name = next(name for name in _CLOCKS if getattr(self, name) is not None)
            value = getattr(self, name)
            better = value / factor if name == "speed" else value * factor
            raise DeviceError(
                "clock_coarse",
                grain_ms=self.grain * 1e3,
                op_ms=smallest * 1e3,
                advice=f"{name}={better:.3g} or {'slower' if name == 'speed' else 'longer'}",
            )

    def label(self) -> str:
        """How many, how slow; and what is declared and what is measured."""
        words = f"{self.num_devices} stand-in{'s' if self.num_devices > 1 else ''}, {self._clock_words()}"
        for device, factor in sorted(self.slow.items()):
            words += f", device {device} {factor:g} x slower"
        if self.overhead:
            words += f", {self.overhead * 1e3:g} ms overhead an op"
        if self.latency:
            words += f", {self.latency * 1e3:g} ms a hop"
        if self.bandwidth:
            words += f", links {self.bandwidth / 1e6:g} MB/s"
        return words + "; durations declared, order and waiting measured"

    def _clock_words(self) -> str:
        if self.tick is not None:
            return f"{self.tick * 1e3:g} ms a tick"
        if self.batch_time is not None:
            return f"{self.batch_time * 1e3:g} ms a mini-batch forward"
        if self.per_sample is not None:
            return f"{self.per_sample * 1e3:g} ms a sample forward"
        return f"{self.speed:g} FLOP/s"


def stand_ins(
    num_devices: int,
    batch_time: float | None = None,
    *,
    tick: float | None = None,
    per_sample: float | None = None,
    speed: float | None = None,
    overhead: float = 0.0,
    latency: float = 0.0,
    bandwidth: float | None = None,
    slow: Mapping[int, float] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
) -> StandIns:
    """K slow devices on any laptop. Choose one clock; all times are in seconds.

    Args:
        batch_time: a device's whole share of the mini-batch takes this long forward, so an op on n of N samples,
            on one of v stages, takes batch_time n / (N v): the lesson's clock.
        tick: every forward takes tick / v whatever its size: to look at one schedule's shape, never to compare M.
        per_sample: a device's share of the model takes this long a sample.
        speed: FLOP/s; a stage's FLOP are counted by torch.
        overhead: added to every op. latency: delay a hop. bandwidth: bytes a second of each link.
        slow: device -> factor, such as {2: 1.5}.
        clock, sleep: to pretend a coarse clock in a test.

    A backward takes twice as long as a forward; recompute and each half of a split backward as long as one.

    Raises:
        DeviceError: no clock or two, a time that is not positive, `slow` for a device that is not there.
    """
    devices = _device_count(num_devices)
    given = {"batch_time": batch_time, "tick": tick, "per_sample": per_sample, "speed": speed}
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise DeviceError("clock_choice", given=", ".join(chosen) or "none")
    for name, value in {**given, "bandwidth": bandwidth}.items():
        if value is not None and not 0 < value < float("inf"):
            raise DeviceError("clock_positive", name=name, asked=value)
    for name, value in {"overhead": overhead, "latency": latency}.items():
        if not 0 <= value < float("inf"):
            raise DeviceError("clock_positive", name=name, asked=value)
    factors = dict(slow or {})
    if not all(device in range(devices) and 0 < factor < float("inf") for device, factor in factors.items()):
        raise DeviceError("clock_slow", asked=factors, last=devices - 1)
    return StandIns(
        devices, batch_time, tick, per_sample, speed, overhead, latency, bandwidth, factors, clock, sleep
    )


def cpu(num_devices: int) -> CpuThreads:
    """One CPU thread a device, in real time; on shared cores its timelines say `source == "shared"`."""
    return CpuThreads(_device_count(num_devices))


def cuda(num_devices: int) -> Cuda:
    """The first `num_devices` GPUs; `DeviceError` if torch sees fewer."""
    devices = _device_count(num_devices)
    if torch.cuda.device_count() < devices:
        raise DeviceError("no_cuda", asked=devices, found=torch.cuda.device_count())
    return Cuda(devices)


def auto(num_devices: int) -> Devices:
    """GPUs if there are enough, else the lesson's stand-ins. (Apple's MPS is one device and is not used.)"""
    devices = _device_count(num_devices)
    return cuda(devices) if torch.cuda.device_count() >= devices else stand_ins(devices, batch_time=0.16)


def _device_count(asked: Any) -> int:
    try:
        return count("num_devices", asked)
    except ValueError:
        raise DeviceError("device_number", asked=asked) from None
