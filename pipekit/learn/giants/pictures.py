"""The image giant's small relative: the same cells, few and narrow, really trained on handwritten digits, cut in four.

`pictures.pt` holds weights that `python -m pipekit giants pictures --full` trained, and the recipe they came from.
Layers normalise each picture by itself, so that the cut network learns what the whole one would.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch import nn

from pipekit import plan, run
from pipekit.errors import FileError
from pipekit.learn.data import Digits, digits
from pipekit.learn.experiment import ROUNDING
from pipekit.learn.giants.amoebanet import amoebanet
from pipekit.learn.models import NUM_CLASSES, one_thread

SAVED = Path(__file__).with_name("pictures.pt")
LOSS = nn.functional.cross_entropy


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides what the small relative becomes; the defaults made the saved one."""

    num_cells: int = 3
    num_filters: int = 16
    balance: tuple[int, ...] = (2, 1, 1, 3)  # layers a stage: about equal times
    num_micro_batches: int = 4
    batch_size: int = 64
    epochs: int = 12
    learning_rate: float = 3e-3
    seed: int = 0


@dataclass(slots=True)
class Picture:
    """A small relative as far as it is trained: its network, what it has seen, how well it did at the end of epochs."""

    recipe: Recipe
    model: nn.Sequential
    optimizer: torch.optim.Optimizer
    losses: list[float] = field(default_factory=list)  # an epoch's mean
    accuracies: list[float] = field(default_factory=list)  # of test digits, after each epoch

    @property
    def stages(self) -> list[nn.Sequential]:
        """The network cut as its recipe says; layers are shared with `model`."""
        return run.partition(self.model, balance=self.recipe.balance)

    @property
    def finished(self) -> bool:
        """Whether it has had all its epochs."""
        return len(self.losses) >= self.recipe.epochs


@dataclass(frozen=True, slots=True)
class Exam:
    """What the cut network and the whole one read in the same digits, and how far their gradients differ."""

    labels: torch.Tensor  # (n,) what is written
    read_cut: torch.Tensor  # (n,) what the cut network reads
    read_whole: torch.Tensor
    gradient_difference: float

    @property
    def num_images(self) -> int:
        """How many were read."""
        return len(self.labels)

    @property
    def right_cut(self) -> int:
        """How many the cut network read right."""
        return int((self.read_cut == self.labels).sum())

    @property
    def right_whole(self) -> int:
        """How many the whole network read right."""
        return int((self.read_whole == self.labels).sum())

    @property
    def accuracy(self) -> float:
        """The share that the cut network read right."""
        return self.right_cut / self.num_images

    @property
    def same(self) -> bool:
        """Whether cut and whole read the same, and would change each knob by the same but for rounding."""
        return bool((self.read_cut == self.read_whole).all()) and self.gradient_difference < ROUNDING

    @property
    def mistakes(self) -> list[tuple[int, int, int]]:
        """(index, written, read) of each digit that the cut network read wrong."""
        wrong = torch.nonzero(self.read_cut != self.labels).flatten().tolist()
        return [(index, int(self.labels[index]), int(self.read_cut[index])) for index in wrong]


def picture_net(recipe: Recipe | None = None) -> Picture:
    """A small relative that has learned nothing yet."""
    recipe = recipe or Recipe()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        model = amoebanet(
            recipe.num_cells,
            recipe.num_filters,
            num_classes=NUM_CLASSES,
            image_channels=1,
            stem_halvings=0,
            normalise=one_by_one,
        )
    return Picture(recipe, model, torch.optim.Adam(model.parameters(), lr=recipe.learning_rate))


def one_by_one(channels: int) -> nn.Module:
    """Normalise each picture over all its channels: other pictures of a micro-batch don't matter."""
    return nn.GroupNorm(1, channels)


def saved_picture_net(path: Path = SAVED) -> Picture:
    """The small relative as it was saved: by default the one that comes with the package.

    Raises:
        FileError: no such file, or one that holds no small relative.
    """
    if not path.exists():
        raise FileError("file_missing", path=path, folder=path.parent)
    try:
        kept = torch.load(path, weights_only=True)
        recipe = Recipe(**{**kept["recipe"], "balance": tuple(kept["recipe"]["balance"])})
        picture = picture_net(recipe)
        picture.model.load_state_dict(kept["model"])
        if kept["optimizer"] is not None:
            picture.optimizer.load_state_dict(kept["optimizer"])
        picture.losses, picture.accuracies = kept["losses"], kept["accuracies"]
    except Exception as error:  # torch says a broken file in many ways
        raise FileError("giant_file", path=path, cause=type(error).__name__) from None
    return picture


