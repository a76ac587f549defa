"""Record the measured runs that the phone page shows: `python -m pipekit.learn.phone.record` (about 20 minutes).

Every K and M of the page is really trained, on stand-ins with a slow clock. A batch has as many digits as can be cut
into M equal pieces, and the clock goes by the digit, so all runs are at one speed. As in `run.measure`, a step in which
an op overran or a worker woke up late is run again, and the median is kept.

    python -m pipekit.learn.phone.record            all of them
    python -m pipekit.learn.phone.record 2,3 5,9    these K,M again, the others stay
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Sequence
from datetime import date
from itertools import product
from typing import Any

import torch

from pipekit import plan
from pipekit.learn.experiment import LATE, Experiment, Outcome, Settings
from pipekit.learn.phone.grids import MICRO_BATCHES, RECORDED, STAGES, key, recorded

SAMPLES = 64  # at most
SECONDS_A_SAMPLE = 0.01  # forward on one device: slow enough for a machine that does other things too
STEPS = 3  # of which the median is kept
RETRIES = 5  # of a step in which a worker woke up late
TICKS = 10_000  # a second: times are kept as whole numbers of 0.1 ms


def main(asked: Sequence[str]) -> None:
    """Run what was asked, or everything; each run is written down when it is there."""
    runs = {key(run["num_stages"], run["num_micro_batches"]): run for run in recorded()} if asked else {}
    for num_stages, num_micro_batches in product(STAGES, MICRO_BATCHES):
        name = key(num_stages, num_micro_batches)
        if not asked or name in asked:
            runs[name] = {**made_on(), **record(num_stages, num_micro_batches)}
            print(name, runs[name]["bubble_fraction"], flush=True)
            text = json.dumps(list(runs.values()), separators=(",", ":"))
            RECORDED.write_text(text, encoding="utf-8")


def made_on() -> dict[str, Any]:
    """When and where, and how its times are to be read: each run's own, for others may be of another day."""
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return {
        "date": date.today().isoformat(),
        "machine": f"{machine}, torch {torch.__version__}",
        "seconds_a_sample": SECONDS_A_SAMPLE,
        "ticks_a_second": TICKS,
    }


def record(num_stages: int, num_micro_batches: int) -> dict[str, Any]:
    """Really train `STEPS` steps and write down the one with the median time."""
    num_samples = SAMPLES // num_micro_batches * num_micro_batches
    experiment = Experiment(batch_size=num_samples, batch_time=SECONDS_A_SAMPLE * num_samples)
    settings = Settings(num_stages, num_micro_batches)
    with experiment.bench(settings) as measure:
        measure(settings)  # the first step warms up
        outcomes = [on_time(measure, settings) for _ in range(STEPS)]
    return as_written(sorted(outcomes, key=lambda each: each.timeline.makespan)[STEPS // 2], num_samples)


def on_time(measure: Callable[[Settings], Outcome], settings: Settings) -> Outcome:
    """One step; run again while an op overran or a worker woke up late, and then the best of them."""
    tried = []
    for _ in range(1 + RETRIES):
        tried.append(measure(settings))
        if not tried[-1].result.overruns and tried[-1].result.slip.worst <= LATE:
            break
    return min(tried, key=lambda each: (each.result.overruns, each.result.slip.worst))


def as_written(outcome: Outcome, num_samples: int) -> dict[str, Any]:
    """One run as the file keeps it; a span is [device, kind, piece, start, end] in ticks."""
    timeline = outcome.timeline
    spans = [
        [each.device, each.op.kind.value, each.op.micro_batch, *(round((t - timeline.start) * TICKS) for t in (each.start, each.end))]
        for each in timeline.spans
    ]  # fmt: skip
    return {
        "num_stages": outcome.settings.num_stages,
        "num_micro_batches": outcome.settings.num_micro_batches,
        "num_samples": num_samples,
        "source": timeline.source,
        "devices": timeline.devices,
        "overruns": outcome.result.overruns,
        "gradient_difference": outcome.difference,
        "bubble_fraction": plan.bubble_fraction(timeline),
        "spans": spans,
    }


if __name__ == "__main__":
    main(sys.argv[1:])
