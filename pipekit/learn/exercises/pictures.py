"""Pictures beside a problem, as HTML tables that open without a kernel; what they show is asked of the plan."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from pipekit import plan
from pipekit.learn.games.chain import LESSON
from pipekit.plan import Costs, Kind, Timeline, gpipe
from pipekit.show import FILLS, number, say
from pipekit.show.grid import ink_on

FORWARD = FILLS[Kind.FORWARD]
EDGE, INK, PAPER, IDLE = "#666666", "#111111", "#ffffff", "#f0f0f0"


def td(text: str, ground: str = PAPER, ink: str = INK) -> str:
    """One cell of a grid."""
    return (
        f'<td style="border:1px solid {EDGE};background:{ground};color:{ink};text-align:center;min-width:30px;'
        f'height:34px;padding:0 4px;font-size:18px">{html.escape(text) or "&nbsp;"}</td>'
    )


def th(text: str, align: str = "left") -> str:
    """The head of a row; centred, of a column."""
    return (
        f'<th style="background:{PAPER};color:{INK};font-size:18px;font-weight:normal;'
        f'padding:0 {10 * (align == "left")}px 0 0;text-align:{align};white-space:nowrap">{html.escape(text)}</th>'
    )


def slots(count: int, view: str = "class") -> str:
    """The heads of so many columns."""
    return th("") + "".join(th(str(number(slot, view)), "center") for slot in range(count))


def table(rows: Sequence[str], name: str) -> str:
    """A table that a screen reader can name."""
    lines = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<table aria-label="{html.escape(name, quote=True)}" style="border-collapse:collapse;margin:8px 0;'
        f'background:{PAPER}">{lines}</table>'
    )


def grid(timeline: Timeline, lang: str, view: str = "class") -> str:
    """A timeline, one row a GPU, one column a slot; a class reads the piece's number, an engineer the op."""
    cells = plan.cells(timeline, column=1)
    rows = [slots(len(cells[0]), view)]
    for device, row in enumerate(cells):
        head = th(say("device", lang, number=number(device, view)))
        rows.append(head + "".join(_op(cell, view) for cell in row))
    return table(rows, say("exercise_grid", lang, gpus=timeline.num_devices))


def _op(cell: str, view: str) -> str:
    if cell == ".":
        return td("", IDLE)
    fill = FILLS[Kind(cell[0])]
    colour, ink = _hex(fill), _hex(ink_on(fill))
    return td(str(number(int(cell[1:]))) if view == "class" else cell, colour, ink)


def _hex(colour: Sequence[int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def relay(lang: str) -> str:
    """The whole mini-batch in one piece, 4 slots a GPU, forward only."""
    return grid(plan.simulate(gpipe(4, 1), Costs(forward=4, backward=0)), lang)


def four_pieces(lang: str) -> str:
    """Four pieces on four GPUs, forward only."""
    return grid(plan.simulate(gpipe(4, 4), Costs(forward=1, backward=0)), lang)


def slow_stage(lang: str) -> str:
    """Three GPUs, the second takes three slots a piece."""
    return grid(plan.simulate(gpipe(3, 3), Costs(forward=[1, 3, 2], backward=0)), lang)


def order_example(lang: str) -> str:
    """GPipe with two stages and two pieces, counted as code counts."""
    return grid(plan.simulate(gpipe(2, 2), Costs(forward=1, backward=1)), lang, view="engineer")


def empty_grid(lang: str) -> str:
    """The grid to fill in, its first cell given."""
    rows = [slots(7)]
    for device in range(4):
        cells = [
            td("1", _hex(FORWARD), _hex(ink_on(FORWARD))) if device == slot == 0 else td("")
            for slot in range(7)
        ]
        rows.append(th(say("device", lang, number=number(device))) + "".join(cells))
    return table(rows, say("exercise_grid", lang, gpus=4))


def bars(times: Sequence[int], lang: str) -> str:
    """Layers with their times: a bar and a number each."""
    layers = th(say("exercise_layer", lang)) + "".join(td(str(number(i))) for i in range(len(times)))
    high = "".join(
        f'<td style="vertical-align:bottom;border:0;padding:0 2px;height:{24 * max(times)}px;background:{PAPER}">'
        f'<div style="height:{22 * time}px;background:{_hex(FORWARD)}"></div></td>'
        for time in times
    )
    slots_each = th(say("exercise_time", lang)) + "".join(td(str(time)) for time in times)
    return table([th("") + high, slots_each, layers], say("exercise_bars", lang, count=len(times)))


def models(layers: Mapping[str, str], lang: str) -> str:
    """Models that differ in their middle layer."""
    rows = [td(letter) + td(f"Linear(3, 4) -> {layer} -> Linear(4, 2)") for letter, layer in layers.items()]
    return table(rows, say("exercise_models", lang))


def chain(lang: str) -> str:
    """The scratch-paper game's steps, from its start."""
    steps = th(say("exercise_step", lang)) + "".join(td(str(step)) for step in range(len(LESSON.steps) + 1))
    sums = td(str(LESSON.start)) + "".join(td(str(step)) for step in LESSON.steps)
    return table([steps, th("") + sums], say("exercise_chain", lang))
