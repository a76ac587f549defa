"""AmoebaNet-D, the kind of image net that GPipe grew to its largest: cells found by evolution, sizes named (L, D).

The wiring is that of Real, Aggarwal, Huang and Le, "Regularized Evolution for Image Classifier Architecture Search"
(2018), with the normal cell's outputs as in the model its authors published; GPipe's Table 1 counts parameters that
way. A cell reads the two cells before it, so what goes from layer to layer, and over a cut, is a pair of tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import nn

Pair = tuple[torch.Tensor, torch.Tensor]  # the cell before, the cell before that
Normalise = Callable[[int], nn.Module]
Read = tuple[int, str]  # which state, through which operation


class Wiring(NamedTuple):
    """What evolution found: states 0 and 1 are the cell before and the one before that, each sum is one more state."""

    sums: tuple[tuple[Read, Read], ...]
    outputs: tuple[int, ...]  # the states that are joined


NORMAL = Wiring(
    sums=(
        ((1, "1x1"), (1, "max 3x3")),
        ((1, "same"), (0, "1x7 7x1")),
        ((0, "1x1"), (0, "1x7 7x1")),
        ((2, "max 3x3"), (2, "same")),
        ((1, "mean 3x3"), (5, "1x1")),
    ),
    outputs=(0, 3, 4, 6),
)
REDUCTION = Wiring(
    sums=(
        ((0, "max 2x2"), (0, "max 3x3")),
        ((2, "same"), (1, "3x3")),
        ((2, "1x7 7x1"), (2, "max 3x3")),
        ((3, "same"), (1, "max 2x2")),
        ((2, "mean 3x3"), (3, "1x1")),
    ),
    outputs=(4, 5, 6),
)

# (L, D) -> parameters: GPipe (arXiv 1811.06965), Table 1, the largest that 1, 1, 2, 4 and 8 accelerators could hold.
PUBLISHED = {
    (18, 208): 82e6,
    (18, 416): 318e6,
    (18, 544): 542e6,
    (36, 544): 1.05e9,
    (72, 512): 1.8e9,
}
# The same paper, section 4: AmoebaNet-B, cells of a sister net, on 480 x 480 photos; right at the first guess.
GIANT_PARAMETERS, GIANT_ACCURACY = 557e6, 0.844


def amoebanet(
    num_cells: int,
    num_filters: int,
    *,
    num_classes: int = 1000,
    image_channels: int = 3,
    stem_halvings: int = 3,
    normalise: Normalise = nn.BatchNorm2d,
) -> nn.Sequential:
    """AmoebaNet-D (L, D) as a row of layers: a stem, three groups of L/3 normal cells, a reduction between, an answer.

    Args:
        num_cells: L, normal cells in all; a multiple of 3.
        num_filters: D, filters of the first group; the second has twice as many, the third four times.
        stem_halvings: how often the stem halves the image's sides before the first group: by its convolution, then by
            reduction cells. 3 for photos; 0 for images so small that nothing may be thrown away.
        normalise: channels -> a layer. BatchNorm sees a micro-batch only, so with it a cut changes the result.

    Returns:
        `nn.Sequential`: (n, image_channels, height, width) -> (n, num_classes).

    >>> net = amoebanet(3, 8, num_classes=10, image_channels=1, stem_halvings=0)
    >>> len(net), net(torch.zeros(2, 1, 8, 8)).shape
    (7, torch.Size([2, 10]))
    """
    first = num_filters // 2 ** max(stem_halvings - 1, 0)
    channels = _Channels(first, first, normalise)
    stem_cells = [channels.cell(REDUCTION, first * 2 ** (1 + each)) for each in range(stem_halvings - 1)]
    groups: list[nn.Module] = []
    for group in range(3):
        filters = num_filters * 2**group
        if group:
            groups.append(channels.cell(REDUCTION, filters))
        groups += [channels.cell(NORMAL, filters) for _ in range(num_cells // 3)]
    return nn.Sequential(
        Stem(image_channels, first, 2 if stem_halvings else 1, normalise),
        *stem_cells,
        *groups,
        Answer(channels.last, num_classes),
    )


def num_parameters(model: nn.Module) -> int:
    """How many knobs a model has; on the meta device as well, where they take no memory."""
    return sum(parameter.numel() for parameter in model.parameters())


class _Channels:
    """Builds cell after cell, and remembers what the next one will read."""

    def __init__(self, last: int, before: int, normalise: Normalise) -> None:
        self.last, self.before, self.normalise = last, before, normalise
        self.halved = False  # whether the last cell's sides are half of the one before

    def cell(self, wiring: Wiring, filters: int) -> Cell:
        made = Cell(wiring, self.last, self.before, filters, self.halved, self.normalise)
        self.last, self.before = filters * len(wiring.outputs), self.last
        self.halved = wiring is REDUCTION
        return made


class Stem(nn.Module):
    """Image -> a pair, twice the same: there's no cell before the first."""

    def __init__(self, image_channels: int, filters: int, stride: int, normalise: Normalise) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(image_channels, filters, 3, stride=stride, padding=1, bias=False), normalise(filters)
        )

    def forward(self, images: torch.Tensor) -> Pair:
        """(n, image_channels, h, w) -> two of (n, filters, h, w), or of half the height and width."""
        value = self.layers(images)
        return value, value


