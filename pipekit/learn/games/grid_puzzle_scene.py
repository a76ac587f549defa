"""What the grid puzzle shows and says: pure functions of where the game is."""

from __future__ import annotations

from collections.abc import Mapping

from pipekit.learn.designboard.board import LENGTHS
from pipekit.learn.designboard.scene import device_name, op_name
from pipekit.learn.games.grid_puzzle import COUNTED, GUIDED, HALVES, Puzzle, best
from pipekit.learn.games.table import NOTHING, Item, Scene, painted
from pipekit.plan import Kind, Op
from pipekit.show import number, say

HEAD, ROOM, WIDEST, ROW, TOUCH = 104, 1160, 64, 44, 44  # pixels
GAP = 2
SHOWN = 16  # columns of the lesson's two grids: 4 pieces, one GPU after the other
SPARE = 1  # free column behind the longest schedule that anybody needs: more, and a finger would miss
LINES = (("F", "I"), ("B", "W"))  # of chips, each kind's pieces side by side
IDLE = "#ECECEC"
ASKED = {"cells": "puzzle_ask_cells", "busy": "puzzle_ask_busy", "idle": "puzzle_ask_idle"}


def scene(puzzle: Puzzle, lang: str, marks: Mapping[str, str] | None = None) -> Scene:
    """Chips, grid, and what is to be counted.

    Args:
        marks: cells to look at, by key.
    """
    columns = num_columns(puzzle)
    width = min(WIDEST, (ROOM - HEAD) // columns - GAP)
    lines = [line for line in LINES if any(Kind(letter) in puzzle.kinds for letter in line)]
    items = [item for row, line in enumerate(lines) for item in _chips(puzzle, line, row, width, lang)]
    top = len(lines)
    items += _take_off(puzzle, lang)
    items += _axis(columns, top)
    for device in range(puzzle.num_stages):
        items += _row(puzzle, device, top + 1 + device, columns, lang)
    bottom = top + 1 + puzzle.num_stages
    if puzzle.counting:
        items += _questions(puzzle, bottom, width, lang)
    for item in items:
        mark = (marks or {}).get(item["key"])
        if mark:
            item["mark"] = mark
    return {
        "name": say("puzzle_grid", lang),
        "columns": [HEAD, *([width] * columns)],
        "rows": bottom + (puzzle.task in ("forward", "uncut")),
        "row_height": ROW,
        "items": items,
        "said": NOTHING,
    }


def num_columns(puzzle: Puzzle) -> int:
    """As many as the lesson's two grids share, or a whole step and some spare; and room for all chips."""
    stages, pieces = puzzle.num_stages, puzzle.num_micro_batches
    if puzzle.task == "forward":
        return SHOWN
    if puzzle.task == "uncut":
        return max(SHOWN, stages * pieces)
    needed = max(best("gpipe", stages, pieces), puzzle.board.makespan)
    if puzzle.task == "split":
        needed = max(needed, 4 * pieces)  # two columns a chip, two kinds side by side
    return needed + (0 if puzzle.task in GUIDED else SPARE)


def cell_key(device: int, tick: int) -> str:
    """The key of a cell, or of the op that begins there."""
    return f"cell:{device}:{tick}"


# -- what can be taken


def _chips(puzzle: Puzzle, line: tuple[str, ...], row: int, width: int, lang: str) -> list[Item]:
    span = -(-(TOUCH + GAP) // (width + GAP))  # columns that a finger needs
    kinds = [Kind(letter) for letter in line if Kind(letter) in puzzle.kinds]
    ops = [(kind, piece) for kind in kinds for piece in range(puzzle.num_micro_batches)]
    return [
        _chip(puzzle, kind, piece, lang)
        | Item(row=row, column=1 + span * place + (place >= puzzle.num_micro_batches), colspan=span)
        for place, (kind, piece) in enumerate(ops)
    ]


def _chip(puzzle: Puzzle, kind: Kind, piece: int, lang: str) -> Item:
    wanted = [device for device in range(puzzle.num_stages) if _wanted(puzzle, Op(kind, device, piece))]
    names = say("listed", lang).join(device_name(device, lang, "class") for device in wanted)
    key = "design_chip" if wanted else "design_chip_used"
    said = say(key, lang, kind=say(f"kind_{kind}", lang), piece=number(piece), devices=names)
    item = Item(key=f"chip:{kind}{piece}", kind="button", text=_label(puzzle, kind, piece), name=said)
    return item | (Item(disabled=True, fill="#F2F2F2") if not wanted else Item(drag=True) | painted(kind))


def _wanted(puzzle: Puzzle, op: Op) -> bool:
    others = HALVES if op.kind is Kind.BACKWARD else (Kind.BACKWARD,) if op.kind in HALVES else ()
    return not any(Op(kind, op.stage, op.micro_batch) in puzzle.board.starts for kind in (op.kind, *others))


def _label(puzzle: Puzzle, kind: Kind, piece: int) -> str:
    """Only the number where all go forward, as on the printed grid."""
    return f"{number(piece)}" if len(puzzle.kinds) == 1 else f"{kind}{number(piece)}"


def _take_off(puzzle: Puzzle, lang: str) -> list[Item]:
    if puzzle.task in GUIDED or not puzzle.kinds:
        return []
    text = say("design_take_off", lang)
    return [
        Item(
            key="off", kind="button", row=0, column=0, text=text, name=say("puzzle_take_off", lang), drop=True
        )
    ]


# -- the grid


def _axis(columns: int, row: int) -> list[Item]:
    every = 1 if columns <= 40 else 5
    return [
        Item(
            key=f"slot:{slot}", kind="label", row=row, column=slot + 1, text=str(number(slot)), align="center"
        )
        for slot in range(0, columns, every)
    ]


def _row(puzzle: Puzzle, device: int, row: int, columns: int, lang: str) -> list[Item]:
    name = device_name(device, lang, "class")
    head = Item(key=f"row:{device}", kind="label", row=row, column=0, text=name)
    if not (puzzle.task in ("forward", "uncut") or (puzzle.solved and puzzle.task in GUIDED)):
        head |= Item(kind="button", drop=True, fill="#E3EDF4", name=say("design_row", lang, device=name))
    if puzzle.task == "uncut":
        return [head, *_relay(puzzle, device, row, lang)]
    ops = puzzle.board.row(device)
    taken = {tick for op in ops for tick in range(puzzle.board.starts[op], puzzle.board.end(op))}
    end = (
        best("forward", puzzle.num_stages, puzzle.num_micro_batches) if puzzle.task == "forward" else columns
    )
    items = [head, *(_op(puzzle, op, row, lang) for op in ops)]
    items += [_free(puzzle, device, tick, row, lang) for tick in range(end) if tick not in taken]
    if puzzle.task == "forward" and device == 0 and not puzzle.missing and columns > end:
        fewer = best("uncut", puzzle.num_stages, puzzle.num_micro_batches) - end
        text = say("saved_slots", lang, count=fewer)
        items.append(
            Item(key="fewer", kind="label", row=row, column=end + 1, colspan=columns - end, text=text)
        )
    return items


def _relay(puzzle: Puzzle, device: int, row: int, lang: str) -> list[Item]:
    busy = {
        tick
        for s in puzzle.timeline.spans
        if s.device == device
        for tick in range(round(s.start), round(s.end))
    }
    names = {
        tick: say("whole_batch" if tick in busy else "idle", lang)
        for tick in range(round(puzzle.timeline.end))
    }
    return [
        Item(
            key=cell_key(device, tick), kind="cell", row=row, column=tick + 1,
            text=say("puzzle_batch", lang) if tick in busy else "",
            name=f"{device_name(device, lang, 'class')} {number(tick)}: {what}",
        ) | (painted(Kind.FORWARD) if tick in busy else Item(fill=IDLE))
        for tick, what in names.items()
    ]  # fmt: skip


def _free(puzzle: Puzzle, device: int, tick: int, row: int, lang: str) -> Item:
    name = say("design_free", lang, device=device_name(device, lang, "class"), slot=number(tick))
    item = Item(key=cell_key(device, tick), kind="cell", row=row, column=tick + 1, fill=IDLE, name=name)
    return (
        item
        if (puzzle.solved and puzzle.task in GUIDED) or puzzle.counting
        else item | Item(press=True, drop=True)
    )


def _op(puzzle: Puzzle, op: Op, row: int, lang: str) -> Item:
    first, length = puzzle.board.starts[op], LENGTHS[op.kind]
    name = say(
        "design_op", lang, op=op_name(op, lang, "class"), device=device_name(op.stage, lang, "class"),
        first=number(first), last=number(first + length - 1),
    )  # fmt: skip
    return (
        Item(key=cell_key(op.stage, first), kind="cell", row=row, column=first + 1, colspan=length)
        | Item(text=_label(puzzle, op.kind, op.micro_batch), name=name, drag=puzzle.task not in GUIDED)
        | painted(op.kind)
    )


# -- what is counted


def _questions(puzzle: Puzzle, row: int, width: int, lang: str) -> list[Item]:
    """Three numbers to fill in, side by side under the grid."""
    typed, right = dict(puzzle.counts), puzzle.counted
    label, field = -(-190 // (width + GAP)), -(-90 // (width + GAP))
    items = []
    for place, what in enumerate(COUNTED):
        column = 1 + place * (label + field)
        mark = "ok" if what in right else "wrong" if what in typed else ""
        items += [
            Item(
                key=f"ask:{what}", kind="label", row=row, column=column, colspan=label, text=say(ASKED[what], lang) + (" √" if what in right else ""),
                align="right",
            ),
            Item(
                key=f"count:{what}", kind="input", row=row, column=column + label, colspan=field,
                text=typed.get(what, ""), name=say(ASKED[what], lang), mark=mark, disabled=what in right,
            ),
        ]  # fmt: skip
    return items
