"""How fast is the engine? `python -m benchmarks.speed`

K = 2 in real time on two cores, in alternating rounds: one process micro-batched, this engine, and
torch.distributed.pipelining on two gloo processes. All have one intra-op thread a device and the same allocator
settings. Ideal = (M+K-1) / (M K) x the one-process micro-batched time; the shares of it are taken within each round.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.machine import facts, table
from pipekit import plan, run

import torch  # isort: skip
from torch import nn  # isort: skip

NUM_STAGES = 2
NUM_BLOCKS = 8
SIZES = ((1024, 256, 0.90), (256, 64, 0.75))  # hidden, batch, the share of ideal to reach
COUNTS = (4, 8)
LIMIT_OVERHEAD = 60e-6  # seconds per lane op
LOSS = nn.MSELoss()


class Block(nn.Module):
    """A residual MLP block: (n, hidden) -> (n, hidden)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The input plus what the block makes of it."""
        return x + self.inner(x)


def make(hidden: int, num_samples: int) -> tuple[nn.Sequential, torch.Tensor, torch.Tensor]:
    """The same model and batch in every process."""
    torch.manual_seed(0)
    model = nn.Sequential(*(Block(hidden) for _ in range(NUM_BLOCKS)))
    return model, torch.randn(num_samples, hidden), torch.randn(num_samples, hidden)


def timed(step: Callable[[], Any], model: nn.Module) -> float:
    """Seconds of one step; gradients are dropped before it, outside the time."""
    model.zero_grad(set_to_none=True)
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin


# -- torch.distributed.pipelining: one process a rank, told what to do through a pipe


def torch_schedule(
    model: nn.Sequential, rank: int, count: int, name: str
) -> tuple[Any, nn.Module, bool, bool]:
    """PyTorch's own schedule of that name on a rank, the rank's layers, and whether it has the first and last stage."""
    from torch.distributed.pipelining import (
        PipelineStage,
        Schedule1F1B,
        ScheduleGPipe,
        ScheduleZBVZeroBubble,
    )

    num_stages, mine = (4, [rank, 3 - rank]) if name == "zb_v" else (NUM_STAGES, [rank])
    modules = run.partition(model, num_stages)
    stages = [PipelineStage(modules[s], s, num_stages, torch.device("cpu")) for s in mine]
    kind = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B, "zb_v": ScheduleZBVZeroBubble}[name]
    schedule = kind(stages if name == "zb_v" else stages[0], n_microbatches=count, loss_fn=LOSS)
    return schedule, nn.ModuleList([modules[s] for s in mine]), 0 in mine, num_stages - 1 in mine


def torch_rank(rank: int, port: int, pipe: Connection) -> None:
    """Serve ("prepare", hidden, samples, M, schedule) and ("steps", n) until None."""
    import torch.distributed as dist

    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=NUM_STAGES)
    built: dict[Any, Any] = {}
    while (request := pipe.recv()) is not None:
        (hidden, num_samples, count, name), num_steps = request
        if request[0] not in built:
            model, batch, target = make(hidden, num_samples)
            schedule, module, first, last = torch_schedule(model, rank, count, name)
            given, wanted = (batch,) if first else (), {"target": target} if last else {}
            built[request[0]] = (partial(schedule.step, *given, **wanted), module)
        step, module = built[request[0]]
        times = []
        for _ in range(num_steps):
            dist.barrier()
            times.append(timed(step, module))
        pipe.send(times)
    dist.destroy_process_group()


class TorchPeer:
    """Two rank processes; a step takes as long as the slower rank."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        context = multiprocessing.get_context("spawn")
        self.pipes, self.processes = [], []
        for rank in range(NUM_STAGES):
            ours, theirs = context.Pipe()
            process = context.Process(target=torch_rank, args=(rank, port, theirs), daemon=True)
            process.start()
            self.pipes.append(ours)
            self.processes.append(process)

    def steps(self, key: tuple[int, int, int, str], num_steps: int) -> list[float]:
        """Seconds of each of `num_steps` steps."""
        for pipe in self.pipes:
            pipe.send((key, num_steps))
        return [max(pair) for pair in zip(*(pipe.recv() for pipe in self.pipes), strict=True)]

    def close(self) -> None:
        """Send the ranks home."""
        for pipe in self.pipes:
            pipe.send(None)
        for process in self.processes:
            process.join()


