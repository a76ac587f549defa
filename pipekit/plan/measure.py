"""Numbers read off a timeline, predicted or measured alike, each with its denominator; and off a schedule: messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipekit.errors import CostsError
from pipekit.plan.ops import B, F, R, W
from pipekit.plan.schedule import Schedule
from pipekit.plan.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Shares:
    """What devices x makespan was spent on; the three add up to 1. Waiting to receive is idle."""

    idle: float
    recompute: float
    useful: float


def busy_time(timeline: Timeline) -> npt.NDArray[np.float64]:
    """(K,): how long each device worked, recomputing included."""
    spans = timeline.spans
    return np.bincount(spans.devices, spans.durations, timeline.num_devices).astype(float)


def _device_time(timeline: Timeline) -> float:
    if not timeline.makespan > 0:
        raise CostsError("empty_timeline")
    return timeline.num_devices * timeline.makespan


def bubble_fraction(timeline: Timeline) -> float:
    """Idle time / (devices x makespan): (K-1)/(M+K-1) for GPipe with equal stages (GPipe, section 2.3).

    >>> from pipekit.plan import Costs, gpipe, simulate
    >>> bubble_fraction(simulate(gpipe(num_stages=4, num_micro_batches=4), Costs()))  # 3/7
    0.4285714285714286
    """
    return 1.0 - float(busy_time(timeline).sum()) / _device_time(timeline)


def bubble_overhead(timeline: Timeline) -> float:
    """Idle time / ideal time (all devices busy all the time): (K-1)/M, Megatron-LM's number (arXiv 2104.04473).

    >>> from pipekit.plan import Costs, gpipe, simulate
    >>> bubble_overhead(simulate(gpipe(num_stages=4, num_micro_batches=4), Costs()))  # 3/4
    0.75
    """
    busy = float(busy_time(timeline).sum())
    if not busy > 0:
        raise CostsError("empty_timeline")
    return _device_time(timeline) / busy - 1.0


def span_bubble(timeline: Timeline) -> float:
    """The most that a device idles between its first start and its last end, in the timeline's unit.

    This is what "zero bubble" is said of (Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 5.3): it counts
    as if every device took its optimizer step alone. `bubble_fraction` counts until all devices are done.

    >>> from pipekit.plan import Costs, simulate, zb_h1, zb_h2
    >>> [span_bubble(simulate(build(4, 8), Costs(forward=1, backward=2))) for build in (zb_h1, zb_h2)]
    [3.0, 0.0]
    """
    if not len(timeline.spans):
        raise CostsError("empty_timeline")
    spans, first, last = timeline.spans, np.full(timeline.num_devices, np.inf), np.zeros(timeline.num_devices)
    np.minimum.at(first, spans.devices, spans.starts)
    np.maximum.at(last, spans.devices, spans.ends)
    worked = np.isfinite(first)  # a device without a span has none to idle in
    return float((last - first - busy_time(timeline))[worked].max())


def messages(schedule: Schedule) -> int:
    """How many tensors cross from one device to another in a step, activations and gradients together.

    2M(K-1) for one stage a device; a boundary between two stages of one device costs nothing.

    >>> from pipekit.plan import one_f_one_b, zb_v
    >>> messages(one_f_one_b(4, 8)), messages(zb_v(4, 8))
    (48, 96)
    """
    homes = schedule.device_of.max(axis=0)  # (S, M): all ops of a stage on a micro-batch are on one device
    return 2 * int((homes[1:] != homes[:-1]).sum())


def busy_devices(timeline: Timeline) -> float:
    """As if this many devices had worked all the time: K (1 - bubble)."""
    return float(busy_time(timeline).sum()) / _device_time(timeline) * timeline.num_devices


def shares(timeline: Timeline) -> Shares:
    """Idle, recompute and useful shares of devices x makespan."""
    total = _device_time(timeline)
    again = float(timeline.spans.durations[timeline.spans.kinds == R].sum()) / total
    busy = float(busy_time(timeline).sum()) / total
    return Shares(idle=1.0 - busy, recompute=again, useful=busy - again)


def peak_in_flight(timeline: Timeline) -> list[int]:
    """The most (stage, micro-batch) pairs a device keeps at once: +1 at F, -1 at the end of B (or of W).

    >>> from pipekit.plan import Costs, one_f_one_b, simulate
    >>> peak_in_flight(simulate(one_f_one_b(num_stages=4, num_micro_batches=8), Costs()))
    [4, 3, 2, 1]
    """
    kinds, devices = timeline.spans.kinds, timeline.spans.devices
    change = (kinds == F).astype(np.int8) - ((kinds == B) | (kinds == W))
    by_device = change[np.argsort(devices, kind="stable")]
    ends = np.cumsum(np.bincount(devices, minlength=timeline.num_devices))
    return [int(np.cumsum(lane).max(initial=0)) for lane in np.split(by_device, ends[:-1])]


def formula_bubble(num_devices: int, num_micro_batches: int) -> float:
    """The paper's (K-1)/(M+K-1): exact for equal stages, pieces and free links, never or late-always recompute."""
    return (num_devices - 1) / (num_micro_batches + num_devices - 1)
