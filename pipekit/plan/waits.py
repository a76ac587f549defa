"""Who waits for whom: an order in which a schedule can run, found once; every prediction walks it.

All lanes lie one behind the other in one row of positions, so that whatever belongs to an op is one array. Lanes
are worked off in rounds: in each every lane goes at most one op forward, all lanes at once. Any order that the law
allows gives the same times.

Of all that an op needs at most one value comes from another lane, because all ops of one stage on one micro-batch
share a lane. What its own lane holds earlier is done when its turn comes; so each position has one giver, no more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipekit.errors import ScheduleError
from pipekit.plan.complete import check_complete
from pipekit.plan.ops import KINDS, Codes, Op
from pipekit.plan.rules import NOTHING, needs, needs_codes
from pipekit.plan.schedule import Schedule

Positions = npt.NDArray[np.int32]
READY, NEVER = 0, 1  # two positions before all lanes: what is there from the start, and what never comes
# Positions left out behind a lane. One would do to stop it; lanes of 2^n ops that march in step would then all lie in
# the same few sets of the processor's cache and push each other out.
GAP = 16


@dataclass(frozen=True, eq=False)
class Waits:
    """How a complete schedule without a deadlock runs.

    Args:
        size: how many positions there are.
        lanes: the positions of each lane's ops, as slices; those between two lanes belong to nobody.
        rounds: (n,) positions that can run at once, at most one of a lane, and (n,) the position in another lane
            whose value each of them waits for; `READY`: none.
    """

    size: int
    lanes: tuple[slice, ...]
    rounds: tuple[tuple[Codes, Positions], ...]


def find_waits(schedule: Schedule) -> Waits:
    """Find the rounds; ask `schedule.waits`, which keeps the answer.

    Raises:
        ScheduleError: an op is missing, stands twice or on the wrong device, or the lanes deadlock.
    """
    check_complete(schedule)
    ends = np.cumsum([len(lane) + GAP for lane in schedule.lanes]) + NEVER + 1
    lanes = tuple(
        slice(end - GAP - len(lane), end - GAP)
        for end, lane in zip(ends.tolist(), schedule.lanes, strict=True)
    )
    giver = _givers(schedule, lanes)
    return Waits(len(giver), lanes, _rounds(schedule, lanes, giver))


def _givers(schedule: Schedule, lanes: tuple[slice, ...]) -> Positions:
    """Lane by lane, so that what is computed on the way stays in the processor's cache."""
    position = np.full(schedule.device_of.size + 1, READY, dtype=np.int32)  # the last: of NOTHING
    for lane, here in zip(schedule.lanes, lanes, strict=True):
        position[schedule.slots(lane.codes)] = np.arange(here.start, here.stop)
    giver = np.full(lanes[-1].stop + GAP, NEVER, dtype=np.int32)
    for lane, here in zip(schedule.lanes, lanes, strict=True):
        wanted = needs_codes(lane.codes, schedule)
        at = position[np.where(wanted == NOTHING, -1, schedule.slots(wanted))]
        inside = (at >= here.start) & (at < here.stop)
        behind = inside & (at >= np.arange(here.start, here.stop)[:, None])
        giver[here] = np.where(behind.any(axis=1), NEVER, np.where(inside, READY, at).max(axis=1))
    return giver


def _rounds(
    schedule: Schedule, lanes: tuple[slice, ...], giver: Positions
) -> tuple[tuple[Codes, Positions], ...]:
    done = np.zeros(len(giver), dtype=bool)
    done[READY] = True
    heads = np.array([here.start for here in lanes])
    rounds = []
    while True:
        wanted = giver[heads]
        able = done[wanted]
        going = heads[able]
        if not going.size:
            break
        rounds.append((going, wanted[able]))
        done[going] = True
        heads += able
    if any(head < here.stop for head, here in zip(heads.tolist(), lanes, strict=True)):
        starts = np.array([here.start for here in lanes])
        raise _deadlock(schedule, heads - starts)
    return tuple(rounds)


def _deadlock(schedule: Schedule, place: Codes) -> ScheduleError:
    """Follow who waits for whom from one stuck lane until a lane comes round again; `place`: how far each lane came."""

    def device_of(op: Op) -> int:
        return int(schedule.device_of[KINDS.index(op.kind), op.stage, op.micro_batch])

    def is_done(op: Op) -> bool:
        lane = device_of(op)
        return op.code in schedule.lanes[lane].codes[: place[lane]]

    device = next(d for d, lane in enumerate(schedule.lanes) if place[d] < len(lane))
    seen: dict[int, int] = {}
    chain: list[str] = []
    while device not in seen:
        seen[device] = len(chain)
        head = schedule.lanes[device][int(place[device])]
        wanted = next(op for op in needs(head, schedule) if not is_done(op))
        device = device_of(wanted)
        blocker = schedule.lanes[device][int(place[device])]
        behind = "" if blocker == wanted else f", which stands behind {blocker} on device {device}"
        chain.append(f"{head} waits for {wanted}{behind}")
    return ScheduleError("deadlock_cycle", chain="; ".join(chain[seen[device] :]))