# -- one process


def one_process(
    model: nn.Module, batch: torch.Tensor, target: torch.Tensor, count: int
) -> Callable[[], None]:
    """A micro-batched step without any pipeline."""
    pieces = list(zip(batch.tensor_split(count), target.tensor_split(count), strict=True))

    def step() -> None:
        for x, y in pieces:
            (LOSS(model(x), y) * (len(x) / len(batch))).backward()

    return step


def race(
    hidden: int, num_samples: int, count: int, peer: TorchPeer, rounds: int, steps: int
) -> list[dict[str, list[float]]]:
    """Seconds of every runner's steps in each round; within a round they run one after the other."""
    model, batch, target = make(hidden, num_samples)
    alone = one_process(model, batch, target, count)
    with run.Pipeline(run.partition(model, NUM_STAGES), run.cpu(NUM_STAGES)) as pipeline:

        def ours(name: str, num_steps: int) -> list[float]:
            schedule = plan.by_name(name, NUM_STAGES, count)
            return [
                timed(lambda: pipeline.step(schedule, batch, target, LOSS), model) for _ in range(num_steps)
            ]

        runners: dict[str, Callable[[int], list[float]]] = {
            "one process": lambda n: [timed(alone, model) for _ in range(n)],
            "torch gpipe": lambda n: peer.steps((hidden, num_samples, count, "gpipe"), n),
            "torch 1f1b": lambda n: peer.steps((hidden, num_samples, count, "1f1b"), n),
            "pipekit gpipe": lambda n: ours("gpipe", n),
            "pipekit 1f1b": lambda n: ours("1f1b", n),
        }
        for runner in runners.values():
            runner(3)
        return [{name: runner(steps) for name, runner in runners.items()} for _ in range(rounds)]


def of_ideal(rounds: list[dict[str, list[float]]], name: str, count: int) -> float:
    """Ideal time / a runner's time, medians of the same round; the median over rounds, since a machine has moods."""
    share = (count + NUM_STAGES - 1) / (count * NUM_STAGES)
    median = statistics.median
    return median(share * median(each["one process"]) / median(each[name]) for each in rounds)


