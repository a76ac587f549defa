"""What the control room does when nobody looks: predict, really train, measure. No widget, no picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn

from pipekit import plan, run
from pipekit.errors import BatchError
from pipekit.learn.data import digits
from pipekit.learn.models import mlp, one_thread

STEPS = 3  # timed steps of one run; the median one is shown
WARM_STEPS = (
    2  # before them: one that is compared with the uncut model, and the one `run.measure` doesn't time
)
ROUNDING = 1e-4  # a relative difference of gradients below it is float32 rounding
LEARNING_RATE = 0.1
MOST_PIECES = 32  # of the predicted curve


@dataclass(frozen=True, slots=True)
class Settings:
    """What the knobs say. A relay race has one piece, whatever M says."""

    num_stages: int = 4
    num_micro_batches: int = 4
    checkpoint: str = "never"
    schedule: str = "gpipe"

    def build(self) -> plan.Schedule:
        """The schedule they ask for."""
        return plan.by_name(self.schedule, self.num_stages, self.num_micro_batches, self.checkpoint)

    def key(self) -> Settings:
        """The same for all settings that run the same: a relay race is GPipe with one piece."""
        return replace(self, num_micro_batches=1, schedule="gpipe") if self.schedule == "naive" else self

    def family(self) -> Settings:
        """The same for all that differ only in M."""
        return replace(self.key(), num_micro_batches=1)

    def with_pieces(self, num_micro_batches: int) -> Settings:
        """The same with another M; what has one piece by definition becomes GPipe."""
        return replace(self.key(), num_micro_batches=num_micro_batches)


@dataclass(frozen=True)
class Prediction:
    """What should happen: when each op runs, and what each device keeps (None: the model can't be looked into)."""

    timeline: plan.Timeline
    memory: list[plan.DeviceMemory] | None
    formula: float


@dataclass(frozen=True, repr=False)
class Outcome:
    """What did happen.

    Args:
        result: the median step.
        difference: contract 19's relative difference between its gradients and the uncut model's.
        loss_before, loss_after: around the one change to the parameters; a sweep changes nothing.
    """

    settings: Settings
    prediction: Prediction
    result: run.StepResult
    difference: float
    loss_before: float
    loss_after: float | None = None

    @property
    def key(self) -> Settings:
        """What was run."""
        return self.settings.key()

    @property
    def timeline(self) -> plan.Timeline:
        """The measured one."""
        return self.result.timeline

    @property
    def bubble(self) -> float:
        """The measured bubble fraction."""
        return plan.bubble_fraction(self.timeline)

    @property
    def trained(self) -> bool:
        """Whether the parameters were changed."""
        return self.loss_after is not None

    @property
    def same(self) -> bool:
        """Whether the gradients equal the uncut model's, but for rounding."""
        return self.difference < ROUNDING

    def __repr__(self) -> str:
        predicted = plan.bubble_fraction(self.prediction.timeline)
        return (
            f"<{self.settings.schedule} K={self.settings.num_stages} M={self.key.num_micro_batches}: "
            f"bubble {self.bubble:.1%} measured, {predicted:.1%} predicted; gradients differ by {self.difference:.1e}>"
        )


def _nothing(*anything: Any, **named: Any) -> None:
    """Nobody watches."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Whom a run tells what it is at.

    Args:
        phase: called with a key of `show`'s words, and its numbers.
        span: called from worker threads when an op has ended.
        pipeline: called with the pipeline, which can be cancelled, and with None when it's closed.

    An exception out of `phase` ends the run there.
    """

    phase: Callable[..., None] = _nothing
    span: Callable[[plan.Span], None] = _nothing
    pipeline: Callable[[run.Pipeline | None], None] = _nothing


@dataclass
class Experiment:
    """One model, one mini-batch of real digits, and stand-ins that need `batch_time` s for it forward.

    Args:
        model: cut between its layers; left out, `mlp()`.
        batch_size: N.
    """

    model: nn.Sequential = field(default_factory=lambda: _seeded(mlp))
    batch_size: int = 64
    batch_time: float = 0.16
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = nn.functional.cross_entropy

    def __post_init__(self) -> None:
        data = digits()
        self.batch, self.target = data.train_images[: self.batch_size], data.train_labels[: self.batch_size]
        self._shapes: dict[int, plan.ModelShape | None] = {}
        self._devices: dict[int, run.StandIns] = {}
        self._families: dict[Settings, dict[int, plan.Timeline]] = {}

    @property
    def slot(self) -> float:
        """Seconds of one slot of the class's time axis: a forward on a quarter of the mini-batch."""
        return self.batch_time / 4

    def devices(self, num_devices: int) -> run.StandIns:
        """K slow devices played by the CPU; the same ones every time, since they look at this machine's clock once."""
        if num_devices not in self._devices:
            self._devices[num_devices] = run.stand_ins(num_devices, batch_time=self.batch_time)
        return self._devices[num_devices]

    def predict(self, settings: Settings) -> Prediction:
        """What these devices should do with these settings; takes milliseconds.

        Raises:
            PipekitError: it can't be cut that way.
        """
        schedule = settings.build()
        if schedule.num_micro_batches > self.batch_size:
            raise BatchError(
                "batch_small", num_samples=self.batch_size, num_micro_batches=schedule.num_micro_batches
            )
        shape = self.shape(settings.num_stages)
        devices = self.devices(settings.num_stages)
        costs = devices.costs(schedule, self.batch_size, shape)
        sizes = plan.micro_batch_sizes(self.batch_size, schedule.num_micro_batches)
        timeline = replace(plan.simulate(schedule, costs, sizes), devices=devices.label())
        formula = plan.formula_bubble(schedule.num_devices, schedule.num_micro_batches)
        memory = None if shape is None else plan.predict_memory(schedule, shape, sizes)
        return Prediction(timeline, memory, formula)

    def shape(self, num_stages: int) -> plan.ModelShape | None:
        """Bytes of the model cut into that many stages, looked at once; None for a model that fails being looked at."""
        if num_stages not in self._shapes:
            stages = run.partition(self.model, num_stages)
            try:
                self._shapes[num_stages] = run.inspect(stages, self.batch, loss=self.loss, target=self.target)
            except Exception:  # a learner's own model may raise anything; training will say what
                self._shapes[num_stages] = None
        return self._shapes[num_stages]

    def train_once(self, settings: Settings, watch: Watch = Watch()) -> Outcome:
        """One real training step through the pipeline, checked against the uncut model and measured.

        The parameters change once, at the very end: a run that fails or is cancelled has changed nothing.
        """
        prediction = self.predict(settings)
        with self._open(settings.num_stages, watch) as pipeline:
            schedule = settings.build()
            watch.phase("checking")
            first, difference = self._checked_step(pipeline, schedule, watch)
            watch.phase("measuring", step=1, steps=STEPS)
            measured = run.measure(
                pipeline, schedule, self.batch, self.target, self.loss, steps=STEPS, on_span=watch.span,
                on_step=lambda done, _: watch.phase("measuring", step=min(done + 1, STEPS), steps=STEPS),
            )  # fmt: skip
            # `measure` has left the first step's gradients where they were: they change the parameters now.
            torch.optim.SGD(self.model.parameters(), lr=LEARNING_RATE).step()
        with one_thread():
            loss_after = float(self._whole().detach())
        return Outcome(settings, prediction, measured.median, difference, float(first.loss), loss_after)

    def sweep(
        self,
        settings: Settings,
        counts: Sequence[int],
        watch: Watch = Watch(),
        keep: Callable[[list[Outcome]], None] = _nothing,
    ) -> list[Outcome]:
        """The same with several M, one real step each, handed to `keep` one by one; changes no parameter."""
        outcomes: list[Outcome] = []
        with self._open(settings.num_stages, watch) as pipeline:
            for index, asked in enumerate(self._sweep_settings(settings, counts)):
                watch.phase("sweeping", count=asked.num_micro_batches)
                prediction = self.predict(asked)
                result, difference = self._checked_step(pipeline, asked.build(), watch)
                if result.overruns:  # a step that overran measures nothing: once more
                    result, difference = self._checked_step(pipeline, asked.build(), watch)
                if index > 0:  # the first one only warms up
                    outcomes.append(Outcome(asked, prediction, result, difference, float(result.loss)))
                    keep(outcomes[-1:])
        return outcomes

    def family(self, settings: Settings) -> dict[int, plan.Timeline]:
        """M -> prediction, for M from 1 to `MOST_PIECES` equal pieces; computed once a family."""
        key = settings.family()
        if key not in self._families:
            self._families[key] = {count: self._even(key, count) for count in range(1, MOST_PIECES + 1)}
        return self._families[key]

    def seconds(self, prediction: Prediction) -> float:
        """How long `train_once` will take."""
        return (STEPS + WARM_STEPS) * prediction.timeline.makespan

    def sweep_seconds(self, settings: Settings, counts: Sequence[int]) -> float:
        """How long `sweep` will take."""
        family = self.family(settings)
        return sum(family[each.num_micro_batches].makespan for each in self._sweep_settings(settings, counts))

    def num_ops(self, settings: Settings) -> int:
        """How many ops `train_once` tells of: those of the checked step and of the timed ones."""
        return (STEPS + 1) * settings.build().num_ops

    def sweep_num_ops(self, settings: Settings, counts: Sequence[int]) -> int:
        """How many ops `sweep` runs."""
        return sum(each.build().num_ops for each in self._sweep_settings(settings, counts))

    def _sweep_settings(self, settings: Settings, counts: Sequence[int]) -> list[Settings]:
        """What a sweep runs: first the quickest, to warm up."""
        return [settings.with_pieces(count) for count in (max(counts), *counts)]

    def _even(self, settings: Settings, count: int) -> plan.Timeline:
        """The prediction for `count` equal pieces, whether or not the samples can be divided so."""
        schedule = settings.with_pieces(count).build()
        costs = self.devices(settings.num_stages).costs(schedule, self.batch_size, None)
        return plan.simulate(schedule, costs, [self.batch_size / count] * count)

    @contextmanager
    def _open(self, num_stages: int, watch: Watch) -> Iterator[run.Pipeline]:
        """The cut model on its devices; as long as it's open, the watcher can cancel it."""
        devices = self.devices(num_stages)
        # Looked at now, before a watcher draws: drawing would make this machine's clock look coarse.
        _ = devices.grain
        with run.Pipeline(run.partition(self.model, num_stages), devices) as pipeline:
            watch.pipeline(pipeline)
            try:
                yield pipeline
            finally:
                watch.pipeline(None)
                self.model.zero_grad()

    def _checked_step(
        self, pipeline: run.Pipeline, schedule: plan.Schedule, watch: Watch
    ) -> tuple[run.StepResult, float]:
        """One step, its gradients left in `.grad`, and how far they are from the uncut model's."""
        self.model.zero_grad()
        result = pipeline.step(schedule, self.batch, self.target, self.loss, on_span=watch.span)
        parameters = list(self.model.parameters())
        with one_thread():
            uncut = torch.autograd.grad(self._whole(), parameters, allow_unused=True)
        return result, run.relative_difference([p.grad for p in parameters], list(uncut))

    def _whole(self) -> torch.Tensor:
        """The uncut model's loss, shape (); its buffers (a BatchNorm's statistics) stay as they were."""
        buffers = {name: buffer.clone() for name, buffer in self.model.named_buffers()}
        return self.loss(torch.func.functional_call(self.model, buffers, (self.batch,)), self.target)


def _seeded(make: Callable[[], nn.Sequential]) -> nn.Sequential:
    """The same first parameters every time, without touching the learner's own random numbers."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return make()
