"""Schedules with one stage a device, one plain function each; and what all builders share: checked numbers, policies."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from pipekit.errors import ScheduleError
from pipekit.plan.ops import MAX_MICRO_BATCHES, B, Codes, F, Lane, R, pack, unpack
from pipekit.plan.schedule import CHECKPOINTS, RECOMPUTES, Schedule


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


def recomputed(num_micro_batches: int, checkpoint: str, recompute: str) -> npt.NDArray[np.bool_]:
    """(M,): which micro-batches are recomputed under this policy; unknown words are refused with the known ones."""
    if checkpoint not in CHECKPOINTS:
        raise ScheduleError("policy", asked=checkpoint, known=", ".join(CHECKPOINTS))
    if recompute not in RECOMPUTES:
        raise ScheduleError("recompute", asked=recompute, known=", ".join(RECOMPUTES))
    again = np.full(num_micro_batches, checkpoint != "never")
    if checkpoint == "except_last":
        again[-1] = False  # GPipe goes back on the last forward first: recomputing it saves nothing
    return again


def with_recompute(codes: Codes, again: npt.NDArray[np.bool_]) -> Lane:
    """A lane of packed ops, with an R right before each B whose micro-batch is recomputed."""
    kind, stage, micro_batch = unpack(codes)
    before = np.flatnonzero((kind == B) & again[micro_batch])
    return Lane(np.insert(codes, before, pack(R, stage[before], micro_batch[before])))


def in_turn(forwards: Codes, backwards: Codes, warm_up: int) -> Codes:
    """One lane's packed ops: `warm_up` forwards, then one forward and one backward in turn, then what is left."""
    steady = len(forwards) - warm_up
    pairs = np.stack([forwards[warm_up:], backwards[:steady]], axis=1).ravel()
    return np.concatenate([forwards[:warm_up], pairs, backwards[steady:]])


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
    again = recomputed(m, checkpoint, recompute)
    kinds = np.repeat([F, B], m)
    micro_batches = np.concatenate([np.arange(m), np.arange(m)[::-1]])
    lanes = [with_recompute(pack(kinds, stage, micro_batches), again) for stage in range(stages)]
    return Schedule(lanes, range(stages), recompute, "gpipe")


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
    again = recomputed(m, checkpoint, recompute)
    lanes = []
    for stage in range(stages):
        forwards, backwards = (pack(kind, stage, np.arange(m)) for kind in (F, B))
        codes = in_turn(forwards, backwards, warm_up=min(m, stages - 1 - stage))
        lanes.append(with_recompute(codes, again))
    return Schedule(lanes, range(stages), recompute, "1f1b")
