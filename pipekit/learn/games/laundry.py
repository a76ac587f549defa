"""The laundry: baskets go through machines, one basket after another or as on a production line. Pure rules.

A machine is a stage, a basket a micro-batch, and who waits for whom is `plan`'s to say: both ways are schedules that
`plan.simulate` times, with a way back that takes no time. On the line that is GPipe. One basket after another, each
machine goes forward and back on a basket before it takes the next; the way back comes from the last machine, so a
basket has been through all of them before the next begins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from pipekit import plan
from pipekit.errors import ScheduleError
from pipekit.learn.controlroom.guess import parse
from pipekit.plan import Schedule, Timeline

BASKETS, MACHINES = (1, 8), (2, 5)  # least and most
TIMES = (1, 2, 3)  # how many times slower one machine can be
SLOT = 30  # minutes
WAYS = ("one_by_one", "line")
LONGEST_GUESS = 9999  # minutes
UNIT = re.compile(r"(分钟|分|minutes?|min)\s*$")


@dataclass(frozen=True)
class Laundry:
    """What is to be done, and with what; the slow machine takes `times` as long for each basket.

    >>> minutes(Laundry(), "one_by_one"), minutes(Laundry(), "line"), minutes(Laundry(num_baskets=1), "line")
    (360, 180, 90)
    """

    num_baskets: int = 4
    num_machines: int = 3
    slow_machine: int = 0
    times: int = 1

    def __post_init__(self) -> None:
        for name, asked, (least, most) in (
            ("num_baskets", self.num_baskets, BASKETS),
            ("num_machines", self.num_machines, MACHINES),
            ("slow_machine", self.slow_machine, (0, self.num_machines - 1)),
            ("times", self.times, (TIMES[0], TIMES[-1])),
        ):
            if not least <= asked <= most:
                raise ScheduleError("number_range", name=name, least=least, most=most, asked=asked)

    @property
    def slots(self) -> list[int]:
        """How many slots each machine needs for a basket."""
        return [self.times if each == self.slow_machine else 1 for each in range(self.num_machines)]


def schedule(laundry: Laundry, way: str) -> Schedule:
    """A way of doing it, as `plan` knows it."""
    stages, baskets = range(laundry.num_machines), range(laundry.num_baskets)
    if way == "line":
        return plan.gpipe(laundry.num_machines, laundry.num_baskets)
    return Schedule([" ".join(f"{s}F{m} {s}B{m}" for m in baskets) for s in stages], stages)


@lru_cache(maxsize=64)  # asked for each cell that is drawn
def timetable(laundry: Laundry, way: str) -> Timeline:
    """When each machine works on which basket, in slots.

    >>> print(timetable(Laundry(num_baskets=2), "line"))
    F0 F1 .  .
    .  F0 F1 .
    .  .  F0 F1
    >>> print(timetable(Laundry(num_baskets=2), "one_by_one"))
    F0 .  .  F1 .  .
    .  F0 .  .  F1 .
    .  .  F0 .  .  F1
    """
    costs = plan.Costs(forward=laundry.slots, backward=0)
    return plan.simulate(schedule(laundry, way), costs).only("F")


def num_slots(laundry: Laundry, way: str) -> int:
    """Slots until all baskets are done."""
    return round(timetable(laundry, way).makespan)


def minutes(laundry: Laundry, way: str) -> int:
    """The same in minutes."""
    return SLOT * num_slots(laundry, way)


def washer_waits(laundry: Laundry) -> int:
    """Minutes that the first machine waits for each basket, one basket after another.

    >>> washer_waits(Laundry())
    60
    """
    each = replace(laundry, num_baskets=1)
    return minutes(each, "one_by_one") - SLOT * each.slots[0]


def in_slot(timeline: Timeline, machine: int, slot: int) -> int | None:
    """Which basket a machine works on in a slot (from 0); None while it is idle."""
    found = (s for s in timeline.spans if s.device == machine and s.start <= slot < s.end)
    return next((span.op.micro_batch for span in found), None)


def waiting(timeline: Timeline, machine: int, slot: int) -> list[int]:
    """Baskets that wait in front of a machine when a slot is on: the one before is done with them."""
    before = {s.op.micro_batch for s in timeline.spans if s.device == machine - 1 and s.end <= slot}
    later = [s.op.micro_batch for s in timeline.spans if s.device == machine and s.start > slot]
    return [basket for basket in later if machine == 0 or basket in before]


def done(timeline: Timeline, slot: int) -> list[int]:
    """Baskets that are through when a slot begins."""
    last = timeline.num_devices - 1
    return [s.op.micro_batch for s in timeline.spans if s.device == last and s.end <= slot]


def busy_slots(timeline: Timeline, machine: int, slot: int) -> int:
    """How many slots a machine has worked when a slot begins."""
    return sum(in_slot(timeline, machine, each) is not None for each in range(slot))


@dataclass(frozen=True)
class Play:
    """Where the game is: the laundry, the way that is looked at, the clock, and what was guessed for the line.

    Args:
        slot: how many slots have passed. guesses: (laundry, minutes) that a class has guessed.
        declined: it wants to look without guessing.
    """

    laundry: Laundry = Laundry()
    way: str = "one_by_one"
    slot: int = 0
    guesses: tuple[tuple[Laundry, int], ...] = ()
    declined: bool = False

    @property
    def guess(self) -> int | None:
        """What was guessed for this laundry."""
        return dict(self.guesses).get(self.laundry)

    @property
    def may_look(self) -> bool:
        """Whether this way may be shown: the line only once it was guessed, or nobody wants to."""
        return self.way == "one_by_one" or self.declined or self.guess is not None

    @property
    def timeline(self) -> Timeline:
        """The timetable of this way."""
        return timetable(self.laundry, self.way)

    @property
    def last(self) -> int:
        """The slot at whose beginning all is done."""
        return num_slots(self.laundry, self.way)

    @property
    def finished(self) -> bool:
        """Whether the clock has come to the end."""
        return self.slot >= self.last

    def stepped(self, by: int) -> Play:
        """The clock some slots on, or back, within the timetable."""
        return replace(self, slot=min(max(self.slot + by, 0), self.last))

    def going(self, way: str) -> Play:
        """The other way, from its beginning."""
        return self if way == self.way else replace(self, way=way, slot=0)

    def with_laundry(self, laundry: Laundry) -> Play:
        """Another laundry, from its beginning."""
        return self if laundry == self.laundry else replace(self, laundry=laundry, slot=0)

    def begun_again(self, laundry: Laundry) -> Play:
        """A laundry from its beginning, looked at as this one was; what was guessed or declined stays."""
        return replace(self, laundry=laundry, slot=0)

    def guessed(self, text: str) -> Play:
        """What a class says the line takes, in minutes.

        Raises:
            ScheduleError: it is no number of minutes.
        """
        asked = parse(UNIT.sub("", text))
        if asked is None or not 0 < asked <= LONGEST_GUESS:
            raise ScheduleError("guess_number", asked=text)
        return replace(self, guesses=(*self.guesses, (self.laundry, round(asked))))
