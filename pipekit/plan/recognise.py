"""Which of the known schedules is this?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pipekit.errors import ScheduleError
from pipekit.plan.catalogue import CHUNKED, SCHEDULES, by_name
from pipekit.plan.ops import B, Lane, R, unpack
from pipekit.plan.schedule import CHECKPOINTS, Schedule


def recognise(schedule: Schedule) -> str | None:
    """The name of the known schedule that this one is, op for op on every device; None if it is none of them.

    Known are `SCHEDULES` with the same K, S, M and checkpoint policy, and `naive`, which is all of them at M = 1.
    The numbers of the micro-batches may be others, as long as the same piece is meant everywhere. `gpipe` is
    recognised with its backwards in either order: the paper goes back on the last micro-batch first, PyTorch on the
    first; both take as long and keep as much.

    >>> recognise(Schedule(["0F0 0F1 0B0 0F2 0B1 0B2", "1F0 1B0 1F1 1B1 1F2 1B2"]))
    '1f1b'
    >>> recognise(Schedule(["0F1 0F0 0B1 0B0", "1F1 1F0 1B1 1B0"]))  # piece 1 before piece 0, everywhere
    'gpipe'
    """
    return next((name for name, known in _candidates(schedule) if _same(schedule, known)), None)


def _candidates(schedule: Schedule) -> Iterator[tuple[str, Schedule]]:
    """Known schedules of the same size, the simplest first."""
    recomputes = any((unpack(lane.codes)[0] == R).any() for lane in schedule.lanes)
    policies = CHECKPOINTS[1:] if recomputes else CHECKPOINTS[:1]
    chunks = schedule.num_stages // schedule.num_devices
    for name in ["naive", *SCHEDULES] if schedule.num_micro_batches == 1 else SCHEDULES:
        if chunks < 2 and name in CHUNKED:
            continue  # with one chunk a device nothing is interleaved
        for checkpoint in policies:
            try:
                known = by_name(
                    name,
                    schedule.num_devices,
                    schedule.num_micro_batches,
                    checkpoint,
                    schedule.recompute,
                    max(1, chunks),
                )
            except ScheduleError:
                continue  # not for this K, M or policy
            yield name, known
            if name == "gpipe":
                yield name, Schedule([_first_back_first(lane) for lane in known.lanes], known.placement)


def _first_back_first(lane: Lane) -> Lane:
    """GPipe's lane with its backwards, and what is recomputed for them, in the order of the forwards."""
    kind, _, micro_batch = unpack(lane.codes)
    back = np.flatnonzero((kind == B) | (kind == R))
    codes = lane.codes.copy()
    codes[back] = codes[back[np.argsort(micro_batch[back], kind="stable")]]
    return Lane(codes)


def _same(schedule: Schedule, known: Schedule) -> bool:
    """The same kinds and stages in the same places, and one renaming of micro-batches that fits all of them."""
    if list(map(len, schedule.lanes)) != list(map(len, known.lanes)):
        return False
    ours, theirs = (unpack(np.concatenate([lane.codes for lane in each.lanes])) for each in (schedule, known))
    if not all(np.array_equal(mine, other) for mine, other in zip(ours[:2], theirs[:2], strict=True)):
        return False
    there = np.full(schedule.num_micro_batches, -1)
    there[ours[2]] = theirs[2]
    return np.array_equal(there[ours[2]], theirs[2])  # onto all M, so one to one
