"""The grid puzzle: fill a schedule in by hand, cell by cell. Pure rules; the law is the design board's, and `plan`'s.

    forward   only the way forward: the lesson's grid with its first cell given, then its cells are counted
    uncut     the relay race: its cells are counted
    gpipe     GPipe's whole step, its first cell given
    free      any schedule of whole forwards and backwards
    split     the same, where a backward may also be cut into its two halves

The first three are checked against GPipe: the right op at the right time, or the reason why not. In the last two all
that the law allows is right, and the score is how soon it ends, against the best that is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from pipekit import plan
from pipekit.errors import ScheduleError
from pipekit.learn.controlroom.guess import parse
from pipekit.learn.designboard import figures
from pipekit.learn.designboard.board import HALVES, TICKS, Board
from pipekit.plan import Kind, Op, Timeline

TASKS = ("forward", "uncut", "gpipe", "free", "split")
WHOLE = (Kind.FORWARD, Kind.BACKWARD)
KINDS: dict[str, tuple[Kind, ...]] = {
    "forward": (Kind.FORWARD,),
    "uncut": (),
    "gpipe": WHOLE,
    "free": WHOLE,
    "split": (*WHOLE, *HALVES),
}
GUIDED = ("forward", "gpipe")  # each cell has one right answer, and the first one is given
COUNTED = ("cells", "busy", "idle")
FEW_MISTAKES, FEW_SLOTS = 3, 3  # two stars: at most so many mistakes, or so many slots more than the best


@dataclass(frozen=True)
class Puzzle:
    """Where the game is; `Puzzle.of` begins one.

    Args:
        mistakes: answers that were refused. counts: (what, text) as typed, right or wrong.
    """

    task: str
    board: Board
    mistakes: int = 0
    counts: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, task: str, num_stages: int = 4, num_micro_batches: int = 4) -> Puzzle:
        """A puzzle that nobody has touched.

        Raises:
            ScheduleError: K or M out of the board's range.
        """
        board = Board(num_stages, num_micro_batches)
        return cls(task, board.put(Op(Kind.FORWARD, 0, 0)) if task in GUIDED else board)

    @property
    def num_stages(self) -> int:
        """K."""
        return self.board.num_devices

    @property
    def num_micro_batches(self) -> int:
        """M."""
        return self.board.num_micro_batches

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of op that it has."""
        return KINDS[self.task]

    @property
    def missing(self) -> list[Op]:
        """The ops that are still to be placed."""
        return [] if self.task == "uncut" else [op for op in self.board.missing() if op.kind in self.kinds]

    @property
    def counting(self) -> bool:
        """Whether its cells are to be counted now."""
        return self.task == "uncut" or (self.task == "forward" and not self.missing)

    @property
    def counted(self) -> tuple[str, ...]:
        """What was counted right."""
        right = numbers(self)
        return tuple(what for what, text in self.counts if parse(text) == right[what])

    @property
    def solved(self) -> bool:
        """Whether nothing is left to do."""
        return not self.missing and (not self.counting or set(self.counted) == set(COUNTED))

    @property
    def timeline(self) -> Timeline:
        """What stands there; of the relay race all of it."""
        return (
            relay_race(self.num_stages, self.num_micro_batches)
            if self.task == "uncut"
            else self.board.timeline()
        )

    # -- moves

    def put(self, op: Op, tick: int | None = None, device: int | None = None) -> Puzzle:
        """With an op at a tick of a device's row; without a tick as early as possible.

        Raises:
            ScheduleError: the law, or what this puzzle asks for, with the reason.

        >>> Puzzle.of("forward").put(Op.parse("1F0"), 2)
        Traceback (most recent call last):
        pipekit.errors.ScheduleError: 1F0 would start too late: device 1 is idle in tick 1, and what it needs is done; don't let the device wait
        """
        if op.kind not in self.kinds:
            raise ScheduleError("puzzle_kind", op=op, known=" ".join(map(str, self.kinds)))
        if self.task in GUIDED and op in self.board.starts:
            raise ScheduleError("puzzle_there", op=op)
        board = self.board.put(op, tick, device)
        if self.task in GUIDED:
            self._check_order(op)
            earliest = self.board.earliest(op)
            if board.starts[op] > earliest:
                raise ScheduleError("puzzle_late", op=op, device=op.stage, tick=earliest)
        return replace(self, board=board)

    def _check_order(self, op: Op) -> None:
        """It is the next one in GPipe's row."""
        row = self.row(op.stage)
        due = row[len(self.board.row(op.stage))]
        if op == due:
            return
        if op.kind is due.kind:
            key = "puzzle_forward_order" if op.kind is Kind.FORWARD else "puzzle_back_order"
            raise ScheduleError(key, op=op, device=op.stage, earlier_op=due)
        raise ScheduleError("puzzle_back_first", op=op, device=op.stage)

    def row(self, device: int) -> list[Op]:
        """GPipe's row of a device, as far as this puzzle has it."""
        lane = plan.gpipe(self.num_stages, self.num_micro_batches).lanes[device]
        return [op for op in lane if op.kind in self.kinds]

    def take_off(self, op: Op) -> Puzzle:
        """Without an op; `ScheduleError` where another one needs it."""
        return replace(self, board=self.board.take_off(op))

    def count(self, what: str, text: str) -> Puzzle:
        """With a number of cells that was typed; a wrong one is a mistake. `what` is one of `COUNTED`.

        Raises:
            ScheduleError: it is no whole number.
        """
        value = parse(text)
        if value is None or value != int(value):
            raise ScheduleError("puzzle_count", asked=text)
        counts = (*(pair for pair in self.counts if pair[0] != what), (what, text))
        return replace(self, counts=counts, mistakes=self.mistakes + (value != numbers(self)[what]))

    def missed(self) -> Puzzle:
        """The same after an answer that was refused; where all is allowed nothing counts as a mistake."""
        return replace(self, mistakes=self.mistakes + 1) if self.task in GUIDED else self

    def hint(self) -> tuple[Op, int] | None:
        """Something that can come next, and its tick; None where nothing is missing."""
        if self.task not in GUIDED:
            return figures.hint(self.board) if self.missing else None
        found = []
        for device in range(self.num_stages):
            for op in self.row(device)[len(self.board.row(device)) :][:1]:
                try:
                    found.append((self.board.earliest(op), op))
                except ScheduleError:
                    continue  # what it needs is not there yet
        return (min(found)[1], min(found)[0]) if found else None


