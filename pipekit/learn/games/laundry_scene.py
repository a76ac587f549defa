"""What the laundry shows and says: pure functions of where the game is."""

from __future__ import annotations

from pipekit.learn.games.laundry import (
    SLOT,
    Laundry,
    Play,
    busy_slots,
    done,
    in_slot,
    minutes,
    num_slots,
    waiting,
    washer_waits,
)  # fmt: skip
from pipekit.learn.games.table import NOTHING, Item, Line, Scene, painted
from pipekit.plan import Kind, Timeline
from pipekit.show import number, say

NAMES = {  # of the machines, in the order in which a basket meets them
    2: ("laundry_washer", "laundry_dryer"),
    3: ("laundry_washer", "laundry_dryer", "laundry_fold"),
    4: ("laundry_washer", "laundry_dryer", "laundry_iron", "laundry_fold"),
    5: ("laundry_washer", "laundry_dryer", "laundry_iron", "laundry_fold", "laundry_wardrobe"),
}
CLOCK, HEAD, TALLY, ROOM = 130, 134, 160, 1160  # pixels: columns; the whole table
NARROW, WIDEST = 24, 56  # pixels: a slot in which 10 has no room; the widest
FLOOR_ROW, GRID_HEIGHT, TALLEST = 30, 216, 44  # pixels: a row; the whole timetable; its tallest row
BUSY = painted(Kind.FORWARD)
IDLE: Item = {"fill": "#ECECEC", "ink": "#4A4A4A"}
LATER: Item = {"fill": "#F8F8F8", "ink": "#4A4A4A"}


def machine_name(laundry: Laundry, machine: int, lang: str) -> str:
    """What a machine is called."""
    return say(NAMES[laundry.num_machines][machine], lang)


# -- the laundry as it is now


def floor(play: Play, lang: str) -> Scene:
    """Who waits, which machine has what, and what is done."""
    laundry = play.laundry
    heads = [say("laundry_clock", lang), say("laundry_queue", lang)]
    heads += [_slow_name(laundry, machine, lang) for machine in range(laundry.num_machines)]
    heads.append(say("laundry_done", lang))
    items: list[Item] = [
        {"key": f"head:{place}", "kind": "label", "row": 0, "column": place, "text": text, "align": "center"}
        for place, text in enumerate(heads)
    ]
    items += [
        {"key": f"now:{place}", "kind": "cell", "row": 1, "column": place, **look}
        for place, look in enumerate(_now(play, lang))
    ]
    items += _queues(play, lang)
    return {
        "name": say("laundry_floor", lang),
        "columns": [CLOCK, "1fr", *(["1.2fr"] * laundry.num_machines), "1fr"],
        "rows": 3,
        "row_height": FLOOR_ROW,
        "items": items,
        "said": NOTHING,
    }


def _slow_name(laundry: Laundry, machine: int, lang: str) -> str:
    name, count = machine_name(laundry, machine, lang), laundry.slots[machine]
    return name if count == 1 else say("laundry_slowly", lang, machine=name, count=count)


def _now(play: Play, lang: str) -> list[Item]:
    """What stands under the clock, at the door, in each machine, and on the pile of what is done."""
    machines = range(play.laundry.num_machines)
    clock: Item = {"text": say("laundry_minutes", lang, count=SLOT * play.slot), "fill": "#FFFFFF"}
    if not play.may_look:
        return [clock, _pile(range(play.laundry.num_baskets)), *([LATER] * len(machines)), _pile([])]
    timeline, slot = play.timeline, play.slot
    return [
        clock,
        _pile(waiting(timeline, 0, slot)),
        *(_machine_now(timeline, machine, slot, lang) for machine in machines),
        _pile(done(timeline, slot)),
    ]


def _machine_now(timeline: Timeline, machine: int, slot: int, lang: str) -> Item:
    basket = in_slot(timeline, machine, slot)
    text = say("laundry_idle", lang) if basket is None else say("laundry_basket", lang, number=number(basket))
    return {"text": text, **(IDLE if basket is None else BUSY)}


def _queues(play: Play, lang: str) -> list[Item]:
    """What waits in front of a machine, under it."""
    machines = range(1, play.laundry.num_machines) if play.may_look else ()
    return [
        {
            "key": f"queue:{machine}", "kind": "label", "row": 2, "column": 2 + machine, "align": "center",
            "text": say("laundry_behind", lang, baskets=_listed(baskets)),
        }
        for machine in machines
        if (baskets := waiting(play.timeline, machine, play.slot))
    ]  # fmt: skip


def _pile(baskets: list[int] | range) -> Item:
    return {"text": _listed(list(baskets)), **IDLE}


def _listed(baskets: list[int]) -> str:
    return " ".join(str(number(basket)) for basket in baskets)


# -- the timetable so far


