"""List scheduling: ops of alike micro-batches are placed on devices one by one, forward in time or from the end.

Micro-batches are alike, so each stage may as well take them in order, in each kind. Then a cap of P (stage,
micro-batch) pairs is a precedence like the others: F of micro-batch m waits for W of micro-batch m - P.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pipekit.plan.costs import Costs
from pipekit.plan.ops import KINDS, B, F, I, Op, W
from pipekit.plan.rules import needs
from pipekit.plan.schedule import Schedule

RULES = ((I, W, F), (I, F, W))  # which kind first; the longest remaining path is tried too
PATIENCES = (0.75, 0.0, 0.25, 0.5)  # how long to wait for a better op: times the duration of what could begin
MOST_ROUNDS = 3  # of placing from the end and forward again
MOST_PLACED = 200_000  # ops in all tries together, some three seconds; the first try is always finished

Ranks = list[list[list[float]]]  # [kind][stage][micro-batch]: smaller goes first
Times = list[list[list[float]]]  # [kind][stage][micro-batch]
Lanes = list[list[tuple[int, int]]]  # for each device its ops in order: kind code, micro-batch


@dataclass(frozen=True)
class Arc:
    """`giver` before `taker`, both (place in `Problem.kinds`, stage); the taker `apart` micro-batches later."""

    giver: tuple[int, int]
    taker: tuple[int, int]
    apart: int = 0

    @property
    def crosses(self) -> bool:
        """Whether that goes over a link: one stage a device."""
        return self.giver[1] != self.taker[1]

    @property
    def link(self) -> int:
        """The stage before the link."""
        return min(self.giver[1], self.taker[1])


@dataclass(frozen=True)
class Problem:
    """What is to be placed: every kind, on every stage, for every micro-batch; one stage a device.

    Args:
        kinds: (F, I, W), or (F, B).
        durations: `durations[n][stage]` is how long an op of `kinds[n]` takes.
        transfer: `transfer[stage]` is how long a message keeps the link behind that stage busy.
        latency: of every link.
        limit: the most (stage, micro-batch) pairs a device may keep, from the start of F to the end of the last kind.
    """

    kinds: tuple[int, ...]
    durations: list[list[float]]
    transfer: list[float]
    latency: float
    num_micro_batches: int
    limit: int

    @classmethod
    def of(
        cls,
        kinds: tuple[int, ...],
        table: npt.NDArray[np.float64],
        costs: Costs,
        num_micro_batches: int,
        limit: int,
    ) -> Problem:
        """The problem with these kinds; `table`: (5, S), how long each kind takes on each stage, all told."""
        durations = [table[kind].tolist() for kind in kinds]
        transfer = costs.transfer(table.shape[1]).tolist()
        return cls(kinds, durations, transfer, float(costs.latency), num_micro_batches, limit)

    @property
    def num_stages(self) -> int:
        """S, and K: one stage a device."""
        return len(self.transfer)

    @property
    def num_ops(self) -> int:
        """How many ops there are to place."""
        return len(self.kinds) * self.num_stages * self.num_micro_batches

    @cached_property
    def arcs(self) -> list[Arc]:
        """What waits for what: as the law says for one micro-batch, and the cap."""
        ops = [[Op(KINDS[kind], stage, 0) for kind in self.kinds] for stage in range(self.num_stages)]
        place = {op: (kind, stage) for stage, lane in enumerate(ops) for kind, op in enumerate(lane)}
        one_piece = Schedule(ops)
        arcs = [Arc(place[given], place[op]) for op in place for given in needs(op, one_piece)]
        last = len(self.kinds) - 1
        return arcs + [Arc((last, stage), (0, stage), self.limit) for stage in range(self.num_stages)]

    def bound(self) -> float:
        """No schedule is shorter: a device can't begin before a piece reaches it, and then has all its work to do."""
        reached, most = 0.0, 0.0
        for stage, forward in enumerate(self.durations[0]):
            work = sum(durations[stage] for durations in self.durations)
            most = max(most, reached + self.num_micro_batches * work)
            reached += forward + self.transfer[stage] + self.latency
        return most


def search(problem: Problem) -> Placing:
    """The shortest that a grid of rules and patiences finds, each improved from the end and forward again."""
    best: Placing | None = None
    placed, enough = 0, problem.bound() * (1 + 1e-9)
    for ranks, patience in _tries(problem):
        for made in _improved(problem, ranks, patience):
            placed += 2 * problem.num_ops
            best = made if best is None or made.makespan < best.makespan else best
            if best.makespan <= enough or placed >= MOST_PLACED:
                return best
    assert best is not None
    return best


def _tries(problem: Problem) -> Iterator[tuple[Ranks, float]]:
    every = [*(_kinds_first(problem, rule) for rule in RULES), _longest_paths(problem)]
    return ((ranks, patience) for patience in PATIENCES for ranks in every)


def _improved(problem: Problem, ranks: Ranks, patience: float) -> Iterator[Placing]:
    """A first placing, then better ones: what it ended last goes first from the end, and so forward again."""
    made = Placing(problem, ranks, patience)
    yield made
    for _ in range(MOST_ROUNDS):
        turned = Placing(problem, _last_first(made.ends), patience, turned=True)
        again = Placing(problem, _last_first(turned.ends), patience)
        if again.makespan >= made.makespan:
            return
        made = again
        yield made


def _kinds_first(problem: Problem, rule: tuple[int, ...]) -> Ranks:
    """One kind before the other, whatever the micro-batch; a full backward stands where I does."""
    ranks = [float(rule.index(I if kind == B else kind)) for kind in problem.kinds]
    return [[[rank] * problem.num_micro_batches] * problem.num_stages for rank in ranks]


