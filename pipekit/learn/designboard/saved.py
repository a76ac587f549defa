"""A board as text and as a file, and back in, checked: the text of its schedule, or its timeline as JSON.

Text is an order without times: read in, every op stands as early as it can. JSON keeps every tick.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from pipekit import plan
from pipekit.errors import ScheduleError
from pipekit.learn.designboard.board import MICRO_BATCHES, Board, filled
from pipekit.plan import Op, Schedule, Timeline
from pipekit.plan.files import decoded, from_csv, from_json, read_text, to_json, write_file


def text_of(board: Board) -> str:
    """The schedule as text; "" for an empty board."""
    return str(board.schedule()) if board.starts else ""


def json_of(board: Board) -> str:
    """The board as a timeline in ticks, as `plan.write_timeline` writes it."""
    return to_json(board.timeline())


def board_of_text(text: str) -> Board:
    """The board of `"0F0 0F1 0B0 0B1 | 1F0 1B0 1F1 1B1"`; a step that isn't whole yet is taken too."""
    return board_of(Schedule.from_text(text.strip()))


def board_of(schedule: Schedule) -> Board:
    """A schedule's board, every op as early as it can be.

    Raises:
        ScheduleError: K or M is too small or too large for the board, stage s isn't on device s, or it can't run.
    """
    if schedule.num_stages > schedule.num_devices:
        raise ScheduleError(
            "board_placement", num_stages=schedule.num_stages, num_devices=schedule.num_devices
        )
    return _filled([list(lane) for lane in schedule.lanes], [schedule.recompute])


def board_of_timeline(timeline: Timeline) -> Board:
    """A board that was saved as its timeline; of any other timeline (one that was measured, say) the order.

    Raises:
        ScheduleError: as `board_of`.
    """
    if timeline.unit == "tick" and all(float(start).is_integer() for start in timeline.spans.starts):
        return _first(plan.RECOMPUTES, lambda recompute: _exact(timeline, recompute))
    lanes: list[list[Op]] = [[] for _ in range(timeline.num_devices)]
    for span in sorted(timeline.spans, key=lambda span: span.start):
        lanes[span.device].append(span.op)
    return _filled(lanes, plan.RECOMPUTES)


def board_of_content(content: bytes, name: str) -> Board:
    """The board in a file's content: a schedule as text, or a timeline as JSON or CSV; `name` is for errors.

    Raises:
        FileError: not UTF-8, or no timeline. ScheduleError: as `board_of`.
    """
    return _board_in(decoded(content, name), name)


def write(board: Board, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
    """Write a board with its ticks as JSON, or its order as text where the name ends in `.txt`."""
    as_text = Path(path).suffix.lower() == ".txt"
    return write_file(path, (text_of(board) if as_text else json_of(board)).encode(), overwrite)


def read(path: str | os.PathLike[str]) -> Board:
    """Read what `write` wrote, or any other timeline or schedule."""
    return _board_in(read_text(Path(path)), Path(path).name)


def _board_in(text: str, name: str) -> Board:
    begins = text.lstrip()[:1]
    if begins in ("{", "["):
        return board_of_timeline(from_json(text, name))
    return board_of_timeline(from_csv(text, name)) if begins == "#" else board_of_text(text)


def _exact(timeline: Timeline, recompute: str) -> Board:
    board = _empty(timeline.num_devices, [span.op for span in timeline.spans], recompute)
    for span in sorted(timeline.spans, key=lambda span: span.start):
        board = board.put(span.op, int(span.start), span.device)
    return board


def _empty(num_devices: int, ops: Sequence[Op], recompute: str) -> Board:
    """A board with room for these ops."""
    most = max((op.micro_batch for op in ops), default=0) + 1
    return Board(num_devices, max(MICRO_BATCHES[0], most), recompute=recompute)


def _filled(lanes: Sequence[Sequence[Op]], recomputes: Sequence[str]) -> Board:
    ops = [op for lane in lanes for op in lane]
    return _first(recomputes, lambda recompute: filled(_empty(len(lanes), ops, recompute), lanes))


def _first(recomputes: Sequence[str], make: Callable[[str], Board]) -> Board:
    """The board by the first time of recomputing with which it is legal; if there is none, the first refusal."""
    refused: list[ScheduleError] = []
    for recompute in recomputes:
        try:
            return make(recompute)
        except ScheduleError as error:
            refused.append(error)
    raise refused[0]
