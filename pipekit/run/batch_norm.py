"""BatchNorm in a cut model: each micro-batch is normalised by itself, but the running statistics are the mini-batch's.

A plain BatchNorm moves its running statistics M times a step, by what each micro-batch alone looks like. A deferred one
gathers count, mean and squared deviations of all micro-batches, and moves once, when the step succeeds: by the mean and
the unbiased variance of all N samples, as in the uncut model. The idea is torchgpipe's (arXiv 2004.09910, section 3.2).

What is gathered lies in a buffer, so all that holds for buffers holds for it: a recomputation works on a throw-away
clone and counts nothing twice, and a step that fails or is cancelled puts it back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import nn

from pipekit.errors import PartitionError

Model = TypeVar("Model", bound=nn.Module)


def defer_batch_norm(model: Model) -> Model:
    """Have every BatchNorm of a model move its running statistics once a step, by the whole mini-batch.

    The layers stay the same objects (parameters, hooks, `state_dict` and all); they change their class. A step of a
    `run.Pipeline` opens and closes the gathering. Anywhere else a deferred layer is a plain BatchNorm: each forward in
    training is a mini-batch of its own. Outputs and gradients still follow each micro-batch's own statistics.

    A layer that one forward uses twice moves once, by both uses together. In eval, and without running statistics,
    nothing is different.

    Returns:
        The same model.

    Raises:
        PartitionError: a SyncBatchNorm, or a class derived from BatchNorm, which may gather in a way of its own;
            the model is as it was.
    """
    found = [
        (name, module)
        for name, module in model.named_modules()
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and type(module) not in DEFERRED
    ]
    for name, module in found:
        if type(module) not in _DEFERRED_OF:
            raise PartitionError("batch_norm_type", name=name or "the model", type=type(module).__name__)
    for _, module in found:
        if module.track_running_stats and module.running_mean is not None:
            module.__class__ = _DEFERRED_OF[type(module)]
            module.register_buffer("gathered", _nothing(module), persistent=False)
    return model


class Deferred(nn.modules.batchnorm._BatchNorm):
    """What the three have in common.

    `gathered` is (3, channels) in float64: of how many values, their mean, the sum of their squared deviations.
    """

    gathered: torch.Tensor
    gathering = False  # whether a step is open

    def begin(self) -> None:
        """A step begins: gather until `commit` or `drop`."""
        self.gathered.zero_()
        self.gathering = True

    def drop(self) -> None:
        """The step is undone; whoever undoes it puts the buffers back."""
        self.gathering = False

    def commit(self) -> None:
        """The step succeeded: move the running statistics once. A layer that saw nothing stays as it is."""
        self.gathering = False
        count, mean, squares = self.gathered
        assert self.running_mean is not None and self.running_var is not None
        if not count[0]:
            return
        with torch.no_grad():
            share = 0.0 if self.momentum is None else self.momentum
            if self.num_batches_tracked is not None:  # as in the plain one, which may have none
                self.num_batches_tracked.add_(1)
                share = 1.0 / float(self.num_batches_tracked) if self.momentum is None else share
            _move(self.running_mean, mean, share)
            _move(self.running_var, squares / (count - 1), share)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """As BatchNorm; in training, within a step, the running statistics wait."""
        if not (self.gathering and self.training and self.track_running_stats):
            return super().forward(input)
        self._check_input_dim(input)
        output = nn.functional.batch_norm(
            input, None, None, self.weight, self.bias, training=True, eps=self.eps
        )
        with torch.no_grad():
            self.gathered.copy_(_joined(self.gathered, _statistics(input.detach())))
        return output

    def _apply(self, fn: Callable[..., Any], recurse: bool = True) -> Any:
        """Half precision is for the layer, not for sums over a mini-batch."""
        super()._apply(fn, recurse)
        self.gathered = self.gathered.double()
        return self


class DeferredBatchNorm1d(Deferred, nn.BatchNorm1d):
    """A BatchNorm1d whose running statistics move once a step; made by `defer_batch_norm`."""


class DeferredBatchNorm2d(Deferred, nn.BatchNorm2d):
    """A BatchNorm2d whose running statistics move once a step; made by `defer_batch_norm`."""


class DeferredBatchNorm3d(Deferred, nn.BatchNorm3d):
    """A BatchNorm3d whose running statistics move once a step; made by `defer_batch_norm`."""


_DEFERRED_OF: dict[type[nn.Module], type[Deferred]] = {
    nn.BatchNorm1d: DeferredBatchNorm1d,
    nn.BatchNorm2d: DeferredBatchNorm2d,
    nn.BatchNorm3d: DeferredBatchNorm3d,
}
DEFERRED = tuple(_DEFERRED_OF.values())


def _nothing(module: nn.Module) -> torch.Tensor:
    mean = module.running_mean
    assert isinstance(mean, torch.Tensor)
    return torch.zeros(3, len(mean), dtype=torch.float64, device=mean.device)


def _statistics(values: torch.Tensor) -> torch.Tensor:
    """Of values (n, channels, ...): count, mean and summed squared deviations of each channel."""
    others = [0, *range(2, values.dim())]
    wide = values if values.dtype == torch.float64 else values.float()
    variance, mean = (each.double() for each in torch.var_mean(wide, others, correction=0))
    count = values.numel() // values.shape[1]
    return torch.stack([torch.full_like(mean, count), mean, variance * count])


def _joined(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The statistics of both together (Chan, Golub and LeVeque, 1979): no difference of two large sums."""
    count = one[0] + other[0]
    apart, share = other[1] - one[1], other[0] / count
    return torch.stack([count, one[1] + apart * share, one[2] + other[2] + apart.square() * one[0] * share])


def _move(running: torch.Tensor, towards: torch.Tensor, share: float) -> None:
    running.copy_(running.double() * (1 - share) + towards * share)
