"""A reference for DualPipe's F&B: a forward and a full backward as one block that hands over both results at its end.

The published numbers for DualPipe and DualPipeV count such blocks. pipekit has none: its F and B are two ops, so it
predicts less. To compare with what is published, this reads the blocks off the lanes and walks them.
"""

import numpy as np

from pipekit.plan.ops import B, F, unpack
from pipekit.plan.rules import NOTHING, needs_codes


def lanes_of_blocks(schedule, costs, together=None):
    """For each device its lane as (packed ops, what they wait for, how long): an F right before a B is a block with it.

    Not so the first such pair on the devices where micro-batches turn round or cross (DeepSeek's note there).
    """
    table, turn = costs.table(schedule.num_stages), schedule.device_of[F, schedule.num_stages // 2]
    lanes = []
    for device, lane in enumerate(schedule.lanes):
        kinds, stages, _ = unpack(lane.codes)
        codes, took = lane.codes.tolist(), table[kinds, stages].tolist()
        needed = [set(row) - {NOTHING} for row in needs_codes(lane.codes, schedule).tolist()]
        pairs = np.flatnonzero((kinds[:-1] == F) & (kinds[1:] == B)).tolist()
        for first in reversed(pairs[1:] if device in turn else pairs):
            ops = slice(first, first + 2)
            long = sum(took[ops]) if together is None else together
            needed[ops] = [(needed[first] | needed[first + 1]) - set(codes[ops])]
            took[ops], codes[ops] = [long], [tuple(codes[ops])]
        blocks = [op if isinstance(op, tuple) else (op,) for op in codes]
        lanes.append(list(zip(blocks, needed, took, strict=True)))
    return lanes


def spans_of_blocks(schedule, costs, together=None):
    """(first start, last end, busy) of each device, three arrays of K.

    Args:
        together: how long a block takes; left out, as long as its ops.
    """
    lanes = lanes_of_blocks(schedule, costs, together)
    place, free = [0] * len(lanes), [0.0] * len(lanes)
    first, busy = [None] * len(lanes), [sum(took for *_, took in lane) for lane in lanes]
    done, moved = {}, True
    while moved:
        moved = False
        for device, lane in enumerate(lanes):
            while place[device] < len(lane):
                ops, needed, took = lane[place[device]]
                if not needed <= done.keys():
                    break
                start = max([free[device], *(done[op] for op in needed)])
                first[device] = start if first[device] is None else first[device]
                free[device] = start + took
                done |= dict.fromkeys(ops, free[device])
                place[device] += 1
                moved = True
    assert place == [len(lane) for lane in lanes]
    return np.array(first), np.array(free), np.array(busy)
