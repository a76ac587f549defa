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

from pipekit.plan.ops import NEXT_STAGE, B, Codes, F, I, Op, R, unpack
from pipekit.plan.schedule import Schedule

NOTHING = -1
_OWN = np.array([F, F, F, I, F])  # by kind code F B I W R: what the own stage must have done before


def needs_codes(codes: Codes, schedule: Schedule) -> Codes:
    """What each op needs, packed.

    Args:
        codes: (n,) packed ops, all within the schedule's stages and micro-batches.

    Returns:
        (n, 2) packed ops: what its own side must have done, and the value that crosses to it; `NOTHING` where
        it waits for nothing.
    """
    kind, stage, micro_batch = unpack(codes)
    goes_back = (kind == B) | (kind == I)
    own = _OWN[kind]
    if R in schedule.kinds:
        recomputed = schedule.device_of[R, stage, micro_batch] >= 0
        own = np.where(goes_back & recomputed, R, own)
    here = codes - kind  # the same stage and micro-batch, kind code 0

    needed = np.empty((len(codes), 2), dtype=np.int64, order="F")
    # before the first stage there is nothing, and that is a negative number
    needed[:, 0] = np.maximum(np.where(kind == F, here - NEXT_STAGE + F, here + own), NOTHING)

    half: Codes = np.full(len(codes), B)
    if I in schedule.kinds:
        behind = np.minimum(stage + 1, schedule.num_stages - 1)
        half = np.where(schedule.device_of[I, behind, micro_batch] >= 0, I, B)
    waits = goes_back | ((kind == R) & (schedule.recompute == "late"))
    needed[:, 1] = np.where(waits & (stage + 1 < schedule.num_stages), here + NEXT_STAGE + half, NOTHING)
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
