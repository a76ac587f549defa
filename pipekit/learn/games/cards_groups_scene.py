"""What the groups' stopwatch times show and say: pure functions of where the card game is."""

from __future__ import annotations

from pipekit.learn.games.cards_groups import CLOCKS, GROUPS, NOTICED, WAYS, Clock, Fit
from pipekit.learn.games.cards_state import PAGE, Cards
from pipekit.learn.games.cards_ways_scene import seconds
from pipekit.learn.games.table import NOTHING, Item, Line, Scene
from pipekit.show import number, say

WAY_KEYS = {1: "times_at_once", 3: "times_pieces", 12: "times_one_by_one"}


def scene(cards: Cards, lang: str) -> Scene:
    """A page of groups with a field for each time; whose name is pressed is looked at."""
    first = cards.group // PAGE * PAGE
    items: list[Item] = [
        {"key": f"head:{way}", "kind": "label", "row": 0, "column": 1 + 2 * way, "colspan": 2, "align": "center",
         "text": say(WAY_KEYS[pieces], lang)}
        for way, pieces in enumerate(WAYS)
    ]  # fmt: skip
    items += [
        {"key": f"head:{what}:{pieces}", "kind": "label", "row": 1, "column": 1 + place, "align": "center",
         "text": say(f"times_{what}", lang)}
        for place, (what, pieces) in enumerate(CLOCKS)
    ]  # fmt: skip
    for row, group in enumerate(range(first, min(first + PAGE, GROUPS)), start=2):
        items += _group_row(cards, group, row, lang)
    items += [
        _page(key, by, first, row=2 + PAGE, column=column, lang=lang)
        for key, by, column in (("times_earlier", -PAGE, 1), ("times_later", PAGE, 4))
    ]
    return {
        "name": say("times_name", lang),
        "columns": [94, *([70] * len(CLOCKS))],
        "rows": 3 + PAGE,
        "row_height": 44,
        "items": items,
        "said": NOTHING,
    }


def _group_row(cards: Cards, group: int, row: int, lang: str) -> list[Item]:
    name = say("times_group", lang, group=number(group))
    items: list[Item] = [
        {"key": f"group:{group}", "kind": "button", "row": row, "column": 0, "text": name, "pressed": group == cards.group}
    ]  # fmt: skip
    fit = cards.fitted if group == cards.group else None
    for place, clock in enumerate(CLOCKS):
        when = cards.times[group].get(clock)
        off = 0.0 if fit is None else fit.residuals.get(clock, 0.0)
        items.append(
            {
                "key": f"time:{group}:{place}", "kind": "input", "row": row, "column": 1 + place,
                "text": "" if when is None else seconds(when), "mark": "hint" if abs(off) >= NOTICED else "",
                "name": f"{name}, {clock_name(clock, lang)}",
            }
        )  # fmt: skip
    return items


def _page(key: str, by: int, first: int, row: int, column: int, lang: str) -> Item:
    there = first + by
    return {
        "key": f"page:{there}", "kind": "button", "row": row, "column": column, "colspan": 3,
        "text": say(key, lang, first=number(there), last=number(there + PAGE - 1)) if 0 <= there < GROUPS else "-",
        "disabled": not 0 <= there < GROUPS,
    }  # fmt: skip


def clock_name(clock: Clock, lang: str) -> str:
    """Which of the six times it is."""
    what, pieces = clock
    way = say("cards_way", lang, number=number(WAYS.index(pieces)))
    return way + say(f"times_{what}_long", lang)


def remark(cards: Cards, lang: str) -> Line:
    """The speeds of the group that is looked at, and which of its times is off."""
    group, fit = number(cards.group), cards.fitted
    found = len(cards.times[cards.group])
    if fit is None:
        key = "times_begin" if found < 3 else "times_alike"
        return Line(text=say(key, lang, group=group, found=found), tone="plain")
    return Line(text=fit_words(fit, group, lang), tone="plain")


def fit_words(fit: Fit, group: int, lang: str) -> str:
    """A group's speeds, and what its times have left over."""
    if fit.apart:
        slow, rest, last = seconds(fit.speeds[0]), seconds(fit.speeds[1]), seconds(fit.speeds[-1])
        said = say(
            "fit_apart", lang, group=group, slow=slow, rest=rest, last=last, handover=seconds(fit.handover)
        )
    else:
        others, last = seconds(fit.speeds[0]), seconds(fit.speeds[-1])
        said = say("fit_speeds", lang, group=group, others=others, last=last, handover=seconds(fit.handover))
    off = fit.residuals[fit.worst]
    if abs(off) < NOTICED:
        return said + say("fit_good", lang, seconds=seconds(abs(off)))
    key = "fit_longer" if off > 0 else "fit_shorter"
    return said + say(key, lang, clock=clock_name(fit.worst, lang), seconds=f"{abs(off):.0f}")
