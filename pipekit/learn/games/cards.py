"""The card game: people in a row work on cards, piece by piece. Its timetable is a pipeline's forward sweep.

Who waits for whom, and how long, is asked of `plan`: a person is a stage, a piece of the cards a micro-batch, seconds
a card are the cost of a forward, and what a hand-over takes is the overhead of an op.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipekit import plan

NUM_CARDS = 12
WAYS = (1, 3, 12)  # pieces: all cards at once, 3 pieces of 4, one by one
PEOPLE = (2, 5)  # least and most
SECONDS, HANDOVER = (0.5, 20.0), (0.0, 20.0)  # a card, a hand-over: least and most
EQUAL = (1.0, 1.0, 1.0)  # card-times a card of each of three people


@dataclass(frozen=True, slots=True)
class Finish:
    """What the timekeeper notes.

    first: when the last person receives the first cards, and can begin. done: when all cards are done.
    idle: the share of people x time in which nobody works.
    """

    first: float
    done: float
    idle: float


def timetable(
    seconds: Sequence[float], num_pieces: int, handover: float = 0.0, num_cards: int = NUM_CARDS
) -> plan.Timeline:
    """When each person works on which piece, all as early as possible: the forwards of `plan.gpipe`, in seconds.

    Args:
        seconds: a card, one number a person. num_pieces: as equal as possible, larger ones first.
        handover: seconds that each person needs on top for each piece, to take it and pass it on.

    >>> print(timetable(EQUAL, 3))
    F0 F1 F2 .  .
    .  F0 F1 F2 .
    .  .  F0 F1 F2
    """
    costs = plan.Costs(forward=tuple(seconds), backward=0.0, overhead=handover)
    sizes = plan.micro_batch_sizes(num_cards, num_pieces)
    return plan.simulate(plan.gpipe(len(seconds), num_pieces), costs, sizes).only("F")


@lru_cache(maxsize=4096)
def _finish(seconds: tuple[float, ...], num_pieces: int, handover: float, num_cards: int) -> Finish:
    timeline = timetable(seconds, num_pieces, handover, num_cards)
    last = timeline.spans.starts[timeline.spans.devices == len(seconds) - 1]
    return Finish(float(last.min()), timeline.end, plan.bubble_fraction(timeline))


def finish(
    seconds: Sequence[float], num_pieces: int, handover: float = 0.0, num_cards: int = NUM_CARDS
) -> Finish:
    """What the timekeeper notes if the cards go in so many pieces.

    >>> [finish(EQUAL, num_pieces).done for num_pieces in WAYS]
    [36.0, 20.0, 14.0]
    >>> [finish((2, 1, 4), num_pieces).first for num_pieces in WAYS]
    [36.0, 12.0, 3.0]
    """
    return _finish(tuple(map(float, seconds)), num_pieces, float(handover), num_cards)


def best_pieces(seconds: Sequence[float], handover: float = 0.0, num_cards: int = NUM_CARDS) -> list[int]:
    """The numbers of pieces with which all is done first.

    >>> best_pieces(EQUAL), best_pieces(EQUAL, handover=1)
    ([12], [4, 6])
    """
    done = {pieces: finish(seconds, pieces, handover, num_cards).done for pieces in range(1, num_cards + 1)}
    soonest = min(done.values())
    return [pieces for pieces, when in done.items() if when <= soonest * (1 + 1e-9)]
