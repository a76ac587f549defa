"""What a class gets: grids to fill in, cards, roles, a record, the scratch-paper game. Each also exists filled in.

A sheet asks with blanks; its key is the same sheet with plan's numbers in them. No number is typed here.
"""

from __future__ import annotations

from typing import Any

from pipekit import plan
from pipekit.learn.games.cards import NUM_CARDS, WAYS
from pipekit.learn.games.chain import LESSON
from pipekit.learn.handouts import grids
from pipekit.learn.handouts.sheet import (
    HEIGHT,
    LEADING,
    MARGIN,
    POINT,
    WIDTH,
    Box,
    Circle,
    Column,
    Line,
    Mark,
    Sheet,
    Words,
    paragraph,
    width_of,
)
from pipekit.learn.handouts.tables import table
from pipekit.show import say

BLANK = "______"
TITLE, TEXT, HAND = 18.0, 12.5, 14.0  # points: a title, to be read, to be written into
CELL = 9.5
PIECES = (1, 4, 8, 16)
CELLS = (len(LESSON.steps), 3, 0)  # of the rounds of the scratch-paper game
FULL = WIDTH - 2 * MARGIN


def asked(key: bool, **numbers: Any) -> dict[str, Any]:
    """Numbers as they stand in the key, or as blanks."""
    return {name: f"{number}" if key else BLANK for name, number in numbers.items()}


def percent(share: float) -> str:
    """A share as the lesson rounds it.

    >>> percent(3 / 7)
    '43'
    """
    return f"{100 * share:.0f}"


def percents(lang: str, key: bool = True) -> str:
    """The bubbles of more and more pieces."""
    each = [percent(plan.formula_bubble(grids.NUM_DEVICES, pieces)) if key else BLANK for pieces in PIECES]
    return ("、" if lang == "zh" else ", ").join(f"{number}%" for number in each)


def titled(title: str) -> Column:
    """A sheet that begins with its title."""
    column = Column(title)
    column.write(title, TITLE, bold=True, gap=3)
    return column


def headed(title: str, lang: str, key: bool) -> Column:
    """A class's sheet with room for the group's number, or its key."""
    if key:
        return titled(say("paper_key", lang, title=title))
    column = titled(title)
    column.marks.append(Words(WIDTH - MARGIN - 30, MARGIN + 4.5, say("paper_group", lang), 12))
    return column


# -- the grids


def grid_sheet(lang: str, key: bool = False) -> Sheet:
    """The relay race and the production line, 4 GPUs each; the first cell is given."""
    relay, line = grids.relay(lang), grids.line(lang)
    column = headed(say("paper_grids", lang), lang, key)
    column.write(say("paper_grids_intro", lang, devices=len(relay.rows)), TEXT, gap=4)
    each = relay.num_busy // len(relay.rows)
    column.write(say("paper_relay", lang, slots=each, whole=say("paper_whole", lang)), TEXT)
    _grid(column, relay, key)
    numbers = asked(
        key,
        cells=relay.num_cells,
        busy=relay.num_busy,
        idle=relay.num_idle,
        percent=percent(relay.num_idle / relay.num_cells),
        at_once=relay.num_busy // relay.num_slots,
    )
    column.write(say("paper_relay_blanks", lang, **numbers), HAND, gap=8)
    column.write(say("paper_line", lang, pieces=grids.NUM_PIECES), TEXT)
    _grid(column, line, key)
    column.write(say("paper_line_blanks", lang, **asked(key, **_line_numbers(relay, line))), HAND, gap=3)
    bubble = line.num_idle / line.num_cells
    busy = f"{len(line.rows) * (1 - bubble):.1f}"
    column.write(
        say("paper_bubble_blanks", lang, **asked(key, percent=percent(bubble), busy=busy)), HAND, gap=6
    )
    rule = asked(key, second=line.cells[1].index("1") + 1, fourth=line.cells[3].index("3") + 1, rule="k+m-1")
    column.write(say("paper_rule", lang, **rule), HAND, gap=6)
    column.write(say("paper_more", lang, percents=percents(lang, key)), HAND)
    return column.sheet()


