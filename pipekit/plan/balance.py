"""Cut a row of layers so that the heaviest stage is as light as possible."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipekit.errors import CostsError, PartitionError
from pipekit.plan.schedules import count

ROOM = 1 + 1e-9  # the same sum in another order differs in its last bits


def balance(costs: Sequence[float], num_stages: int) -> list[int]:
    """Layers per stage: the contiguous cut whose heaviest stage is lightest.

    Args:
        costs: what each layer costs (seconds, FLOP, bytes: any unit), not negative.
        num_stages: how many stages, at most one a layer.

    Returns:
        One number of layers a stage. Optimal; among optimal cuts the one with the smallest sum of squared stage
        costs, and of those the one with longer stages first.

    Raises:
        PartitionError: more stages than layers. CostsError: a negative cost.

    >>> balance([3, 1, 4, 1, 5], num_stages=2)
    [3, 2]
    >>> balance([1] * 40, num_stages=4)
    [10, 10, 10, 10]
    """
    stages = count("num_stages", num_stages)
    weights = np.asarray(costs, dtype=float)
    num_layers = len(weights)
    if stages > num_layers:
        raise PartitionError("balance_costs", num_layers=num_layers, num_stages=stages)
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise CostsError("costs_negative", name="costs", asked=list(costs))
    total = np.concatenate([[0.0], np.cumsum(weights / (weights.max() or 1.0))])
    load = total[None, :] - total[:, None]  # load[i, j]: layers i..j-1 as one stage
    load[np.tril_indices(num_layers + 1)] = np.inf  # a stage has at least one layer
    lightest = _best_cut(load, stages, np.maximum)[0]
    allowed = np.where(load <= lightest * ROOM, load**2, np.inf)
    cuts = _best_cut(allowed, stages, np.add)[1]
    return np.diff([0, *cuts]).tolist()


def _best_cut(cost: np.ndarray, num_stages: int, join: np.ufunc) -> tuple[float, list[int]]:
    """Dynamic programme over stages: the least joined cost, and where each stage ends."""
    best, choices = cost[0], []
    for _ in range(num_stages - 1):
        table = join(best[:, None], cost)
        best = table.min(axis=0)
        # ties: the last cut as far right as possible leaves the longer stages in front
        choices.append(table.shape[0] - 1 - np.argmax((table <= best * ROOM)[::-1], axis=0))
    ends = [cost.shape[0] - 1]
    for choice in reversed(choices):
        ends.append(int(choice[ends[-1]]))
    return float(best[-1]), ends[::-1]
