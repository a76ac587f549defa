"""The exercise "three cells": plan the scratch-paper game so that little is computed again.

A plan is a row of steps in the order in which A computes them; a star writes the step's value into a cell:
`1 2 3* 4 5 6* 7 8 9 ...`. B asks for step 8 as soon as step 9 is there, then for 7, and so on; a question whose value is
in A's head or in a cell is answered at once, and cells that no later question needs are wiped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from pipekit.learn.exercises import pictures
from pipekit.learn.exercises.answers import answered, items
from pipekit.learn.exercises.task import Refused, Task

STEPS, CELLS = 9, 3
FEWEST = 14  # tests/test_exercises_graders.py asks the dynamic programme
KNOWN = {15: "lesson_rule_played", 18: "third_cell_unused", 45: "nothing_kept"}
_MOVE = re.compile(r"(\d{1,2})(\*?)")


@dataclass(frozen=True)
class Paper:
    """The game so far. head: the step that A has just computed. question: what B asks for; 0 when all is answered."""

    head: int = 0
    cells: frozenset[int] = frozenset()
    question: int = STEPS
    computed: int = 0

    def compute(self, step: int, keep: bool) -> Paper:
        """Compute a step, and perhaps write it down; raises `Refused` where the value before it isn't there."""
        if not 1 <= step <= STEPS:
            raise Refused("no_such_step", str(step))
        if step - 1 not in {0, self.head, *self.cells}:
            raise Refused("step_before_lost", str(step))
        cells = self.cells | {step} if keep else self.cells
        if len(cells) > CELLS:
            raise Refused("no_cell_free", f"{step}*, {' '.join(map(str, sorted(self.cells)))}")
        return replace(self, head=step, cells=cells, computed=self.computed + 1).answered()

    def answered(self) -> Paper:
        """Answer all questions that can be; the way there ends with step 9, which is its own first answer."""
        question = self.question
        while question and question in {self.head, *self.cells}:
            question -= 1
        return replace(
            self, question=question, cells=frozenset(cell for cell in self.cells if cell <= question)
        )


def played(answer: Any) -> Paper:
    """The game that a plan plays, to its end."""
    answered(answer)
    moves = answer.split() if isinstance(answer, str) else [str(item) for item in items(answer)]
    if "..." in moves:
        raise Refused("unanswered")
    paper = Paper()
    for move in moves:
        read = _MOVE.fullmatch(move.strip(",;，"))
        if read is None:
            raise Refused("unreadable_move", move[:40])
        paper = paper.compute(int(read[1]), bool(read[2]))
    return paper


def grade_three_cells(answer: Any) -> None:
    """All questions answered, with three cells, and as few steps computed as can be."""
    paper = played(answer)
    if paper.question:
        raise Refused("questions_left", str(paper.question))
    if paper.computed > FEWEST:
        raise Refused(KNOWN.get(paper.computed, "more_than_needed"), str(paper.computed))


TASKS = (
    Task(
        "three_cells", 16, grade_three_cells, "moves",
        'moves = "1 2 3* 4 5 6* ..."',
        'moves = "1 2 3* 4 5 6* 7* 8 9  8  4* 5  1* 2"',
        pictures.chain,
    ),
)  # fmt: skip
