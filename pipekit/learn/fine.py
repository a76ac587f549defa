"""Real time over M: the same model and mini-batch in more and more pieces, as fast as this machine goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torch import nn

from pipekit import plan, run
from pipekit.learn.experiment import Experiment

STEPS = 3  # timed steps of each M; the median one is kept


def real_steps(
    experiment: Experiment, stages: Sequence[nn.Module], counts: Iterable[int]
) -> dict[int, plan.Timeline]:
    """M -> the median step of GPipe with M pieces, on one CPU thread a stage; nothing is declared, nothing is changed."""
    num_stages = len(stages)
    with run.Pipeline(stages, run.cpu(num_stages)) as pipeline:
        return {
            count: run.measure(
                pipeline,
                plan.gpipe(num_stages, count),
                experiment.batch,
                experiment.target,
                experiment.loss,
                steps=STEPS,
            ).median.timeline
            for count in counts
        }
