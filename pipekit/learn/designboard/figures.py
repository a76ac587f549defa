"""What can be read off a board at once: its bubble, its memory, what is missing, which schedule it is; and a hint."""

from __future__ import annotations

from dataclasses import dataclass

from pipekit import plan
from pipekit.errors import ScheduleError
from pipekit.learn.designboard.board import Board
from pipekit.plan import Kind, Op


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers beside a board.

    Args:
        makespan: ticks from 0 to the end of the last op. bubble: idle / (devices x makespan); None without an op.
        in_flight: a device's most forwards that it has not gone back on.
        missing: what a training step still lacks.
        saved: ticks by which it would end earlier if every op stood as early as it can.
        name: of the known schedule that it is; None while something is missing, and for one of one's own.
    """

    makespan: int
    bubble: float | None
    in_flight: list[int]
    missing: list[Op]
    saved: int
    name: str | None


def figures(board: Board) -> Figures:
    """What this board comes to.

    >>> from pipekit.learn.designboard.saved import board_of
    >>> found = figures(board_of(plan.one_f_one_b(num_stages=2, num_micro_batches=3)))
    >>> found.makespan, found.bubble, found.in_flight, found.missing, found.name
    (12, 0.25, [2, 1], [], '1f1b')
    """
    missing, timeline = board.missing(), board.timeline()
    return Figures(
        makespan=board.makespan,
        bubble=bubble(board),
        in_flight=plan.peak_in_flight(timeline),
        missing=missing,
        saved=board.makespan - board.pushed_left().makespan,
        name=None if missing else plan.recognise(board.schedule()),
    )


def bubble(board: Board) -> float | None:
    """Idle share of devices x makespan, from tick 0 on; None for an empty board."""
    if not board.starts:
        return None
    busy = float(plan.busy_time(board.timeline()).sum())
    return 1.0 - busy / (board.num_devices * board.makespan)


def hint(board: Board) -> tuple[Op, int] | None:
    """Something missing that can stand earliest, and its tick; of several one that goes back, and the first piece.

    None where nothing is missing.
    """
    candidates = []
    for op in board.missing():
        try:
            candidates.append((board.earliest(op), op.kind is Kind.FORWARD, op.micro_batch, op.stage, op))
        except ScheduleError:
            continue  # what it needs is not there yet
    return (min(candidates)[-1], min(candidates)[0]) if candidates else None
