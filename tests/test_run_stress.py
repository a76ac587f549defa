"""Hundreds of steps of every kind, many of them failing or cancelled: no hang, nothing left, gradients right."""

import collections
import faulthandler
import gc
import os
import random
import threading
import time

import pytest
import torch
from torch import nn

from pipekit import plan, run
from pipekit.errors import Cancelled, StageError
from pipekit.run import devices as devices_module

WIDTH = 4
NUM_RUNS = [100, pytest.param(300, marks=pytest.mark.slow)]


class Trap(nn.Module):
    """Fails in its n-th call (or in the backward of it) once it is armed."""

    def __init__(self):
        super().__init__()
        self.left = None
        self.in_backward = False

    def forward(self, x):
        if self.left is None:
            return x
        self.left -= 1
        if self.left > 0:
            return x
        if not self.in_backward:
            raise ZeroDivisionError("trap")
        x = x * 1.0
        if x.requires_grad:
            x.register_hook(self.fail)
        return x

    def fail(self, gradient):
        raise ZeroDivisionError("trap")


def mean_square(output, target):
    return nn.functional.mse_loss(output, target)


def make_model(num_stages, seed):
    torch.manual_seed(seed)
    layers = []
    for _ in range(num_stages):
        layers += [nn.Linear(WIDTH, WIDTH), nn.BatchNorm1d(WIDTH).eval(), Trap(), nn.Tanh()]
    return nn.Sequential(*layers).double()


def uncut_gradients(model, x, y):
    return torch.autograd.grad(mean_square(model(x), y), list(model.parameters()))


class Story:
    """One random run: what is asked, what goes wrong, and what must come out."""

    def __init__(self, draw):
        self.num_devices = draw.randint(1, 6)
        self.num_stages = self.num_devices * draw.choice([1, 1, 1, 2])
        self.num_micro_batches = draw.randint(1, 6)
        self.seed = draw.randrange(10**6)
        self.real_time = draw.random() < 0.5
        self.ending = draw.choice(["good", "good", "failing", "cancelled"])
        self.stage = draw.randrange(self.num_stages)
        self.call = draw.randint(1, self.num_micro_batches)
        self.in_backward = draw.random() < 0.5
        self.cancel_at = draw.randint(1, 2 * self.num_stages * self.num_micro_batches)
        self.cancel_from_worker = draw.random() < 0.5
        self.delay = draw.uniform(0, 0.02)
        self.schedule = self.make_schedule(draw)

    def make_schedule(self, draw):
        policy = draw.choice(["never", "except_last", "always"])
        recompute = draw.choice(["late", "early"])
        if self.num_stages == self.num_devices:
            builder = draw.choice([plan.gpipe, plan.one_f_one_b])
            return builder(self.num_devices, self.num_micro_batches, policy, recompute)
        k, m = self.num_devices, self.num_micro_batches  # two chunks a device, one after the other
        back = "RB" if policy == "always" else "B"
        lanes = [
            [f"{stage}F{i}" for stage in (device, device + k) for i in range(m)]
            + [
                f"{stage}{kind}{i}"
                for stage in (device + k, device)
                for i in reversed(range(m))
                for kind in back
            ]
            for device in range(k)
        ]
        return plan.Schedule(lanes, [stage % k for stage in range(2 * k)], recompute)

    def devices(self):
        if self.real_time:
            return run.cpu(self.num_devices)
        return run.stand_ins(self.num_devices, tick=0.001)

    def tell(self):
        """Run it; returns how it ended."""
        model = make_model(self.num_stages, self.seed)
        stages = run.partition(model, self.num_stages)
        samples = self.num_micro_batches + self.seed % 4
        x, y = torch.randn(2, samples, WIDTH, dtype=torch.double).unbind()
        expected = uncut_gradients(model, x, y)
        old = [torch.full_like(g, 0.5) for g in expected]
        with run.Pipeline(stages, self.devices()) as pipeline:
            for parameter, gradient in zip(pipeline.parameters(), old, strict=True):
                parameter.grad = gradient.clone()
            ended = self.ended(pipeline, stages, x, y)
            ours = [p.grad for p in pipeline.parameters()]
            if ended != "good":
                assert all(torch.equal(a, b) for a, b in zip(ours, old, strict=True)), "not undone"
                self.disarm(stages)
                pipeline.step(self.schedule, x, y, mean_square)
                ours = [p.grad for p in pipeline.parameters()]
            wanted = [a + b for a, b in zip(old, expected, strict=True)]
            assert run.relative_difference(ours, wanted) < 1e-12
        return ended

    def ended(self, pipeline, stages, x, y):
        spans, timer = [], None
        if self.ending == "failing":
            trap = next(layer for layer in stages[self.stage] if isinstance(layer, Trap))
            trap.left, trap.in_backward = self.call, self.in_backward
        if self.ending == "cancelled" and not self.cancel_from_worker:
            timer = threading.Timer(self.delay, pipeline.cancel)
            timer.start()

        def on_span(span):
            spans.append(span)
            if self.ending == "cancelled" and self.cancel_from_worker and len(spans) == self.cancel_at:
                pipeline.cancel()

        try:
            pipeline.step(self.schedule, x, y, mean_square, on_span=on_span)
            return "good"
        except StageError as error:
            assert isinstance(error.__cause__, ZeroDivisionError)
            assert error.numbers["stage"] == self.stage
            return "failed"
        except Cancelled:
            return "cancelled"
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()

    def disarm(self, stages):
        for stage in stages:
            for layer in stage:
                if isinstance(layer, Trap):
                    layer.left = None


