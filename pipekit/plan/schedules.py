"""Schedules by name: one plain function each, K and M go in and are checked here."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pipekit.errors import ScheduleError
from pipekit.plan.ops import MAX_MICRO_BATCHES, B, F, R
from pipekit.plan.schedule import CHECKPOINTS, RECOMPUTES, Schedule, lane_of


def count(name: str, asked: Any) -> int:
    """`asked` as a whole number of at least 1, or a `ScheduleError` (keyed by `name`) that says what to do."""
    try:
        number = operator.index(asked)
    except TypeError:
        raise ScheduleError("whole_number", name=name, asked=asked) from None
    if isinstance(asked, bool):
        raise ScheduleError("whole_number", name=name, asked=asked)
    if number < 1:
        raise ScheduleError(name, asked=number)
    if number > MAX_MICRO_BATCHES:
        raise ScheduleError("too_many", name=name, asked=number, most=MAX_MICRO_BATCHES)
    return number


def _recomputed(num_micro_batches: int, checkpoint: str, recompute: str) -> np.ndarray:
    """(M,) bool: which micro-batches are recomputed under this policy."""
    if checkpoint not in CHECKPOINTS:
        raise ScheduleError("policy", asked=checkpoint, known=", ".join(CHECKPOINTS))
    if recompute not in RECOMPUTES:
        raise ScheduleError("recompute", asked=recompute, known=", ".join(RECOMPUTES))
    again = np.full(num_micro_batches, checkpoint != "never")
    if checkpoint == "except_last":
        again[-1] = False  # GPipe goes back on the last forward first: recomputing it saves nothing
    return again


def _with_recompute(
    kinds: np.ndarray, micro_batches: np.ndarray, again: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Put an R right before each B whose micro-batch is recomputed."""
    before = np.flatnonzero((kinds == B) & again[micro_batches])
    return np.insert(kinds, before, R), np.insert(micro_batches, before, micro_batches[before])


def _one_stage_a_device(orders: list[tuple[np.ndarray, np.ndarray]], recompute: str, name: str) -> Schedule:
    lanes = [
        lane_of(kinds, stage, micro_batches).codes for stage, (kinds, micro_batches) in enumerate(orders)
    ]
    return Schedule(lanes, range(len(lanes)), recompute, name)


def gpipe(
    num_stages: int, num_micro_batches: int, checkpoint: str = "never", recompute: str = "late"
) -> Schedule:
    """All forwards, then all backwards in the opposite order (GPipe, arXiv 1811.06965, figure 2c).

    Args:
        num_stages: K, one stage a device.
        num_micro_batches: M.
        checkpoint: `"never"`, `"except_last"` or `"always"`: which micro-batches are recomputed.
        recompute: `"late"` or `"early"`.

    >>> print(gpipe(num_stages=2, num_micro_batches=2, checkpoint="except_last"))
    0F0 0F1 0B1 0R0 0B0 | 1F0 1F1 1B1 1R0 1B0
    """
    stages, m = count("num_stages", num_stages), count("num_micro_batches", num_micro_batches)
    kinds = np.repeat([F, B], m)
    micro_batches = np.concatenate([np.arange(m), np.arange(m)[::-1]])
    order = _with_recompute(kinds, micro_batches, _recomputed(m, checkpoint, recompute))
    return _one_stage_a_device([order] * stages, recompute, "gpipe")


def naive(num_stages: int) -> Schedule:
    """The whole mini-batch through one stage after the other: GPipe with one micro-batch, a relay race."""
    schedule = gpipe(num_stages, 1)
    return Schedule(schedule.lanes, schedule.placement, name="naive")


def one_f_one_b(
    num_stages: int, num_micro_batches: int, checkpoint: str = "never", recompute: str = "late"
) -> Schedule:
    """One forward, one backward in turn: PipeDream-flush (arXiv 2006.09503); in flight on stage s: min(M, K - s).

    Args: as `gpipe`. The last micro-batch of `except_last` is kept across others here and costs memory.

    >>> print(one_f_one_b(num_stages=2, num_micro_batches=3))
    0F0 0F1 0B0 0F2 0B1 0B2 | 1F0 1B0 1F1 1B1 1F2 1B2
    """
    stages, m = count("num_stages", num_stages), count("num_micro_batches", num_micro_batches)
    again = _recomputed(m, checkpoint, recompute)
    orders = []
    for stage in range(stages):
        warm_up = min(m, stages - 1 - stage)
        steady = np.arange(m - warm_up)
        kinds = np.concatenate([np.full(warm_up, F), np.tile([F, B], len(steady)), np.full(warm_up, B)])
        pairs = np.stack([steady + warm_up, steady], axis=1).ravel()
        micro_batches = np.concatenate([np.arange(warm_up), pairs, np.arange(m - warm_up, m)])
        orders.append(_with_recompute(kinds, micro_batches, again))
    return _one_stage_a_device(orders, recompute, "1f1b")


SCHEDULES: dict[str, Callable[..., Schedule]] = {"gpipe": gpipe, "1f1b": one_f_one_b}


def by_name(
    name: str, num_stages: int, num_micro_batches: int, checkpoint: str = "never", recompute: str = "late"
) -> Schedule:
    """The schedule called `name` (a key of `SCHEDULES`, or `naive`, which takes one micro-batch whatever M is)."""
    if name == "naive":
        count("num_micro_batches", num_micro_batches)
        schedule = gpipe(num_stages, 1, checkpoint, recompute)
        return Schedule(schedule.lanes, schedule.placement, recompute, name)
    if name not in SCHEDULES:
        raise ScheduleError("schedule_name", asked=name, known=", ".join(["naive", *SCHEDULES]))
    return SCHEDULES[name](num_stages, num_micro_batches, checkpoint, recompute)
