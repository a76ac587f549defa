"""What the page draws of a board, as plain data: where each box is, what it says, what it is called. Pure.

columns     how many ticks the rows have        first       what the first tick is called
rows        one a device: its name, and what its head does
ops         {key, device, start, length, label, fill, ink, name}
chips       lines of groups of what can be taken: {key, label, fill, ink, name, left, length}
marks       boxes to look at: {kind: "hint" | "needed" | "wrong", device, start, length}
words       for what the page itself names
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipekit import plan, show
from pipekit.learn.designboard.board import HALVES, LENGTHS, Board
from pipekit.plan import Kind, Op
from pipekit.show import number, say
from pipekit.show.grid import ink_on

CHIPS = {  # lines of groups
    "class": (("F", "B"),),
    "engineer": (("F", "I", "R"), ("B", "W")),
}
SPARE = 3  # free columns behind the longest schedule that anybody needs


@dataclass(frozen=True, slots=True)
class Mark:
    """A box to look at."""

    kind: str
    device: int
    start: int
    length: int


def scene(
    board: Board, lang: str, view: str, marks: Sequence[Mark] = (), resting: bool = False
) -> dict[str, Any]:
    """A board as the page draws it.

    Args:
        marks: boxes to look at. resting: nothing can be moved now.
    """
    return {
        "columns": num_columns(board),
        "first": number(0, view),
        "rows": [_row(device, lang, view) for device in range(board.num_devices)],
        "ops": [_op(board, op, lang, view) for op in sorted(board.starts)],
        "chips": [
            [_group(board, kind, lang, view) for kind in line]
            for line in CHIPS["class" if view == "class" else "engineer"]
        ],
        "marks": [{name: getattr(mark, name) for name in Mark.__slots__} for mark in marks],
        "resting": resting,
        "words": {
            "tray": say("design_tray", lang, view),
            "grid": say("design_grid", lang, view),
            "take_off": say("design_take_off", lang, view),
            "take_off_why": say("design_take_off_why", lang, view),
            "free": say("design_free", lang, view, device="{device}", slot="{slot}"),
        },
    }


def num_columns(board: Board) -> int:
    """Ticks in view: those of GPipe, three for each piece and device, or as many as stand there; and some spare."""
    usual = 3 * (board.num_micro_batches + board.num_devices - 1)
    return max(usual, board.makespan) + SPARE


def op_name(op: Op, lang: str, view: str) -> str:
    """What an op is called: an engineer's `1F0`, a class's sentence."""
    if view == "engineer":
        return str(op)
    kind = say(f"kind_{op.kind}", lang, view)
    piece = number(op.micro_batch, view)
    return say("op_in_words", lang, view, stage=number(op.stage, view), piece=piece, kind=kind)


def label(op: Op, view: str) -> str:
    """What stands in its box: the row says the stage."""
    return f"{op.kind}{number(op.micro_batch, view)}"


def device_name(device: int, lang: str, view: str) -> str:
    """What a row is called."""
    return say("device", lang, view, number=number(device, view))


def colour(fill: tuple[int, int, int]) -> str:
    """A colour as a page writes it."""
    return "#{:02X}{:02X}{:02X}".format(*fill)


def _look(kind: Kind) -> dict[str, str]:
    return {"fill": colour(show.FILLS[kind]), "ink": colour(ink_on(show.FILLS[kind]))}


def _row(device: int, lang: str, view: str) -> dict[str, str]:
    name = device_name(device, lang, view)
    return {"label": name, "name": say("design_row", lang, view, device=name)}


def _op(board: Board, op: Op, lang: str, view: str) -> dict[str, Any]:
    first, last = board.starts[op], board.end(op) - 1
    name = say(
        "design_op", lang, view, op=op_name(op, lang, view), device=device_name(op.stage, lang, view),
        first=number(first, view), last=number(last, view),
    )  # fmt: skip
    place = {"key": str(op), "device": op.stage, "start": first, "length": LENGTHS[op.kind]}
    return place | {"label": label(op, view), "name": name} | _look(op.kind)


def _group(board: Board, letter: str, lang: str, view: str) -> list[dict[str, Any]]:
    kind = Kind(letter)
    return [_chip(board, kind, piece, lang, view) for piece in range(board.num_micro_batches)]


def _chip(board: Board, kind: Kind, micro_batch: int, lang: str, view: str) -> dict[str, Any]:
    """One thing to take: a kind and a piece; the row it goes to says the stage."""
    left = [device for device in range(board.num_devices) if _wanted(board, Op(kind, device, micro_batch))]
    names = [device_name(device, lang, view) for device in left]
    said = say(
        "design_chip" if left else "design_chip_used", lang, view, kind=say(f"kind_{kind}", lang, view),
        piece=number(micro_batch, view), devices=say("listed", lang).join(names),
    )  # fmt: skip
    place = {"key": f"{kind}{micro_batch}", "left": left, "length": LENGTHS[kind]}
    return place | {"label": f"{kind}{number(micro_batch, view)}", "name": said} | _look(kind)


def _wanted(board: Board, op: Op) -> bool:
    """Whether the row could still take it: it isn't there, nor a backward of the other kind."""
    others = HALVES if op.kind is Kind.BACKWARD else (Kind.BACKWARD,) if op.kind in HALVES else ()
    return not any(Op(kind, op.stage, op.micro_batch) in board.starts for kind in (op.kind, *others))


def ran(
    timeline: plan.Timeline, tick: float, caption: str, tone: str, lang: str, view: str
) -> dict[str, Any]:
    """What was measured, as the page draws it under the board: rows of boxes, in ticks since the start.

    Args:
        tick: seconds of one. caption, tone: the line that says on what it was measured, and whether it warns.
    """
    boxes = [
        {
            "device": span.device, "start": (span.start - timeline.start) / tick,
            "length": span.duration / tick, "label": label(span.op, view),
        } | _look(span.op.kind)
        for span in timeline.spans
    ]  # fmt: skip
    names = [device_name(device, lang, view) for device in range(timeline.num_devices)]
    return {"caption": caption, "tone": tone, "rows": names, "ops": boxes}
