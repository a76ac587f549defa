"""Which strategy was played: the game's number says how well, its moves say which one it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pipekit.learn.games.scratch import Scratch
from pipekit.learn.games.scratch_best import optimum

Name = Literal["all", "nothing", "best", "lesson", "no_third", "best_of_used", "own"]


@dataclass(frozen=True, slots=True)
class Played:
    """A finished game in a nutshell.

    name: "all" (nothing computed twice), "nothing" (no cell used, and no step too many), "best" (none does with less, with these cells),
        "lesson" (ends of equal segments kept on the first way, another cell used only while going back), "no_third"
        (the same without that cell), "best_of_used" (none does with less, with the cells that were used), or "own".
    first: steps kept on the first way. later: steps kept while going back.
    most_cells: how many steps that could still be asked for were kept at once.
    segments: into how many equal segments the kept steps cut the chain; 0 where they don't.
    """

    name: Name
    evaluations: int
    optimum: int
    first: tuple[int, ...]
    later: tuple[int, ...]
    most_cells: int
    segments: int


def recognise(game: Scratch) -> Played:
    """What was played in a finished game.

    Raises:
        ValueError: questions are left.
    """
    if not game.won:
        raise ValueError(f"step {game.asked} is still asked for: only a finished game is recognised")
    first, later = _kept(game)
    segments = _segments(first, game.num_steps)
    best = optimum(game.num_steps, len(game.cells))
    most = _most_cells(game)
    name = _name(game, first, later, segments, best, most)
    return Played(name, game.evaluations, best, first, later, most, segments)


def _name(
    game: Scratch, first: tuple[int, ...], later: tuple[int, ...], segments: int, best: int, most: int
) -> Name:
    steps, count = game.num_steps, game.evaluations
    length = steps // segments if segments else 0
    if count == steps:
        return "all"
    if not first and not later and count == optimum(steps, 0):
        return "nothing"
    if count == best:
        return "best"
    if length > 2 and count == 2 * steps - segments:
        return "lesson"
    if segments and not later and count == steps + segments * length * (length - 1) // 2:
        return "no_third"
    if most < len(game.cells) and count == optimum(steps, most):
        return "best_of_used"
    return "own"


def _kept(game: Scratch) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The steps kept on the first way, and those kept while going back."""
    ended = next(
        index for index, move in enumerate(game.log) if move.kind == "compute" and move.step == game.num_steps
    )
    kept = [(index, move.step) for index, move in enumerate(game.log) if move.kind == "keep"]
    first = tuple(step for index, step in kept if index < ended)
    return first, tuple(step for index, step in kept if index > ended)


def _segments(first: tuple[int, ...], num_steps: int) -> int:
    """Into how many equal segments these steps cut the chain; 0 where they are no ends of such."""
    count = len(first) + 1
    length, rest = divmod(num_steps, count)
    equal = count > 1 and length > 1 and not rest
    return count if equal and first == tuple(range(length, num_steps, length)) else 0


def _most_cells(game: Scratch) -> int:
    """How many steps that could still be asked for were kept at once."""
    cells: dict[int, int] = {}
    asked, most = game.num_steps, 0
    for move in game.log:
        if move.kind == "wipe" and move.cell is not None:
            del cells[move.cell]
        if move.kind == "keep" and move.cell is not None:
            cells[move.cell] = move.step
        if move.kind in ("compute", "take") and move.step == asked:
            asked -= 1
        most = max(most, sum(step <= asked for step in cells.values()))
    return most