def _line_numbers(relay: grids.Grid, line: grids.Grid) -> dict[str, int]:
    return {
        "slots": line.num_slots,
        "fewer": relay.num_slots - line.num_slots,
        "cells": line.num_cells,
        "idle": line.num_idle,
        "fill": line.num_waiting,
        "drain": line.num_idle - line.num_waiting,
    }


def _grid(column: Column, grid: grids.Grid, key: bool) -> None:
    shown = grid if key else grid.first_only()
    column.add(grids.drawn(shown, column.y, CELL), grids.height_of(grid, CELL) + 3)


# -- the card game


def card_sheet(lang: str) -> Sheet:
    """Three rounds of cards for one group, to be cut apart."""
    across, top, edge = 4, 14.0, 10.0
    down = len(WAYS) * NUM_CARDS // across
    wide, high = (WIDTH - 2 * edge) / across, (HEIGHT - top - 8.0) / down
    marks: list[Mark] = [Words(edge, 8, say("paper_cards", lang), 11)]
    for card in range(len(WAYS) * NUM_CARDS):
        x, y = edge + card % across * wide, top + card // across * high
        way, number = divmod(card, NUM_CARDS)
        marks += _card(x, y, wide, high, say("paper_card_way", lang, way=way + 1, card=number + 1), lang)
    for row in range(down + 1):
        marks.append(Line(edge, top + row * high, WIDTH - edge, top + row * high))
    for place in range(across + 1):
        marks.append(Line(edge + place * wide, top, edge + place * wide, top + down * high))
    return Sheet(say("paper_cards", lang), tuple(marks))


def _card(x: float, y: float, wide: float, high: float, name: str, lang: str) -> list[Mark]:
    """A ring to draw a circle in, a box to tick, a line to fold along."""
    middle, radius = y + high / 2 + 0.5, 6.0
    left, right = x + wide / 4, x + 3 * wide / 4
    below = y + high - 3.5
    return [
        Words(x + wide / 2, y + 3.5, name, 8, centred=True),
        Circle(left, middle, radius, dashed=True),
        Box(right - radius, middle - radius, 2 * radius, 2 * radius),
        Line(x + wide / 2, y + 6.5, x + wide / 2, y + high - 6.5, dashed=True),
        Words(left, below, say("paper_card_circle", lang), 8, centred=True),
        Words(x + wide / 2, below, say("paper_card_fold", lang), 8, centred=True),
        Words(right, below, say("paper_card_tick", lang), 8, centred=True),
    ]


def role_sheet(lang: str) -> Sheet:
    """Four roles, to be cut apart."""
    wide, high = WIDTH / 2, HEIGHT / 2
    marks: list[Mark] = [
        Line(wide, 8, wide, HEIGHT - 8, dashed=True),
        Line(8, high, WIDTH - 8, high, dashed=True),
    ]
    for place, role in enumerate([*grids.PEOPLE, "t"]):
        x, y = place % 2 * wide + 12, place // 2 * high + 16
        texts = [(say(f"paper_role_{role}", lang), 24.0), (say(f"paper_role_{role}_does", lang), 15.0)]
        texts += [(text, TEXT) for text in ways(lang)] if role != "t" else []
        texts.append((say("paper_role_fair", lang), TEXT))
        for text, size in texts:
            words, y = paragraph(x, y, text, wide - 24, size, bold=size > TITLE)
            marks += words
            y += 5 if size > TEXT else 2.5
    return Sheet(say("paper_roles", lang), tuple(marks))


def ways(lang: str) -> list[str]:
    """The three ways, as the roles say them."""
    pile = NUM_CARDS // WAYS[1]
    return say("paper_role_ways", lang, all_cards=NUM_CARDS, pile=pile).split("|")