def live_tensors():
    gc.collect()
    return sum(issubclass(type(each), torch.Tensor) for each in gc.get_objects())


def resident_bytes():
    """This process's memory, or None where the system doesn't say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


@pytest.fixture
def watchdog(capfd):
    with capfd.disabled():
        stderr = os.fdopen(os.dup(2), "w")
    yield lambda: faulthandler.dump_traceback_later(30, exit=True, file=stderr)
    faulthandler.cancel_dump_traceback_later()
    stderr.close()


@pytest.fixture
def no_probes(monkeypatch):
    """Neither real time's probe nor the clock's grain is what this is about."""
    monkeypatch.setattr(devices_module, "slowdown_together", lambda n: (1.0, 1.0))
    monkeypatch.setattr(devices_module, "sleep_grain", lambda clock, sleep: 0.0)


def wait_until(done, seconds=10.0):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.002)


@pytest.mark.parametrize("num_runs", NUM_RUNS)
def test_hundreds_of_random_runs_end_as_told_and_leave_nothing(watchdog, no_probes, num_runs):
    draw = random.Random(20)
    before = run.live_workers()
    endings, tensors, resident = collections.Counter(), {}, {}
    for index in range(num_runs):
        watchdog()  # 30 s for one run
        story = Story(draw)
        try:
            ended = story.tell()
        except BaseException:
            print(index, vars(story))
            raise
        assert ended == {"failing": "failed"}.get(story.ending, ended), vars(story)
        endings[ended] += 1
        assert run.live_workers() == before, vars(story)
        if index % 50 == 49:
            tensors[index], resident[index] = live_tensors(), resident_bytes()
    assert min(endings["good"], endings["failed"], endings["cancelled"]) > num_runs // 10, endings
    assert len(set(tensors.values())) == 1, f"live tensors grew: {tensors}"
    if resident[num_runs - 1] is not None:
        grown = resident[num_runs - 1] - resident[49]
        assert grown < 64 * 2**20, f"memory grew by {grown / 2**20:.0f} MiB: {resident}"


def test_one_pipeline_outlives_two_hundred_cancelled_and_failing_steps(watchdog, no_probes):
    watchdog()
    draw = random.Random(4)
    model = make_model(3, seed=1)
    stages = run.partition(model, 3)
    x, y = torch.randn(2, 8, WIDTH, dtype=torch.double).unbind()
    expected = uncut_gradients(model, x, y)
    schedule = plan.one_f_one_b(3, 4, "except_last")
    counts = []
    with run.Pipeline(stages, run.cpu(3)) as pipeline:
        for index in range(200):
            watchdog()
            stop_at, trap = draw.randint(1, 20), stages[draw.randrange(3)][2]
            spans = []

            def on_span(span, spans=spans, stop_at=stop_at):
                spans.append(span)
                if len(spans) == stop_at:
                    pipeline.cancel()

            if index % 2:
                trap.left, trap.in_backward = draw.randint(1, 4), draw.random() < 0.5
                with pytest.raises(StageError):
                    pipeline.step(schedule, x, y, mean_square)
                trap.left = None
            else:
                with pytest.raises(Cancelled):
                    pipeline.step(schedule, x, y, mean_square, on_span=on_span)
            assert all(p.grad is None for p in pipeline.parameters())
            if index in (20, 199):
                wait_until(lambda: run.working_workers() == 0)
                counts.append(live_tensors())
        pipeline.step(schedule, x, y, mean_square)
        assert run.relative_difference([p.grad for p in pipeline.parameters()], expected) < 1e-12
    assert counts[0] == counts[1], f"live tensors grew: {counts}"
