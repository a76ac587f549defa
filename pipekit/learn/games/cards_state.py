"""Where the card game is: how the cards are passed on, what was guessed, the grid so far, and the groups' times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pipekit.errors import ScheduleError
from pipekit.learn.games import cards_groups
from pipekit.learn.games.cards import (
    EQUAL,
    HANDOVER,
    NUM_CARDS,
    PEOPLE,
    SECONDS,
    WAYS,
    Finish,
    best_pieces,
    finish,
)
from pipekit.learn.games.cards_grid import IDLE, CardsGrid, Cell
from pipekit.learn.games.cards_groups import GROUPS, Clock, Fit
from pipekit.learn.games.refused import Refused

TABS = ("ways", "grid", "groups")
PAGE = 5  # groups that are seen at once
GIVEN: Cell = (0, 0)
Times = Mapping[Clock, float]


@dataclass(frozen=True)
class Cards:
    """Everything that a hand can change.

    Args:
        seconds: a card, one number a person. pieces: into how many the cards of way 2 are cut.
        guesses: seconds until all is done that were guessed, one a way; None before anything was guessed or declined.
        cell: the grid's cell that was filled in last.
        times: the stopwatch times of each group. group: the one that is looked at.
    """

    tab: str = "ways"
    seconds: tuple[float, ...] = EQUAL
    handover: float = 0.0
    pieces: int = WAYS[1]
    guesses: tuple[float | None, ...] | None = None
    grid: CardsGrid = field(default_factory=CardsGrid)
    cell: Cell | None = None
    times: tuple[Times, ...] = ({},) * GROUPS
    group: int = 0

    def __post_init__(self) -> None:
        for name, asked, (least, most) in (
            ("people", len(self.seconds), PEOPLE),
            *(("seconds", seconds, SECONDS) for seconds in self.seconds),
            ("handover", self.handover, HANDOVER),
            ("pieces", self.pieces, (1, NUM_CARDS)),
        ):
            if not least <= asked <= most:
                raise ScheduleError("number_range", name=name, least=least, most=most, asked=asked)

    @property
    def num_people(self) -> int:
        """How many pass cards on."""
        return len(self.seconds)

    @property
    def ways(self) -> tuple[int, int, int]:
        """Pieces of each way: all at once, some, one by one."""
        return WAYS[0], self.pieces, WAYS[2]

    @property
    def finishes(self) -> tuple[Finish, ...]:
        """What the timekeeper would note, way by way."""
        return tuple(finish(self.seconds, pieces, self.handover) for pieces in self.ways)

    @property
    def best(self) -> list[int]:
        """With how many pieces all is done first."""
        return best_pieces(self.seconds, self.handover)

    @cached_property
    def fitted(self) -> Fit | None:
        """What the times of the group that is looked at say about it; None where they don't."""
        try:
            return cards_groups.fit(self.times[self.group])
        except Refused:
            return None

    # -- changes

    def begun_again(self, begin: Cards) -> Cards:
        """The part that is open as it was at first; the others stay: nobody wants to lose the groups' times with a grid."""
        if self.tab == "grid":
            return replace(self, grid=CardsGrid(*self.size), cell=None)
        if self.tab == "groups":
            return replace(self, times=begin.times, group=begin.group)
        return replace(
            begin, tab=self.tab, grid=self.grid, cell=self.cell, times=self.times, group=self.group
        )

    def with_settings(self, **settings: Any) -> Cards:
        """Other `seconds`, `handover` or `pieces`; what was guessed for the old ones is forgotten."""
        changed = replace(self, **settings)
        if changed == self or self.guesses is None:
            return changed
        return changed.declined()

    def with_people(self, count: int) -> Cards:
        """More people, or fewer; new ones need as long as the one before them."""
        return self.with_settings(seconds=(*self.seconds, *(self.seconds[-1:] * count))[:count])

    def with_seconds(self, person: int, seconds: float) -> Cards:
        """One person quicker or slower."""
        return self.with_settings(
            seconds=(*self.seconds[:person], float(seconds), *self.seconds[person + 1 :])
        )

    @property
    def size(self) -> tuple[int, int]:
        """How many people and pieces the part that is open has."""
        if self.tab == "grid":
            return self.grid.num_people, self.grid.num_pieces
        return self.num_people, self.pieces

    def resized(self, num_people: int | None = None, pieces: int | None = None) -> Cards:
        """Other people or pieces in the part that is open; a grid of another size begins again."""
        people = self.size[0] if num_people is None else num_people
        pieces = self.size[1] if pieces is None else pieces
        if (people, pieces) == self.size:
            return self
        if self.tab == "grid":
            return replace(self, grid=CardsGrid(people, pieces), cell=None)
        return self.with_people(people).with_settings(pieces=pieces)

    def guessed(self, texts: Sequence[str]) -> Cards:
        """What was guessed for each way, as typed; an empty text is no guess. `Refused` where one is no time."""
        given = tuple(cards_groups.seconds(text) if text.strip() else None for text in texts)
        if not any(given):
            raise Refused("cards_guess_nothing")
        return replace(self, guesses=given)

    def declined(self) -> Cards:
        """Look without guessing."""
        return replace(self, guesses=(None,) * len(WAYS))

    def put(self, cell: Cell, entry: int) -> Cards:
        """Fill a cell of the grid in; the given one stays."""
        if cell == GIVEN:
            raise Refused("grid_given")
        ends = (self.grid.num_people, self.grid.num_slots, self.grid.num_pieces)
        for name, asked, least, end in zip(
            ("person", "slot", "piece"), (*cell, entry), (0, 0, IDLE), ends, strict=True
        ):
            if not least <= asked < end:  # a hand was quicker than the page: the grid is another one now
                raise ScheduleError("number_range", name=name, least=least, most=end - 1, asked=asked)
        return replace(self, grid=self.grid.put(cell, entry), cell=cell)

    def filled(self) -> Cards:
        """With the first cell that is empty or wrong filled in right."""
        grid = self.grid
        cells = ((person, slot) for person in range(grid.num_people) for slot in range(grid.num_slots))
        open_cells = (cell for cell in cells if grid.entries.get(cell) != grid.right(cell))
        cell = next(open_cells, None)
        return self if cell is None else self.put(cell, grid.right(cell))

    def noted(self, group: int, clock: Clock, text: str) -> Cards:
        """A stopwatch time of a group, as typed; an empty text takes it away. `Refused` where it can't be."""
        times = {each: when for each, when in self.times[group].items() if each != clock}
        if text.strip():
            times[clock] = cards_groups.seconds(text)
            cards_groups.check(times)
        changed = (*self.times[:group], times, *self.times[group + 1 :])
        return replace(self, times=changed, group=group)

    def looked_at(self, group: int) -> Cards:
        """Another group."""
        return replace(self, group=min(max(group, 0), GROUPS - 1))
