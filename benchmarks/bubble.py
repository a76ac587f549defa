"""Is the measured bubble the true one? `python -m benchmarks.bubble [--quick]`

Stand-ins at 10 and 5 ms a tick against the exact prediction, median of 5 steps; uneven stages, uneven pieces and
latency against `simulate`; the lesson's two grids; and real time for K = 2, where nothing is declared.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.machine import facts, table
from pipekit import plan, run
from pipekit.learn.data import digits
from pipekit.learn.models import mlp

import torch  # isort: skip
from torch import nn  # isort: skip

LOSS = nn.functional.cross_entropy
LIMITS = {0.010: 0.5, 0.005: 1.0}  # points of difference allowed, by seconds a tick
LIMIT_UNEVEN = 1.0
LIMIT_LESSON = 0.02


@dataclass(frozen=True)
class Case:
    """One row: how it is called, what runs on what, and how far off it may be (points)."""

    name: str
    schedule: plan.Schedule
    devices: run.StandIns
    limit: float
    num_samples: int = 64


def cases(quick: bool) -> Iterator[Case]:
    """The grid of the equal cases, then the uneven ones."""
    for tick, limit in LIMITS.items():
        for num_stages in (4,) if quick else (2, 4, 8):
            for count in (4, 16) if quick else (4, 8, 16, 32):
                for builder in (plan.gpipe, plan.one_f_one_b):
                    for checkpoint, recompute in (("never", "late"), ("always", "late"), ("always", "early")):
                        schedule = builder(num_stages, count, checkpoint, recompute)
                        words = checkpoint if checkpoint == "never" else f"{checkpoint}, {recompute}"
                        name = f"{schedule.name} K={num_stages} M={count} {words}, {tick * 1e3:g} ms"
                        yield Case(name, schedule, run.stand_ins(num_stages, tick=tick), limit)
    for builder in (plan.gpipe, plan.one_f_one_b):
        schedule = builder(4, 8)
        name = schedule.name
        slow = run.stand_ins(4, tick=0.01, slow={2: 1.5})
        yield Case(f"{name} K=4 M=8, stage 2 slower 1.5 x", schedule, slow, LIMIT_UNEVEN)
        late = run.stand_ins(4, tick=0.01, latency=0.005)
        yield Case(f"{name} K=4 M=8, 5 ms a hop", schedule, late, LIMIT_UNEVEN)
        uneven = run.stand_ins(4, batch_time=0.16)
        yield Case(f"{name} K=4 M=4, pieces 2,2,2,1", builder(4, 4), uneven, LIMIT_UNEVEN, num_samples=7)


def compare(case: Case, model: nn.Sequential, steps: int) -> tuple[list[object], bool]:
    """Measure one case: its row, and whether it is within its limit."""
    data = digits()
    batch, target = data.train_images[: case.num_samples], data.train_labels[: case.num_samples]
    stages = run.partition(model, case.schedule.num_stages)
    with run.Pipeline(stages, case.devices) as pipeline:
        predicted = plan.bubble_fraction(pipeline.predict(case.schedule, case.num_samples))
        measured = run.measure(pipeline, case.schedule, batch, target, LOSS, steps=steps)
    bubbles = [plan.bubble_fraction(result.timeline) for result in measured.results]
    bubble = statistics.median(bubbles)
    apart = 100 * (bubble - predicted)
    ok = abs(apart) <= case.limit
    overruns = sum(result.overruns for result in measured.results)
    slip = statistics.median(result.slip.median for result in measured.results)
    worst = max(result.slip.worst for result in measured.results)
    row = [
        case.name,
        100 * predicted,
        100 * bubble,
        f"{apart:+.2f}",
        f"{overruns} ({measured.repeated})",
        f"{slip * 1e3:.2f}",
        f"{worst * 1e3:.2f}",
        "" if ok else f"more than {case.limit:g}",
    ]
    return row, ok


def lesson(model: nn.Sequential) -> tuple[str, bool]:
    """The lesson's picture from a real run: the uncut batch on 16 columns, 4 pieces on 7, forward only."""
    data = digits()
    batch, target = data.train_images[:64], data.train_labels[:64]
    pictures, spans = [], []
    with run.Pipeline(run.partition(model, 4), run.stand_ins(4, batch_time=0.16)) as pipeline:
        for schedule in (plan.naive(4), plan.gpipe(4, 4)):
            result = run.measure(pipeline, schedule, batch, target, LOSS, steps=3).median
            forward = result.timeline.only("F")
            rows = plan.cells(forward, column=0.04)
            idle = sum(cell == "." for row in rows for cell in row)
            pictures.append(plan.picture(forward, column=0.04))
            pictures.append(f"{len(rows[0])} columns, {idle} of {sum(map(len, rows))} cells idle\n")
            spans.append(forward.makespan)
    ratio = spans[0] / spans[1]
    off = ratio / (16 / 7) - 1
    words = f"uncut {spans[0] * 1e3:.1f} ms : 4 pieces {spans[1] * 1e3:.1f} ms = {ratio:.4f}; 16 : 7 = {16 / 7:.4f} ({off:+.2%})"
    label = f"measured on {result.timeline.devices}"
    return "\n".join([*pictures, words, label]), abs(off) <= LIMIT_LESSON


def real_time(hidden: int, num_samples: int, counts: tuple[int, ...]) -> str:
    """K = 2 on two cores, nothing declared: measured beside what the measured costs predict."""
    torch.manual_seed(0)
    model = nn.Sequential(*(nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU()) for _ in range(8)))
    batch, target, loss = torch.randn(num_samples, hidden), torch.randn(num_samples, hidden), nn.MSELoss()
    stages, devices = run.partition(model, 2), run.cpu(2)
    rows = []
    for count in counts:
        costs = run.profile(stages, batch, target, loss, num_micro_batches=count)
        for builder in (plan.gpipe, plan.one_f_one_b):
            schedule = builder(2, count)
            with run.Pipeline(stages, devices) as pipeline:
                measured = run.measure(pipeline, schedule, batch, target, loss, steps=9)
            bubble = statistics.median(plan.bubble_fraction(result.timeline) for result in measured.results)
            rows.append(
                [
                    schedule.name,
                    count,
                    100 * plan.formula_bubble(2, count),
                    100 * plan.bubble_fraction(plan.simulate(schedule, costs)),
                    100 * bubble,
                    measured.median.timeline.makespan * 1e3,
                ]
            )
    heads = ["schedule", "M", "formula %", "simulated from profile %", "measured %", "ms a step"]
    return f"hidden {hidden}, batch {num_samples}, {devices.label()}\n" + table(heads, rows)


def main(arguments: list[str] | None = None) -> int:
    """Print all tables; exit code 1 if a row is over its limit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--steps", type=int, default=5)
    asked = parser.parse_args(arguments)
    torch.manual_seed(0)
    model = mlp()
    print(facts(), "\n")
    rows, good = [], True
    for case in cases(asked.quick):
        row, ok = compare(case, model, asked.steps)
        rows.append(row)
        good = good and ok
    heads = ["", "predicted %", "measured %", "apart", "overruns (repeated)", "slip ms", "worst ms", ""]
    print(table(heads, rows), "\n")
    picture, ok = lesson(model)
    print(picture, "\n")
    print(real_time(1024, 256, (2, 4, 8)), "\n")
    print("all rows within their limits" if good and ok else "SOME ROWS ARE OVER THEIR LIMITS")
    return 0 if good and ok else 1


if __name__ == "__main__":
    sys.exit(main())
