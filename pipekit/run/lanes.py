"""A schedule made ready for workers: each lane's ops with what they wait for and where they send."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pipekit.plan import Op, Schedule, validate
from pipekit.plan.ops import KINDS, B, Codes, F, I, R, unpack
from pipekit.plan.rules import NOTHING, needs_codes


@dataclass(frozen=True, slots=True)
class Task:
    """One op for a worker; `waits` are the packed ops of other stages whose values it needs, `target` the device
    its own value goes to (-1: it sends nothing)."""

    kind: int
    stage: int
    micro_batch: int
    code: int
    waits: tuple[int, ...]
    target: int

    @property
    def op(self) -> Op:
        """The op itself."""
        return Op(KINDS[self.kind], self.stage, self.micro_batch)


@dataclass(frozen=True, slots=True)
class Lanes:
    """All lanes of a valid schedule, and which micro-batches each stage recomputes.

    `codes` and `devices` are all ops, lane after lane, as a timeline keeps them.
    """

    tasks: tuple[tuple[Task, ...], ...]
    recomputed: tuple[frozenset[int], ...]
    codes: Codes
    devices: Codes


@lru_cache(maxsize=64)
def lanes_of(schedule: Schedule) -> Lanes:
    """Validate a schedule and make it ready; the last 64 are remembered."""
    validate(schedule)
    table = schedule.device_of
    again = tuple(
        frozenset(np.flatnonzero(table[R, stage] >= 0).tolist()) for stage in range(schedule.num_stages)
    )
    tasks = tuple(_tasks(schedule, device) for device in range(schedule.num_devices))
    codes = np.concatenate([lane.codes for lane in schedule.lanes])
    return Lanes(
        tasks, again, codes, np.repeat(np.arange(schedule.num_devices), [len(lane) for lane in tasks])
    )


def _tasks(schedule: Schedule, device: int) -> tuple[Task, ...]:
    codes = schedule.lanes[device].codes
    needed = needs_codes(codes, schedule)
    kind, stage, micro_batch = unpack(codes)
    from_other_stage = (needed != NOTHING) & (unpack(np.maximum(needed, 0))[1] != stage[:, None])
    tasks = []
    for place, code in enumerate(codes.tolist()):
        waits = tuple(needed[place][from_other_stage[place]].tolist())
        k, s, m = int(kind[place]), int(stage[place]), int(micro_batch[place])
        tasks.append(Task(k, s, m, code, waits, _target(schedule, k, s, m)))
    return tuple(tasks)


def _target(schedule: Schedule, kind: int, stage: int, micro_batch: int) -> int:
    if kind == F and stage + 1 < schedule.num_stages:
        return int(schedule.device_of[F, stage + 1, micro_batch])
    if kind in (B, I) and stage > 0:
        table = schedule.device_of
        return int(max(table[B, stage - 1, micro_batch], table[I, stage - 1, micro_batch]))
    return -1
