"""The proven shortest schedule of F, I and W, by constraint programming (OR-Tools CP-SAT): for small K and M.

Needs the extra `optimal`: `pip install -c constraints.txt "pipekit-lab[optimal]"`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ortools.sat.python import cp_model

from pipekit.plan import Costs
from pipekit.plan.ops import F, I, W

GRAIN = 1000  # CP-SAT counts in whole numbers: thousandths of the costs' unit


@dataclass(frozen=True)
class Optimum:
    """The shortest makespan found, the least it could be, and whether the two are proven equal."""

    makespan: float
    bound: float
    proven: bool


def optimum(
    num_devices: int, num_micro_batches: int, costs: Costs, memory_limit: int, seconds: float = 20.0
) -> Optimum:
    """The same problem as `plan.greedy` with halves only: one stage a device, latency counts, bandwidth doesn't.

    Written from the law, not from the list scheduler: what an op needs, one op at a time on a device, and the cap.
    Micro-batches are alike, so each stage takes them in order in each kind without loss.
    """
    model = cp_model.CpModel()
    table = costs.table(num_devices) + costs.overhead
    lasts = {(k, s): _whole(table[k, s]) for k in (F, I, W) for s in range(num_devices)}
    latency = _whole(costs.latency)
    horizon = num_micro_batches * (sum(lasts.values()) + 2 * num_devices * latency)
    start = {
        (k, s, m): model.new_int_var(0, horizon, f"{s}{'FBIW'[k]}{m}")
        for k, s in lasts
        for m in range(num_micro_batches)
    }
    makespan = model.new_int_var(0, horizon, "makespan")

    def after(later: tuple[int, int, int], earlier: tuple[int, int, int], lag: int = 0) -> None:
        model.add(start[later] >= start[earlier] + lasts[earlier[:2]] + lag)

    for s in range(num_devices):
        model.add_no_overlap(
            model.new_fixed_size_interval_var(start[k, s, m], lasts[k, s], "")
            for k in (F, I, W)
            for m in range(num_micro_batches)
        )
        for m in range(num_micro_batches):
            if s > 0:
                after((F, s, m), (F, s - 1, m), latency)
                after((I, s - 1, m), (I, s, m), latency)
            after((I, s, m), (F, s, m))
            after((W, s, m), (I, s, m))
            if m >= memory_limit:
                after((F, s, m), (W, s, m - memory_limit))
            if m:
                for k in (F, I, W):
                    after((k, s, m), (k, s, m - 1))
            model.add(makespan >= start[W, s, m] + lasts[W, s])
    model.minimize(makespan)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    found, bound = solver.objective_value / GRAIN, solver.best_objective_bound / GRAIN
    return Optimum(found, bound, status == cp_model.OPTIMAL)


def _whole(time: float) -> int:
    number = round(time * GRAIN)
    if abs(number - time * GRAIN) > 1e-6:
        raise ValueError(f"{time} is not a whole number of 1/{GRAIN}; round the costs first")
    return number
