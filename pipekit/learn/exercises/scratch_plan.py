"""The exercise "three cells": plan the scratch-paper game so that little is computed again.

A plan is a row of steps in the order in which A computes them; a star writes the step's value into a cell:
`1 2 3* 4 5 6* 7 8 9 ...`. B asks for step 8 as soon as step 9 is there, then for 7, and so on; a question whose value is
in A's head or in a cell is answered at once, and cells that no later question needs are wiped.
"""

from __future__ import annotations

import re
from typing import Any

from pipekit.learn.exercises import pictures
from pipekit.learn.exercises.answers import answered, items, words
from pipekit.learn.exercises.task import Refused, Task, case_of
from pipekit.learn.games.scratch import Scratch, new_game, optimum
from pipekit.learn.games.scratch_played import recognise

CELLS = 3
KNOWN = {"lesson": "lesson_rule_played", "no_third": "third_cell_unused", "nothing": "nothing_kept"}
_MOVE = re.compile(r"(\d{1,2})(\*?)")


def compute(game: Scratch, step: int) -> Scratch:
    """Go to the value before a step, and compute it; `Refused` where that value isn't there any more."""
    if not 1 <= step <= game.num_steps:
        raise Refused("no_such_step", case_of("case_step", step=step))
    if step > game.asked:
        raise Refused("step_not_needed", case_of("case_step", step=step))
    if game.head != step - 1:
        if step - 1 not in {0, *game.cells}:
            raise Refused("step_before_lost", case_of("case_step", step=step))
        game = game.restart() if step == 1 else game.take(game.cells.index(step - 1))
    return game.compute()


def keep(game: Scratch) -> Scratch:
    """Write the value in the head into a cell that is empty, or whose step is not asked for any more."""
    if game.head is None or game.head in game.cells:  # just answered, or written down already
        return game
    free = [cell for cell, step in enumerate(game.cells) if step is None or step > game.asked]
    if not free:
        raise Refused("no_cell_free", f"{game.head}*, {' '.join(map(str, game.cells))}")
    return game.keep(free[0])


def played(answer: Any) -> Scratch:
    """The game that a plan plays, to its end."""
    answered(answer)
    moves = words(answer if isinstance(answer, str) else " ".join(map(str, items(answer))))
    if "..." in moves:
        raise Refused("unanswered")
    game = new_game(CELLS)
    for move in moves:
        read = _MOVE.fullmatch(move)
        if read is None:
            raise Refused("unreadable_move", move[:40])
        if game.won:
            raise Refused("moves_left_over", move)
        game = compute(game, int(read[1]))
        game = keep(game) if read[2] else game
        while not game.won and game.asked in game.cells:
            game = game.take(game.cells.index(game.asked))
    return game


def grade_three_cells(answer: Any) -> None:
    """All questions answered, with three cells, and as few steps computed as can be."""
    game = played(answer)
    if not game.won:
        raise Refused("questions_left", case_of("case_step", step=game.asked))
    if game.evaluations > optimum(game.num_steps, CELLS):
        raise Refused(
            KNOWN.get(recognise(game).name, "more_than_needed"),
            case_of("case_computed", count=game.evaluations),
        )


TASKS = (
    Task(
        "three_cells", 16, grade_three_cells, "moves",
        'moves = "1 2 3* 4 5 6* ..."',
        'moves = "1 2 3* 4 5 6* 7* 8 9  8  4* 5  1* 2"',
        pictures.chain,
    ),
)  # fmt: skip
