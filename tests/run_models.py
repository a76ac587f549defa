"""What the tests of `run` share: small models, devices that measure nothing, and the uncut model's answer."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from pipekit import plan, run


class QuietCpu(run.CpuThreads):
    """CPU threads that never probe the machine, for tests that don't look at the clock."""

    @property
    def source(self):
        return "shared"

    def label(self):
        return "test"


def is_real(tensor):
    """False while the engine only reads the model's shape off it."""
    return not tensor.is_meta and type(tensor).__name__ != "FakeTensor"


class Residual(nn.Module):
    """x + f(x)."""

    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width))

    def forward(self, x):
        return x + self.inner(x)


class Do(nn.Module):
    """A layer made of a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *values):
        return self.function(*values)


def mlp(num_layers=6, width=6):
    return nn.Sequential(*(nn.Sequential(nn.Linear(width, width), nn.Tanh()) for _ in range(num_layers)))


def convnet(num_layers=6, channels=3, norm=nn.BatchNorm2d):
    return nn.Sequential(
        *(
            nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), norm(channels), nn.ReLU())
            for _ in range(num_layers)
        )
    )


def residual(num_layers=6, width=6):
    return nn.Sequential(*(Residual(width) for _ in range(num_layers)))


def mean_square(output, target):
    return (output - target).square().mean()


@contextmanager
def pipeline_of(model, num_stages=None, num_devices=None, placement=None, **more) -> Iterator[run.Pipeline]:
    """A pipeline of a model, or of stages where no number is given."""
    stages = list(model) if num_stages is None else run.partition(model, num_stages)
    devices = QuietCpu(num_devices or (max(placement) + 1 if placement else len(stages)))
    with run.Pipeline(stages, devices, placement, **more) as pipeline:
        yield pipeline


def uncut(model, batch, target, loss=mean_square):
    """Gradients of the whole model on the whole batch, and the loss; the model stays as it was."""
    model = copy.deepcopy(model)
    model.zero_grad(set_to_none=True)
    value = loss(model(batch), target)
    value.backward()
    return run.gradients([model]), value.detach()


def stepped(stages, schedule, batch, target, loss=mean_square, weight="samples", **more):
    """Gradients and result of one step through fresh copies of the stages."""
    stages = copy.deepcopy(nn.ModuleList(stages))
    stages.zero_grad(set_to_none=True)
    placement = schedule.placement
    with pipeline_of(stages, num_devices=schedule.num_devices, placement=placement, **more) as pipeline:
        result = pipeline.step(schedule, batch, target, loss, weight)
    return run.gradients(stages), result


def same_bits(ours, theirs):
    """Whether two lists of tensors (or None) are equal to the last bit."""
    return all(
        (a is None) == (b is None) and (a is None or torch.equal(a, b))
        for a, b in zip(ours, theirs, strict=True)
    )


POLICIES = [
    (checkpoint, recompute)
    for checkpoint in plan.CHECKPOINTS
    for recompute in ("late", "early")
    if checkpoint != "never" or recompute == "late"
]
