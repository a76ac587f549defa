"""The law of the field, written once: what an op needs before it may start.

Simulator, engine, validator, pictures and games all ask here.

    F  needs the forward of the stage before
    R  needs its own forward; late recompute also waits for the gradient that its backward needs
    B  needs what its own stage kept (the R if there is one, else the F) and the gradient from the stage behind
    I  needs the same as B
    W  needs its own I
"""

from __future__ import annotations

import numpy as np

from pipekit.plan.ops import B, Codes, F, I, Op, R, W, pack, unpack
from pipekit.plan.schedule import Schedule

NOTHING = -1


def needs_codes(codes: Codes, schedule: Schedule) -> Codes:
    """What each op needs, packed.

    Args:
        codes: (n,) packed ops, all within the schedule's stages and micro-batches.

    Returns:
        (n, 2) packed ops: what its own side must have done, and the value that crosses to it; `NOTHING` where
        it waits for nothing.
    """
    kind, stage, micro_batch = unpack(codes)
    device_of = schedule.device_of
    recomputed = device_of[R, stage, micro_batch] >= 0
    goes_back = (kind == B) | (kind == I)

    needed = np.full((len(codes), 2), NOTHING, dtype=np.int64)
    own = np.select([kind == R, goes_back, kind == W], [F, np.where(recomputed, R, F), I], default=F)
    before = stage - (kind == F)
    needed[:, 0] = np.where(before >= 0, pack(own, np.maximum(before, 0), micro_batch), NOTHING)

    behind = np.minimum(stage + 1, schedule.num_stages - 1)
    gradient = pack(np.where(device_of[I, behind, micro_batch] >= 0, I, B), behind, micro_batch)
    waits = goes_back | ((kind == R) & (schedule.recompute == "late"))
    needed[:, 1] = np.where(waits & (stage + 1 < schedule.num_stages), gradient, NOTHING)
    return needed


def needs(op: Op, schedule: Schedule) -> tuple[Op, ...]:
    """What `op` waits for in this schedule.

    >>> from pipekit.plan.schedules import gpipe
    >>> needs(Op.parse("1B0"), gpipe(num_stages=3, num_micro_batches=2))
    (1F0, 2B0)
    >>> needs(Op.parse("0F1"), gpipe(num_stages=3, num_micro_batches=2))
    ()
    """
    row = needs_codes(np.array([op.code], dtype=np.int64), schedule)[0].tolist()
    return tuple(Op.from_code(code) for code in row if code != NOTHING)
