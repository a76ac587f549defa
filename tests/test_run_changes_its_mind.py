"""Stages, losses and batches that do something else than when they were first seen: never a silent wrong result."""

import os
import threading

import numpy as np
import pytest
import torch
from torch import nn

from pipekit import plan, run
from pipekit.errors import BatchError, PlacementError, StageError


@pytest.fixture(autouse=True)
def double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def mean_square(output, target):
    return ((output - target) ** 2).mean()


def line():
    return nn.Linear(6, 6)


def data(seed=0):
    made = torch.Generator().manual_seed(seed)
    return torch.randn(8, 6, generator=made), torch.randn(8, 6, generator=made)


def pipeline_of(*layers):
    return run.Pipeline(run.partition(nn.Sequential(*layers), 2), run.stand_ins(2, tick=0.001))


def never_against_always(make, change=lambda layers, step: None, steps=2):
    """The gradients of the last step under both policies, from the same weights and seeds: how far apart?"""

    def gradients(checkpoint):
        torch.manual_seed(0)
        layers = make()
        with pipeline_of(*layers) as pipeline:
            for step in range(steps):
                torch.manual_seed(step)
                change(layers, step)
                nn.ModuleList(layers).zero_grad()
                pipeline.step(plan.gpipe(2, 4, checkpoint), *data(step), mean_square)
        return run.gradients(layers)

    return run.relative_difference(gradients("never"), gradients("always"))


def test_a_stage_may_begin_to_draw_after_its_first_step():
    def later(layers, step):
        for layer in layers[1::2]:
            layer.p = 0.5 * step

    def make():
        return [line(), nn.Dropout(0.0), line(), nn.Dropout(0.0)]

    assert never_against_always(make, later, steps=3) == 0  # found out in the second step, keyed in the third


def test_a_recompute_draws_what_its_forward_drew_even_in_the_step_in_which_it_begins():
    """Linear after the mask, and a loss linear in it: the gradient of the bias before it shows the mask of B."""
    drop, kept = nn.Dropout(0.0), []
    layers = [line(), drop, nn.Identity(), line()]
    layers[2].register_forward_hook(lambda module, given, output: kept.append(output.detach().clone()))
    with run.Pipeline(
        run.partition(nn.Sequential(*layers), balance=[3, 1]), run.stand_ins(2, tick=0.001)
    ) as pipeline:
        pipeline.step(plan.gpipe(2, 1, "always"), *data(), mean_square)
        drop.p = 0.5
        kept.clear()
        pipeline.step(plan.gpipe(2, 1, "always"), *data(), mean_square)
    forward, again = kept
    assert torch.equal(forward, again)
    assert (forward == 0).any()


class RunningMost(nn.Module):
    """Changes its buffer only when a larger value comes by, and reads it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("most", torch.zeros(()))
        self.line = line()

    def forward(self, x):
        output = torch.tanh(self.line(x) * (1 + self.most))
        if x.detach().abs().max() > self.most:
            self.most.copy_(x.detach().abs().max())
        return output


class Renormed(nn.BatchNorm1d):
    """Reads its running mean while it trains, unlike the BatchNorm it comes from."""

    def forward(self, x):
        mean = self.running_mean.clone()
        self.running_mean.mul_(0.9).add_(0.1 * x.detach().mean(0))
        return (x - mean) * self.weight + self.bias


@pytest.mark.parametrize(
    "make",
    [lambda: [RunningMost(), RunningMost()], lambda: [line(), Renormed(6), line(), Renormed(6)]],
    ids=["changes only sometimes", "a BatchNorm that reads its statistics"],
)
def test_a_recompute_sees_the_buffers_its_forward_saw_whenever_they_change(make):
    assert never_against_always(make, steps=3) == 0


def test_a_batch_norm_that_begins_to_count_later_still_counts_once():
    def statistics(checkpoint):
        torch.manual_seed(0)
        layers = [line(), nn.BatchNorm1d(6, momentum=0.0), line()]
        with pipeline_of(*layers) as pipeline:
            for momentum in (0.0, 0.1):
                layers[1].momentum = momentum
                pipeline.step(plan.gpipe(2, 4, checkpoint), *data(), mean_square)
        return layers[1].running_mean

    assert torch.equal(statistics("never"), statistics("always"))


@pytest.mark.parametrize("stage", [0, 1])
def test_working_in_place_only_later_is_refused_once_and_then_believed(stage):
    layers = [nn.Sequential(nn.LeakyReLU(0.3)), line(), nn.Sequential(nn.LeakyReLU(0.3)), line()]
    x, y = data()
    with pipeline_of(*layers) as pipeline:
        pipeline.step(plan.gpipe(2, 4), x, y, mean_square)
        layers[2 * stage][0].inplace = True
        with pytest.raises(StageError, match="in place only this time"):
            pipeline.step(plan.gpipe(2, 4), x.clone(), y, mean_square)
        nn.ModuleList(layers).zero_grad()
        given = x.clone()
        pipeline.step(plan.gpipe(2, 4), given, y, mean_square)
    assert torch.equal(given, x)
    ours = run.gradients(layers)
    nn.ModuleList(layers).zero_grad()
    mean_square(nn.Sequential(*layers)(x.clone()), y).backward()
    assert run.relative_difference(ours, run.gradients(layers)) < 1e-12


class Box:
    def __init__(self, value):
        self.value = value


class Boxes(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = line()

    def forward(self, x):
        return self.line(x), Box(torch.tanh(x))


class Unboxes(nn.Module):
    def forward(self, both):
        return both[0] * both[1].value


@pytest.mark.parametrize("checkpoint", ["never", "always"])
def test_an_object_that_hides_tensors_does_not_cross_a_cut(checkpoint):
    with (
        pipeline_of(Boxes(), Unboxes()) as pipeline,
        pytest.raises(StageError, match="0F0: stage 0 returned a Box that holds tensors"),
    ):
        pipeline.step(plan.gpipe(2, 4, checkpoint), *data(), mean_square)


@pytest.mark.parametrize("hide", [lambda y: y.numpy(), Box], ids=["numpy array", "object"])
def test_what_cannot_be_cut_is_refused_in_a_target(hide):
    x, y = data()
    with pipeline_of(line(), line()) as pipeline, pytest.raises(BatchError, match="target is a"):
        pipeline.step(plan.gpipe(2, 8), x, hide(y), lambda o, t: mean_square(o, torch.as_tensor(t)))
    assert isinstance(y.numpy(), np.ndarray)


class Adds(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = line()

    def forward(self, both):
        return self.line(both[0] + both[1])


def test_a_whole_tensor_gets_no_gradient_in_any_step():
    table = nn.Parameter(torch.randn(6))
    x, y = data()
    with pipeline_of(Adds(), line()) as pipeline:
        for _ in range(2):
            pipeline.step(plan.gpipe(2, 4), (x, run.whole(table)), y, mean_square)
    assert table.grad is None


class Weighted(nn.Module):
    """A loss with a parameter and a buffer."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(6))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, output, target):
        self.calls += 1
        return ((output - target) ** 2 * self.weight).mean()


