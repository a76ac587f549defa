"""The exercise "erase and redo": run a tower of layers so that little is kept, and the way back still works.

What is counted is real: how often a layer computes, and how many of the layers' results are still in memory.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from pipekit import run
from pipekit.learn.exercises.answers import function
from pipekit.learn.exercises.task import Refused, Task, case_of

LAYERS, SAMPLES, WIDTH = 9, 5, 6
MOST_KEPT, MOST_AT_ONCE, MOST_CALLS = 4, 6, 2 * LAYERS
EQUAL = 1e-9


@dataclass
class Desk:
    """What lies on it: the layers' results, by the memory that holds them."""

    sheets: list[StorageWeakRef] = field(default_factory=list)
    calls: int = 0
    most: int = 0

    def put(self, result: torch.Tensor) -> None:
        """One more sheet; a result that is still there has not been erased."""
        self.calls += 1
        self.sheets = [sheet for sheet in self.sheets if not sheet.expired()]
        self.sheets.append(StorageWeakRef(result.untyped_storage()))
        self.most = max(self.most, len(self.sheets))

    @property
    def kept(self) -> int:
        """How many are there now."""
        return sum(not sheet.expired() for sheet in self.sheets)


class Layer(nn.Module):
    """Linear and tanh; each result is put on the desk."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.linear, self.desk = nn.Linear(WIDTH, WIDTH, dtype=torch.float64), desk

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """tanh(W x + b)."""
        result = torch.tanh(self.linear(values))
        self.desk.put(result)
        return result


@dataclass(frozen=True)
class Counted:
    """What one way there and back took. kept: after the way there, without the answer itself."""

    kept: int
    most: int
    calls: int
    answer: torch.Tensor
    gradients: list[torch.Tensor | None]


def counted(function: Any, seed: int) -> Counted:
    """Go there and back with `function(layers, x)`, and count."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        desk = Desk()
        layers = [Layer(desk) for _ in range(LAYERS)]
        batch = torch.randn(SAMPLES, WIDTH, dtype=torch.float64, requires_grad=True)
    answer = function(list(layers), batch)
    if answer is None or answer is ...:
        raise Refused("unanswered")
    if not torch.is_tensor(answer) or answer.shape != (SAMPLES, WIDTH):
        raise Refused("answer_shape", str(tuple(getattr(answer, "shape", ())) or type(answer).__name__))
    if desk.kept - 1 > MOST_KEPT:
        gc.collect()  # what only a cycle holds is erased, too
    kept = desk.kept - 1
    if answer.requires_grad:
        try:
            answer.square().sum().backward()
        except RuntimeError as error:
            raise Refused("no_way_back", " ".join(str(error).split())[:120]) from None
    gradients = [*run.gradients(layers), batch.grad]
    return Counted(kept, desk.most, desk.calls, answer.detach(), gradients)


def keep_all(layers: list[nn.Module], values: torch.Tensor) -> torch.Tensor:
    """The ordinary way: autograd keeps every layer's result."""
    for layer in layers:
        values = layer(values)
    return values


def grade_recompute(answer: Any) -> None:
    """The same result and gradients as the ordinary way, with less kept, less at once, each layer at most twice."""
    found, right = counted(function(answer), seed=0), counted(keep_all, seed=0)
    case = case_of("case_desk", kept=found.kept, most=found.most, calls=found.calls)
    if run.relative_difference([found.answer], [right.answer]) > EQUAL:
        raise Refused("answer_differs", case)
    if all(gradient is None for gradient in found.gradients):
        raise Refused("no_way_back", case)
    if any(gradient is None for gradient in found.gradients) or (
        run.relative_difference(found.gradients, right.gradients) > EQUAL
    ):
        raise Refused("gradients_differ", case)
    if found.calls <= LAYERS:  # right gradients with nothing computed again: all was kept, seen here or not
        raise Refused("no_recompute", case)
    if found.kept > MOST_KEPT:
        raise Refused("kept_too_much", case)
    if found.calls > MOST_CALLS:
        raise Refused("recomputed_too_often", case)
    if found.most > MOST_AT_ONCE:
        raise Refused("all_at_once_again", case)


TASKS = (
    Task(
        "recompute", 11, grade_recompute, "forward",
        "def forward(layers, x):\n    return ...",
        "from torch import nn\nfrom torch.utils.checkpoint import checkpoint\n\n\ndef forward(layers, x):\n"
        "    for first in (0, 3, 6):\n        part = nn.Sequential(*layers[first : first + 3])\n"
        "        x = checkpoint(part, x, use_reentrant=False)\n    return x",
    ),
)  # fmt: skip