def grid(play: Play, lang: str) -> Scene:
    """A row a machine, a column a slot, as long as one basket after another takes; what is still to come is empty."""
    laundry = play.laundry
    columns = num_slots(laundry, "one_by_one")
    width = min(WIDEST, (ROOM - HEAD - TALLY) // columns - 2)
    items = _axis(columns, width)
    for machine in range(laundry.num_machines):
        items += _row(play, machine, columns, lang)
    return {
        "name": say("laundry_grid", lang),
        "columns": [HEAD, *([width] * columns), TALLY],
        "rows": 1 + laundry.num_machines,
        "row_height": min(TALLEST, GRID_HEIGHT // (1 + laundry.num_machines) - 2),
        "items": items,
        "said": NOTHING,
    }


def _axis(columns: int, width: int) -> list[Item]:
    """Each slot's number; where columns are narrow every fifth, over its neighbours too."""
    if width >= NARROW:
        return [
            {"key": f"slot:{slot}", "kind": "label", "row": 0, "column": slot + 1, "text": str(number(slot)), "align": "center"}
            for slot in range(columns)
        ]  # fmt: skip
    return [
        {
            "key": f"slot:{slot}", "kind": "label", "row": 0, "column": slot, "colspan": 3,
            "text": str(number(slot)), "align": "center",
        }
        for slot in range(4, columns, 5)
    ]  # fmt: skip


def _row(play: Play, machine: int, columns: int, lang: str) -> list[Item]:
    name, row = machine_name(play.laundry, machine, lang), machine + 1
    seen = min(play.slot + 1, play.last) if play.may_look else 0
    items: list[Item] = [
        {"key": f"machine:{machine}", "kind": "label", "row": row, "column": 0, "text": name},
        *(_cell(play, machine, slot, lang) for slot in range(seen)),
    ]
    items += [
        {"key": f"cell:{machine}:{slot}", "kind": "cell", "row": row, "column": slot + 1, **LATER}
        for slot in range(seen, columns)
    ]
    if seen:
        busy = busy_slots(play.timeline, machine, play.slot)
        tally = say("laundry_tally", lang, busy=busy, idle=play.slot - busy)
        items.append(
            {"key": f"tally:{machine}", "kind": "label", "row": row, "column": columns + 1, "text": tally}
        )
    return items


def _cell(play: Play, machine: int, slot: int, lang: str) -> Item:
    basket = in_slot(play.timeline, machine, slot)
    what = say("laundry_idle", lang) if basket is None else say("laundry_basket", lang, number=number(basket))
    name = machine_name(play.laundry, machine, lang)
    return {
        "key": f"cell:{machine}:{slot}",
        "kind": "cell",
        "row": machine + 1,
        "column": slot + 1,
        "text": "·" if basket is None else str(number(basket)),
        "name": say("laundry_cell", lang, machine=name, slot=number(slot), what=what),
        "mark": "now" if slot == play.slot else "",
        **(IDLE if basket is None else BUSY),
    }


# -- what is said


def remark(play: Play, kept: bool, lang: str) -> Line:
    """The sentence under the table: what each machine does now; at the end what it came to.

    Args:
        kept: the answer is kept back, whatever was guessed.
    """
    if kept and play.way == "line":
        key = "laundry_kept_unguessed" if play.guess is None else "laundry_kept"
        return Line(text=say(key, lang, guess=play.guess), tone="plain")
    if not play.may_look:
        return Line(text=say("laundry_locked", lang), tone="warn")
    if not play.finished:
        return Line(text=_working(play, lang), tone="plain")
    return Line(text=say("game_then", lang).join(_ended(play, lang)), tone="good")


def _working(play: Play, lang: str) -> str:
    said = []
    for machine in range(play.laundry.num_machines):
        basket, name = in_slot(play.timeline, machine, play.slot), machine_name(play.laundry, machine, lang)
        if basket is None:
            said.append(say("laundry_rests", lang, machine=name))
        else:
            said.append(say("laundry_works", lang, machine=name, number=number(basket)))
    return say(
        "laundry_now", lang, slot=number(play.slot), start=SLOT * play.slot, end=SLOT * (play.slot + 1),
        machines=say("laundry_comma", lang).join(said),
    )  # fmt: skip


def _ended(play: Play, lang: str) -> list[str]:
    laundry, total = play.laundry, SLOT * play.last
    if play.way == "one_by_one":
        waits = washer_waits(laundry)
        return [say("laundry_one_by_one_done", lang, total=total, waits=waits)]
    other = minutes(laundry, "one_by_one")
    said = [say("laundry_line_done", lang, total=total, other=other, saved=other - total)]
    if play.guess == total:
        said.append(say("laundry_you_were_right", lang))
    elif play.guess is not None:
        said.append(say("laundry_you_guessed", lang, guess=play.guess))
    if laundry.times > 1:
        slow = machine_name(laundry, laundry.slow_machine, lang)
        said.append(say("laundry_slow_sets", lang, machine=slow))
    return said
