"""The scratch-paper game: a chain of steps is computed forward once, then its values are asked for backward.

What is not kept in a cell is computed again, from the nearest value that is kept; the start is printed and free. It is
recomputation in training, in small: cells are memory, computed steps are time. Counts and cells are from 0, step 0 is
the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from pipekit.learn.games.chain import LESSON, Chain
from pipekit.learn.games.refused import Refused

CELLS = (0, 9)  # least and most


@dataclass(frozen=True, slots=True)
class Move:
    """What a player did: "compute" a step, "keep" it in a cell, "take" it from there, "wipe" a cell, or "restart".

    step: the step that was computed, kept, taken or wiped.
    """

    kind: str
    step: int = 0
    cell: int | None = None


@dataclass(frozen=True)
class Scratch:
    """A game so far. Every move gives another one, or raises `Refused`.

    Args:
        cells: the step that each cell keeps; None where it is empty.
        head: the step whose value is in the player's head; None right after an answer.
        asked: the step that is asked for: the last one on the first way, then one after the other backward; 0 when
            all are answered. Who has the value of the asked step in their head has answered.

    >>> game = new_game(num_cells=1)
    >>> for _ in range(9):
    ...     game = game.compute()
    >>> game.asked, game.evaluations, game.head
    (8, 9, None)
    """

    chain: Chain
    cells: tuple[int | None, ...]
    head: int | None
    asked: int
    log: tuple[Move, ...] = ()

    @property
    def num_steps(self) -> int:
        """N: how many steps the chain has."""
        return len(self.chain.steps)

    @cached_property
    def computed(self) -> tuple[int, ...]:
        """The steps that were computed, in order."""
        return tuple(move.step for move in self.log if move.kind == "compute")

    @property
    def evaluations(self) -> int:
        """How many steps were computed: what the game counts."""
        return len(self.computed)

    @property
    def won(self) -> bool:
        """Whether all questions are answered."""
        return self.asked == 0

    # -- moves

    def compute(self) -> Scratch:
        """Compute the next step in the head; it counts."""
        self._check_going()
        if self.head is None:
            raise Refused("scratch_no_start")
        step = self.head + 1
        return self._at(step, Move("compute", step))

    def keep(self, cell: int) -> Scratch:
        """Write the value in the head into a cell."""
        self._check_going()
        if self.head is None:
            raise Refused("scratch_nothing_to_keep")
        if self.head == 0:
            raise Refused("scratch_start_is_printed")
        if self.head in self.cells:
            raise Refused("scratch_kept", step=self.head, cell=self.cells.index(self.head) + 1)
        there = self.cells[cell]
        if there is not None and there <= self.asked:
            raise Refused("scratch_full", step=there, cell=cell + 1)
        return self._with(cell, self.head, Move("keep", self.head, cell))

    def take(self, cell: int) -> Scratch:
        """Go on from the value in a cell: it costs nothing, and stays there."""
        self._check_going()
        step = self._in(cell)
        if step > self.asked:
            raise Refused("scratch_too_late", step=step, asked=self.asked)
        return self._at(step, Move("take", step, cell))

    def wipe(self, cell: int) -> Scratch:
        """Empty a cell."""
        self._check_going()
        return self._with(cell, None, Move("wipe", self._in(cell), cell))

    def restart(self) -> Scratch:
        """Go on from the printed start."""
        self._check_going()
        return self._at(0, Move("restart"))

    def play(self, move: Move) -> Scratch:
        """Do a move, given as data."""
        if move.cell is None:
            return self.compute() if move.kind == "compute" else self.restart()
        return {"keep": self.keep, "take": self.take, "wipe": self.wipe}[move.kind](move.cell)

    def _check_going(self) -> None:
        if self.won:
            raise Refused("scratch_over")

    def _in(self, cell: int) -> int:
        step = self.cells[cell]
        if step is None:
            raise Refused("scratch_empty", cell=cell + 1)
        return step

    def _with(self, cell: int, step: int | None, move: Move) -> Scratch:
        cells = (*self.cells[:cell], step, *self.cells[cell + 1 :])
        return replace(self, cells=cells, log=(*self.log, move))

    def _at(self, step: int, move: Move) -> Scratch:
        """With this step in the head, or in the answer if it is asked for."""
        answers = step == self.asked
        head, asked = (None, self.asked - 1) if answers else (step, self.asked)
        return replace(self, head=head, asked=asked, log=(*self.log, move))


def new_game(num_cells: int = 3, chain: Chain = LESSON) -> Scratch:
    """A game in which nothing is computed yet."""
    return Scratch(chain, (None,) * num_cells, head=0, asked=len(chain.steps))


def replay(moves: Sequence[Move], num_cells: int, chain: Chain = LESSON) -> Scratch:
    """The game after these moves."""
    game = new_game(num_cells, chain)
    for move in moves:
        game = game.play(move)
    return game


# -- the fewest computed steps: the dynamic programme of checkpointing (Griewank and Walther 2000). To ask n steps back
# with s cells, either compute all n and begin again; or keep step k, ask back to it from there with one cell less, and
# then ask the k - 1 steps below it.


@lru_cache(maxsize=64)
def _table(num_steps: int, num_cells: int) -> tuple[tuple[int, ...], ...]:
    """(num_cells + 1, num_steps + 1): the fewest computed steps for each number of cells and steps."""
    below: list[int] | None = None
    table = []
    for _ in range(num_cells + 1):
        row = [0]
        for steps in range(1, num_steps + 1):
            keeping = [] if below is None else [k + below[steps - k] + row[k - 1] for k in range(1, steps)]
            row.append(min([steps + row[steps - 1], *keeping]))
        table.append(tuple(row))
        below = row
    return tuple(table)


def optimum(num_steps: int, num_cells: int) -> int:
    """The fewest computed steps that answer all questions of a chain.

    >>> [optimum(9, num_cells) for num_cells in range(10)]
    [45, 20, 15, 14, 13, 12, 11, 10, 9, 9]
    """
    cells = min(num_cells, max(num_steps - 1, 0))  # more have nothing to keep
    return _table(num_steps, cells)[cells][num_steps]
