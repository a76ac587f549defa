"""Exercises about the one claim of the lesson: cutting the mini-batch doesn't change the result. Torch is the judge."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import nn

from pipekit import plan, run
from pipekit.learn.exercises import pictures
from pipekit.learn.exercises.answers import answered, function, items, listed, words
from pipekit.learn.exercises.task import Case, Refused, Task, case_of

Pieces = list[tuple[torch.Tensor, torch.Tensor]]
Gradients = list[torch.Tensor]
LOSS = nn.functional.mse_loss
EQUAL = 1e-9  # relative; all is in float64
FEATURES = 4
MIDDLE: dict[str, tuple[str, Callable[[], nn.Module]]] = {  # what stands between the two linear layers
    "A": ("ReLU()", nn.ReLU),
    "B": ("LayerNorm(4)", lambda: nn.LayerNorm(FEATURES)),
    "C": ("BatchNorm1d(4)", lambda: nn.BatchNorm1d(FEATURES)),
    "D": ("GroupNorm(2, 4)", lambda: nn.GroupNorm(2, FEATURES)),
    "E": ("BatchNorm1d(4).eval()", lambda: nn.BatchNorm1d(FEATURES).eval()),
    "F": (
        "BatchNorm1d(4, track_running_stats=False)",
        lambda: nn.BatchNorm1d(FEATURES, track_running_stats=False),
    ),
}
BREAKS = 1e-3  # a difference that is no rounding


class Watched(nn.Sequential):
    """A small model that notes how many samples it was given at once."""

    def __init__(self) -> None:
        super().__init__(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
        self.double()
        self.most_samples = 0
        # The layer's hook: who calls the layers one by one is seen, too.
        self[0].register_forward_pre_hook(self._note)

    def _note(self, layer: nn.Module, given: tuple[torch.Tensor]) -> None:
        self.most_samples = max(self.most_samples, len(given[0]))


def made(sizes: Sequence[int]) -> Pieces:
    """Random pieces of these sizes."""
    return [
        (torch.randn(size, 3, dtype=torch.float64), torch.randn(size, 2, dtype=torch.float64))
        for size in sizes
    ]


def gradients_of(model: nn.Module, pieces: Pieces) -> Gradients:
    """The gradients of the mean loss over all these samples at once; `.grad` stays as it is."""
    batch, target = (torch.cat(parts) for parts in zip(*pieces, strict=True))
    return list(torch.autograd.grad(LOSS(model(batch), target), list(model.parameters())))


def grade_scale_gradients(answer: Any) -> None:
    """`.grad` must hold the whole mini-batch's gradient; the lesson's four equal pieces first, then unequal ones."""
    accumulate = function(answer)
    dice = random.Random()
    unequal = [dice.randint(1, 5) for _ in range(3)]
    for sizes in ((2, 2, 2, 2), (5,), (3, 3, 2), (1, 6), (*unequal, 6)):
        model, pieces = Watched(), made(sizes)
        weights = [parameter.detach().clone() for parameter in model.parameters()]
        given = [(batch.clone(), target.clone()) for batch, target in pieces]
        accumulate(model, LOSS, given)
        case = case_of("case_sizes", count=len(sizes), sizes=listed(sizes))
        if any(not torch.equal(a, b) for a, b in zip(weights, model.parameters(), strict=True)):
            raise Refused("weights_changed", case)
        if len(sizes) > 1 and model.most_samples > max(sizes):
            raise Refused("pieces_joined", case)
        found = [parameter.grad for parameter in model.parameters()]
        if all(gradient is None for gradient in found) and model.most_samples == 0:
            raise Refused("unanswered")
        compare_gradients(found, model, pieces, case)


def compare_gradients(found: list[Any], model: nn.Module, pieces: Pieces, case: Case) -> None:
    """Equal to the whole mini-batch's; what is wrong in a way that has a name gets it."""
    right = gradients_of(model, pieces)
    if any(gradient is None or not gradient.any() for gradient in found):
        raise Refused("no_gradients", case)
    if close(found, right):
        return
    for name, belief in believed(model, pieces):
        if close(found, belief):
            raise Refused(name, case)
    raise Refused("gradients_differ", case)


