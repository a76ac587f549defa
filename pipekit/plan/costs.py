"""What ops and messages cost, for one micro-batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from pipekit.errors import CostsError
from pipekit.plan.ops import KINDS, B, F, I, R, W

Number = float | Sequence[float]
ONE_NUMBER = ("overhead", "latency", "bandwidth", "unit_samples")  # the others may list one number a stage


@dataclass(frozen=True)
class Costs:
    """Seconds (or ticks) per op, and what a hop between two devices costs.

    Each of the op costs is a number for all stages, or a list with one number a stage. They are for ONE
    micro-batch of `unit_samples` samples: with `sizes`, an op on n samples takes
    `overhead + number * n / unit_samples`.

    Args:
        forward, backward: time of F and B.
        recompute: time of R; left out: as long as forward.
        input_grad, weight_grad: time of I and W; left out: backward / 2.
        overhead: added to every op, whatever its size.
        latency: delay of each hop between two devices; sending keeps no device busy.
        bandwidth: bytes a second of each link; messages of one direction queue up. None: free.
        message_bytes: what one micro-batch sends over the cut behind each stage; left at 1, bandwidth counts messages.
        unit_samples: how many samples the numbers are for.

    >>> Costs(forward=1, backward=2).table(num_stages=2)[:, 0].tolist()  # F B I W R
    [1.0, 2.0, 1.0, 1.0, 1.0]
    """

    forward: Number = 1.0
    backward: Number = 2.0
    recompute: Number | None = None
    input_grad: Number | None = None
    weight_grad: Number | None = None
    overhead: float = 0.0
    latency: float = 0.0
    bandwidth: float | None = None
    message_bytes: Number = 1.0
    unit_samples: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.default is None:
                continue
            numbers = np.asarray(value, dtype=float)
            if field.name in ONE_NUMBER and numbers.ndim:
                raise CostsError("costs_number", name=field.name, asked=value)
            divides = field.name in ("bandwidth", "unit_samples")
            if not np.all(np.isfinite(numbers) & ((numbers > 0) if divides else (numbers >= 0))):
                raise CostsError(
                    "costs_positive" if divides else "costs_negative", name=field.name, asked=value
                )

    def table(self, num_stages: int) -> npt.NDArray[np.float64]:
        """(5, S): seconds of each kind code (F B I W R) and stage, for `unit_samples` samples, without overhead."""
        half = np.asarray(self.backward, dtype=float) / 2
        rows: dict[int, tuple[str, Number | npt.NDArray[np.float64]]] = {
            F: ("forward", self.forward),
            B: ("backward", self.backward),
            I: ("input_grad", half if self.input_grad is None else self.input_grad),
            W: ("weight_grad", half if self.weight_grad is None else self.weight_grad),
            R: ("recompute", self.forward if self.recompute is None else self.recompute),
        }
        return np.stack([per_stage(*rows[kind], num_stages) for kind in range(len(KINDS))])

    def transfer(self, num_stages: int) -> npt.NDArray[np.float64]:
        """(S,): seconds that one micro-batch's message occupies the link behind each stage."""
        if self.bandwidth is None:
            return np.zeros(num_stages)
        return per_stage("message_bytes", self.message_bytes, num_stages) / self.bandwidth


def per_stage(name: str, value: Number | npt.NDArray[np.float64], num_stages: int) -> npt.NDArray[np.float64]:
    """(S,) array of a number, or of a list with one number a stage."""
    numbers = np.asarray(value, dtype=float)
    if numbers.ndim and numbers.shape != (num_stages,):
        raise CostsError("costs_length", name=name, given=numbers.size, num_stages=num_stages)
    return np.broadcast_to(numbers, (num_stages,)).copy()
