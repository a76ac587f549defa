"""Predict: from a schedule and costs to a timeline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipekit.errors import CostsError
from pipekit.plan.costs import Costs
from pipekit.plan.ops import Codes, F, unpack
from pipekit.plan.schedule import Schedule
from pipekit.plan.timeline import Floats, Spans, Timeline
from pipekit.plan.waits import Waits


def validate(schedule: Schedule) -> None:
    """Return None for a schedule that can run and trains every stage on every micro-batch once.

    Raises:
        ScheduleError: an op is missing, stands twice or on the wrong device, or the lanes deadlock; the sentence
            names the ops, for a deadlock the whole cycle.

    >>> validate(Schedule(["0F0 0B0", "1B0 1F0"]))
    Traceback (most recent call last):
    pipekit.errors.ScheduleError: deadlock: 1B0 waits for 1F0, which stands behind 1B0 on device 1
    """
    _ = schedule.waits  # found once and kept with the schedule


def simulate(schedule: Schedule, costs: Costs, sizes: Sequence[float] | None = None) -> Timeline:
    """When each op runs if it starts as soon as the law and its lane allow.

    Args:
        costs: for one micro-batch of `costs.unit_samples` samples.
        sizes: samples of each micro-batch (M numbers): an op then takes overhead + number * size / unit_samples.
            Comparing different M always goes through sizes.

    Returns:
        A timeline with source "predicted", in the unit of the costs. Exact, not approximate: the longest path
        through the ops. A link delivers in order, one message at a time in each direction.

    Raises:
        ScheduleError: the schedule cannot run (as `validate`).
        CostsError: lists of the wrong length; sizes that are not positive; costs that are all zero.
    """
    waits = schedule.waits
    shares = _shares(schedule, costs, sizes)
    durations = _durations(schedule, waits, costs, shares)
    if not durations.any():
        raise CostsError("costs_zero")
    starts, ends = _times(waits, durations, _Links(schedule, waits, costs, shares))
    return Timeline(
        Spans(
            np.concatenate([lane.codes for lane in schedule.lanes]),
            np.repeat(np.arange(schedule.num_devices), [len(lane) for lane in schedule.lanes]),
            _without_gaps(starts, waits.lanes),
            _without_gaps(ends, waits.lanes),
        ),
        schedule.num_devices,
        source="predicted",
        devices=f"{schedule.num_devices} predicted device{'s' if schedule.num_devices > 1 else ''}",
    )


def _times(waits: Waits, durations: Floats, links: _Links) -> tuple[Floats, Floats]:
    """(size,), (size,): start and end of the op at each position; positions without an op stay at 0."""
    starts, ends = np.zeros(waits.size), np.zeros(waits.size)
    arrived = ends if links.free else np.zeros(waits.size)
    for going, givers in waits.rounds:
        start = np.maximum(arrived[givers], ends[going - 1])
        starts[going] = start
        end = start + durations[going]
        ends[going] = end
        if not links.free:
            arrived[going] = links.deliver(going, end)
    return starts, ends


def _without_gaps(row: Floats, lanes: tuple[slice, ...]) -> Floats:
    """Push the lanes of a row together, in place: another row of this size costs as much as filling it."""
    size = 0
    for here in lanes:
        length = here.stop - here.start
        row[size : size + length] = row[here]
        size += length
    return row[:size]


def _shares(schedule: Schedule, costs: Costs, sizes: Sequence[float] | None) -> Floats:
    """(M,): how much of the costs' unit each micro-batch is."""
    if sizes is None:
        return np.ones(schedule.num_micro_batches)
    given = np.asarray(sizes, dtype=float)
    if given.shape != (schedule.num_micro_batches,):
        raise CostsError("sizes_length", given=given.size, num_micro_batches=schedule.num_micro_batches)
    if not (np.isfinite(given).all() and (given > 0).all()):
        raise CostsError("sizes_positive", asked=list(sizes))
    return given / costs.unit_samples


def _durations(schedule: Schedule, waits: Waits, costs: Costs, shares: Floats) -> Floats:
    """(size,): how long the op at each position takes."""
    table = costs.table(schedule.num_stages)
    durations = np.zeros(waits.size)
    for lane, here in zip(schedule.lanes, waits.lanes, strict=True):
        kind, stage, micro_batch = unpack(lane.codes)
        durations[here] = costs.overhead + table[kind, stage] * shares[micro_batch]
    return durations


class _Links:
    """When values arrive on another device: one link for each pair of devices and direction."""

    def __init__(self, schedule: Schedule, waits: Waits, costs: Costs, shares: Floats) -> None:
        self.latency, self.serial = costs.latency, costs.bandwidth is not None
        self.free = not (self.latency or self.serial)
        transfer = costs.transfer(schedule.num_stages)
        if not self.serial:
            return
        device, self.transfer = np.zeros(waits.size, dtype=np.int64), np.zeros(waits.size)
        for index, (lane, here) in enumerate(zip(schedule.lanes, waits.lanes, strict=True)):
            kind, stage, micro_batch = unpack(lane.codes)
            # a gradient goes back over the cut before its stage
            cut = np.where(kind == F, stage, np.maximum(stage - 1, 0))
            device[here], self.transfer[here] = index, transfer[cut] * shares[micro_batch]
        # Of an op that sends nothing: one nobody waits for.
        self.link = device * schedule.num_devices + device
        for going, givers in waits.rounds:
            self.link[givers] = device[givers] * schedule.num_devices + device[going]
        self.link_free = np.zeros(schedule.num_devices**2)

    def deliver(self, going: Codes, end: Floats) -> Floats:
        """When the values of ops that end at `end` arrive."""
        if self.serial:
            link = self.link[going]
            end = np.maximum(end, self.link_free[link]) + self.transfer[going]
            self.link_free[link] = end
        return end + self.latency
