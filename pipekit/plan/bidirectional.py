"""Schedules that feed micro-batches in from both ends, with two copies of the parameters; and DualPipe's half of that.

A bidirectional stage s lives on devices s and K-1-s: half of the micro-batches pass the devices one way, the other
half the other way. DualPipe and DualPipeV compute a forward and a backward together, so that one's messages travel
while the other computes (F&B). There is no such op here: the two stand one after the other, and the overlap's gain
isn't shown. What F and B hand over does leave at their own ends, not at the end of both.
"""

from __future__ import annotations

import numpy as np

from pipekit.errors import ScheduleError
from pipekit.plan.ops import B, F, Lane, pack
from pipekit.plan.schedule import Schedule
from pipekit.plan.schedules import count
from pipekit.plan.zero_bubble import Part, steps, v_shape


def dualpipe(num_devices: int, num_micro_batches: int) -> Schedule:
    """DeepSeek's DualPipe: both ends at once, the backward in halves where the pipeline fills and drains.

    The eight steps of github.com/deepseek-ai/DualPipe (DeepSeek-V3, arXiv 2412.19437). Its README gives a bubble of
    (K/2-1)(F&B + B - 3W), with F&B for a forward and a backward computed together and B for the full backward. As
    separate ops (the overlap's gain isn't shown) it is (K/2-1)(F + B - 2W) if b = f and w <= f. Every device keeps
    the parameters of two stages, and at most K+1 micro-batches.

    Args:
        num_devices: K, an even number; the model is cut into K stages, each there twice.
        num_micro_batches: M, even and at least 2K; the first half enters at device 0, the second at device K-1.

    Raises:
        ScheduleError: odd K; M odd or too small; names a K or M that will do.

    >>> dualpipe(num_devices=4, num_micro_batches=8).placement
    ((0, 3), (1, 2), (2, 1), (3, 0))
    """
    k, m = _even_devices("DualPipe", num_devices), count("num_micro_batches", num_micro_batches)
    _enough("DualPipe", k, m)
    if m % 2:
        raise ScheduleError("even_micro_batches", name="DualPipe", asked=m, more=m + 1)
    lanes = []
    for device in range(k):
        end = min(device, k - 1 - device)  # devices between here and the nearer end
        kinds, directions, micro_batches = steps(_eight_steps(k // 2, end, m // 2))
        near = directions == 0  # from the nearer end
        down = near == (device < k // 2)
        stages = np.where(near, end, k - 1 - end)
        lanes.append(Lane(pack(kinds, stages, np.where(down, micro_batches, micro_batches + m // 2))))
    return Schedule(lanes, _both_ends(k), name="dualpipe")


def dualpipe_v(num_devices: int, num_micro_batches: int) -> Schedule:
    """DualPipe cut in half: one copy of the parameters, two chunks a device in the shape of a V.

    github.com/deepseek-ai/DualPipe ("DualPipeV", after Sea AI Lab's "cut-in-half"); op for op as PyTorch's, whose
    forward-and-backward op is F, then B, here: its overlap gain isn't shown. The bubble is that of `dualpipe` on 2K
    devices, in times of one chunk (half a device's): (K-1)(F + B - 2W). Every device keeps at most 2K+1 (stage,
    micro-batch) pairs.

    Args:
        num_devices: K; the model is cut into S = 2K stages.
        num_micro_batches: M, at least 2K.

    Raises:
        ScheduleError: M is too small; names the least.

    >>> dualpipe_v(num_devices=2, num_micro_batches=4).placement
    (0, 1, 1, 0)
    """
    k, m = count("num_devices", num_devices), count("num_micro_batches", num_micro_batches)
    placement = v_shape(k)
    _enough("DualPipeV", k, m)
    lanes = []
    for device in range(k):
        kinds, chunks, micro_batches = steps(_eight_steps(k, device, m))
        lanes.append(Lane(pack(kinds, np.where(chunks == 0, device, 2 * k - 1 - device), micro_batches)))
    return Schedule(lanes, placement, name="dualpipe_v")


def chimera(num_devices: int, num_micro_batches: int) -> Schedule:
    """Two 1F1B pipelines in opposite directions, merged so that each fills the other's bubble.

    Chimera (arXiv 2107.06925), with one pipeline each way, made for backwards as long as forwards: then it takes
    2M + K - 2 forward times, and idles (K-2)/(2M+K-2). Units of K micro-batches follow each other; with longer
    backwards they fit less well (the paper doubles forwards there, which is not built here). Every device keeps the
    parameters of two stages, and K/2 + 1 to K micro-batches.

    Args:
        num_devices: K, an even number; the model is cut into K stages, each there twice.
        num_micro_batches: M: at most K, or a multiple of K. The first half of a unit enters at device 0.

    Raises:
        ScheduleError: odd K; M doesn't make whole units; names a K or M that will do.

    >>> print(chimera(num_devices=2, num_micro_batches=2))
    0F0 1F1 1B1 0B0 | 0F1 1F0 1B0 0B1
    """
    k, m = _even_devices("Chimera", num_devices), count("num_micro_batches", num_micro_batches)
    if m > k and m % k:
        raise ScheduleError(
            "chimera_units", num_micro_batches=m, num_devices=k, fewer=m // k * k, more=(m // k + 1) * k
        )
    unit = min(m, k)
    place = np.arange(m) % unit  # in its unit
    up = place >= (unit + 1) // 2
    turn = np.where(up, place - (unit + 1) // 2, place)
    begins = np.arange(m) // unit * 2 * k + 2 * turn
    lanes = []
    for device in range(k):
        stages = np.where(up, k - 1 - device, device)
        slots = np.concatenate([begins + stages, begins + 2 * k - 1 - stages])
        codes = np.concatenate([pack(kind, stages, np.arange(m)) for kind in (F, B)])
        lanes.append(Lane(codes[np.argsort(slots)]))
    return Schedule(lanes, _both_ends(k), name="chimera")


def _eight_steps(half: int, end: int, m: int) -> list[Part]:
    """DualPipe on the device `end` places from the end where direction 0 enters, of `half` such devices.

    `m` is the number of micro-batches of each direction. The second half of step 6 and all of step 7 put their
    weight gradients off.
    """
    behind = half - 1 - end
    whole, mixed = (end + 1) // 2, 1 - end % 2
    return [
        ("F0", 2 * behind),
        ("F0 F1", end + 1),
        ("I1 W F1", behind),
        ("F0 B1 F1 B0", m - 2 * half + end + 1),
        ("B1 F1 B0", behind),
        ("B1 B0", whole),
        ("B1 I0", mixed),
        ("I1 I0", end + 1 - whole - mixed),
        ("W I0", behind),
        ("W", end + 1),
    ]


def _both_ends(num_devices: int) -> list[tuple[int, int]]:
    return [(stage, num_devices - 1 - stage) for stage in range(num_devices)]


def _even_devices(name: str, num_devices: int) -> int:
    k = count("num_devices", num_devices)
    if k % 2:
        raise ScheduleError("even_devices", name=name, asked=k, more=k + 1)
    return k


def _enough(name: str, num_devices: int, num_micro_batches: int) -> None:
    if num_micro_batches < 2 * num_devices:
        raise ScheduleError(
            "few_micro_batches",
            name=name,
            asked=num_micro_batches,
            num_devices=num_devices,
            least=2 * num_devices,
        )
