"""Every schedule that pipekit knows, by name."""

from __future__ import annotations

from collections.abc import Callable

from pipekit.errors import ScheduleError
from pipekit.plan.bidirectional import chimera, dualpipe, dualpipe_v
from pipekit.plan.interleaved import interleaved_1f1b, looped_bfs
from pipekit.plan.schedule import Schedule
from pipekit.plan.schedules import count, gpipe, one_f_one_b, recomputed
from pipekit.plan.zero_bubble import zb_h1, zb_h2, zb_v

_ONE_STAGE: dict[str, Callable[..., Schedule]] = {"gpipe": gpipe, "1f1b": one_f_one_b}
CHUNKED: dict[str, Callable[..., Schedule]] = {
    "interleaved_1f1b": interleaved_1f1b,
    "looped_bfs": looped_bfs,
}
_WHOLE: dict[str, Callable[..., Schedule]] = {
    "zb_h1": zb_h1,
    "zb_h2": zb_h2,
    "zb_v": zb_v,
    "dualpipe": dualpipe,
    "dualpipe_v": dualpipe_v,
    "chimera": chimera,
}
SCHEDULES: dict[str, Callable[..., Schedule]] = {**_ONE_STAGE, **CHUNKED, **_WHOLE}


def by_name(
    name: str,
    num_devices: int,
    num_micro_batches: int,
    checkpoint: str = "never",
    recompute: str = "late",
    num_chunks: int = 2,
) -> Schedule:
    """The schedule called `name`: a key of `SCHEDULES`, or `naive`, which takes one micro-batch whatever M is.

    Args:
        num_chunks: v, for `interleaved_1f1b` and `looped_bfs`; the others know how many stages a device holds.

    Raises:
        ScheduleError: an unknown name, a policy for a schedule that has none, or what the builder says.

    >>> by_name("zb_v", num_devices=4, num_micro_batches=8)
    <zb_v: 8 stages on 4 devices, 8 micro-batches, 192 ops>
    """
    if name == "naive":
        count("num_micro_batches", num_micro_batches)
        schedule = gpipe(num_devices, 1, checkpoint, recompute)
        return Schedule(schedule.lanes, schedule.placement, recompute, name)
    if name in _ONE_STAGE:
        return _ONE_STAGE[name](num_devices, num_micro_batches, checkpoint, recompute)
    if name in CHUNKED:
        return CHUNKED[name](num_devices, num_micro_batches, num_chunks, checkpoint, recompute)
    if name not in _WHOLE:
        raise ScheduleError("schedule_name", asked=name, known=", ".join(["naive", *SCHEDULES]))
    recomputed(1, checkpoint, recompute)
    if checkpoint != "never":
        with_policy = ", ".join(["naive", *_ONE_STAGE, *CHUNKED])
        raise ScheduleError("no_policy", name=name, asked=checkpoint, known=with_policy)
    return _WHOLE[name](num_devices, num_micro_batches)
