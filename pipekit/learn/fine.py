"""Real time over M: the same model and mini-batch in more and more pieces, as fast as this machine goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from torch import nn

from pipekit import plan, run
from pipekit.learn.experiment import Experiment

STEPS = 3  # timed steps of each M; the median one is kept


def real_steps(
    experiment: Experiment, stages: Sequence[nn.Module], counts: Iterable[int]
) -> dict[int, plan.Timeline]:
    """M -> the median step of GPipe with M pieces, on one CPU thread a stage; nothing is declared, nothing is changed.

    Called measured only if the cores were free before and are so afterwards: such a row of steps takes seconds, in
    which a neighbour may wake up.
    """
    num_stages = len(stages)
    asked = experiment.batch, experiment.target, experiment.loss
    with run.Pipeline(stages, run.cpu(num_stages)) as pipeline:
        steps = {
            count: run.measure(pipeline, plan.gpipe(num_stages, count), *asked, steps=STEPS).median.timeline
            for count in counts
        }
    after = run.cpu(num_stages)
    if after.source == "measured":
        return steps
    return {count: replace(step, source=after.source, devices=after.label()) for count, step in steps.items()}
