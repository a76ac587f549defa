"""Predict: from a schedule and costs to a timeline; and find out in words why a schedule cannot run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipekit.errors import CostsError, ScheduleError
from pipekit.plan.costs import Costs
from pipekit.plan.ops import KINDS, B, Codes, F, I, Op, W, pack, unpack
from pipekit.plan.rules import NOTHING, needs, needs_codes
from pipekit.plan.schedule import Schedule
from pipekit.plan.timeline import Floats, Spans, Timeline

Booleans = npt.NDArray[np.bool_]


def validate(schedule: Schedule) -> None:
    """Return None for a schedule that can run and trains every stage on every micro-batch once.

    Raises:
        ScheduleError: an op is missing, stands twice or on the wrong device, or the lanes deadlock; the sentence
            names the ops, for a deadlock the whole cycle.

    >>> validate(Schedule(["0F0 0B0", "1B0 1F0"]))
    Traceback (most recent call last):
    pipekit.errors.ScheduleError: deadlock: 1B0 waits for 1F0, which stands behind 1B0 on device 1
    """
    _check_complete(schedule)
    for _ in _rounds(schedule, _links(schedule)):
        pass


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
    _check_complete(schedule)
    links = _links(schedule)
    matrix, filled = schedule.matrix, schedule.matrix >= 0
    kind, stage, micro_batch = unpack(np.where(filled, matrix, 0))
    shares = _shares(schedule, costs, sizes)
    duration = costs.overhead + costs.table(schedule.num_stages)[kind, stage] * shares[micro_batch]
    if not duration[filled].any():
        raise CostsError("costs_zero")
    receiver = _receivers(schedule, kind, stage, micro_batch)
    cut = np.where(
        kind == F, stage, np.maximum(stage - 1, 0)
    )  # a gradient goes back over the cut before its stage
    transfer = costs.transfer(schedule.num_stages)[cut] * shares[micro_batch]

    ended, arrived = (
        np.zeros(links.num_slots + 1),
        np.zeros(links.num_slots + 1),
    )  # the last slot: NOTHING, time 0
    free, link_free = np.zeros(schedule.num_devices), np.zeros((schedule.num_devices, schedule.num_devices))
    start, end = np.zeros(matrix.shape), np.zeros(matrix.shape)
    for at in _rounds(schedule, links):
        needed = links.needed[at]
        ready = np.where(links.crosses[at], arrived[needed], ended[needed]).max(axis=1)
        start[at] = np.maximum(ready, free[at[0]])
        end[at] = start[at] + duration[at]
        free[at[0]] = ended[links.slot[at]] = end[at]
        sent = end[at]
        if costs.bandwidth is not None:
            link = (at[0], receiver[at])  # an op that sends nothing has itself as receiver
            sent = np.maximum(sent, link_free[link]) + transfer[at]
            link_free[link] = sent
        arrived[links.slot[at]] = sent + costs.latency
    return Timeline(
        Spans(matrix[filled], np.nonzero(filled)[0], start[filled], end[filled]),
        schedule.num_devices,
        source="predicted",
        devices=f"{schedule.num_devices} predicted device{'s' if schedule.num_devices > 1 else ''}",
    )


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


def _receivers(schedule: Schedule, kind: Codes, stage: Codes, micro_batch: Codes) -> npt.NDArray[np.int64]:
    """For each op of the matrix the device its message goes to; its own where it sends nothing."""
    device_of, last = schedule.device_of, schedule.num_stages - 1
    before = np.maximum(stage - 1, 0)
    backward = np.maximum(device_of[B, before, micro_batch], device_of[I, before, micro_batch])
    goes = np.where(kind == F, device_of[F, np.minimum(stage + 1, last), micro_batch], backward)
    sends = ((kind == F) & (stage < last)) | (((kind == B) | (kind == I)) & (stage > 0))
    own = np.arange(schedule.num_devices)[:, None]
    return np.where(sends, goes, own)


@dataclass(frozen=True)
class _Links:
    """What waits for what, as indexes into tables of `num_slots` + 1 (the last: needs nothing)."""

    slot: Codes  # (K, L): where an op keeps its own end
    needed: Codes  # (K, L, 2): the slots it waits for
    crosses: Booleans  # (K, L, 2): does that come from another device?
    num_slots: int


def _links(schedule: Schedule) -> _Links:
    filled = schedule.matrix >= 0
    num_slots = len(KINDS) * schedule.num_stages * schedule.num_micro_batches

    def slots(codes: Codes) -> Codes:
        kind, stage, micro_batch = unpack(np.maximum(codes, 0))
        flat = (kind * schedule.num_stages + stage) * schedule.num_micro_batches + micro_batch
        return np.where(codes == NOTHING, num_slots, flat)

    codes = schedule.matrix[filled]
    wanted = needs_codes(codes, schedule)
    giver = schedule.device_of[unpack(np.maximum(wanted, 0))]
    shape = schedule.matrix.shape
    needed, crosses = np.full((*shape, 2), num_slots), np.zeros((*shape, 2), dtype=bool)
    needed[filled] = slots(wanted)
    crosses[filled] = (wanted != NOTHING) & (giver != np.nonzero(filled)[0][:, None])
    return _Links(slots(schedule.matrix), needed, crosses, num_slots)


def _rounds(schedule: Schedule, links: _Links) -> Iterator[tuple[Codes, Codes]]:
    """Run the lanes in rounds: each yields (devices, places in their lanes) that can run, at most one op a lane.

    Any order the law allows gives the same times, so every lane goes one op forward a round, all lanes at once.
    """
    lengths = np.array([len(lane) for lane in schedule.lanes])
    done = np.zeros(links.num_slots + 1, dtype=bool)
    done[-1] = True
    place = np.zeros(schedule.num_devices, dtype=np.int64)
    working = np.flatnonzero(place < lengths)
    while working.size:
        heads = (working, place[working])
        able = done[links.needed[heads]].all(axis=1)
        if not able.any():
            raise _deadlock(schedule, place)
        at = (working[able], place[working[able]])
        done[links.slot[at]] = True
        place[at[0]] += 1
        yield at
        working = working[place[working] < lengths[working]]


def _deadlock(schedule: Schedule, place: Codes) -> ScheduleError:
    """Follow who waits for whom from one stuck lane until a lane comes round again."""
    position = {
        int(code): (device, index)
        for device, lane in enumerate(schedule.lanes)
        for index, code in enumerate(lane.codes.tolist())
    }
    device = next(d for d, lane in enumerate(schedule.lanes) if place[d] < len(lane))
    seen: dict[int, int] = {}
    chain: list[str] = []
    while device not in seen:
        seen[device] = len(chain)
        head = schedule.lanes[device][int(place[device])]
        wanted = next(
            op for op in needs(head, schedule) if position[op.code][1] >= place[position[op.code][0]]
        )
        device = position[wanted.code][0]
        blocker = schedule.lanes[device][int(place[device])]
        behind = "" if blocker == wanted else f", which stands behind {blocker} on device {device}"
        chain.append(f"{head} waits for {wanted}{behind}")
    return ScheduleError("deadlock_cycle", chain="; ".join(chain[seen[device] :]))


def _check_complete(schedule: Schedule) -> None:
    """Every stage works once forward and once backward on every micro-batch, on its own device."""
    num_stages, num_micro_batches = schedule.num_stages, schedule.num_micro_batches
    for home, devices in enumerate(schedule.homes):
        for expected in devices:
            if not 0 <= expected < schedule.num_devices:
                raise ScheduleError(
                    "placement_device", stage=home, device=expected, num_lanes=schedule.num_devices
                )
    homes = np.array([(devices[0], devices[-1]) for devices in schedule.homes], dtype=np.int64).reshape(-1, 2)
    counts = (
        np.zeros(len(KINDS) * num_stages * num_micro_batches, dtype=np.int32) if _dense(schedule) else None
    )
    for device, lane in enumerate(schedule.lanes):
        kind, stage, micro_batch = unpack(lane.codes)
        if (bad := np.flatnonzero(stage >= num_stages)).size:
            raise ScheduleError(
                "unplaced", op=lane[int(bad[0])], stage=int(stage[bad[0]]), num_stages=num_stages
            )
        if (bad := np.flatnonzero((homes[stage] != device).all(axis=1))).size:
            raise _wrong_device(schedule, lane[int(bad[0])], device)
        if counts is not None:
            flat = (kind * num_stages + stage) * num_micro_batches + micro_batch
            counts += np.bincount(flat, minlength=counts.size).astype(np.int32)
    if counts is None:
        raise ScheduleError("missing_op", op=_first_missing_forward(schedule))
    _check_counts(counts.reshape(len(KINDS), num_stages, num_micro_batches))
    if any(len(home) > 1 for home in schedule.homes):
        _check_together(schedule)


def _wrong_device(schedule: Schedule, op: Op, device: int) -> ScheduleError:
    homes = schedule.homes[op.stage]
    if len(homes) == 1:
        return ScheduleError("wrong_device", op=op, device=device, stage=op.stage, expected=homes[0])
    return ScheduleError(
        "wrong_devices", op=op, device=device, stage=op.stage, first=homes[0], second=homes[1]
    )


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


def _dense(schedule: Schedule) -> bool:
    """Are there enough ops for one F and one B of every pair? (If not, tables of that size may not even fit.)"""
    return schedule.num_ops >= 2 * schedule.num_stages * schedule.num_micro_batches


def _first_missing_forward(schedule: Schedule) -> Op:
    """With too few ops some pair lacks its F or its B; the first one, in order of stage, found without tables."""
    present = set(np.concatenate([lane.codes for lane in schedule.lanes]).tolist())
    for stage in range(schedule.num_stages):
        for micro_batch in range(schedule.num_micro_batches):
            for kinds in ((F,), (B, I)):
                if not any(int(pack(kind, stage, micro_batch)) in present for kind in kinds):
                    return Op(KINDS[kinds[0]], stage, micro_batch)
    return Op(KINDS[W], 0, 0)  # unreachable while `_dense` says no


def _check_counts(counts: npt.NDArray[np.int32]) -> None:
    """`counts`: (5, S, M), how often each op stands in the lanes."""

    def first(mask: Booleans) -> tuple[int, int] | None:
        where = np.argwhere(mask)
        return (int(where[0][0]), int(where[0][1])) if len(where) else None

    for kind in range(len(KINDS)):
        if pair := first(counts[kind] > 1):
            raise ScheduleError("repeated_op", op=Op(KINDS[kind], *pair), count=int(counts[kind][pair]))
    if pair := first(counts[F] == 0):
        raise ScheduleError("missing_op", op=Op(KINDS[F], *pair))
    split = (counts[I] > 0) | (counts[W] > 0)
    if pair := first((counts[B] > 0) & split):
        raise ScheduleError("both_backwards", stage=pair[0], micro_batch=pair[1])
    if pair := first((counts[B] == 0) & ~split):
        raise ScheduleError("missing_op", op=Op(KINDS[B], *pair))
    for kind in (I, W):
        if pair := first(split & (counts[kind] == 0)):
            raise ScheduleError("missing_op", op=Op(KINDS[kind], *pair))