def save(picture: Picture, path: Path, to_go_on: bool = True) -> None:
    """Write it to a file: there whole or not at all.

    Args:
        to_go_on: with the optimizer's memory, so that training can go on as if it had not stopped.
    """
    kept = {
        "recipe": asdict(picture.recipe),
        "model": picture.model.state_dict(),
        "optimizer": picture.optimizer.state_dict() if to_go_on else None,
        "losses": picture.losses,
        "accuracies": picture.accuracies,
    }
    part = path.with_name(path.name + ".part")
    torch.save(kept, part)
    os.replace(part, path)


def train_pictures(
    picture: Picture,
    on_epoch: Callable[[Picture], None] = lambda _: None,
    stop: threading.Event | None = None,
    data: Digits | None = None,
) -> Picture:
    """Train it through a pipeline until it has had all its epochs, or `stop` is set.

    An epoch depends on the recipe and its number alone: a training that stopped goes on as if it had not.
    """
    data = digits() if data is None else data
    schedule = plan.gpipe(len(picture.recipe.balance), picture.recipe.num_micro_batches)
    with run.Pipeline(picture.stages, run.cpu(len(picture.recipe.balance))) as pipeline:
        while not picture.finished:
            epoch = len(picture.losses)
            _set_rate(picture, epoch)
            batches = list(mini_batches(data, picture.recipe, epoch))
            history = run.fit(pipeline, schedule, batches, LOSS, picture.optimizer, stop=stop)
            if history.cancelled:
                break
            picture.losses.append(sum(history.losses) / len(history.losses))
            read = _read(pipeline, schedule, data.test_images, data.test_labels)
            picture.accuracies.append(float((read == data.test_labels).float().mean()))
            on_epoch(picture)
    return picture


def examine(picture: Picture, data: Digits | None = None) -> Exam:
    """Let the cut network read all test digits, and the whole one; compare their gradients on them.

    The cut one reads them in a step of the pipeline that is undone.
    """
    data = digits() if data is None else data
    images, labels = data.test_images, data.test_labels
    stages, model = picture.stages, picture.model
    schedule = plan.gpipe(len(stages), picture.recipe.num_micro_batches)
    model.zero_grad()
    with run.Pipeline(stages, run.cpu(len(stages))) as pipeline:
        read = _read(pipeline, schedule, images, labels)
        pipeline.step(schedule, images, labels, LOSS)
    ours = run.gradients(stages)
    model.zero_grad()
    with one_thread():
        scores = model(images)
        LOSS(scores, labels).backward()
    difference = run.relative_difference(ours, run.gradients([model]))
    model.zero_grad()
    return Exam(labels, read, scores.detach().argmax(dim=1), difference)


def mini_batches(data: Digits, recipe: Recipe, epoch: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """One epoch's full mini-batches, in an order of its own."""
    chance = torch.Generator().manual_seed(1000 * recipe.seed + epoch)
    order = torch.randperm(len(data.train_labels), generator=chance)
    for chosen in order.split(recipe.batch_size):
        if len(chosen) == recipe.batch_size:
            yield data.train_images[chosen], data.train_labels[chosen]


def _set_rate(picture: Picture, epoch: int) -> None:
    """The rate falls in equal steps, an epoch each, towards 0."""
    for group in picture.optimizer.param_groups:
        group["lr"] = picture.recipe.learning_rate * (1 - epoch / picture.recipe.epochs)


def _read(
    pipeline: run.Pipeline, schedule: plan.Schedule, images: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """(n,) what the pipeline reads: taken where the last stage's answers arrive, in the loss, piece after piece."""
    pieces: list[torch.Tensor] = []

    def loss(scores: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        pieces.append(scores.detach().argmax(dim=1))
        return LOSS(scores, wanted)

    pipeline.step(schedule, images, labels, loss, keep_gradients=False)
    return torch.cat(pieces)