def side_by_side(hidden: int, num_samples: int, count: int, seconds: float = 2.0) -> float:
    """What two threads reach of twice one thread, each with a stage's forward and backward of its own and no
    pipeline between them: no engine of threads can be nearer to ideal on this machine.

    Below 1 it is Python's lock, which every call of a layer takes, and the memory that both cores share.
    """
    model, batch, target = make(hidden, num_samples)
    turns = [one_process(stage, batch, target, count) for stage in run.partition(model, NUM_STAGES)]
    done = [0] * NUM_STAGES

    def work(stage: int) -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            turns[stage]()
            done[stage] += 1

    for turn in turns:
        turn()
    work(0)
    alone, done[0] = done[0], 0
    threads = [threading.Thread(target=work, args=(stage,)) for stage in range(NUM_STAGES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (NUM_STAGES * alone)


def undisturbed(rounds: list[dict[str, list[float]]], name: str, count: int) -> float:
    """The same of the quickest step of both: what the machine's moods leave out."""
    share = (count + NUM_STAGES - 1) / (count * NUM_STAGES)
    quickest = {who: min(min(each[who]) for each in rounds) for who in ("one process", name)}
    return share * quickest["one process"] / quickest[name]


def cut_by_hand(
    stages: Sequence[nn.Module], batch: torch.Tensor, target: torch.Tensor, count: int
) -> Callable[[], None]:
    """The same cut in one thread with torch's public calls alone: what a machine asks for two stages at least."""
    pieces = list(zip(batch.tensor_split(count), target.tensor_split(count), strict=True))
    first, second = stages

    def step() -> None:
        for x, y in pieces:
            sent = first(x)
            received = sent.detach().requires_grad_()
            (LOSS(second(received), y) * (len(x) / len(batch))).backward()
            sent.backward(received.grad)

    return step


def overhead(num_micro_batches: int = 16, steps: int = 200) -> tuple[float, float]:
    """Seconds per lane op of the engine and of a cut by hand: K = 2 stages that do next to nothing, less the same
    work uncut."""
    model, batch, target = (
        nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)),
        torch.randn(64, 4),
        torch.randn(64, 4),
    )
    schedule = plan.gpipe(NUM_STAGES, num_micro_batches)
    stages = run.partition(model, NUM_STAGES)
    with run.Pipeline(stages, run.cpu(NUM_STAGES)) as pipeline:
        runners = (
            lambda: pipeline.step(schedule, batch, target, LOSS),
            cut_by_hand(stages, batch, target, num_micro_batches),
            one_process(model, batch, target, num_micro_batches),
        )
        rounds = [[timed(runner, model) for runner in runners] for _ in range(steps)]
    engine, by_hand, bare = (statistics.median(column) for column in zip(*rounds, strict=True))
    share = NUM_STAGES / schedule.num_ops
    return max(0.0, engine - bare) * share, max(0.0, by_hand - bare) * share


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; exit code 1 if a target is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--steps", type=int, default=4, help="steps of every runner a round")
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)
    print(facts())
    alone, together = run.cpu(NUM_STAGES).probe
    print(
        f"two at once {alone / together:.0%}: what plain matrix products in two threads reach of twice one thread\n"
    )
    peer, rows, good = TorchPeer(), [], True
    for hidden, num_samples, share in SIZES:
        for count in COUNTS:
            rounds = race(hidden, num_samples, count, peer, asked.rounds, asked.steps)
            times = {
                name: statistics.median([t for each in rounds for t in each[name]]) for name in rounds[0]
            }
            shares = {name: of_ideal(rounds, name, count) for name in list(times)[1:]}
            ceiling = f"{side_by_side(hidden, num_samples, count):.0%}"
            row: list[object] = [
                f"hidden {hidden}, batch {num_samples}", count, times["one process"] * 1e3, ceiling
            ]  # fmt: skip
            for name, reached in shares.items():
                row.append(f"{times[name] * 1e3:.1f} ({reached:.0%}, {undisturbed(rounds, name, count):.0%})")
            ours, theirs = (
                max(shares[f"{who} {s}"] for s in ("gpipe", "1f1b")) for who in ("pipekit", "torch")
            )
            ok = ours >= share and ours >= theirs
            rows.append([*row, "" if ok else f"under {share:.0%} of ideal, or slower than torch"])
            good = good and ok
    peer.close()
    heads = [
        "",
        "M",
        "one process ms",
        "two threads",
        "torch gpipe",
        "torch 1f1b",
        "pipekit gpipe",
        "pipekit 1f1b",
        "",
    ]
    print(
        "milliseconds a step, and the share of ideal that is reached: by medians, by the quickest step of both;"
        "\ntwo threads: what two stages at once reach of twice one, with no pipeline and no engine between them"
    )
    print(table(heads, rows), "\n")
    seconds, by_hand = overhead()
    good = good and seconds <= LIMIT_OVERHEAD
    print(
        f"engine overhead {seconds * 1e6:.1f} us per lane op (K=2, M=16; at most {LIMIT_OVERHEAD * 1e6:.0f});"
        f" the same cut by hand in one thread, no engine: {by_hand * 1e6:.1f} us"
    )
    print("all targets reached" if good else "SOME TARGETS ARE MISSED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
