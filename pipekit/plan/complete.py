"""Is a schedule complete? Every stage goes once forward and once back on every micro-batch, where it lives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipekit.errors import ScheduleError
from pipekit.plan.ops import KINDS, B, F, I, Op, W, pack, unpack
from pipekit.plan.schedule import Schedule

Booleans = npt.NDArray[np.bool_]


def check_complete(schedule: Schedule) -> None:
    """Return None for a complete schedule; whether it can also run is another question.

    Raises:
        ScheduleError: an op is missing, stands twice or on the wrong device.
    """
    _check_homes(schedule)
    if schedule.num_ops < 2 * schedule.num_stages * schedule.num_micro_batches:
        # less than one F and one B of every pair; tables of that size may not even fit
        raise ScheduleError("missing_op", op=_first_missing(schedule))
    present = schedule.device_of >= 0
    if np.count_nonzero(present) < schedule.num_ops:
        raise _repeated(schedule)
    _check_pairs(present)
    if any(len(home) > 1 for home in schedule.homes):
        _check_together(schedule)


def _check_homes(schedule: Schedule) -> None:
    for home, devices in enumerate(schedule.homes):
        for expected in devices:
            if not 0 <= expected < schedule.num_devices:
                raise ScheduleError(
                    "placement_device", stage=home, device=expected, num_lanes=schedule.num_devices
                )
    homes = np.array([(devices[0], devices[-1]) for devices in schedule.homes], dtype=np.int64).reshape(-1, 2)
    for device, lane in enumerate(schedule.lanes):
        stage = unpack(lane.codes)[1]
        if (bad := np.flatnonzero(stage >= schedule.num_stages)).size:
            raise ScheduleError(
                "unplaced",
                op=lane[int(bad[0])],
                stage=int(stage[bad[0]]),
                num_stages=schedule.num_stages,
            )
        elsewhere = (homes != device).all(axis=1)
        if (bad := np.flatnonzero(elsewhere[stage])).size:
            raise _wrong_device(schedule, lane[int(bad[0])], device)


def _wrong_device(schedule: Schedule, op: Op, device: int) -> ScheduleError:
    homes = schedule.homes[op.stage]
    if len(homes) == 1:
        return ScheduleError("wrong_device", op=op, device=device, stage=op.stage, expected=homes[0])
    return ScheduleError(
        "wrong_devices", op=op, device=device, stage=op.stage, first=homes[0], second=homes[1]
    )


def _first_missing(schedule: Schedule) -> Op:
    """With too few ops some pair lacks its F or its B; the first one, in order of stage, with one stage's table."""
    codes = np.sort(np.concatenate([lane.codes for lane in schedule.lanes]))  # by stage
    for stage in range(schedule.num_stages):
        kind, _, micro_batch = unpack(codes[slice(*np.searchsorted(codes, pack(F, [stage, stage + 1], 0)))])
        found = np.zeros((schedule.num_micro_batches, 2), dtype=bool)
        found[micro_batch[kind == F], 0] = True
        found[micro_batch[(kind == B) | (kind == I)], 1] = True
        if not found.all():
            first, which = np.argwhere(~found)[0].tolist()
            return Op(KINDS[(F, B)[which]], stage, first)
    return Op(KINDS[W], 0, 0)  # unreachable: who asks has too few ops


def _repeated(schedule: Schedule) -> ScheduleError:
    """The first op that stands more than once: by kind, then stage, then micro-batch."""
    codes, counts = np.unique(np.concatenate([lane.codes for lane in schedule.lanes]), return_counts=True)
    codes, counts = codes[counts > 1], counts[counts > 1]
    first = int(np.argmin(unpack(codes)[0]))  # codes are in order of stage, then micro-batch
    return ScheduleError("repeated_op", op=Op.from_code(int(codes[first])), count=int(counts[first]))


def _check_pairs(present: Booleans) -> None:
    """`present`: (5, S, M), which ops stand in the lanes."""

    def first(mask: Booleans) -> tuple[int, int] | None:
        if not mask.any():
            return None
        stage, micro_batch = np.argwhere(mask)[0].tolist()
        return stage, micro_batch

    if pair := first(~present[F]):
        raise ScheduleError("missing_op", op=Op(KINDS[F], *pair))
    split = present[I] | present[W]
    if pair := first(present[B] & split):
        raise ScheduleError("both_backwards", stage=pair[0], micro_batch=pair[1])
    if pair := first(~(present[B] | split)):
        raise ScheduleError("missing_op", op=Op(KINDS[B], *pair))
    for kind in (I, W):
        if pair := first(split & ~present[kind]):
            raise ScheduleError("missing_op", op=Op(KINDS[kind], *pair))


def _check_together(schedule: Schedule) -> None:
    """A stage with two homes works on a micro-batch on one of them: the other has not kept what it made."""
    table = schedule.device_of
    split = np.argwhere(table.max(axis=0) != np.where(table < 0, schedule.num_devices, table).min(axis=0))
    if len(split):
        stage, micro_batch = split[0].tolist()
        forward = int(table[F, stage, micro_batch])
        kind = next(k for k in range(len(KINDS)) if table[k, stage, micro_batch] not in (-1, forward))
        raise ScheduleError(
            "split_pair",
            earlier_op=Op(KINDS[F], stage, micro_batch),
            first=forward,
            op=Op(KINDS[kind], stage, micro_batch),
            device=int(table[kind, stage, micro_batch]),
        )
