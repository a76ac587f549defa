"""Is planning as fast as thought? `python -m benchmarks.plan [--quick]`

Builds, validates and simulates GPipe, 1F1B and ZB-H1 for K = 64, M = 512 and for K = 1024, M = 4096 (8.4 million ops,
12.6 million where backwards are split), then reads off bubble, span bubble and memory in flight. Every case has a
process of its own, without torch, so that its peak memory is the planner's. Makespans are checked against theory:
3(M + K - 1) for F = 1, B = 2, and 3M + K - 1 for ZB-H1 with F = I = W = 1 (arXiv 2401.10241, table 2).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pipekit import plan

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

LIMIT_MIB = 2048
PHASES = ("build", "validate", "simulate", "measure")


@dataclass(frozen=True)
class Case:
    """One row: what is planned, its makespan by theory, and how many seconds it may take up to `simulate`."""

    name: str
    num_devices: int
    num_micro_batches: int
    makespan: int
    limit: float


def cases(quick: bool) -> list[Case]:
    """Both sizes, or only the small one."""
    found = []
    for k, m, limit, limit_split in ((64, 512, 0.3, 0.3), (1024, 4096, 5.0, 8.0)):
        found += [Case(name, k, m, 3 * (m + k - 1), limit) for name in ("gpipe", "one_f_one_b")]
        found += [Case("zb_h1", k, m, 3 * m + k - 1, limit_split)]
    return [case for case in found if not quick or case.num_devices < 1000]


def plan_once(name: str, num_devices: int, num_micro_batches: int) -> dict[str, Any]:
    """Seconds of each phase, and what the prediction says."""
    builder: Callable[..., plan.Schedule] = getattr(plan, name)
    clock = [time.perf_counter()]
    processor = time.process_time()
    schedule = builder(num_devices, num_micro_batches)
    clock.append(time.perf_counter())
    plan.validate(schedule)
    clock.append(time.perf_counter())
    timeline = plan.simulate(schedule, plan.Costs(forward=1, backward=2))
    clock.append(time.perf_counter())
    processor = time.process_time() - processor
    bubble, span, peak = (
        plan.bubble_fraction(timeline),
        plan.span_bubble(timeline),
        max(plan.peak_in_flight(timeline)),
    )
    clock.append(time.perf_counter())
    seconds = {phase: clock[i + 1] - clock[i] for i, phase in enumerate(PHASES)}
    return {
        **seconds,
        "total": clock[3] - clock[0],
        "processor": processor,
        "ops": schedule.num_ops,
        "makespan": timeline.makespan,
        "bubble": bubble,
        "span": span,
        "peak": peak,
    }


def peak_mib() -> float:
    """The most memory this process ever had, in MiB; nan where the system doesn't tell."""
    if resource is None:
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def in_a_process(case: Case, repeats: int) -> tuple[list[dict[str, Any]], float]:
    """What each repeat of a case took, and the peak memory of the process that ran them."""
    numbers = [case.name, case.num_devices, case.num_micro_batches, repeats]
    command = [sys.executable, "-m", "benchmarks.plan", "--case", *map(str, numbers)]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    answer = json.loads(done.stdout)
    return answer["runs"], answer["mib"]


def row(case: Case, repeats: int) -> list[object]:
    """One row; its last cell says what was missed."""
    runs, mib = in_a_process(case, repeats)
    middle = {key: statistics.median(run[key] for run in runs) for key in (*PHASES, "total", "processor")}
    missed = []
    if middle["total"] > case.limit:
        busy = ", by others: the machine was busy" if middle["processor"] <= case.limit else ""
        missed.append(f"over {case.limit:g} s{busy}")
    if mib > LIMIT_MIB:
        missed.append(f"over {LIMIT_MIB} MiB")
    if any(run["makespan"] != case.makespan for run in runs):
        missed.append(f"makespan is not {case.makespan}")
    said = runs[0]
    return [
        said["ops"],
        f"{case.name} K={case.num_devices} M={case.num_micro_batches}",
        *(f"{middle[phase]:.3f}" for phase in ("build", "validate", "simulate")),
        f"{middle['total']:.3f} of {case.limit:g}",
        *(f"{middle[key]:.3f}" for key in ("processor", "measure")),
        f"{mib:.0f}",
        f"{said['makespan']:.0f}",
        f"{said['bubble']:.2%}",
        f"{said['span']:.0f}",
        said["peak"],
        ", ".join(missed),
    ]


def main(arguments: list[str] | None = None) -> int:
    """Print the table; exit code 1 if a target is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="only K = 64, M = 512")
    parser.add_argument("--repeats", type=int, default=5, help="medians are of so many")
    parser.add_argument("--case", nargs=4, metavar=("NAME", "K", "M", "REPEATS"), help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.case:
        name, *numbers = asked.case
        k, m, repeats = map(int, numbers)
        runs = [plan_once(name, k, m) for _ in range(repeats)]
        print(json.dumps({"runs": runs, "mib": peak_mib()}))
        return 0
    rows = [row(case, asked.repeats) for case in cases(asked.quick)]
    # torch comes with the machine's facts, and a child's peak memory counts from what its parent had
    from benchmarks.machine import facts, table

    print(facts(), "\n")
    print(
        "seconds, medians; `total` is build + validate + simulate, `processor` the same on the processor's clock"
    )
    heads = ["ops", "", "build", "validate", "simulate", "total", "processor", "measures", "MiB", "makespan"]
    print(table([*heads, "bubble", "span bubble", "in flight", ""], rows))
    good = not any(cells[-1] for cells in rows)
    print("all targets reached" if good else "SOME TARGETS ARE MISSED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
