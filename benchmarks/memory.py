"""Is the memory what it is said to be? `python -m benchmarks.memory`

For an MLP, a conv net with BatchNorm and a Transformer cut in 4: peak activation bytes a device as predicted, as
counted in a real step, and the higher peak inside the ops, where torch's profiler watches the allocator.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.machine import facts, table
from pipekit import plan, run
from pipekit.plan.ops import KINDS, unpack
from pipekit.run.stage import Caller, Head, StageRun, Traits
from pipekit.run.values import Parcel

import torch  # isort: skip
from torch import nn  # isort: skip

NUM_STAGES, NUM_MICRO_BATCHES, NUM_SAMPLES = 4, 8, 64
LIMIT = 0.02
CPU = torch.device("cpu")


def models() -> dict[str, tuple[nn.Sequential, torch.Tensor]]:
    """Name -> model of 8 layers, batch."""
    conv = [nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()) for _ in range(8)]
    return {
        "MLP": (
            nn.Sequential(*(nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(8))),
            torch.randn(NUM_SAMPLES, 256),
        ),
        "conv + BatchNorm": (nn.Sequential(*conv), torch.randn(NUM_SAMPLES, 16, 8, 8)),
        "Transformer": (
            nn.Sequential(
                *(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, dropout=0.0) for _ in range(8))
            ),
            torch.randn(NUM_SAMPLES, 16, 64),
        ),
    }


def loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Mean squared error."""
    return nn.functional.mse_loss(output, target)


def rise(action: Callable[[], Any]) -> tuple[Any, int]:
    """What an action returns, and by how many bytes memory rose above its beginning at most."""
    with torch.autograd.profiler.profile(profile_memory=True, use_kineto=True) as profiler:
        result = action()
    events = [event for event in profiler.kineto_results.events() if event.name() == "[memory]"]
    now = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return result, most


def rises(stages: list[nn.Sequential], batch: torch.Tensor, recomputed: bool) -> dict[tuple[str, int], int]:
    """(kind, stage) -> how far one op on the first piece rises above what is kept when it begins."""
    piece = batch[: NUM_SAMPLES // NUM_MICRO_BATCHES]
    found: dict[tuple[str, int], int] = {}
    runs, parcel = [], Parcel([piece], [False], None)
    for index, stage in enumerate(stages):
        head = Head(loss, [piece], [1.0], has_target=True) if index == len(stages) - 1 else None
        again = frozenset([0]) if recomputed else frozenset()
        traits = Traits()
        traits.known = True
        one = StageRun(stage, index, index, head, again, traits, None, 0, Caller.now())
        runs.append(one)
        sent, found["F", index] = rise(partial(one.forward, 0, parcel, CPU))
        parcel = sent
    gradients: Any = []
    for index in reversed(range(len(stages))):
        if recomputed:
            _, found["R", index] = rise(partial(runs[index].recompute, 0))
        gradients, found["B", index] = rise(partial(runs[index].backward, 0, gradients))
    return found


def compare(
    name: str, model: nn.Sequential, batch: torch.Tensor, schedule: plan.Schedule, words: str
) -> list[object]:
    """One row."""
    stages = run.partition(model, NUM_STAGES)
    shape = run.inspect(stages, batch, loss=loss, target=batch)
    sizes = plan.micro_batch_sizes(NUM_SAMPLES, NUM_MICRO_BATCHES)
    predicted = plan.peak_activations(schedule, shape, sizes)
    with run.Pipeline(stages, run.stand_ins(NUM_STAGES, tick=0.005)) as pipeline:
        result = pipeline.step(schedule, batch, batch, loss)
    counted = result.memory.peak_activation_bytes
    above = rises(stages, batch, "R" in str(schedule))
    inside = []
    for lane, curve in zip(schedule.lanes, result.memory.curves, strict=True):
        kinds, stage, _ = unpack(lane.codes)
        before = [0, *curve[:-1, 1].tolist()]
        op_rises = [above[KINDS[k].value, s] for k, s in zip(kinds.tolist(), stage.tolist(), strict=True)]
        inside.append(max(kept + more for kept, more in zip(before, op_rises, strict=True)))
    off = max(abs(c - p) / p for c, p in zip(counted, predicted, strict=True))
    kib = [" ".join(f"{value / 1024:.0f}" for value in values) for values in (predicted, counted, inside)]
    return [name, words, *kib, f"{off:.2%}", "" if off <= LIMIT else "over 2 %"]


def main() -> int:
    """Print the table; exit code 1 if counted and predicted differ by more than 2 %."""
    torch.manual_seed(0)
    print(facts(), "\n")
    rows = []
    for name, (model, batch) in models().items():
        for builder in (plan.gpipe, plan.one_f_one_b):
            for checkpoint in plan.CHECKPOINTS:
                schedule = builder(NUM_STAGES, NUM_MICRO_BATCHES, checkpoint)
                rows.append(compare(name, model, batch, schedule, f"{schedule.name}, {checkpoint}"))
    print(
        f"peak activations of each of {NUM_STAGES} devices in KiB; {NUM_MICRO_BATCHES} pieces of a batch of {NUM_SAMPLES}"
    )
    print(table(["", "", "predicted", "counted", "inside ops", "counted off by", ""], rows))
    good = not any(row[-1] for row in rows)
    print("counted equals predicted within 2 %" if good else "SOME ROWS ARE OFF BY MORE THAN 2 %")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
