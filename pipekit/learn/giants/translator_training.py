"""Train the translator: one model for all languages, or one for each, at equal compute; and cut, by the engine.

Equal compute, exactly: all models have the same layers and so the same number of parameters, and see mini-batches of the
same size. A model of one language takes `steps_each` steps, the shared one `steps_each` x the number of languages. So a
language is seen in equally many examples (and repeats of them) on both sides, and optimizer steps x letters x
parameters, added up over the models of a side, are the same (letters to within 0.1 %: which ones is drawn by chance).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn

from pipekit import plan, run
from pipekit.learn.experiment import ROUNDING
from pipekit.learn.giants.translator import letter_loss, num_letters, number_translator
from pipekit.learn.giants.translator_data import (
    END,
    LANGUAGES,
    LONGEST,
    PAD,
    START,
    Language,
    decode,
    exam_numbers,
    mini_batches,
    pairs,
)
from pipekit.learn.models import one_thread
from pipekit.show import say, tiny

WARM_UP = 0.05  # of the steps: so long the learning rate rises


@dataclass(frozen=True, slots=True)
class TranslatorRecipe:
    """How every model is trained: with Adam, the rate rising shortly and then falling to 0."""

    steps_each: int = 300
    batch_size: int = 16
    learning_rate: float = 4e-3


RECIPE = TranslatorRecipe()


class Trained(NamedTuple):
    """A trained model, and what it took: steps, letters seen, seconds of this process."""

    model: nn.Sequential
    steps: int
    letters: int
    seconds: float


def train_translator(
    languages: Sequence[Language] = LANGUAGES, seed: int = 0, recipe: TranslatorRecipe = RECIPE
) -> Trained:
    """Train one model from its first random weights, uncut, in one thread.

    Args:
        languages: all that it learns.
        seed: of the first weights, the examples and their order.
    """
    began, letters, steps = time.process_time(), 0, recipe.steps_each * len(languages)
    model = seeded_translator(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe.learning_rate, fused=True)
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step / steps))
    with one_thread():
        for batch in mini_batches(languages, seed, recipe.batch_size, steps):
            optimizer.zero_grad()
            letter_loss(model((batch.numbers, batch.before)), batch.after).backward()
            optimizer.step()
            rate.step()
            letters += num_letters(batch.after)
    return Trained(model, steps, letters, time.process_time() - began)


def seeded_translator(seed: int) -> nn.Sequential:
    """The same first weights for the same seed, without touching the caller's random numbers."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return number_translator()


def _rate(done: float) -> float:
    return min(done / WARM_UP, (1 - done) / (1 - WARM_UP))


def written_right(model: nn.Module, code: str) -> float:
    """The share of held-out numbers that are written without one wrong letter in the language of that code.

    Writing letter by letter gives exactly the right word if, and only if, at each place the likeliest letter after the
    right ones before it is the right one: so one look at each word is enough.
    """
    (language,) = [each for each in LANGUAGES if each.code == code]
    given = pairs(language, exam_numbers(language))
    with torch.no_grad(), one_thread():
        likeliest = model((given.numbers, given.before)).argmax(dim=-1)
    right = (likeliest == given.after) | (given.after == PAD)
    return float(right.all(dim=1).float().mean())


def write(model: nn.Module, numbers: torch.Tensor) -> list[str]:
    """Write encoded numbers, (n, 4), in words: letter by letter, each time the likeliest."""
    letters = torch.full((len(numbers), 1), START)
    with torch.no_grad(), one_thread():
        for _ in range(LONGEST + 1):
            scores = model((numbers, letters))
            letters = torch.cat([letters, scores[:, -1:].argmax(dim=-1)], dim=1)
            if bool((letters == END).any(dim=1).all()):
                break
    return [decode(row[1:]) for row in letters.tolist()]


@dataclass(frozen=True)
class CutTraining:
    """Some real steps of a cut translator.

    Args:
        losses: of each step. difference: between the first step's gradients and the uncut model's.
        timeline: the median of three more steps, which change nothing.
    """

    losses: list[float]
    difference: float
    timeline: plan.Timeline

    @property
    def same(self) -> bool:
        """Whether cutting changed nothing but rounding."""
        return self.difference < ROUNDING

    def said(self, lang: str) -> str:
        """The line on that."""
        return say(
            "giant_same" if self.same else "giant_differs", lang, difference=tiny(self.difference, lang)
        )


def train_cut_translator(
    num_stages: int = 4,
    num_micro_batches: int = 4,
    steps: int = 10,
    schedule: Callable[[int, int], plan.Schedule] = plan.gpipe,
    batch_size: int = 64,
) -> CutTraining:
    """Train a new translator for some steps through a pipeline of stand-ins, in all languages at once.

    A micro-batch weighs as much as it has letters, so that the cut model learns what the uncut one would.
    """
    model, ordered = seeded_translator(seed=0), schedule(num_stages, num_micro_batches)
    batches = [
        ((batch.numbers, batch.before), batch.after)
        for batch in mini_batches(LANGUAGES, 0, batch_size, steps)
    ]
    first, target = batches[0]
    with one_thread():
        uncut = list(torch.autograd.grad(letter_loss(model(first), target), list(model.parameters())))
    optimizer = torch.optim.Adam(model.parameters(), lr=RECIPE.learning_rate)
    devices = run.stand_ins(num_stages, batch_time=0.08)
    with run.Pipeline(run.partition(model, num_stages), devices) as pipeline:
        pipeline.step(ordered, first, target, letter_loss, num_letters)
        difference = run.relative_difference(run.gradients([model]), uncut)
        history = run.fit(pipeline, ordered, batches, letter_loss, optimizer, weight=num_letters)
        timed = run.measure(
            pipeline, ordered, first, target, letter_loss, steps=3, warm_up=False, weight=num_letters
        )
    return CutTraining(history.losses, difference, timed.median.timeline)