# -- numbers


@lru_cache(maxsize=16)
def relay_race(num_stages: int, num_micro_batches: int) -> Timeline:
    """The whole mini-batch forward, uncut: each device works as many slots as there would be pieces.

    >>> relay_race(4, 4).makespan
    16.0
    """
    costs = plan.Costs(forward=num_micro_batches, backward=0)
    return plan.simulate(plan.naive(num_stages), costs).only("F")


def numbers(puzzle: Puzzle) -> dict[str, int]:
    """How many cells the grid has up to its end, and how many are busy and idle.

    >>> numbers(Puzzle.of("uncut"))
    {'cells': 64, 'busy': 16, 'idle': 48}
    """
    timeline = puzzle.timeline
    cells, busy = puzzle.num_stages * round(timeline.end), round(float(plan.busy_time(timeline).sum()))
    return {"cells": cells, "busy": busy, "idle": cells - busy}


def halves_of_the_bubble(timeline: Timeline) -> tuple[int, int]:
    """Idle cells before the devices' first work, and after their last."""
    rows = [[s for s in timeline.spans if s.device == device] for device in range(timeline.num_devices)]
    before = sum(min(span.start for span in row) for row in rows)
    after = sum(timeline.end - max(span.end for span in row) for row in rows)
    return round(before), round(after)


def misconception(puzzle: Puzzle, what: str, value: int) -> str:
    """What a wrong number of cells was probably a count of: a key of the table of words.

    Of one row instead of all, of the other cells, or nothing that can be told.
    """
    right = numbers(puzzle)
    if value * puzzle.num_stages == right[what]:
        return "puzzle_one_row"
    if what != "busy" and value == right["busy"]:
        return "puzzle_counted_busy"
    if what != "idle" and value == right["idle"]:
        return "puzzle_counted_idle"
    return "puzzle_miscounted"


@lru_cache(maxsize=64)
def best(task: str, num_stages: int, num_micro_batches: int) -> int:
    """The makespan of the best schedule that is known, in slots.

    >>> best("forward", 4, 4), best("gpipe", 4, 4), best("free", 4, 8), best("split", 4, 8)
    (7, 21, 33, 27)
    """
    if task == "uncut":
        return round(relay_race(num_stages, num_micro_batches).makespan)
    if task == "split":
        return round(plan.greedy(num_stages, num_micro_batches, TICKS).makespan)
    builders = (plan.gpipe, plan.one_f_one_b) if task == "free" else (plan.gpipe,)
    costs = plan.Costs(forward=1, backward=0) if task == "forward" else TICKS
    known = [plan.simulate(build(num_stages, num_micro_batches), costs) for build in builders]
    return round(min(timeline.makespan for timeline in known))


def stars(puzzle: Puzzle) -> int:
    """3, 2 or 1 for a solved puzzle, 0 before: few mistakes where cells are checked, few slots where all is allowed."""
    if not puzzle.solved:
        return 0
    if puzzle.task in ("free", "split"):
        extra = puzzle.board.makespan - best(puzzle.task, puzzle.num_stages, puzzle.num_micro_batches)
        return 3 if extra <= 0 else 2 if extra <= FEW_SLOTS else 1
    return 3 if puzzle.mistakes == 0 else 2 if puzzle.mistakes <= FEW_MISTAKES else 1
