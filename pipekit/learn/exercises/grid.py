"""The exercise "fill the grid": 4 GPUs, 7 slots, forward only; each wrong cell is refused with its reason."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

from pipekit import plan
from pipekit.learn.exercises import pictures
from pipekit.learn.exercises.answers import items, number
from pipekit.learn.exercises.task import Refused, Task, case_of
from pipekit.plan import Costs, Kind, Op, gpipe, needs
from pipekit.show import number as number_of

GPUS, PIECES = 4, 4
EMPTY = 0
IDLE_SIGNS = {"", ".", "。", "·", "-", "_", "0", "x"}
Grid = list[list[int]]


def right_grid() -> Grid:
    """Piece numbers from 1, 0 where a GPU is idle: the forward half of GPipe."""
    forward = plan.simulate(gpipe(GPUS, PIECES), Costs(forward=1, backward=0))
    return [
        [EMPTY if cell == "." else int(cell[1:]) + 1 for cell in row] for row in plan.cells(forward, column=1)
    ]


def read_grid(answer: Any) -> Grid:
    """Four rows, as lists of numbers or as text such as `1 2 3 4 . . .`."""
    lines = answer.splitlines() if isinstance(answer, str) else items(answer, 16)
    rows = [row for row in lines if not isinstance(row, str) or row.strip()]
    if len(rows) == 1 and rows[0] in (None, ..., "..."):
        raise Refused("unanswered")
    return [
        [cell(value) for value in (row.split() if isinstance(row, str) else items(row, 64))] for row in rows
    ]


def cell(value: Any) -> int:
    """A piece, or idle."""
    if isinstance(value, str) and normalize("NFKC", value).strip() in IDLE_SIGNS:
        return EMPTY
    found = number(value)
    if found != round(found):
        raise Refused("not_a_number", str(value))
    return round(found)


def grade_fill_grid(answer: Any) -> None:
    """Every cell: the piece that a GPU works on in that slot."""
    grid, right = read_grid(answer), right_grid()
    if grid == right:
        return
    columns = len(right[0])
    if [list(column) for column in zip(*grid, strict=False)] == right and len(grid) == columns:
        raise Refused("grid_turned")
    if len(grid) != GPUS or any(len(row) != columns for row in grid):
        raise Refused(
            "grid_size", case_of("case_size", rows=len(grid), columns=max(map(len, grid), default=0))
        )
    if not any(map(any, grid)):
        raise Refused("zeros")
    if grid == right[::-1]:
        raise Refused("grid_upside_down")
    if all(row == right[0] for row in grid):
        raise Refused("all_start_at_once")
    first_wrong_cell(grid, right)


def first_wrong_cell(grid: Grid, right: Grid) -> None:
    """Refuse with the reason of the first wrong cell, slot by slot."""
    schedule = gpipe(GPUS, PIECES)
    for slot in range(len(right[0])):
        for gpu in range(GPUS):
            piece, wanted = grid[gpu][slot], right[gpu][slot]
            if piece == wanted:
                continue
            case = case_of("case_cell", gpu=number_of(gpu), slot=number_of(slot), given=piece or ".")
            if piece == EMPTY:
                raise Refused("could_work", case)
            if not 1 <= piece <= PIECES:
                raise Refused("no_such_piece", case)
            if piece in grid[gpu][:slot]:
                raise Refused("piece_twice", case)
            for needed in needs(Op(Kind.FORWARD, gpu, piece - 1), schedule):
                if needed.micro_batch + 1 not in grid[needed.stage][:slot]:
                    raise Refused("not_there_yet", case)
            raise Refused("piece_out_of_turn", case)


TASKS = (
    Task(
        "fill_grid", 5, grade_fill_grid, "grid",
        'grid = """\n1 ... ... ... ... ... ...\n... ... ... ... ... ... ...\n... ... ... ... ... ... ...\n'
        '... ... ... ... ... ... ..."""',
        'grid = """\n1 2 3 4 . . .\n. 1 2 3 4 . .\n. . 1 2 3 4 .\n. . . 1 2 3 4"""',
        pictures.empty_grid,
    ),
)  # fmt: skip
