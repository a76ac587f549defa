"""The scratch-paper game on the page: the chain's values, the fewest steps for some cells, moves that need no more.

A move is two letters: `A-` computes the next step, `w2` writes the number in the head into cell 2, `j0` goes back to
the start, `j2` to what cell 2 holds. The page counts the `A-`.
"""

from __future__ import annotations

from typing import Any

from pipekit.learn.games.chain import LESSON
from pipekit.learn.games.scratch import Move, new_game, optimum
from pipekit.learn.games.scratch_best import best_game

CELLS = (0, 2, 3, 8)
NUM_STEPS = len(LESSON.steps)
KNOWN = {(3, 15): "scratch_lesson", (3, 18): "scratch_third_unused"}  # (cells, computed steps)


def table() -> dict[str, Any]:
    """What the page looks up: steps, values, and for each number of cells the optimum, its moves, what to say."""
    return {
        "steps": [str(step).replace("-", "−") for step in LESSON.steps],
        "values": [int(value) for value in LESSON.values],
        "cells": {count: _with_cells(count) for count in CELLS},
    }


def _with_cells(num_cells: int) -> dict[str, Any]:
    best, most = optimum(NUM_STEPS, num_cells), optimum(NUM_STEPS, 0)
    return {
        "optimum": best,
        "moves": best_moves(num_cells),
        "verdicts": {count: verdict(num_cells, count) for count in range(best, most + 1)},
    }


def best_moves(num_cells: int) -> list[str]:
    """A game with the fewest computed steps.

    >>> " ".join(best_moves(8)[:5])
    'A- w1 A- w2 A-'
    """
    return [_letters(move) for move in best_game(new_game(num_cells)).log]


def _letters(move: Move) -> str:
    cell = 0 if move.cell is None else move.cell + 1
    return {"compute": "A-", "keep": f"w{cell}", "take": f"j{cell}", "restart": "j0"}[move.kind]


def verdict(num_cells: int, computed: int) -> str:
    """Which of the page's words fits: the best there is, the lesson's own number, or more than needed."""
    if computed == optimum(NUM_STEPS, num_cells):
        return "scratch_optimum"
    return KNOWN.get((num_cells, computed), "scratch_more")
