"""An automatic scheduler: list scheduling of F, I and W, one stage a device, under a cap of what is in flight.

In the spirit of the Zero Bubble paper's heuristic (arXiv 2401.10241, section 3.1): a free device takes the best op it
can have, and a grid of rules for "best" and "can have" is tried. Two things are added: a device may wait a little for
a better op, as in the parametrised active schedules of the job shop; and each schedule is placed again from its end
and forward in its own order, the forward-backward improvement of project scheduling, which closes gaps that a device
could not foresee. `benchmarks/greedy.py` compares the search with proven optima.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipekit.errors import CostsError
from pipekit.plan.costs import Costs
from pipekit.plan.list_scheduling import Lanes, Problem, search
from pipekit.plan.measure import peak_in_flight
from pipekit.plan.ops import B, F, I, W, pack
from pipekit.plan.schedule import Schedule
from pipekit.plan.schedules import count, gpipe, one_f_one_b
from pipekit.plan.simulate import simulate
from pipekit.plan.zero_bubble import zb_h1, zb_h2

NAMED = (gpipe, one_f_one_b, zb_h1, zb_h2)  # one stage a device, one copy of the parameters
Candidate = tuple[float, str, Schedule]  # makespan, origin


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Found(Schedule):
    """What `greedy` found: a schedule like any other, and where it comes from.

    Attributes:
        origin: `"search"`, or the name of the known schedule that was better than what the search found.
        makespan: of this schedule, as `simulate` predicts it, in the unit of the costs.
        search_makespan: of the best that the search found by itself.
    """

    origin: str = "search"
    makespan: float = 0.0
    search_makespan: float = 0.0

    def __init__(self, schedule: Schedule, origin: str, makespan: float, search_makespan: float) -> None:
        super().__init__(schedule.lanes, schedule.placement, schedule.recompute, "greedy")
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "makespan", makespan)
        object.__setattr__(self, "search_makespan", search_makespan)


def greedy(num_devices: int, num_micro_batches: int, costs: Costs, memory_limit: int | None = None) -> Found:
    """A schedule of F, I and W for these costs: the best of a search and of the named schedules that fit.

    Deterministic. It shortens the makespan, from the first op to the last: one barrier for all devices. (The Zero
    Bubble paper counts each device's own span.) Where a full B is cheaper than its halves, it may use B.

    Args:
        num_devices: K; one stage a device.
        num_micro_batches: M.
        costs: of one micro-batch; unequal stages, overhead, latency and bandwidth all count.
        memory_limit: the most (stage, micro-batch) pairs that a device may keep at once, from F to the end of W or
            B, as `peak_in_flight` counts them. None: no limit.

    Raises:
        ScheduleError: K, M or the limit below 1: one pair is the least possible.
        CostsError: lists of the wrong length; costs that are all zero.

    >>> found = greedy(num_devices=4, num_micro_batches=8, costs=Costs(), memory_limit=4)
    >>> found.origin, found.makespan  # f = b = w = 1: 3M + K - 1, as ZB-H1
    ('search', 27.0)
    """
    stages, pieces = count("num_devices", num_devices), count("num_micro_batches", num_micro_batches)
    limit = pieces if memory_limit is None else count("memory_limit", memory_limit)
    named = list(_named_that_fit(stages, pieces, costs, limit))
    own = min(_searched(stages, pieces, costs, limit), key=_makespan)
    makespan, origin, schedule = min([own, *named], key=_makespan)  # of equals the first
    return Found(schedule, origin, makespan, own[0])


def _makespan(candidate: Candidate) -> float:
    return candidate[0]


def _named_that_fit(stages: int, pieces: int, costs: Costs, limit: int) -> Iterator[Candidate]:
    for builder in NAMED:
        schedule = builder(stages, pieces)
        timeline = simulate(schedule, costs)
        if max(peak_in_flight(timeline)) <= limit:
            yield timeline.makespan, schedule.name, schedule


def _searched(stages: int, pieces: int, costs: Costs, limit: int) -> Iterator[Candidate]:
    """The best with halves; where a full backward is cheaper than its halves, the best with those too."""
    table = costs.table(stages) + costs.overhead
    if not table[[F, I, W]].any():
        raise CostsError("costs_zero")
    halves = search(Problem.of((F, I, W), table, costs, pieces, limit)).lanes
    made = [halves]
    if (table[B] < table[I] + table[W]).any():
        made.append([_joined(lane) for lane in halves])
        made.append(search(Problem.of((F, B), table, costs, pieces, limit)).lanes)
    for lanes in made:
        schedule = _schedule(lanes)
        yield simulate(schedule, costs).makespan, "search", schedule


def _schedule(lanes: Lanes) -> Schedule:
    columns = (np.array(lane, dtype=np.int64).T for lane in lanes)
    codes = [pack(kinds, stage, micro_batches) for stage, (kinds, micro_batches) in enumerate(columns)]
    return Schedule(codes, range(len(codes)))


def _joined(lane: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """I and W of one micro-batch that follow each other become its B."""
    made: list[tuple[int, int]] = []
    for kind, micro_batch in lane:
        if kind == W and made and made[-1] == (I, micro_batch):
            made[-1] = (B, micro_batch)
        else:
            made.append((kind, micro_batch))
    return made
