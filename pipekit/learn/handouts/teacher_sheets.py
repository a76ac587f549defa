"""What the teacher keeps: a lesson without a computer, and the answers. Numbers come from plan and the games."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from pipekit.learn.games import laundry
from pipekit.learn.games.cards import EQUAL, NUM_CARDS, WAYS, best_pieces, finish
from pipekit.learn.games.chain import LESSON
from pipekit.learn.games.scratch import optimum
from pipekit.learn.handouts import grids
from pipekit.learn.handouts.class_sheets import CELLS, FULL, TEXT, percent, percents, titled
from pipekit.learn.handouts.sheet import Mark, Sheet
from pipekit.learn.handouts.tables import table
from pipekit.show import say

MINUTES = (6, 14, 9, 6, 7, 3)  # of the parts of a lesson without a computer; the lesson's notes say them too
SLOW = (2.0, 1.0, 4.0)  # seconds a card
DIVISORS = tuple(pieces for pieces in range(1, NUM_CARDS + 1) if NUM_CARDS % pieces == 0)
KEPT = (3, 6)  # the lesson's kept steps; a third cell is free until B asks


def plan_sheet(lang: str) -> Sheet:
    """Minute by minute: what the class does, what the teacher says, what is simplified."""
    column = titled(say("paper_plan", lang, minutes=sum(MINUTES)))
    column.write(say("paper_plan_needs", lang), TEXT, gap=4)
    numbers = _plan_numbers(lang)
    rows, begin = [], 0
    for part, length in enumerate(MINUTES, start=1):
        says = say(f"paper_plan_{part}_says", lang, **numbers)
        rows.append([f"{begin}-{begin + length}", say(f"paper_plan_{part}", lang, **numbers), says])
        begin += length
    widths = [20.0, (FULL - 20) / 2, (FULL - 20) / 2]
    head = say("paper_plan_head", lang).split("|")
    marks, height = table(widths, head, rows, column.y, size=12, centred=False)
    column.add(marks, height + 5)
    column.write(say("paper_plan_honest", lang), TEXT)
    return column.sheet()


def _plan_numbers(lang: str) -> dict[str, Any]:
    comma = "、" if lang == "zh" else ", "
    game = laundry.Laundry()
    return {
        "baskets": game.num_baskets,
        "minutes": laundry.SLOT,
        "pipelined": laundry.minutes(game, "line"),
        "relay_idle": grids.relay(lang).num_idle,
        "line_idle": grids.line(lang).num_idle,
        "percents": percents(lang),
        "evaluations": comma.join(str(lesson_evaluations(cells)) for cells in CELLS),
    }


def lesson_evaluations(cells: int) -> int:
    """Steps computed if the cells are used as the lesson uses them: all, two and one to write in, or none.

    >>> [lesson_evaluations(cells) for cells in (9, 3, 0)]
    [9, 15, 45]
    """
    steps = len(LESSON.steps)
    if cells in (0, steps):
        return optimum(steps, cells)
    return 2 * steps - (len(KEPT) + 1)  # each of the equal parts but for its last step is computed twice


def without_the_third() -> int:
    """Steps computed if only the kept steps are ever looked at.

    >>> without_the_third()
    18
    """
    steps = len(LESSON.steps)
    ends = (*KEPT, steps)
    return steps + sum(optimum(end - start - 1, 0) for start, end in zip((0, *KEPT), ends, strict=True))


def answer_sheet(lang: str) -> Sheet:
    """Answers that don't stand on a filled sheet."""
    column = titled(say("paper_answers", lang))
    column.write(say("paper_answers_laundry", lang, **_laundry()), TEXT, gap=5)
    column.write(say("paper_answers_cards", lang), TEXT)
    marks, height = _times(EQUAL, column.y, lang)
    column.add(marks, height + 5)
    column.write(say("paper_answers_slow", lang, speeds=_listed(SLOW, lang)), TEXT)
    marks, height = _times(SLOW, column.y, lang)
    column.add(marks, height + 5)
    times = [finish(EQUAL, pieces, handover=1).done for pieces in DIVISORS]
    best = _listed(best_pieces(EQUAL, handover=1), lang)
    column.write(say("paper_answers_handover", lang, times=_listed(times, lang), best=best), TEXT, gap=5)
    column.write(say("paper_answers_record", lang), TEXT, gap=5)
    column.write(say("paper_answers_values", lang, values=_listed(LESSON.values[1:], lang)), TEXT, gap=3)
    column.write(say("paper_answers_steps", lang, **_evaluations()), TEXT, gap=3)
    steps = len(LESSON.steps)
    optima = [optimum(steps, cells) for cells in range(steps + 1)]
    column.write(say("paper_answers_best", lang, most=steps, optima=_listed(optima, lang)), TEXT, gap=3)
    column.write(say("paper_answers_think", lang), TEXT)
    return column.sheet()


def _laundry() -> dict[str, Any]:
    game = laundry.Laundry()
    return {
        "one": laundry.minutes(laundry.Laundry(num_baskets=1), "line"),
        "baskets": game.num_baskets,
        "machines": game.num_machines,
        "minutes": laundry.SLOT,
        "in_turn": laundry.minutes(game, "one_by_one"),
        "pipelined": laundry.minutes(game, "line"),
        "waits": laundry.washer_waits(game),
    }


def _evaluations() -> dict[str, Any]:
    steps, third = len(LESSON.steps), len(KEPT) + 1
    return {
        "steps": steps,
        "all_kept": lesson_evaluations(steps),
        "none_kept": lesson_evaluations(0),
        "lesson": lesson_evaluations(third),
        "without": without_the_third(),
        "best": optimum(steps, third),
    }


def _times(seconds: tuple[float, ...], y: float, lang: str) -> tuple[list[Mark], float]:
    """First card, all done and idle share of the three ways."""
    pile = NUM_CARDS // WAYS[1]
    names = say("paper_record_ways", lang, all_cards=NUM_CARDS, pile=pile).split("|")
    rows = []
    for name, pieces in zip(names, WAYS, strict=True):
        when = finish(seconds, pieces)
        rows.append([name, f"{when.first:g}", f"{when.done:g}", f"{percent(when.idle)}%"])
    return table([60.0, 40.0, 40.0, 40.0], say("paper_answers_head", lang).split("|"), rows, y)


def _listed(numbers: Iterable[float | Fraction], lang: str) -> str:
    return ("、" if lang == "zh" else ", ").join(f"{float(number):g}" for number in numbers)
