"""A reference for DualPipe's F&B: a forward and a full backward as one block that hands over both results at its end.

The published numbers for DualPipe and DualPipeV count such blocks. pipekit has none: its F and B are two ops, so it
predicts less. To compare with what is published, this reads the blocks off the lanes and walks them.
"""

import numpy as np

from pipekit.plan.ops import B, F, unpack
from pipekit.plan.rules import NOTHING, needs_codes


def blocks(schedule):
    """For each device its lane as tuples of packed ops: an F right before a B is a block with it.

    Not so the first such pair on the devices where micro-batches turn round or cross (DeepSeek's note there).
    """
    turn = schedule.device_of[F, schedule.num_stages // 2]
    cut = []
    for device, lane in enumerate(schedule.lanes):
        kinds, codes = unpack(lane.codes)[0], lane.codes.tolist()
        pairs = np.flatnonzero((kinds[:-1] == F) & (kinds[1:] == B))
        first = set(pairs[1:] if device in turn else pairs)
        cut.append([tuple(codes[i : i + 1 + (i in first)]) for i in range(len(codes)) if i - 1 not in first])
    return cut


def spans_of_blocks(schedule, costs, together=None):
    """(first start, last end, busy) of each device, three arrays of K.

    Args:
        together: how long a block takes; left out, as long as its ops.
    """
    table = costs.table(schedule.num_stages)
    lanes = [[_block(ops, schedule, table, together) for ops in lane] for lane in blocks(schedule)]
    place, free = [0] * len(lanes), [0.0] * len(lanes)
    first, busy = [None] * len(lanes), [sum(took for *_, took in lane) for lane in lanes]
    done, moved = {}, True
    while moved:
        moved = False
        for device, lane in enumerate(lanes):
            while place[device] < len(lane):
                ops, wanted, took = lane[place[device]]
                if not all(op in done for op in wanted):
                    break
                start = max([free[device], *(done[op] for op in wanted)])
                first[device] = start if first[device] is None else first[device]
                free[device] = start + took
                done |= dict.fromkeys(ops, free[device])
                place[device] += 1
                moved = True
    assert place == [len(lane) for lane in lanes]
    return np.array(first), np.array(free), np.array(busy)


def _block(ops, schedule, table, together):
    codes = np.array(ops)
    kinds, stages, _ = unpack(codes)
    wanted = {*needs_codes(codes, schedule).ravel().tolist()} - {NOTHING, *ops}
    took = float(table[kinds, stages].sum()) if len(ops) == 1 or together is None else together
    return ops, wanted, took
