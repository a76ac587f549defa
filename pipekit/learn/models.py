"""Two small real networks for the digits, and a recipe that trains them, whole or cut.

Both are `nn.Sequential`s of equal blocks without shortcuts, so that they can be cut between any two blocks. They
normalise each sample by itself: with BatchNorm a micro-batch would see other statistics than the mini-batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import nn

from pipekit import plan, run
from pipekit.learn.data import Digits, digits

NUM_CLASSES = 10
NUM_PIXELS = 64


def mlp(
    num_blocks: int = 8, width: int = 64, normalise: Callable[[int], nn.Module] = nn.LayerNorm
) -> nn.Sequential:
    """A tower of equal blocks (Linear, LayerNorm, ReLU): (n, 1, 8, 8) -> (n, 10); about 97 % of the digits right.

    Args:
        normalise: width -> a layer; `nn.BatchNorm1d` shows that cutting a mini-batch then changes the result.

    >>> len(mlp()), mlp()(torch.zeros(3, 1, 8, 8)).shape
    (8, torch.Size([3, 10]))
    """
    blocks = [
        [nn.Linear(width if block else NUM_PIXELS, width), normalise(width), nn.ReLU()]
        for block in range(num_blocks)
    ]
    return _tower(blocks, first=nn.Flatten(), last=nn.Linear(width, NUM_CLASSES))


def uneven_mlp(sizes: Sequence[int]) -> nn.Sequential:
    """A tower whose blocks don't weigh the same: block i is `sizes[i]` blocks of `mlp` one after another.

    >>> len(uneven_mlp([4, 1, 1])), uneven_mlp([4, 1, 1])(torch.zeros(3, 1, 8, 8)).shape
    (3, torch.Size([3, 10]))
    """

    def layer() -> list[nn.Module]:
        return [nn.Linear(NUM_PIXELS, NUM_PIXELS), nn.LayerNorm(NUM_PIXELS), nn.ReLU()]

    blocks = [[part for _ in range(size) for part in layer()] for size in sizes]
    return _tower(blocks, first=nn.Flatten(), last=nn.Linear(NUM_PIXELS, NUM_CLASSES))


def convnet(num_blocks: int = 8, channels: int = 16) -> nn.Sequential:
    """A tower of equal blocks (3 x 3 convolution, GroupNorm, ReLU): (n, 1, 8, 8) -> (n, 10); about 98 % right.

    >>> len(convnet()), convnet()(torch.zeros(3, 1, 8, 8)).shape
    (8, torch.Size([3, 10]))
    """
    blocks = [
        [
            nn.Conv2d(channels if block else 1, channels, kernel_size=3, padding=1),
            nn.GroupNorm(num_groups=4, num_channels=channels),
            nn.ReLU(),
        ]
        for block in range(num_blocks)
    ]
    answer = nn.Sequential(nn.Flatten(), nn.Linear(channels * NUM_PIXELS, NUM_CLASSES))
    return _tower(blocks, first=None, last=answer)


def _tower(blocks: list[list[nn.Module]], first: nn.Module | None, last: nn.Module) -> nn.Sequential:
    """`first` belongs to the first block and `last` to the last: K = number of blocks is the finest cut."""
    if first is not None:
        blocks[0].insert(0, first)
    blocks[-1].append(last)
    return nn.Sequential(*(nn.Sequential(*block) for block in blocks))


def train(
    model: nn.Sequential,
    data: Digits | None = None,
    *,
    num_stages: int = 1,
    num_micro_batches: int = 4,
    epochs: int = 15,
    batch_size: int = 64,
    learning_rate: float = 3e-3,
    seed: int = 0,
) -> list[float]:
    """Train with Adam, the rate falling to 0; with `num_stages` above 1 through a GPipe pipeline of stand-ins.

    Args:
        seed: of the order of the samples; whole and cut see the same mini-batches, so they learn the same.

    Returns:
        The mean loss of each epoch.
    """
    data = digits() if data is None else data
    steps = epochs * (len(data.train_labels) // batch_size)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=steps)
    losses = []
    with _gradients(model, num_stages, num_micro_batches) as gradients:
        for images, labels in _mini_batches(data, batch_size, epochs, seed):
            optimizer.zero_grad()
            losses.append(gradients(images, labels))
            optimizer.step()
            falling.step()
    each = len(losses) // epochs
    return [sum(losses[epoch * each : (epoch + 1) * each]) / each for epoch in range(epochs)]


def accuracy(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    """The share of images that the model reads right."""
    with torch.no_grad():
        return float((model(images).argmax(dim=1) == labels).float().mean())


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread inside torch's operations: on models this small several gain nothing, and on a busy machine they
    wait for each other a hundred times longer than they compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _gradients(
    model: nn.Sequential, num_stages: int, num_micro_batches: int
) -> Iterator[Callable[[torch.Tensor, torch.Tensor], float]]:
    """A function that fills `.grad` for one mini-batch and returns its loss: by the whole model, or cut."""
    if num_stages == 1:

        def whole(images: torch.Tensor, labels: torch.Tensor) -> float:
            loss = nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            return float(loss.detach())

        with one_thread():
            yield whole
        return
    schedule = plan.gpipe(num_stages, num_micro_batches)
    devices = run.cpu(num_stages)  # only the gradients are wanted: nothing is measured
    with run.Pipeline(run.partition(model, num_stages), devices) as pipeline:
        yield lambda images, labels: float(
            pipeline.step(schedule, images, labels, nn.functional.cross_entropy).loss
        )


def _mini_batches(
    data: Digits, batch_size: int, epochs: int, seed: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Full mini-batches in a new order every epoch; what is left over waits for another epoch."""
    order = torch.Generator().manual_seed(seed)
    for _ in range(epochs):
        for chosen in torch.randperm(len(data.train_labels), generator=order).split(batch_size):
            if len(chosen) == batch_size:
                yield data.train_images[chosen], data.train_labels[chosen]