def test_a_loss_with_parameters_and_buffers_is_part_of_the_transaction():
    loss = Weighted()
    with pipeline_of(line(), line()) as pipeline:
        run.measure(pipeline, plan.gpipe(2, 4), *data(), loss, steps=2)
        assert loss.weight.grad is None
        assert loss.calls == 0
        pipeline.step(plan.gpipe(2, 4), *data(), loss)
    assert loss.weight.grad is not None
    assert loss.calls == 4


def test_memory_is_counted_anew_for_another_loss_from_the_same_line():
    def make(repeats):
        return lambda o, t: ((torch.tanh(o.repeat(1, repeats)) - t.repeat(1, repeats)) ** 2).mean()

    def peak(pipeline, loss):
        return pipeline.step(plan.gpipe(2, 4), *data(), loss).memory.peak_activation_bytes[1]

    layers = [line(), line()]
    with pipeline_of(*layers) as fresh:
        true = peak(fresh, make(50))
    with pipeline_of(*layers) as pipeline:
        assert peak(pipeline, make(1)) < true
        assert peak(pipeline, make(50)) == true


class Afresh:
    """Iterable again and again, without a length."""

    def __init__(self):
        self.begun = 0

    def __iter__(self):
        self.begun += 1
        return iter([data()])


def test_fit_begins_batches_anew_each_epoch_if_they_can():
    layers, batches = [line(), line()], Afresh()
    optimizer = torch.optim.SGD(nn.ModuleList(layers).parameters(), lr=0.1)
    with pipeline_of(*layers) as pipeline:
        run.fit(pipeline, plan.gpipe(2, 4), batches, mean_square, optimizer, epochs=3)
        history = run.fit(pipeline, plan.gpipe(2, 4), iter([data()]), mean_square, optimizer, epochs=3)
    assert batches.begun >= 3
    assert len(history.losses) == 3


def test_two_pipelines_do_not_step_with_the_same_parameters_at_once():
    layers, started, go_on = [line(), line()], threading.Event(), threading.Event()

    def slow(output, target):
        started.set()
        assert go_on.wait(30)
        return mean_square(output, target)

    with pipeline_of(*layers) as one, pipeline_of(*layers) as other:
        thread = threading.Thread(target=one.step, args=(plan.gpipe(2, 4), *data(), slow))
        thread.start()
        assert started.wait(30)
        with pytest.raises(PlacementError, match="another pipeline is in the middle of a step"):
            other.step(plan.gpipe(2, 4), *data(), mean_square)
        go_on.set()
        thread.join()
        other.step(plan.gpipe(2, 4), *data(), mean_square)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # the mistake this test is about
def test_a_forked_child_is_told_that_it_has_no_workers():
    with pipeline_of(line(), line()) as pipeline:
        child = os.fork()
        if child == 0:
            try:
                pipeline.step(plan.gpipe(2, 4), *data(), mean_square)
            except PlacementError as error:
                os._exit(0 if error.key == "forked" else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
