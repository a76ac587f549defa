"""Data parallel and pipeline together: D copies of a model side by side, each cut over K devices; D x K devices in all.

Each pipeline takes its share of the pieces. When all have gone back, the copies add up their gradients, stage by stage, and
all take the same step: a ring all-reduce, in which every device sends 2 (D-1)/D of its gradients (Patarasuk and Yuan,
2009, section 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pipekit.errors import CostsError, ScheduleError
from pipekit.plan.costs import Costs
from pipekit.plan.measure import peak_in_flight
from pipekit.plan.ops import pack, unpack
from pipekit.plan.schedule import Schedule
from pipekit.plan.schedules import count, gpipe
from pipekit.plan.simulate import simulate
from pipekit.plan.timeline import Spans, Timeline


@dataclass(frozen=True, slots=True, eq=False)
class SideBySide:
    """What is predicted of D pipelines of K devices.

    Args:
        timeline: of all devices, pipeline after pipeline; every piece has its number in the mini-batch.
        parameters: the share of the model's parameters that each device holds.
        exchange: how long adding up the gradients takes, after the last op.
        peak_model_pieces: what each device keeps at most, in pieces of the whole model: in flight / K.
    """

    num_pipelines: int
    num_stages: int
    timeline: Timeline
    parameters: float
    exchange: float
    peak_model_pieces: list[float]

    @property
    def step(self) -> float:
        """Until all devices know the whole mini-batch's gradients."""
        return self.timeline.makespan + self.exchange


def side_by_side(
    num_devices: int,
    num_pipelines: int,
    num_micro_batches: int,
    forward: float = 1.0,
    backward: float = 2.0,
    all_reduce: float = 0.0,
    schedule: Callable[[int, int], Schedule] = gpipe,
) -> SideBySide:
    """Predict a step of D pipelines side by side, all devices and all links alike.

    Args:
        num_devices: of all pipelines. num_pipelines: D; 1 is a pipeline alone, `num_devices` is data parallel alone.
        num_micro_batches: of the whole mini-batch.
        forward, backward: of the whole model on one piece; each stage takes its equal share.
        all_reduce: how long one link needs for the whole model's gradients, once.
        schedule: of one pipeline, (devices, pieces) ->; it may cut the model finer, or keep it twice.

    Raises:
        ScheduleError: devices or pieces can't be shared equally; a number below 1.
        CostsError: a negative time.

    >>> for pipelines in (1, 2, 4, 8):
    ...     made = side_by_side(8, pipelines, 8, forward=8, backward=16, all_reduce=8)
    ...     print(pipelines, made.num_stages, made.timeline.makespan, made.exchange, made.step)
    1 8 45.0 0.0 45.0
    2 4 42.0 2.0 44.0
    4 2 36.0 6.0 42.0
    8 1 24.0 14.0 38.0
    """
    devices, pipelines = count("num_devices", num_devices), count("num_pipelines", num_pipelines)
    pieces = count("num_micro_batches", num_micro_batches)
    if devices % pipelines or pieces % pipelines:
        raise ScheduleError("pipelines_share", pipelines=pipelines, devices=devices, pieces=pieces)
    stages, share = devices // pipelines, pieces // pipelines
    if not 0 <= all_reduce < math.inf:
        raise CostsError("costs_negative", name="all_reduce", asked=all_reduce)
    Costs(forward=forward, backward=backward)  # refuses what is no time
    made = schedule(stages, share)
    cuts = made.num_stages
    one = simulate(made, Costs(forward=forward / cuts, backward=backward / cuts))
    copies = [_copy(one.spans, number, stages, share) for number in range(pipelines)]
    homes = sum(map(len, made.homes)) / cuts  # of each stage in a pipeline
    members = homes * pipelines  # of a ring
    return SideBySide(
        pipelines,
        stages,
        replace(one, spans=_joined(copies), num_devices=devices),
        homes / stages,
        2 * (members - 1) / members * all_reduce * homes / stages,
        [kept / cuts for kept in peak_in_flight(one)] * pipelines,
    )


def _copy(spans: Spans, number: int, stages: int, share: int) -> Spans:
    """The same on the devices of pipeline `number`, with its own pieces."""
    kinds, stage, micro_batch = unpack(spans.codes)
    codes = pack(kinds, stage, micro_batch + number * share)
    return Spans(codes, spans.devices + number * stages, spans.starts, spans.ends)


def _joined(parts: list[Spans]) -> Spans:
    codes, devices, starts, ends = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("codes", "devices", "starts", "ends")
    )
    return Spans(codes, devices, starts, ends)
