"""A board's schedule as an experiment's settings, so that it trains and is measured exactly as the control room's are."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipekit import plan
from pipekit.errors import ScheduleError
from pipekit.learn.designboard.board import Board
from pipekit.learn.designboard.saved import text_of
from pipekit.learn.experiment import STEPS, Experiment, Settings
from pipekit.plan import Schedule

MINI_BATCH = 64  # samples at most: the lesson's


@dataclass(frozen=True, slots=True)
class Design(Settings):
    """Settings whose schedule was designed: `text` says it."""

    text: str = ""

    def build(self) -> Schedule:
        """The designed schedule."""
        return Schedule.from_text(self.text, range(self.num_stages))

    def uncut(self) -> Settings:
        """The same model and devices, the mini-batch in one piece."""
        return Settings(self.num_stages, num_micro_batches=1, pace=self.pace)


def design_of(board: Board) -> Design:
    """What training this board asks for.

    Raises:
        ScheduleError: something is missing; names the first op.
    """
    missing = board.missing()
    if missing:
        raise ScheduleError("board_incomplete", count=len(missing), op=missing[0])
    design = Design(board.num_devices, board.num_micro_batches, schedule="design", text=text_of(board))
    plan.validate(design.build())
    return design


@dataclass
class Experiments:
    """The lesson's experiment for each M: one model, and as many samples as make pieces of one size.

    So a designed tick is a measured one. An experiment of one's own is taken as it is.
    """

    own: Experiment | None = None
    _lessons: dict[int, Experiment] = field(default_factory=dict)

    def of(self, num_micro_batches: int) -> Experiment:
        """The experiment that trains a board with this M."""
        if self.own is not None:
            return self.own
        samples = MINI_BATCH // num_micro_batches * num_micro_batches
        if samples not in self._lessons:
            first = next(iter(self._lessons.values()), None)
            self._lessons[samples] = (
                Experiment(batch_size=samples)
                if first is None
                else Experiment(first.model, batch_size=samples)
            )
        return self._lessons[samples]

    def tick(self, num_micro_batches: int) -> float:
        """Seconds that a piece's forward is declared to take."""
        return self.of(num_micro_batches).batch_time / num_micro_batches

    def seconds(self, board: Board) -> float:
        """How long training a whole board will take: its steps, and the mini-batch once uncut. Nothing is looked at."""
        tick = self.tick(board.num_micro_batches)
        uncut = 3 * board.num_devices * board.num_micro_batches
        return ((1 + STEPS) * board.pushed_left().makespan + uncut) * tick
