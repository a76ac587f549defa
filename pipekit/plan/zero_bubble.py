"""Zero-bubble schedules: the backward in two halves, so that weight gradients fill what would be a bubble.

Zero Bubble Pipeline Parallelism (Qi et al., ICLR 2024, arXiv 2401.10241): `I` is what the stage before waits for, `W`
can wait. These are the paper's handcrafted schedules, made for equal times of F, I and W. "Zero bubble" is said of the
span (`plan.span_bubble`): an optimizer step that waits for all devices pays the skew between them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipekit.errors import ScheduleError
from pipekit.plan.ops import KINDS, MAX_STAGES, B, Codes, F, I, Kind, Lane, W, pack
from pipekit.plan.schedule import Schedule
from pipekit.plan.schedules import count

Part = tuple[str, int]  # steps and how often: ("F0 I1", 3) is F of chunk 0, then I of chunk 1, three times


def zb_h1(num_devices: int, num_micro_batches: int) -> Schedule:
    """1F1B whose weight gradients wait: a bubble of (K-1)(f+b-w) for 1F1B's memory (arXiv 2401.10241, section 2).

    Every device keeps min(M, K) micro-batches until their W. For M < K it runs, and idles more than that.

    Args:
        num_devices: K, one stage each.
        num_micro_batches: M.

    >>> print(zb_h1(num_devices=2, num_micro_batches=3))
    0F0 0F1 0I0 0W0 0F2 0I1 0W1 0I2 0W2 | 1F0 1I0 1F1 1I1 1W0 1F2 1I2 1W1 1W2
    """
    return _lagging("zb_h1", num_devices, num_micro_batches, hops=1)


def zb_h2(num_devices: int, num_micro_batches: int) -> Schedule:
    """ZB-H1 with a fill twice as long: no bubble within a device's span if f = b = w, for almost twice the memory.

    arXiv 2401.10241, section 2. The span bubble is (K-1)(f+b-2w) for M >= 2K-1 (fewer idle more); every device
    keeps min(M, 2K-1) micro-batches until their W. The devices start and end one after the other, though: with an
    optimizer step that waits for all of them it takes as long as `zb_h1`. The paper lets each device take its own
    step, and checks afterwards.

    Args: as `zb_h1`.

    >>> print(zb_h2(num_devices=2, num_micro_batches=3))
    0F0 0F1 0F2 0I0 0W0 0I1 0W1 0I2 0W2 | 1F0 1I0 1F1 1I1 1F2 1I2 1W0 1W1 1W2
    """
    return _lagging("zb_h2", num_devices, num_micro_batches, hops=2)


def zb_v(num_devices: int, num_micro_batches: int) -> Schedule:
    """Two chunks a device in the shape of a V: no span bubble if f = b = w, for 1F1B's memory.

    arXiv 2401.10241, section 6; op for op as PyTorch's. Device d holds the stages d and 2K-1-d, so the last stage's
    loss is where the first stage is. With w < f <= b the span bubble is (K-1)(b-w); for M < 2K-1 it runs, and idles
    more. Every device keeps at most 2K (stage, micro-batch) pairs, each of half a device's layers.

    Args:
        num_devices: K; the model is cut into S = 2K stages.
        num_micro_batches: M.

    >>> print(zb_v(num_devices=1, num_micro_batches=2))
    0F0 1F0 1I0 1W0 0F1 0I0 0W0 1F1 1I1 1W1 0I1 0W1
    """
    k, m = count("num_devices", num_devices), count("num_micro_batches", num_micro_batches)
    placement = v_shape(k)
    most = max(m, 2 * k - 1)  # with fewer, those beyond M are left out of the schedule for 2K-1
    lanes = []
    for d in range(k):
        parts: list[Part] = [
            ("F0", 2 * (k - d) - 1),
            ("F1 F0", d),
            ("F1 I1 W1", k - d),
            ("F0 I0 W0 F1 I1 W1", most - 2 * k + 1 + d),
            ("I0 W0 F1 I1 W1", k - 1 - d),
            ("I0 I1", d),
            ("I0 W0", k - d),
            ("W1", d),
            ("W0", d),
        ]
        kinds, chunks, micro_batches = steps(parts)
        asked = micro_batches < m
        stages = np.where(chunks == 0, d, 2 * k - 1 - d)
        lanes.append(Lane(pack(kinds, stages, micro_batches)[asked]))
    return Schedule(lanes, placement, name="zb_v")


def v_shape(num_devices: int) -> list[int]:
    """Stage -> device for two stages a device: 0, 1, ..., K-1, K-1, ..., 1, 0."""
    if 2 * num_devices > MAX_STAGES:
        raise ScheduleError("too_many", name="num_devices x 2", asked=2 * num_devices, most=MAX_STAGES)
    return [*range(num_devices), *reversed(range(num_devices))]


def steps(parts: Sequence[Part]) -> tuple[Codes, Codes, Codes]:
    """Kind codes, chunks and micro-batches of one lane written as parts.

    A chunk's ops of one kind take the micro-batches in turn; B and I count together. A lone `W` belongs to the
    oldest I whose W hasn't run.
    """
    words = np.concatenate([np.tile(_words(text), (times, 1)) for text, times in parts])
    kinds, chunks = words[:, 0].copy(), words[:, 1].copy()
    group = (np.where(kinds == B, I, kinds) * 3 + chunks + 1).astype(np.int16)
    order = np.argsort(group, kind="stable")
    in_order = group[order]
    micro_batches = np.empty(len(words), dtype=np.int64)
    micro_batches[order] = np.arange(len(words)) - np.searchsorted(in_order, in_order)
    lone = np.flatnonzero(chunks < 0)
    oldest = np.flatnonzero(kinds == I)[: len(lone)]
    chunks[lone], micro_batches[lone] = chunks[oldest], micro_batches[oldest]
    return kinds, chunks, micro_batches


def _words(text: str) -> Codes:
    """(n, 2): kind code and chunk of each step, -1 where it names no chunk."""
    return np.array([(KINDS.index(Kind(word[0])), int(word[1:] or -1)) for word in text.split()])


def _lagging(name: str, num_devices: int, num_micro_batches: int, hops: int) -> Schedule:
    """F of x, I of what came `hops` times the devices behind earlier, W of what came `hops` times K-1 earlier."""
    k, m = count("num_devices", num_devices), count("num_micro_batches", num_micro_batches)
    x = np.arange(m)
    lanes = []
    for device in range(k):
        turns = np.concatenate([3 * x, 3 * (x + hops * (k - 1 - device)) + 1, 3 * (x + hops * (k - 1)) + 2])
        codes = np.concatenate([pack(kind, device, x) for kind in (F, I, W)])
        lanes.append(Lane(codes[np.argsort(turns, kind="stable")]))
    return Schedule(lanes, range(k), name=name)
