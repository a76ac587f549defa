"""The board itself: which op stands at which tick of which device's row. Pure data; every change is checked.

What an op needs is asked of `plan.rules`; a board that has been made is legal, as far as it goes.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pipekit import plan
from pipekit.errors import ScheduleError
from pipekit.plan import Kind, Op, Schedule
from pipekit.plan.ops import KINDS
from pipekit.plan.rules import NOTHING, needs, needs_codes

DEVICES, MICRO_BATCHES = (2, 4), (2, 8)  # least and most of K and of M
LAST_TICK = 999  # everything one after the other needs far less
TICKS = plan.Costs(forward=1, backward=2)  # what the stand-ins declare too: I, W and R take as long as F
LENGTHS = dict(zip(KINDS, TICKS.table(1)[:, 0].astype(int).tolist(), strict=True))  # ticks of each kind
HALVES = (Kind.INPUT_GRAD, Kind.WEIGHT_GRAD)


@dataclass(frozen=True)
class Board:
    """Ops and the ticks at which they start; stage s lives on device s.

    Args:
        num_devices: K, from 2 to 4. num_micro_batches: M, from 2 to 8.
        starts: op -> its first tick, from 0. Never changed: `put` and `take_off` return another board.
        recompute: as in `Schedule`: what an R waits for.

    >>> board = Board(2, 2).put(Op.parse("0F0"), 0)
    >>> board.put(Op.parse("1F0"), 0)
    Traceback (most recent call last):
    pipekit.errors.ScheduleError: 1F0 needs 0F0, which ends at tick 1; put it at tick 1 or later
    >>> print(board.put(Op.parse("1F0"), 1).timeline())
    F0 .
    .  F0
    """

    num_devices: int
    num_micro_batches: int
    starts: dict[Op, int] = field(default_factory=dict)
    recompute: str = "late"

    def __post_init__(self) -> None:
        for name, asked, (least, most) in (
            ("K", self.num_devices, DEVICES),
            ("M", self.num_micro_batches, MICRO_BATCHES),
        ):
            if not least <= asked <= most:
                raise ScheduleError("number_range", name=name, least=least, most=most, asked=asked)

    # -- what stands there

    def end(self, op: Op) -> int:
        """The tick at which an op on the board has ended."""
        return self.starts[op] + LENGTHS[op.kind]

    @property
    def makespan(self) -> int:
        """Ticks from 0 to the end of the last op."""
        return max(map(self.end, self.starts), default=0)

    def row(self, device: int) -> list[Op]:
        """A device's ops in their order."""
        return sorted((op for op in self.starts if op.stage == device), key=self.starts.__getitem__)

    def at(self, device: int, tick: int) -> Op | None:
        """The op that runs on a device in a tick."""
        return next((op for op in self.row(device) if self.starts[op] <= tick < self.end(op)), None)

    def schedule(self, *more: Op) -> Schedule:
        """The rows as a schedule, as far as they go; `more` ops stand at the ends of their rows."""
        lanes = [self.row(device) for device in range(self.num_devices)]
        for op in more:
            lanes[op.stage].append(op)
        return Schedule(lanes, range(self.num_devices), self.recompute)

    def timeline(self) -> plan.Timeline:
        """The board as a predicted timeline, in ticks."""
        spans = [plan.Span(op, op.stage, start, self.end(op)) for op, start in self.starts.items()]
        words = f"{self.num_devices} predicted devices"
        return plan.Timeline(plan.Spans.of(spans), self.num_devices, devices=words, unit="tick")

    def missing(self) -> list[Op]:
        """What a training step still lacks, stage by stage; a pair with an I or a W lacks the other half, not a B."""
        return [
            op
            for stage in range(self.num_devices)
            for micro_batch in range(self.num_micro_batches)
            for op in self._missing(stage, micro_batch)
        ]

    def _missing(self, stage: int, micro_batch: int) -> Iterator[Op]:
        halves = [Op(kind, stage, micro_batch) for kind in HALVES]
        back = halves if any(op in self.starts for op in halves) else [Op(Kind.BACKWARD, stage, micro_batch)]
        return (op for op in (Op(Kind.FORWARD, stage, micro_batch), *back) if op not in self.starts)

    @property
    def complete(self) -> bool:
        """Whether it can train: nothing is missing."""
        return not self.missing()

    # -- moves

    def put(self, op: Op, tick: int | None = None, device: int | None = None) -> Board:
        """The board with an op at a tick of a device's row; one that stands there already moves.

        Args:
            tick: left out, as early as possible. device: left out, where its stage lives.

        Raises:
            ScheduleError: the wrong row, a tick that is taken, or the law: names the op that is needed and its end.
        """
        self.check_place(op, op.stage if device is None else device, self.starts)
        without = replace(self, starts={each: start for each, start in self.starts.items() if each != op})
        if tick is None:
            tick = without.earliest(op)
        if not 0 <= tick <= LAST_TICK:
            raise ScheduleError("number_range", name="tick", least=0, most=LAST_TICK, asked=tick)
        without._check_free(op, tick)
        moved = replace(self, starts={**without.starts, op: tick})
        moved._check_law(op)
        return moved

    def take_off(self, op: Op) -> Board:
        """The board without an op; `ScheduleError` if another one on it needs this one."""
        if op not in self.starts:
            raise ScheduleError("board_absent", op=op)
        smaller = replace(self, starts={each: start for each, start in self.starts.items() if each != op})
        try:
            smaller._check_law(op)
        except ScheduleError as error:
            raise ScheduleError("board_stays", op=error.numbers["op"], earlier_op=op) from None
        return smaller

    def earliest(self, op: Op, after: int = 0) -> int:
        """The first tick, from `after` on, at which an op can run: what it needs has ended, and its row is free.

        Raises:
            ScheduleError: something that it needs is not on the board.
        """
        wanted = needs(op, self.schedule(op))
        for needed in wanted:
            if needed not in self.starts:
                raise ScheduleError("board_needs_missing", op=op, earlier_op=needed)
        tick = max([after, *map(self.end, wanted)])
        for other in self.row(op.stage):
            if other != op and self.end(other) > tick and self.starts[other] < tick + LENGTHS[op.kind]:
                tick = self.end(other)
        return tick

    def with_micro_batches(self, num_micro_batches: int) -> Board:
        """The same with another M: the ops of micro-batches that are no longer there go."""
        kept = {op: start for op, start in self.starts.items() if op.micro_batch < num_micro_batches}
        return replace(self, num_micro_batches=num_micro_batches, starts=kept)

    def pushed_left(self) -> Board:
        """The same order, every op as early as the law and its row allow: as the devices will really run it."""
        lanes = [self.row(device) for device in range(self.num_devices)]
        return filled(replace(self, starts={}), lanes)

    # -- checks

    def check_place(self, op: Op, device: int, there: Container[Op]) -> None:
        """The op exists in this pipeline, it stands in its stage's row, and not beside another kind of backward."""
        if op.stage >= self.num_devices:
            raise ScheduleError("unplaced", op=op, stage=op.stage, num_stages=self.num_devices)
        if op.micro_batch >= self.num_micro_batches:
            raise ScheduleError(
                "board_micro_batch",
                op=op,
                micro_batch=op.micro_batch,
                num_micro_batches=self.num_micro_batches,
            )
        if device != op.stage:
            raise ScheduleError("wrong_device", op=op, device=device, stage=op.stage, expected=op.stage)
        others = HALVES if op.kind is Kind.BACKWARD else (Kind.BACKWARD,) if op.kind in HALVES else ()
        if any(Op(kind, op.stage, op.micro_batch) in there for kind in others):
            raise ScheduleError("both_backwards", stage=op.stage, micro_batch=op.micro_batch)

    def _check_free(self, op: Op, tick: int) -> None:
        for busy in range(tick, tick + LENGTHS[op.kind]):
            other = self.at(op.stage, busy)
            if other is not None:
                raise ScheduleError("board_taken", op=op, tick=busy, earlier_op=other)

    def _check_law(self, moved: Op) -> None:
        """Everything on the board starts when what it needs has ended; what was moved is looked at first."""
        for op, needed in sorted(
            _waits(self.schedule()) if self.starts else (), key=lambda pair: pair[0] != moved
        ):
            if needed not in self.starts:
                raise ScheduleError("board_needs_missing", op=op, earlier_op=needed)
            end = self.end(needed)
            if end > self.starts[op]:
                key = "board_needs" if op == moved else "board_needed"
                raise ScheduleError(key, op=op, earlier_op=needed, end=end, tick=end)