def record_sheet(lang: str, key: bool = False) -> Sheet:
    """Where the timekeeper writes, and the second way as a grid."""
    column = headed(say("paper_record", lang), lang, key)
    pile = NUM_CARDS // WAYS[1]
    names = say("paper_record_ways", lang, all_cards=NUM_CARDS, pile=pile).split("|")
    head = say("paper_record_head", lang).split("|")
    rows = [[name, *([""] * (len(head) - 1))] for name in names]
    first = 48.0
    widths = [first, *[(FULL - first) / (len(head) - 1)] * (len(head) - 1)]
    marks, height = table(widths, head, rows, column.y, least=16, size=11)
    column.add(marks, height + 8)
    grid = grids.cards(lang)
    column.write(say("paper_record_grid", lang, pile=pile), TEXT, gap=3)
    column.add(grids.drawn(grid if key else grid.first_only(), column.y, 14), grids.height_of(grid, 14) + 4)
    numbers = asked(key, cells=grid.num_cells, busy=grid.num_busy, idle=grid.num_idle)
    column.write(say("paper_record_blanks", lang, **numbers), HAND, gap=8)
    for text in say("paper_record_think", lang).split("|"):
        column.write(text, HAND, gap=8)
    return column.sheet()


# -- the scratch-paper game


def scratch_sheet(lang: str) -> Sheet:
    """A's sheet: rules, the chain, and for each round its cells and room for a tally."""
    column = headed(say("paper_scratch", lang), lang, key=False)
    for text in say("paper_scratch_rules", lang).split("|"):
        column.write(text, TEXT, gap=2.5)
    column.y += 3
    column.add(_chain(column.y, lang), 26)
    for number, cells in enumerate(CELLS, start=1):
        name = "paper_scratch_round" if cells else "paper_scratch_round_none"
        column.write(say(name, lang, number=number, cells=cells), 13, bold=True)
        boxes = [Box(MARGIN + 20 * place, column.y, 18, 15) for place in range(cells)]
        column.add(boxes, 20 if cells else 2)
        tally, begin = say("paper_scratch_tally", lang), column.y
        column.write(tally, TEXT)
        line = column.y - 2
        column.marks.append(Line(MARGIN + width_of(tally, TEXT) + 2, line, WIDTH - MARGIN - 36, line))
        middle = begin + TEXT * POINT * LEADING / 2
        column.marks.append(Words(WIDTH - MARGIN - 33, middle, say("paper_scratch_total", lang), TEXT))
        column.y += 14
    column.write(say("paper_scratch_think", lang), TEXT)
    return column.sheet()


def _chain(y: float, lang: str) -> list[Mark]:
    """The start and the steps from left to right; nowhere to write a result."""
    each = FULL / (len(LESSON.steps) + 1)
    marks: list[Mark] = []
    for place, text in enumerate([str(LESSON.start), *map(str, LESSON.steps)]):
        middle = MARGIN + (place + 0.5) * each
        name = say("paper_scratch_step", lang, number=place) if place else say("paper_scratch_start", lang)
        marks.append(Box(middle - 6.5, y, 13, 11, grey=0.0 if place else 0.12, thick=0.4))
        marks.append(Words(middle, y + 5.5, text, 14, centred=True))
        marks.append(Words(middle, y + 15, name, 9, centred=True))
        if place:
            marks.append(Line(middle - each + 6.5, y + 5.5, middle - 6.5, y + 5.5, thick=0.4))
    return marks


def question_sheet(lang: str, key: bool = False) -> Sheet:
    """B's sheet: the questions, from the last but one step backward."""
    column = headed(say("paper_scratch_asks", lang), lang, key)
    column.write(say("paper_scratch_asks_how", lang), TEXT, gap=4)
    column.add(_chain(column.y, lang), 24)
    head = say("paper_scratch_asks_head", lang).split("|")
    steps = range(len(LESSON.steps) - 1, 0, -1)
    rows = [
        [
            say("paper_scratch_asks_row", lang, number=step),
            str(LESSON.values[step]) if key else "",
            "",
            "",
            "",
        ]
        for step in steps
    ]
    widths = [60.0, *[(FULL - 60) / (len(head) - 1)] * (len(head) - 1)]
    marks, height = table(widths, head, rows, column.y, least=14, size=12)
    column.add(marks, height)
    return column.sheet()
