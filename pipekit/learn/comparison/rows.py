"""One row of a comparison: a schedule predicted, with its closed form, and what was measured; or why it can't be had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipekit import plan
from pipekit.errors import PipekitError
from pipekit.learn.comparison.cases import Case
from pipekit.learn.comparison.catalogue import Variant
from pipekit.learn.comparison.closed_forms import Form, closed_form
from pipekit.learn.sweeping import bare


@dataclass(frozen=True, slots=True)
class Figures:
    """What a timeline says, predicted or measured alike; times in slots.

    Args:
        bubble: idle / (devices x makespan). overhead: idle / ideal time.
        barrier: how long a device is idle until all are done, on average.
        span: the same between a device's own first and last op, of the worst device (Zero Bubble's cost).
    """

    makespan: float
    bubble: float
    overhead: float
    barrier: float
    span: float

    @classmethod
    def of(cls, timeline: plan.Timeline, slot: float = 1.0) -> Figures:
        """Read a timeline; `slot` is its unit's length of a slot."""
        makespan, bubble = timeline.makespan / slot, plan.bubble_fraction(timeline)
        return cls(
            makespan,
            bubble,
            plan.bubble_overhead(timeline),
            bubble * makespan,
            plan.span_bubble(timeline) / slot,
        )


@dataclass(frozen=True)
class Prediction:
    """What should happen.

    Args:
        form: the closed form, where there is one; `closed` is what it says.
        peak: the most a device keeps, in shares (`Case.peak`). pairs: in (stage, micro-batch) pairs.
        messages: tensors that cross between devices. copies: of the parameters.
    """

    schedule: plan.Schedule
    timeline: plan.Timeline
    figures: Figures
    form: Form | None
    peak: float
    pairs: int
    messages: int
    copies: int

    @property
    def closed_bubble(self) -> float | None:
        """The closed form's bubble fraction: what is left of its time beside the work."""
        if self.form is None or self.form.makespan is None:
            return None
        return 1 - self.figures.makespan * (1 - self.figures.bubble) / self.form.makespan


@dataclass(frozen=True)
class Measured:
    """What did happen: the median step of a real training run.

    Args:
        slot: seconds of a slot. difference: contract 19's relative difference between its gradients and the uncut
            model's. late: seconds by which the latest worker woke up too late. samples: of the mini-batch.
    """

    timeline: plan.Timeline
    slot: float
    difference: float
    overruns: int
    late: float
    samples: int

    @property
    def figures(self) -> Figures:
        """In slots."""
        return Figures.of(self.timeline, self.slot)


@dataclass(frozen=True)
class Row:
    """One schedule of a comparison.

    Args:
        error: why it can't be built, or why it could not be measured (then there is a prediction).
    """

    variant: Variant
    num_micro_batches: int
    prediction: Prediction | None = None
    measured: Measured | None = None
    error: BaseException | None = None

    @property
    def figures(self) -> Figures | None:
        """Measured, else predicted, else nothing."""
        if self.measured is not None:
            return self.measured.figures
        return None if self.prediction is None else self.prediction.figures


def row(case: Case, variant: Variant, num_micro_batches: int | None = None) -> Row:
    """Predict one schedule; one that can't serve these numbers becomes a row with the reason.

    Args:
        num_micro_batches: how many pieces the case's mini-batch is cut into; left out, the case's M.
    """
    pieces = case.num_micro_batches if num_micro_batches is None else num_micro_batches
    try:
        schedule = variant.build(case.num_devices, pieces)
        return Row(variant, schedule.num_micro_batches, predict(case, variant, schedule))
    except PipekitError as error:
        return Row(variant, pieces, error=bare(error))


def predict(case: Case, variant: Variant, schedule: plan.Schedule) -> Prediction:
    """All that is known of a schedule without running it."""
    timeline = case.simulate(schedule)
    return Prediction(
        schedule,
        timeline,
        Figures.of(timeline),
        closed_form(case, variant, schedule),
        case.peak(schedule),
        max(plan.peak_in_flight(timeline)),
        plan.messages(schedule),
        max(len(homes) for homes in schedule.homes),
    )


def rows(case: Case, variants: Sequence[Variant]) -> list[Row]:
    """A row for each, in order."""
    return [row(case, each) for each in variants]