class Cell(nn.Module):
    """A normal or a reduction cell: brings both inputs to `filters` channels and one size, then follows the wiring."""

    def __init__(
        self, wiring: Wiring, last: int, before: int, filters: int, halved: bool, normalise: Normalise
    ) -> None:
        super().__init__()
        self.outputs = wiring.outputs
        self.states = [(one, other) for (one, _), (other, _) in wiring.sums]
        self.last = convolutions(last, [(filters, (1, 1), 1)], normalise)
        self.before: nn.Module = nn.Identity()
        if halved:
            self.before = Halve(before, filters, normalise)
        elif before != filters:
            self.before = convolutions(before, [(filters, (1, 1), 1)], normalise)
        stride = 2 if wiring is REDUCTION else 1
        self.operations = nn.ModuleList(
            operation(name, filters, stride if state < 2 else 1, normalise)
            for pair in wiring.sums
            for state, name in pair
        )

    def forward(self, pair: Pair) -> Pair:
        """(the cell before, the one before that) -> (this cell, the cell before)."""
        last, before = pair
        values = [self.last(last), self.before(before)]
        for number, (one, other) in enumerate(self.states):
            left, right = self.operations[2 * number], self.operations[2 * number + 1]
            values.append(left(values[one]) + right(values[other]))
        return torch.cat([values[state] for state in self.outputs], dim=1), last


class Halve(nn.Module):
    """Half the height and width without dropping a pixel: two 1 x 1 convolutions, the second a pixel further on."""

    def __init__(self, channels: int, filters: int, normalise: Normalise) -> None:
        super().__init__()
        self.even = nn.Conv2d(channels, filters // 2, 1, stride=2, bias=False)
        self.odd = nn.Conv2d(channels, filters - filters // 2, 1, stride=2, bias=False)
        self.normalise = normalise(filters)

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        """(n, channels, h, w) -> (n, filters, h / 2, w / 2), rounded up."""
        value = torch.relu(value)
        moved = nn.functional.pad(value, (0, 1, 0, 1))[:, :, 1:, 1:]
        joined: torch.Tensor = self.normalise(torch.cat([self.even(value), self.odd(moved)], dim=1))
        return joined


class Answer(nn.Module):
    """A pair -> a number a class: the last cell's mean over all places, then one linear layer."""

    def __init__(self, channels: int, num_classes: int) -> None:
        super().__init__()
        self.linear = nn.Linear(channels, num_classes)

    def forward(self, pair: Pair) -> torch.Tensor:
        """Two of (n, channels, h, w) -> (n, num_classes)."""
        scores: torch.Tensor = self.linear(pair[0].mean(dim=(2, 3)))
        return scores


def convolutions(
    channels: int, layers: list[tuple[int, tuple[int, int], int]], normalise: Normalise
) -> nn.Sequential:
    """ReLU, convolution, normalisation, once for each (filters, kernel, stride)."""
    made: list[nn.Module] = []
    for filters, kernel, stride in layers:
        padding = (kernel[0] // 2, kernel[1] // 2)
        made += [
            nn.ReLU(),
            nn.Conv2d(channels, filters, kernel, stride, padding, bias=False),
            normalise(filters),
        ]
        channels = filters
    return nn.Sequential(*made)


def operation(name: str, filters: int, stride: int, normalise: Normalise) -> nn.Module:
    """One of evolution's operations. The large convolutions work on a quarter of the channels, which is their cost."""
    few = filters // 4
    if name == "same":
        return nn.Identity()
    if name == "max 2x2":
        return nn.MaxPool2d(2, stride=stride, ceil_mode=True)  # an odd row keeps its last pixel
    if name == "max 3x3":
        return nn.MaxPool2d(3, stride=stride, padding=1)
    if name == "mean 3x3":
        return nn.AvgPool2d(3, stride=stride, padding=1, count_include_pad=False)
    inside = {
        "1x1": [(filters, (1, 1), stride)],
        "3x3": [(few, (1, 1), 1), (few, (3, 3), stride), (filters, (1, 1), 1)],
        "1x7 7x1": [(few, (1, 1), 1), (few, (1, 7), stride), (few, (7, 1), 1), (filters, (1, 1), 1)],
    }
    return convolutions(filters, inside[name], normalise)
