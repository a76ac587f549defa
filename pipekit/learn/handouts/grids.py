"""The grids a class fills in, read off plan's prediction; and how a grid is drawn, empty or filled."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipekit import plan
from pipekit.learn.games.cards import EQUAL, timetable
from pipekit.learn.handouts.sheet import MARGIN, Box, Mark, Words
from pipekit.show import say
from pipekit.show.i18n import number

NUM_DEVICES, NUM_PIECES = 4, 4  # the lesson's
NUM_PILES = 3  # the card game's second way
PEOPLE = "abc"
IDLE = ""
NAMES = 24.0  # millimetres for the names of the rows
HEAD = 6.0  # ... and for the numbers above


@dataclass(frozen=True, slots=True)
class Grid:
    """Who does what in which slot. `cells`: a row a device, "" where it idles."""

    rows: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]

    @property
    def num_slots(self) -> int:
        """Columns."""
        return len(self.cells[0])

    @property
    def num_cells(self) -> int:
        """Cells in all."""
        return len(self.rows) * self.num_slots

    @property
    def num_busy(self) -> int:
        """Cells in which somebody works."""
        return sum(cell != IDLE for row in self.cells for cell in row)

    @property
    def num_idle(self) -> int:
        """Cells in which somebody waits or has nothing left to do."""
        return self.num_cells - self.num_busy

    @property
    def num_waiting(self) -> int:
        """Idle cells before a row's first work."""
        return sum(next(slot for slot, cell in enumerate(row) if cell) for row in self.cells)

    def first_only(self) -> Grid:
        """The same with nothing but its first cell: what a class gets."""
        (first, *rest), *others = self.cells
        empty = tuple(tuple(IDLE for _ in row) for row in others)
        return replace(self, cells=((first, *(IDLE for _ in rest)), *empty))


def of(timeline: plan.Timeline, names: tuple[str, ...], piece: str = "{number}") -> Grid:
    """The way forward of a timeline in slots of 1; pieces are counted from 1."""
    return Grid(
        names,
        tuple(
            tuple(
                IDLE if cell == "." else piece.format(number=number(int(cell.removeprefix("F"))))
                for cell in row
            )
            for row in plan.cells(timeline.only("F"), column=1.0)
        ),
    )


def relay(lang: str) -> Grid:
    """The mini-batch in one piece: as long on each GPU as all its pieces together."""
    timeline = plan.simulate(plan.naive(NUM_DEVICES), plan.Costs(forward=NUM_PIECES))
    return of(timeline, _devices(lang), say("paper_whole", lang))


def line(lang: str) -> Grid:
    """The same mini-batch in pieces."""
    return of(plan.simulate(plan.gpipe(NUM_DEVICES, NUM_PIECES), plan.Costs()), _devices(lang))


def cards(lang: str) -> Grid:
    """The card game's second way: three people, three piles; a slot is the time of a pile."""
    names = tuple(say(f"paper_person_{who}", lang) for who in PEOPLE)
    pile = timetable(EQUAL, NUM_PILES, num_cards=NUM_PILES)
    return of(pile, names)


def _devices(lang: str) -> tuple[str, ...]:
    return tuple(say("device", lang, number=number(device)) for device in range(NUM_DEVICES))


def height_of(grid: Grid, cell: float) -> float:
    """Millimetres that `drawn` takes."""
    return HEAD + cell * len(grid.rows)


def drawn(grid: Grid, y: float, cell: float = 10.0, x: float = MARGIN) -> list[Mark]:
    """A grid from `y` down: names before the rows, slots counted from 1 above, every cell square."""
    left, top = x + NAMES, y + HEAD
    marks: list[Mark] = [
        Words(left + (slot + 0.5) * cell, y + HEAD / 2, str(number(slot)), size=9, centred=True)
        for slot in range(grid.num_slots)
    ]
    for device, (name, row) in enumerate(zip(grid.rows, grid.cells, strict=True)):
        middle = top + (device + 0.5) * cell
        marks.append(Words(x, middle, name, size=11))
        for slot, text in enumerate(row):
            marks.append(Box(left + slot * cell, top + device * cell, cell, cell, thick=0.35))
            if text:
                marks.append(Words(left + (slot + 0.5) * cell, middle, text, size=12, centred=True))
    return marks
