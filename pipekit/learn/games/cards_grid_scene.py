"""What the cards' grid shows and says: pure functions of where the card game is."""

from __future__ import annotations

from typing import Any

from pipekit.learn.games.cards_grid import IDLE, Verdict
from pipekit.learn.games.cards_state import GIVEN, Cards
from pipekit.learn.games.cards_ways_scene import BUSY, FREE, NAMES
from pipekit.learn.games.table import NOTHING, Item, Line, Scene
from pipekit.show import number, say

TOUCH = 46  # pixels: a row that a finger hits
INDEXES = ("piece", "slot", "end", "earlier")  # of a verdict's numbers: they are said from 1
EMPTY: Item = {"fill": "#FFF6D6", "ink": "#1A1A1A"}


def scene(cards: Cards, lang: str) -> Scene:
    """The grid to fill in, and what can be put into it."""
    asked, people = cards.grid, cards.grid.num_people
    items: list[Item] = [
        {"key": f"slot:{slot}", "kind": "label", "row": 0, "column": slot + 1, "align": "center", "text": str(number(slot))}
        for slot in range(asked.num_slots)
    ]  # fmt: skip
    items.append({"key": "slots", "kind": "label", "row": 0, "column": 0, "text": say("grid_slots", lang)})
    items += [
        {"key": f"row:{person}", "kind": "label", "row": person + 1, "column": 0, "text": NAMES[person]}
        for person in range(people)
    ]
    items += [
        _grid_cell(cards, person, slot, lang) for person in range(people) for slot in range(asked.num_slots)
    ]
    items += _chips(cards, people + 1, lang)
    width = min(96, (1160 - 110) // asked.num_slots - 2)
    return {
        "name": say("grid_name", lang),
        "columns": [100, *([width] * max(asked.num_slots, asked.num_pieces + 1))],
        "rows": people + 2,
        "row_height": TOUCH,
        "items": items,
        "said": NOTHING,
    }


def _grid_cell(cards: Cards, person: int, slot: int, lang: str) -> Item:
    cell = (person, slot)
    entry = cards.grid.entries.get(cell)
    item: Item = {"key": f"cell:{person}:{slot}", "kind": "cell", "row": person + 1, "column": slot + 1}
    item["text"] = "" if entry is None else entry_name(entry)
    item["name"] = say(
        "grid_cell", lang, person=NAMES[person], slot=number(slot), entry=item["text"] or say("grid_empty", lang)
    )  # fmt: skip
    if cell != GIVEN:
        item["drop"] = True
        right = None if entry is None else cards.grid.right(cell) == entry
        item["mark"] = {None: "", True: "ok", False: "wrong"}[right]
    return {**item, **(EMPTY if entry is None else FREE if entry == IDLE else BUSY)}


def entry_name(entry: int) -> str:
    """What stands in a cell: a piece's number, or a dot where nobody works."""
    return "·" if entry == IDLE else str(number(entry))


def _chips(cards: Cards, row: int, lang: str) -> list[Item]:
    items: list[Item] = [
        {"key": "take", "kind": "label", "row": row, "column": 0, "text": say("grid_take", lang)}
    ]
    for place, entry in enumerate([*range(cards.grid.num_pieces), IDLE]):
        name = say("grid_chip_idle", lang) if entry == IDLE else say("cards_piece", lang, piece=number(entry))
        items.append(
            {
                "key": f"chip:{entry}", "kind": "button", "row": row, "column": place + 1, "drag": True,
                "text": entry_name(entry), "name": name, **(FREE if entry == IDLE else BUSY),
            }
        )  # fmt: skip
    return items


def remark(cards: Cards, lang: str) -> Line:
    """Why the last cell is right or wrong; what the full grid counts."""
    if cards.grid.finished:
        busy, idle = cards.grid.counts()
        percent = f"{100 * idle / (busy + idle):.1f}".removesuffix(".0")
        text = say("grid_finished", lang, cells=busy + idle, busy=busy, idle=idle, percent=percent)
        return Line(text=text, tone="good")
    if cards.cell is None or cards.cell not in cards.grid.entries:
        return Line(text=say("grid_begin", lang), tone="plain")
    verdict = cards.grid.check(cards.cell)
    return Line(text=reason(verdict, lang), tone="good" if verdict.right else "warn")


def reason(verdict: Verdict, lang: str) -> str:
    """Why a cell is right or wrong, in a class's names."""
    numbers: dict[str, Any] = {
        name: number(verdict.numbers[name]) for name in INDEXES if name in verdict.numbers
    }
    for name in ("person", "before"):
        if name in verdict.numbers:
            numbers[name] = NAMES[verdict.numbers[name]]
    return say(verdict.key, lang, **numbers)