def filled(empty: Board, lanes: Sequence[Sequence[Op]]) -> Board:
    """A board on which these lanes stand, every op as early as possible in its lane's order.

    Args:
        empty: a board without ops, which says K, M and `recompute`.

    Raises:
        ScheduleError: an op in a wrong row or twice, one whose need is nowhere, or lanes that wait for each other.
    """
    places: dict[Op, int] = {}
    for device, lane in enumerate(lanes):
        for op in lane:
            empty.check_place(op, device, places)
            if op in places:
                raise ScheduleError("repeated_op", op=op, count=list(lane).count(op))
            places[op] = device
    if not places:
        return empty
    schedule = Schedule(lanes, range(empty.num_devices), empty.recompute)
    waits: dict[Op, list[Op]] = {op: [] for op in places}
    for op, needed in _waits(schedule):
        if needed not in places:
            raise ScheduleError("board_needs_missing", op=op, earlier_op=needed)
        waits[op].append(needed)
    board = replace(empty, starts=_as_early_as_possible(lanes, waits))
    if len(board.starts) < len(places):
        plan.validate(schedule)  # tells the whole chain of a deadlock
    return board


def _as_early_as_possible(lanes: Sequence[Sequence[Op]], waits: dict[Op, list[Op]]) -> dict[Op, int]:
    """When each op starts; ops that wait for each other are left out."""
    ends: dict[Op, int] = {}
    heads, free = [0] * len(lanes), [0] * len(lanes)
    going = True
    while going:
        going = False
        for device, lane in enumerate(lanes):
            while heads[device] < len(lane) and all(needed in ends for needed in waits[lane[heads[device]]]):
                op = lane[heads[device]]
                start = max([free[device], *(ends[needed] for needed in waits[op])])
                ends[op] = free[device] = start + LENGTHS[op.kind]
                heads[device] += 1
                going = True
    return {op: end - LENGTHS[op.kind] for op, end in ends.items()}


def _waits(schedule: Schedule) -> Iterator[tuple[Op, Op]]:
    """(op, what it needs) for all ops of a schedule, by the law."""
    codes = np.concatenate([lane.codes for lane in schedule.lanes])
    for code, row in zip(codes.tolist(), needs_codes(codes, schedule).tolist(), strict=True):
        yield from ((Op.from_code(code), Op.from_code(needed)) for needed in row if needed != NOTHING)