def believed(model: nn.Module, pieces: Pieces) -> Iterator[tuple[str, Gradients]]:
    """What each misconception puts into `.grad`."""
    each = [gradients_of(model, [piece]) for piece in pieces]
    sizes, count = [len(batch) for batch, _ in pieces], len(pieces)
    total = [torch.stack(parts).sum(dim=0) for parts in zip(*each, strict=True)]
    if len(set(sizes)) == 1:
        yield "m_times_too_large", total
    yield "plain_sum", total
    yield "plain_mean", [gradient / count for gradient in total]
    yield "first_only", each[0]
    yield "last_only", each[-1]
    for share in (1 / count, sizes[0] / sum(sizes)):
        yield "first_only", [share * gradient for gradient in each[0]]
    for share in (1 / count, sizes[-1] / sum(sizes)):
        yield "last_only", [share * gradient for gradient in each[-1]]
    right = gradients_of(model, pieces)
    yield "n_times_too_large", [sum(sizes) * gradient for gradient in right]
    yield "m_times_too_small", [gradient / count for gradient in right]
    yield "wrong_sign", [-gradient for gradient in right]


def close(found: Sequence[Any], right: Gradients) -> bool:
    """Whether two sets of gradients are equal, but for rounding."""
    return all(torch.is_tensor(a) and a.shape == b.shape for a, b in zip(found, right, strict=True)) and (
        run.relative_difference(found, right) < EQUAL
    )


def transparency_models() -> dict[str, nn.Sequential]:
    """Models A to F, in training as they stand here; which of them learn something else when the batch is cut?"""
    return {
        letter: nn.Sequential(nn.Linear(3, FEATURES), make(), nn.Linear(FEATURES, 2)).double()
        for letter, (_, make) in MIDDLE.items()
    }


@lru_cache(maxsize=1)
def broken() -> frozenset[str]:
    """The letters of the models whose gradients, cut into 4 pieces and really trained, aren't the whole batch's."""
    ((batch, target),) = made([8])
    letters, devices = set(), run.cpu(2)  # only the gradients are wanted: nothing is measured
    for letter, model in transparency_models().items():
        stages = run.partition(model, 2)
        with run.Pipeline(stages, devices) as pipeline:
            pipeline.step(plan.gpipe(2, 4), batch, target, LOSS)
        cut = run.gradients(stages)
        if run.relative_difference(cut, gradients_of(model, [(batch, target)])) > BREAKS:
            letters.add(letter)
    return frozenset(letters)


def grade_batch_norm(answer: Any) -> None:
    """The letters of the models that break the equality."""
    answered(answer)
    parts = [answer] if isinstance(answer, str) else sorted(map(str, items(answer, 20)))
    letters = {letter.upper() for part in parts for word in words(part) for letter in word} - set(
        "和与.。+&/"
    )
    models, right = transparency_models(), broken()
    case = " ".join(sorted(letters)) or "-"
    if strange := letters - models.keys():
        raise Refused("no_such_letter", " ".join(sorted(strange))[:60])
    if letters == right:
        return
    if letters == models.keys():
        raise Refused("all_letters", case)
    if not letters:
        raise Refused("no_letter", case)
    if letters == {"B", "C", "D", "E", "F"}:
        raise Refused("every_normalisation", case)
    if letters == models.keys() - right:
        raise Refused("letters_inverted", case)
    if "E" in letters:
        raise Refused("frozen_counted", case)
    raise Refused("letter_too_many" if letters - right else "letter_missing", case)


TASKS = (
    Task(
        "batch_norm", 9, grade_batch_norm, "letters",
        'letters = "..."',
        'letters = "CF"',
        lambda lang: pictures.models({letter: code for letter, (code, _) in MIDDLE.items()}, lang),
    ),
    Task(
        "scale_gradients", 9, grade_scale_gradients, "accumulate",
        "def accumulate(model, loss, pieces):\n    return ...",
        "def accumulate(model, loss, pieces):\n    total = sum(len(batch) for batch, _ in pieces)\n"
        "    for batch, target in pieces:\n        share = len(batch) / total\n"
        "        (share * loss(model(batch), target)).backward()",
    ),
)  # fmt: skip
