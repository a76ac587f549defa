"""The card game's timetables: three people, twelve cards, every way to hand them on that the page offers."""

from __future__ import annotations

from itertools import product
from typing import Any

from pipekit.learn.games.cards import NUM_CARDS, finish, timetable
from pipekit.learn.phone.grids import grid, rounded

PEOPLE = "ABC"
PIECES = tuple(count for count in range(1, NUM_CARDS + 1) if NUM_CARDS % count == 0)
SECONDS = (1, 2, 4)  # a card
HAND_OVERS = (0, 1)  # seconds more for every piece, whoever works on it


def key(seconds: tuple[int, ...], hand_over: int) -> str:
    """Under which name the page finds speeds.

    >>> key((2, 1, 4), 0)
    '214+0'
    """
    return "".join(map(str, seconds)) + f"+{hand_over}"


def tables() -> dict[str, dict[str, Any]]:
    """`key(...)` -> pieces -> when C gets the first, when all is done, the timetable; and which pieces are quickest."""
    found = {}
    for seconds in product(SECONDS, repeat=len(PEOPLE)):
        for hand_over in HAND_OVERS:
            ways = {count: _way(seconds, count, hand_over) for count in PIECES}
            quickest = min(way["done"] for way in ways.values())
            best = [count for count, way in ways.items() if way["done"] == quickest]
            found[key(seconds, hand_over)] = {"ways": ways, "best": best}
    return found


def _way(seconds: tuple[int, ...], num_pieces: int, hand_over: int) -> dict[str, Any]:
    noted = finish(seconds, num_pieces, hand_over)
    return {
        "first": rounded(noted.first),
        "done": rounded(noted.done),
        "idle": f"{noted.idle:.1%}",
        "rows": grid(timetable(seconds, num_pieces, hand_over))["rows"],
    }
