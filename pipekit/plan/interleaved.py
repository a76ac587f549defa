"""Schedules with several model chunks a device, dealt out in turn: stage s lives on device s modulo K."""

from __future__ import annotations

import numpy as np

from pipekit.errors import ScheduleError
from pipekit.plan.ops import MAX_STAGES, B, Codes, F, pack
from pipekit.plan.schedule import Schedule
from pipekit.plan.schedules import count, in_turn, recomputed, with_recompute


def interleaved_1f1b(
    num_devices: int,
    num_micro_batches: int,
    num_chunks: int,
    checkpoint: str = "never",
    recompute: str = "late",
) -> Schedule:
    """1F1B with v model chunks a device: a bubble v times smaller for v times the messages.

    Megatron-LM's (arXiv 2104.04473, section 2.2), op for op as PyTorch's. Its bubble is (K-1)/(v M) of the ideal
    time, so (K-1)/(v M + K-1) of all time. With one chunk it isn't `one_f_one_b`: it warms up twice as long, keeps
    up to 2K-1 micro-batches and so doesn't wait for slow links.

    Args:
        num_devices: K.
        num_micro_batches: M. They run in max(1, M // K) rounds of equal size: M is a multiple of that number, best
            one of K.
        num_chunks: v, stages a device; the model is cut into S = v K.
        checkpoint, recompute: as `gpipe`.

    Raises:
        ScheduleError: M doesn't divide into rounds; names the nearest M that do.

    >>> print(interleaved_1f1b(num_devices=2, num_micro_batches=2, num_chunks=2))
    0F0 0F1 2F0 2F1 2B0 2B1 0B0 0B1 | 1F0 1F1 3F0 3B0 3F1 3B1 1B0 1B1
    """
    k, m, v = _sizes(num_devices, num_micro_batches, num_chunks)
    again = recomputed(m, checkpoint, recompute)
    a_round = _round(k, m)
    n = np.arange(v * m)
    micro_batches = n // (v * a_round) * a_round + n % a_round
    chunks = n // a_round % v
    lanes = []
    for device in range(k):
        forwards = pack(F, chunks * k + device, micro_batches)
        backwards = pack(B, (v - 1 - chunks) * k + device, micro_batches)
        warm_up = min(v * m, 2 * (k - 1 - device) + (v - 1) * a_round)
        lanes.append(with_recompute(in_turn(forwards, backwards, warm_up), again))
    return Schedule(lanes, _dealt(k, v), recompute, "interleaved_1f1b")


def looped_bfs(
    num_devices: int,
    num_micro_batches: int,
    num_chunks: int,
    checkpoint: str = "never",
    recompute: str = "late",
) -> Schedule:
    """GPipe with v model chunks a device: all micro-batches through one chunk, then the next; back likewise.

    Breadth-first pipeline parallelism (arXiv 2211.05953), op for op as PyTorch's. The bubble of `interleaved_1f1b`
    if M >= K, but all micro-batches are in flight, as in GPipe.

    Args: as `interleaved_1f1b`; any M will do.

    >>> print(looped_bfs(num_devices=2, num_micro_batches=2, num_chunks=2))
    0F0 0F1 2F0 2F1 2B1 2B0 0B1 0B0 | 1F0 1F1 3F0 3F1 3B1 3B0 1B1 1B0
    """
    k, m, v = _sizes(num_devices, num_micro_batches, num_chunks)
    again = recomputed(m, checkpoint, recompute)
    chunks = np.repeat(np.arange(v), m)
    micro_batches = np.tile(np.arange(m), v)
    lanes = []
    for device in range(k):
        forwards = pack(F, chunks * k + device, micro_batches)
        backwards: Codes = pack(B, chunks * k + device, micro_batches)[::-1]
        lanes.append(with_recompute(np.concatenate([forwards, backwards]), again))
    return Schedule(lanes, _dealt(k, v), recompute, "looped_bfs")


def _dealt(num_devices: int, num_chunks: int) -> list[int]:
    return [stage % num_devices for stage in range(num_devices * num_chunks)]


def _sizes(num_devices: int, num_micro_batches: int, num_chunks: int) -> tuple[int, int, int]:
    k, m = count("num_devices", num_devices), count("num_micro_batches", num_micro_batches)
    v = count("num_chunks", num_chunks)
    if v * k > MAX_STAGES:
        raise ScheduleError("too_many", name="num_devices x num_chunks", asked=v * k, most=MAX_STAGES)
    return k, m, v


def _round(num_devices: int, num_micro_batches: int) -> int:
    """How many micro-batches go through one chunk before the next chunk's turn."""
    num_rounds = max(1, num_micro_batches // num_devices)
    if num_micro_batches % num_rounds:
        raise ScheduleError(
            "interleaved_rounds",
            num_micro_batches=num_micro_batches,
            num_devices=num_devices,
            num_rounds=num_rounds,
            fewer=num_rounds * num_devices,
            more=(num_rounds + 1) * num_devices,
        )
    return num_micro_batches // num_rounds
