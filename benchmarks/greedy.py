"""How far from the best is `plan.greedy`'s search? `python -m benchmarks.greedy [--quick]`

Small cases against optima that CP-SAT proves (needs the extra `optimal`), larger ones against a bound and the best of
the named schedules that fit the cap. Always the search alone. Predicted times: nothing runs here.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.machine import facts, table
from pipekit import plan
from pipekit.plan.greedy import NAMED
from pipekit.plan.list_scheduling import Problem
from pipekit.plan.ops import F, I, W

LIMIT_MEAN, LIMIT_WORST = 0.005, 0.06  # of the optimum: the mean and the worst gap allowed
PROFILE = {
    "forward": 18.522,
    "backward": 27.423,
    "input_grad": 18.086,
    "weight_grad": 9.337,
    "latency": 0.601,
}


def uneven(num_devices: int, rng: random.Random, latency: float = 0.0) -> plan.Costs:
    """Every stage and kind from 2 to 8 by chance: far worse than a balanced cut."""
    forward, back, weight = ([rng.choice([2, 3, 4, 6, 8]) for _ in range(num_devices)] for _ in range(3))
    both = [b + w for b, w in zip(back, weight, strict=True)]
    return plan.Costs(forward, both, input_grad=back, weight_grad=weight, latency=latency)


COSTS: dict[str, Callable[[int, random.Random], plan.Costs]] = {
    "f = b = w": lambda k, rng: plan.Costs(1, 2),
    "f, b, w = 2, 3, 1": lambda k, rng: plan.Costs(2, 4, input_grad=3, weight_grad=1),
    "f = b = w, latency f / 2": lambda k, rng: plan.Costs(1, 2, latency=0.5),
    "uneven stages": lambda k, rng: uneven(k, rng),
    "uneven stages, latency": lambda k, rng: uneven(k, rng, latency=rng.choice([1, 3])),
}


def small_cases(quick: bool) -> Iterator[tuple[str, int, int, plan.Costs, int]]:
    """(costs by name, K, M, costs, cap): every cap that makes a difference."""
    rng = random.Random(1)
    for num_devices in (2, 3) if quick else (2, 3, 4):
        for count in (3, 6) if quick else (2, 3, 4, 6, 8):
            caps = {1, 2, num_devices - 1, num_devices, num_devices + 1, 2 * num_devices - 1, count}
            for cap in sorted(caps & set(range(1, count + 1))):
                for name, costs in COSTS.items():
                    yield name, num_devices, count, costs(num_devices, rng), cap


def gaps(quick: bool) -> tuple[list[list[object]], bool]:
    """One row a set of costs: how many cases, proven, reached; mean and worst gap; and whether they are allowed."""
    from benchmarks.optimum import optimum

    found: dict[str, list[tuple[bool, float]]] = {name: [] for name in COSTS}
    for name, num_devices, count, costs, cap in small_cases(quick):
        best = optimum(num_devices, count, costs, cap)
        ours = plan.greedy(num_devices, count, costs, cap).search_makespan
        found[name].append((best.proven, ours / best.makespan - 1))
    rows: list[list[object]] = []
    for name, each in [*found.items(), ("all", [one for several in found.values() for one in several])]:
        gap = np.array(
            [max(apart, 0.0) if apart > -1e-9 else np.nan for _, apart in each]
        )  # nan: below an optimum
        reached = int((gap < 1e-9).sum())
        proven = sum(proved for proved, _ in each)
        rows.append([name, len(each), proven, reached, f"{gap.mean():.3%}", f"{gap.max():.2%}"])
    good = bool(gap.mean() <= LIMIT_MEAN and gap.max() <= LIMIT_WORST and proven == len(each))
    return rows, good


def larger_cases() -> Iterator[tuple[str, int, int, plan.Costs, int]]:
    """Where no optimum is proven: (name, K, M, costs, cap)."""
    for cap in (4, 8, 15):
        yield "f = b = w", 8, 32, plan.Costs(1, 2), cap
    for cap in (8, 16):
        yield "Zero Bubble paper's 1.5B", 8, 24, plan.Costs(**PROFILE), cap
    slow_last = [1.0] * 7 + [2.0]
    yield "last stage twice as slow", 8, 32, plan.Costs(slow_last, [2 * each for each in slow_last]), 8
    yield "f = b = w, latency f / 10", 32, 256, plan.Costs(1, 2, latency=0.1), 32


def larger(quick: bool) -> list[list[object]]:
    """One row a case: search, best named that fits, bound, seconds."""
    rows: list[list[object]] = []
    for name, num_devices, count, costs, cap in list(larger_cases())[: 3 if quick else None]:
        began = time.perf_counter()
        ours = plan.greedy(num_devices, count, costs, cap).search_makespan
        took = time.perf_counter() - began
        timelines = {s.name: plan.simulate(s, costs) for s in (each(num_devices, count) for each in NAMED)}
        fit = {name: t for name, t in timelines.items() if max(plan.peak_in_flight(t)) <= cap}
        best = min(fit, key=lambda each: fit[each].makespan, default=None)
        named = f"{best} {fit[best].makespan:.2f}" if best else "none fits"
        work = costs.table(num_devices) + costs.overhead
        bound = Problem.of((F, I, W), work, costs, count, cap).bound()
        rows.append([name, num_devices, count, cap, ours, named, bound, took])
    return rows


def main() -> int:
    """Print both tables; exit code 1 if the search is further from the optimum than it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer cases")
    quick = parser.parse_args().quick
    print(facts(), "\n")
    print("larger cases, makespans; the bound may lie below what is possible")
    print(table(["", "K", "M", "cap", "search", "best named", "bound", "seconds"], larger(quick)), "\n")
    try:
        rows, good = gaps(quick)
    except ModuleNotFoundError as error:
        print(f"no optimum to compare with ({error}): pip install -c constraints.txt 'pipekit-lab[optimal]'")
        return 0
    print("small cases: the search against optima by CP-SAT")
    print(table(["", "cases", "proven", "reached", "mean gap", "worst gap"], rows))
    print("as good as it should be" if good else "FURTHER FROM THE OPTIMUM THAN IT SHOULD BE")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
