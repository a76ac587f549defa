"""Exercises that ask for a schedule: the GPipe order, and one that keeps less. The plan's own law judges them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pipekit import plan
from pipekit.errors import PipekitError
from pipekit.learn.exercises import pictures
from pipekit.learn.exercises.answers import function, lanes, listed
from pipekit.learn.exercises.task import Refused, Task, case_of
from pipekit.plan import Costs, Kind, Op, Schedule, gpipe, one_f_one_b

COSTS = Costs(forward=1, backward=2)
SMALL = ((2, 2), (4, 4), (2, 3), (3, 1), (3, 5))  # (K, M)
MORE_PIECES = ((4, 8), (2, 4), (3, 7), (4, 16))  # with M <= K there is nothing to save on the first GPU
THERE_AND_BACK = (Kind.FORWARD, Kind.BACKWARD)


def grade_gpipe_order(answer: Any) -> None:
    """All forwards in order, then all backwards in the opposite order, for any K and M."""
    order = function(answer)
    for k, m in SMALL:
        found, right = lanes(order(k, m)), gpipe(k, m)
        case = f"K={k}, M={m}: {str(found)[:120]}"
        if list(found.lanes) == list(right.lanes):
            continue
        for name, belief in BELIEFS.items():
            if [list(lane) for lane in found.lanes] == belief(k, m) and belief(k, m) != list(right.lanes):
                raise Refused(name, case)
        if (k, m) not in SMALL[:2] and k * m != 1:
            raise Refused("only_one_case", case)
        runs(found, k, m)
        raise Refused("another_order", case)


def runs(schedule: Schedule, num_stages: int, num_micro_batches: int) -> None:
    """Refuse what has another size, or can't run."""
    asked = (num_stages, num_stages, num_micro_batches)
    found = (schedule.num_devices, schedule.num_stages, schedule.num_micro_batches)
    case = f"K={num_stages}, M={num_micro_batches}: {str(schedule)[:120]}"
    try:
        plan.validate(schedule)
    except PipekitError as error:
        raise Refused("cannot_run", case, error) from None
    if found != asked:
        raise Refused("schedule_size", case)


def each_lane(num_stages: int, ops: Sequence[tuple[Kind, int]]) -> list[list[Op]]:
    """The same on every stage."""
    return [[Op(kind, stage, m) for kind, m in ops] for stage in range(num_stages)]


def same_order(k: int, m: int) -> list[list[Op]]:
    """The backwards from the first piece to the last."""
    return each_lane(k, [(kind, i) for kind in THERE_AND_BACK for i in range(m)])


def forwards_only(k: int, m: int) -> list[list[Op]]:
    """Nobody goes back."""
    return each_lane(k, [(Kind.FORWARD, i) for i in range(m)])


def piece_by_piece(k: int, m: int) -> list[list[Op]]:
    """There and back with one piece, then the next."""
    return each_lane(k, [(kind, i) for i in range(m) for kind in THERE_AND_BACK])


def everybody_stage_0(k: int, m: int) -> list[list[Op]]:
    """The same text on every device."""
    return [list(gpipe(k, m).lanes[0]) for _ in range(k)]


BELIEFS: dict[str, Callable[[int, int], list[list[Op]]]] = {
    "backwards_in_same_order": same_order,
    "forwards_only": forwards_only,
    "piece_by_piece": piece_by_piece,
    "everybody_stage_0": everybody_stage_0,
    "one_f_one_b_given": lambda k, m: [list(lane) for lane in one_f_one_b(k, m).lanes],
}


def grade_beat_gpipe(answer: Any) -> None:
    """As quick as GPipe, and fewer pieces in flight on the GPU that keeps most."""
    order = function(answer)
    for k, m in MORE_PIECES:
        found = lanes(order(k, m))
        runs(found, k, m)
        mine, theirs = (plan.simulate(each, COSTS) for each in (found, gpipe(k, m)))
        kept = plan.peak_in_flight(mine)
        case = case_of(
            "case_schedule",
            k=k,
            m=m,
            mine=f"{mine.makespan:g}",
            theirs=f"{theirs.makespan:g}",
            kept=listed(kept),
        )
        if plan.recognise(found) == "gpipe":
            raise Refused("still_gpipe", case)
        if Kind.RECOMPUTE in {op.kind for lane in found.lanes for op in lane}:
            raise Refused("recompute_is_slower", case)
        if mine.makespan > theirs.makespan * (1 + 1e-9):
            raise Refused("piece_by_piece" if max(kept) == 1 else "slower_than_gpipe", case)
        if max(kept) >= max(plan.peak_in_flight(theirs)):
            raise Refused("keeps_as_much", case)


TASKS = (
    Task(
        "gpipe_order", 14, grade_gpipe_order, "order",
        'def order(K, M):\n    return ["..." for stage in range(K)]',
        'def order(K, M):\n    lanes = []\n    for s in range(K):\n        forward = [f"{s}F{m}" for m in range(M)]\n'
        '        backward = [f"{s}B{m}" for m in reversed(range(M))]\n'
        '        lanes.append(" ".join(forward + backward))\n    return lanes',
        pictures.order_example,
    ),
    Task(
        "beat_gpipe", 14, grade_beat_gpipe, "order",
        'def order(K, M):\n    return ["..." for stage in range(K)]',
        "def order(K, M):\n    lanes = []\n    for s in range(K):\n        ahead = min(M, K - s)\n"
        '        ops = [f"{s}F{m}" for m in range(ahead)]\n        for m in range(M):\n'
        '            ops.append(f"{s}B{m}")\n            if ahead + m < M:\n'
        '                ops.append(f"{s}F{ahead + m}")\n        lanes.append(" ".join(ops))\n    return lanes',
    ),
)  # fmt: skip
