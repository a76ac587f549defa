"""Is the zero-bubble V schedule as fast as PyTorch's? `python -m benchmarks.zero_bubble`

K = 2 in real time on two cores, hidden 1024, nothing declared: our `zb_v` on two threads and PyTorch's
ScheduleZBVZeroBubble on two gloo processes in alternating rounds, our 1F1B and one process beside them, with the same
allocator settings on all sides.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable

from benchmarks.machine import facts, table
from benchmarks.speed import LOSS, NUM_STAGES, TorchPeer, make, one_process, timed
from pipekit import plan, run

import torch  # isort: skip

HIDDEN, NUM_SAMPLES = 1024, 256
COUNTS = (4, 8)


def race(count: int, peer: TorchPeer, rounds: int, steps: int) -> dict[str, float]:
    """The median seconds of every runner's steps; within a round they run one after the other."""
    model, batch, target = make(HIDDEN, NUM_SAMPLES)
    alone = one_process(model, batch, target, count)
    halves, whole = plan.zb_v(NUM_STAGES, count), plan.one_f_one_b(NUM_STAGES, count)
    with (
        run.Pipeline(run.partition(model, 4), run.cpu(NUM_STAGES), halves.placement) as in_halves,
        run.Pipeline(run.partition(model, NUM_STAGES), run.cpu(NUM_STAGES)) as in_one,
    ):
        runners: dict[str, Callable[[int], list[float]]] = {
            "one process": lambda n: [timed(alone, model) for _ in range(n)],
            "torch zb_v": lambda n: peer.steps((HIDDEN, NUM_SAMPLES, count, "zb_v"), n),
            "pipekit zb_v": lambda n: [
                timed(lambda: in_halves.step(halves, batch, target, LOSS), model) for _ in range(n)
            ],
            "pipekit 1f1b": lambda n: [
                timed(lambda: in_one.step(whole, batch, target, LOSS), model) for _ in range(n)
            ],
        }
        for runner in runners.values():
            runner(3)
        times: dict[str, list[float]] = {name: [] for name in runners}
        for _ in range(rounds):
            for name, runner in runners.items():
                times[name] += runner(steps)
    return {name: statistics.median(each) for name, each in times.items()}


def main(arguments: list[str] | None = None) -> int:
    """Print the table; exit code 1 if PyTorch's is faster."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--steps", type=int, default=3, help="steps of every runner a round")
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)
    print(facts())
    peer, rows, good = TorchPeer(), [], True
    for count in COUNTS:
        seconds = race(count, peer, asked.rounds, asked.steps)
        slower = seconds["pipekit zb_v"] > seconds["torch zb_v"]
        good = good and not slower
        rows.append(
            [count, *(1e3 * each for each in seconds.values()), "slower than torch" if slower else ""]
        )
    peer.close()
    print(f"milliseconds a step, median; hidden {HIDDEN}, batch {NUM_SAMPLES}")
    print(table(["M", *seconds, ""], rows))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
