"""The cards' grid that a class fills in: who works on which piece in which slot. Checked cell by cell, with the reason.

The right grid is `plan`'s timetable of equal people, and the reason is the law's: what an op needs, and when that ends.
Persons, slots and pieces count from 0 here; IDLE is a cell in which nobody works.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from pipekit import plan
from pipekit.learn.games.cards import timetable
from pipekit.plan import Kind, Op

IDLE = -1
Cell = tuple[int, int]  # person, slot


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a cell is right, and why: a key of the table of words, and its numbers (indexes from 0)."""

    right: bool
    key: str
    numbers: dict[str, Any]


@dataclass(frozen=True)
class CardsGrid:
    """A grid so far; its first cell is given.

    >>> grid = CardsGrid().put((1, 1), 0)
    >>> grid.check((1, 1)).right, grid.put((1, 0), 0).check((1, 0)).key
    (True, 'grid_not_there')
    """

    num_people: int = 3
    num_pieces: int = 3
    entries: Mapping[Cell, int] = field(default_factory=lambda: {(0, 0): 0})

    @property
    def num_slots(self) -> int:
        """Slots until all is done."""
        return round(_answer(self.num_people, self.num_pieces).end)

    def put(self, cell: Cell, entry: int) -> CardsGrid:
        """The grid with a piece, or IDLE, in a cell."""
        return replace(self, entries={**self.entries, cell: entry})

    def clear(self, cell: Cell) -> CardsGrid:
        """The grid with an empty cell."""
        return replace(self, entries={each: entry for each, entry in self.entries.items() if each != cell})

    def right(self, cell: Cell) -> int:
        """What belongs into a cell."""
        person, slot = cell
        pieces = range(self.num_pieces)
        return next((piece for piece in pieces if self._start(person, piece) == slot), IDLE)

    def check(self, cell: Cell) -> Verdict:
        """Whether the entry of a cell is right, and why."""
        entry, right = self.entries[cell], self.right(cell)
        person, slot = cell
        if entry == IDLE:
            return self._busy(person, slot, right) if right != IDLE else self._idle(person, slot)
        if entry == right:
            key = "grid_right_first" if person == 0 else "grid_right"
            return Verdict(True, key, {"person": person, "piece": entry, "before": person - 1, "slot": slot})
        return self._elsewhere(person, slot, entry)

    @property
    def finished(self) -> bool:
        """Whether every cell is filled in, and right."""
        return len(self.entries) == self.num_people * self.num_slots and not self.wrong()

    def wrong(self) -> list[Cell]:
        """The cells whose entry is not right."""
        return [cell for cell, entry in self.entries.items() if entry != self.right(cell)]

    def counts(self) -> tuple[int, int]:
        """How many cells of the right grid are busy, and how many idle."""
        busy = self.num_people * self.num_pieces
        return busy, self.num_people * self.num_slots - busy

    # -- reasons

    def _start(self, person: int, piece: int) -> int:
        return _starts(self.num_people, self.num_pieces)[Op(Kind.FORWARD, person, piece)]

    def _idle(self, person: int, slot: int) -> Verdict:
        if slot < self._start(person, 0):
            return Verdict(True, "grid_right_waits", {"person": person, "before": person - 1})
        return Verdict(True, "grid_right_over", {"person": person})

    def _busy(self, person: int, slot: int, right: int) -> Verdict:
        """It says idle, but there is work."""
        key = "grid_never_waits" if person == 0 else "grid_is_there"
        return Verdict(False, key, {"person": person, "before": person - 1, "piece": right})

    def _elsewhere(self, person: int, slot: int, piece: int) -> Verdict:
        """It says a piece that belongs into another slot."""
        start = self._start(person, piece)
        numbers = {"person": person, "piece": piece, "slot": start}
        if slot > start:
            return Verdict(False, "grid_done_before", numbers)
        for op in plan.needs(Op(Kind.FORWARD, person, piece), _schedule(self.num_people, self.num_pieces)):
            end = self._start(op.stage, op.micro_batch) + 1
            if end > slot:
                return Verdict(False, "grid_not_there", {**numbers, "before": op.stage, "end": end - 1})
        return Verdict(False, "grid_in_turn", {**numbers, "earlier": self.right((person, slot))})


@lru_cache(maxsize=64)
def _schedule(num_people: int, num_pieces: int) -> plan.Schedule:
    return plan.gpipe(num_people, num_pieces)


@lru_cache(maxsize=64)
def _answer(num_people: int, num_pieces: int) -> plan.Timeline:
    """The timetable in slots: one card a piece, one slot a card."""
    return timetable((1.0,) * num_people, num_pieces, num_cards=num_pieces)


@lru_cache(maxsize=64)
def _starts(num_people: int, num_pieces: int) -> dict[Op, int]:
    return {span.op: round(span.start) for span in _answer(num_people, num_pieces).spans}
