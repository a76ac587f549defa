"""What limits M: every piece costs something, however small it is. A fitted cost of a piece, and the best M that follows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pipekit.errors import CostsError


@dataclass(frozen=True, slots=True)
class PieceCost:
    """What one stage needs for one micro-batch, forward and back: alpha + beta / M.

    Args:
        alpha: of every piece, whatever its size. beta: of the whole mini-batch.

    >>> cost = PieceCost(alpha=0.003, beta=0.4)
    >>> round(cost.best(num_devices=4), 6), round(cost.step(4, 20), 3)
    (20.0, 0.529)
    """

    alpha: float
    beta: float

    def piece(self, num_micro_batches: float) -> float:
        """One of M pieces on one stage."""
        return self.alpha + self.beta / num_micro_batches

    def step(self, num_devices: int, num_micro_batches: float) -> float:
        """A step of GPipe with equal stages: (M+K-1)(alpha + beta/M)."""
        return (num_micro_batches + num_devices - 1) * self.piece(num_micro_batches)

    def best(self, num_devices: int) -> float:
        """The M with the shortest step, sqrt(beta (K-1) / alpha): no whole number, and infinite if pieces are free.

        0 where cutting gains nothing: on one device, and where a fit says that the work itself takes no time.
        """
        if not self.alpha > 0:
            return math.inf
        return math.sqrt(max(self.beta, 0.0) * (num_devices - 1) / self.alpha)


def fit_piece_cost(times: Mapping[int, float]) -> PieceCost:
    """Alpha and beta from measured times of one stage: M -> seconds of one of its M pieces, forward and back.

    Weighted by 1 / time^2: alpha shows where pieces are small, and without weights the large ones' noise drowns it.

    Raises:
        CostsError: fewer than two M, or a time that isn't positive.

    >>> cost = fit_piece_cost({1: 5.0, 2: 3.0, 4: 2.0})
    >>> round(cost.alpha, 9), round(cost.beta, 9)
    (1.0, 4.0)
    """
    if len(times) < 2:
        raise CostsError("fit_points", given=len(times))
    pieces, seconds = np.array(list(times), dtype=float), np.array(list(times.values()), dtype=float)
    if not (np.isfinite(seconds) & (seconds > 0)).all():
        raise CostsError("costs_positive", name="a piece's time", asked=float(seconds.min()))
    design = np.stack([np.ones_like(pieces), 1 / pieces], axis=1) / seconds[:, None]
    alpha, beta = np.linalg.lstsq(design, np.ones_like(seconds), rcond=None)[0]
    return PieceCost(float(alpha), float(beta))
