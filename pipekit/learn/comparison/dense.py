"""Grids too large for cells: each pixel is the mixture of what its device did in that time. Pure: timelines in, pixels out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pipekit import plan
from pipekit.plan.ops import KINDS
from pipekit.show import FILLS
from pipekit.show.grid import IDLE, PAPER, Pixels

FAINT = 0.6  # a prediction's colours, beside a measurement's
APART = 6  # pixels of a row from which on a line parts it from the next


def block(timeline: plan.Timeline, width: int, until: float, row: int) -> Pixels:
    """(K x row, width, 3): a timeline's lanes, `width` pixels for the time up to `until`, without labels."""
    edges = np.linspace(0.0, until, width + 1)
    strength = FAINT if timeline.source == "predicted" else 1.0
    fills = [strength * np.array(FILLS[kind]) + (1 - strength) * 255 for kind in KINDS]
    lanes = [_lane(timeline, device, edges, fills) for device in range(timeline.num_devices)]
    pixels = np.repeat(np.rint(np.stack(lanes)).astype(np.uint8), row, axis=0)
    if row >= APART:
        pixels[row - 1 :: row] = PAPER
    return pixels


def _lane(
    timeline: plan.Timeline,
    device: int,
    edges: npt.NDArray[np.float64],
    fills: Sequence[npt.NDArray[np.float64]],
) -> npt.NDArray[np.float64]:
    """(width, 3): the mean colour of each pixel's stretch of time."""
    own = timeline.spans.where(timeline.spans.devices == device)
    kinds, pixel = own.kinds, edges[1] - edges[0]
    colour, busy = np.zeros((len(edges) - 1, 3)), np.zeros(len(edges) - 1)
    for kind in np.unique(kinds).tolist():
        chosen = kinds == kind
        starts, ends = own.starts[chosen] - timeline.start, own.ends[chosen] - timeline.start
        worked = np.repeat(np.cumsum(ends - starts), 2)
        worked[::2] -= ends - starts  # at each start, then at each end
        moments = np.stack([starts, ends], axis=1).ravel()
        share = np.diff(np.interp(edges, moments, worked)) / pixel
        colour += share[:, None] * fills[kind]
        busy += share
    return colour + np.clip(1 - busy, 0, 1)[:, None] * np.array(IDLE)
