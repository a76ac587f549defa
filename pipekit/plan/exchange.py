"""Exchange with PyTorch: the `compute_only` CSV of torch.distributed.pipelining, one row a rank, one op a cell.

    0F0,0F1,,0B0,0B1          stage, kind, micro-batch; an empty cell is a step without an op
    1F0,1B0,1F1,1I1,1W1       kinds: F, B (full backward), I and W (its halves)

Both sides run a row in its order and start an op when what it needs has come, so nothing but the order is exchanged.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from reprlib import repr as shortened

import numpy as np

from pipekit.errors import FileError, ScheduleError
from pipekit.plan.ops import B, F, I, Op, R, pack, unpack
from pipekit.plan.schedule import Schedule
from pipekit.plan.simulate import validate

# PyTorch's letters for F, B, I, W are ours; R it has none. Two ops in brackets: one after the other on this engine.
_BOTH = re.compile(r"\(([^()]*)\)OVERLAP_F_B")
_OP = re.compile(r"[0-9]+[FBIW][0-9]+")
# What a `compute_comms` file says besides: it follows from the order of the ops, or belongs to sharded parameters.
_FOLLOWS = re.compile(r"[0-9]+(?:(?:SEND|RECV)_[FB][0-9]+|UNSHARD|RESHARD|REDUCE_GRAD)")


def to_torch_csv(schedule: Schedule) -> str:
    """The schedule as text that PyTorch's pipeline runtime loads: a row a device, a cell an op.

    Write it to a file, and on each rank (torch 2.13):

        runtime = _PipelineScheduleRuntime(stages_of_this_rank, num_micro_batches, loss_fn=loss)
        runtime._load_csv(path, format="compute_only")
        runtime.step(batch, target=target)      # batch on the rank of stage 0, target on that of the last stage

    Raises:
        ScheduleError: the schedule can't run; or it says what PyTorch's format or runtime can't: a recomputation, a
            stage that is there twice, a device without an op, forwards of the last stage out of order.

    >>> from pipekit.plan.schedules import one_f_one_b
    >>> print(to_torch_csv(one_f_one_b(num_stages=2, num_micro_batches=2)), end="")
    0F0,0F1,0B0,0B1
    1F0,1B0,1F1,1B1
    """
    validate(schedule)
    for stage, home in enumerate(schedule.placement):
        if not isinstance(home, int):
            raise ScheduleError("torch_replicas", stage=stage, first=home[0], second=home[1])
    for device, lane in enumerate(schedule.lanes):
        if not len(lane):
            raise ScheduleError("torch_idle", device=device)
        kind, _, _ = unpack(lane.codes)
        if (again := np.flatnonzero(kind == R)).size:
            raise ScheduleError("torch_recompute", op=lane[int(again[0])])
    _refuse_other_loss_order(schedule)
    return "".join(",".join(map(str, lane)) + "\n" for lane in schedule.lanes)


def _refuse_other_loss_order(schedule: Schedule) -> None:
    """PyTorch stores losses in the order of the last stage's forwards, and looks them up by micro-batch."""
    last = schedule.num_stages - 1
    codes = schedule.lanes[int(schedule.device_of[F, last, 0])].codes
    kind, stage, micro_batch = unpack(codes)
    order = micro_batch[(kind == F) & (stage == last)]
    if (wrong := np.flatnonzero(order != np.arange(len(order)))).size:
        place = int(wrong[0])
        found, wanted = (Op.from_code(int(pack(F, last, each))) for each in (order[place], place))
        raise ScheduleError("torch_loss_order", op=found, earlier_op=wanted)


def from_torch_csv(text: str, name: str = "") -> Schedule:
    """The schedule in a CSV of torch.distributed.pipelining, checked.

    Args:
        text: what a schedule's `_dump_csv(path, format="compute_only")` wrote (`compute_comms` is read too: what is
            no computation is left out). A fused `(0F1;3B0)OVERLAP_F_B` becomes its two ops, one after the other.
        name: what to call it in pictures.

    Raises:
        FileError: a cell that is no op, an op that stands twice, a stage on two ranks, a row without an op, a
            backward without its forward (as in PyTorch's own 1F1B, last rank); names row and cell, counted from 1.
        ScheduleError: the rows can't run, as `validate`.

    >>> print(from_torch_csv("0F0,0F1,,0B0,0B1\\n1F0,1F1,1B0,1B1"))
    0F0 0F1 0B0 0B1 | 1F0 1F1 1B0 1B1
    """
    rows = _cells(text)
    seen: dict[int, tuple[int, int]] = {}
    rank_of: dict[int, tuple[int, int]] = {}
    lanes = []
    for row, cells in enumerate(rows, start=1):
        codes = []
        for cell, words in enumerate(cells, start=1):
            for op in _ops(row, cell, words):
                _refuse_second(op, row, cell, seen)
                _refuse_second_rank(op, row, cell, rank_of)
                codes.append(op.code)
        if not codes:
            raise FileError("torch_row", row=row)
        lanes.append(np.array(codes, dtype=np.int64))
    _refuse_backward_without_forward(seen)
    schedule = Schedule(lanes, name=name)
    validate(schedule)
    return schedule


def _cells(text: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    rows: list[list[str]] = []
    try:
        rows.extend(reader)
    except csv.Error as error:
        raise FileError("torch_csv", row=reader.line_num, cause=error) from error
    while rows and not any(cell.strip() for cell in rows[-1]):
        rows.pop()  # empty lines at the end
    return rows


def _ops(row: int, cell: int, words: str) -> Iterator[Op]:
    """The ops of one cell: one, or two fused ones, or none."""
    words = words.strip()
    both = _BOTH.fullmatch(words)
    for part in both[1].split(";") if both else [words] if words else []:
        word = part.strip()
        if _FOLLOWS.fullmatch(word):
            continue
        if not _OP.fullmatch(word):
            raise FileError("torch_cell", row=row, cell=cell, asked=shortened(words))
        try:
            yield Op.from_code(Op.parse(word).code)
        except ScheduleError as error:
            raise FileError("torch_cell", row=row, cell=cell, asked=shortened(words)) from error


def _refuse_second(op: Op, row: int, cell: int, seen: dict[int, tuple[int, int]]) -> None:
    earlier = seen.setdefault(op.code, (row, cell))
    if earlier != (row, cell):
        raise FileError(
            "torch_repeated", row=row, cell=cell, op=op, earlier_row=earlier[0], earlier_cell=earlier[1]
        )


def _refuse_second_rank(op: Op, row: int, cell: int, rank_of: dict[int, tuple[int, int]]) -> None:
    earlier = rank_of.setdefault(op.stage, (row, cell))
    if earlier[0] != row:
        raise FileError(
            "torch_two_ranks", row=row, cell=cell, op=op, stage=op.stage, earlier_row=earlier[0], earlier_cell=earlier[1]
        )  # fmt: skip


def _refuse_backward_without_forward(seen: dict[int, tuple[int, int]]) -> None:
    codes = np.fromiter(seen, dtype=np.int64, count=len(seen))
    kind, stage, micro_batch = unpack(codes)
    back = (kind == B) | (kind == I)
    forward = pack(F, stage, micro_batch)
    lacking = np.flatnonzero(back & ~np.isin(forward, codes))
    if lacking.size:
        first = int(lacking[0])
        row, cell = seen[int(codes[first])]
        op, missing = Op.from_code(int(codes[first])), Op.from_code(int(forward[first]))
        raise FileError("torch_forward", row=row, cell=cell, op=op, earlier_op=missing)