def _longest_paths(problem: Problem) -> Ranks:
    """Ops with the longest way to the end first; the next micro-batch's op of the same kind is on the way."""
    pieces, stages = problem.num_micro_batches, problem.num_stages
    left: Ranks = [[[0.0] * (pieces + 1) for _ in range(stages)] for _ in problem.kinds]
    takers: dict[tuple[int, int], list[tuple[Arc, float]]] = {}
    for arc in problem.arcs:
        lag = problem.latency + problem.transfer[arc.link] if arc.crosses else 0.0
        takers.setdefault(arc.giver, []).append((arc, lag))
    back = [(kind, stage) for kind in reversed(range(1, len(problem.kinds))) for stage in range(stages)]
    # Whoever takes comes before who gives.
    order = [*back, *((0, stage) for stage in reversed(range(stages)))]
    for piece in reversed(range(pieces)):
        for kind, stage in order:
            longest = left[kind][stage][piece + 1]
            for arc, lag in takers.get((kind, stage), ()):
                if piece + arc.apart < pieces:
                    longest = min(longest, left[arc.taker[0]][arc.taker[1]][piece + arc.apart] - lag)
            left[kind][stage][piece] = longest - problem.durations[kind][stage]
    return left


def _last_first(ends: Times) -> Ranks:
    """For the other direction: what ended last goes first; micro-batches are counted from the other side."""
    return [[[-end for end in reversed(stage)] for stage in kind] for kind in ends]


class Placing:
    """One pass: every op placed, forward in time, or turned round, from the end to the start.

    Micro-batches count in the order of the pass. Of each kind a device looks at one op, the next one.

    Args:
        ranks: which op a device prefers.
        patience: how long it waits for a better op, in durations of the one it could begin at once.

    Attributes:
        ends: when each op ends.
        lanes: each device's ops in the order of this pass.
        makespan: when the last op ends.
    """

    def __init__(self, problem: Problem, ranks: Ranks, patience: float, turned: bool = False) -> None:
        self.problem, self.ranks, self.patience = problem, ranks, patience
        stages, kinds = range(problem.num_stages), range(len(problem.kinds))
        self.lanes: Lanes = [[] for _ in stages]
        self.ends: Times = [[[] for _ in stages] for _ in kinds]
        self._arrivals: Times = [[[] for _ in stages] for _ in kinds]  # at the other side of the link
        self._transfer = [[0.0 for _ in stages] for _ in kinds]
        self._free = [0.0 for _ in stages]
        self._needs: list[list[list[tuple[list[float], int]]]] = [[[] for _ in kinds] for _ in stages]
        # Who may choose otherwise after that op.
        self._concerns = [[[stage] for stage in stages] for _ in kinds]
        for arc in problem.arcs:
            (kind, stage), (to_kind, to_stage) = (arc.taker, arc.giver) if turned else (arc.giver, arc.taker)
            given = (self._arrivals if arc.crosses else self.ends)[kind][stage]
            self._needs[to_stage][to_kind].append((given, arc.apart))
            if arc.crosses:
                self._transfer[kind][stage] = problem.transfer[arc.link]
                self._concerns[kind][stage].append(to_stage)
        self._run()
        self.makespan = max(self._free)

    def _run(self) -> None:
        """Always the device that could begin first; the op it takes gives others more to choose from."""
        chosen: list[tuple[float, int, int] | None] = [None for _ in self._free]
        waiting: list[tuple[float, int, tuple[float, int, int]]] = []

        def look(stage: int) -> None:
            choice = self._choose(stage)
            chosen[stage] = choice[1] if choice else None
            if choice:
                heapq.heappush(waiting, (choice[0], stage, choice[1]))

        for stage in range(len(chosen)):
            look(stage)
        while waiting:
            _, stage, op = heapq.heappop(waiting)
            if chosen[stage] == op:  # else it has chosen otherwise since
                self._put(stage, *op)
                for concerned in self._concerns[op[1]][stage]:
                    look(concerned)

    def _choose(self, stage: int) -> tuple[float, tuple[float, int, int]] | None:
        """(when the device could begin something, the op it chooses: when it can begin, kind, micro-batch)."""
        able = []
        for kind, needed in enumerate(self._needs[stage]):
            piece = len(self.ends[kind][stage])
            if piece == self.problem.num_micro_batches:
                continue
            ready = self._free[stage]
            for given, apart in needed:
                wanted = piece - apart
                if wanted >= len(given):
                    break
                if wanted >= 0 and given[wanted] > ready:
                    ready = given[wanted]
            else:
                able.append((ready, self.ranks[kind][stage][piece], kind, piece))
        if not able:
            return None
        soon, _, kind, _ = min(able)
        until = soon + self.patience * self.problem.durations[kind][stage]
        _, ready, kind, piece = min(
            (rank, at, kind, piece) for at, rank, kind, piece in able if at < until or at == soon
        )
        return soon, (ready, kind, piece)

    def _put(self, stage: int, start: float, kind: int, piece: int) -> None:
        end = start + self.problem.durations[kind][stage]
        self._free[stage] = end
        self.ends[kind][stage].append(end)
        self.lanes[stage].append((self.problem.kinds[kind], piece))
        arrivals, transfer = self._arrivals[kind][stage], self._transfer[kind][stage]
        if transfer and arrivals:  # one message at a time
            end = max(end, arrivals[-1] - self.problem.latency)
        arrivals.append(end + transfer + self.problem.latency)
