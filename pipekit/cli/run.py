"""`python -m pipekit run`: train one mini-batch of digits through a pipeline and say what happened."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from pipekit import plan, run
from pipekit.errors import BatchError, PartitionError, PipekitError
from pipekit.learn.data import digits
from pipekit.learn.models import convnet, mlp

MODELS: dict[str, Callable[[], nn.Sequential]] = {"mlp": mlp, "convnet": convnet}
MOST_STEPS = 1000  # measured steps of one command
MOST_SECONDS = 60.0  # of a mini-batch forward; a class waits for tens of them


def main(asked: argparse.Namespace) -> int:
    """Run the command; what can't be done as asked raises."""
    _within("--steps", asked.steps, 1, MOST_STEPS)
    _within("--batch-time", asked.batch_time, 0.0, MOST_SECONDS)
    if asked.batch < 1 or asked.batch > len(digits().train_labels):
        raise BatchError("batch_digits", asked=asked.batch, found=len(digits().train_labels))
    if asked.trace is not None and asked.trace.is_dir():
        raise IsADirectoryError(f"cannot write {asked.trace}: it is a folder; name a file in it")
    if asked.trace is not None and not asked.trace.resolve().parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {asked.trace}: there is no folder {asked.trace.resolve().parent}"
        )
    figures, predicted, measured = _measure(asked)
    if asked.trace is not None:
        asked.trace.write_text(json.dumps(plan.chrome_trace(measured)), encoding="utf-8")
    if asked.json:
        print(json.dumps(figures, indent=1))
    else:
        print(_report(asked, figures, predicted, measured))
    return 0


def _within(name: str, asked: float, least: float, most: float) -> None:
    if not least <= asked <= most:  # nan is not
        raise PipekitError("number_range", name=name, asked=asked, least=least, most=most)


def _measure(asked: argparse.Namespace) -> tuple[dict[str, Any], plan.Timeline, plan.Timeline]:
    """Train for real: (figures, predicted timeline, measured timeline)."""
    torch.manual_seed(0)
    model, loss, data = MODELS[asked.model](), nn.functional.cross_entropy, digits()
    batch, target = data.train_images[: asked.batch], data.train_labels[: asked.batch]
    if asked.stages > len(model):  # before a schedule of a million stages is built
        raise PartitionError("cut_layers", num_layers=len(model), num_stages=asked.stages)
    schedule = plan.by_name(
        asked.schedule, asked.stages, asked.micro_batches, asked.checkpoint, asked.recompute, asked.chunks
    )
    stages = run.partition(model, schedule.num_stages)
    sizes = run.sizes_of(len(batch), schedule.num_micro_batches)
    shape = run.inspect(stages, batch, loss=loss, target=target)
    with run.Pipeline(stages, _devices(asked), schedule.placement) as pipeline:
        measured = run.measure(pipeline, schedule, batch, target, loss, steps=asked.steps).median
        pipeline.step(schedule, batch, target, loss)
        ours = run.gradients(stages)
        if asked.devices == "stand-ins":
            predicted = pipeline.predict(schedule, len(batch))
        else:
            count = schedule.num_micro_batches
            predicted = plan.simulate(
                schedule, run.profile(stages, batch, target, loss, num_micro_batches=count)
            )
    model.zero_grad()
    loss(model(batch), target).backward()
    figures = {
        "schedule": str(schedule),
        "num_devices": schedule.num_devices,
        "num_stages": schedule.num_stages,
        "num_micro_batches": schedule.num_micro_batches,
        "checkpoint": asked.checkpoint,
        "source": measured.timeline.source,
        "devices": measured.timeline.devices,
        "loss": float(measured.loss),
        "makespan_seconds": measured.timeline.makespan,
        "bubble_fraction": {
            "measured": plan.bubble_fraction(measured.timeline),
            "predicted": plan.bubble_fraction(predicted),
            "formula": plan.formula_bubble(schedule.num_devices, schedule.num_micro_batches),
        },
        "recompute_share": plan.shares(measured.timeline).recompute,
        "peak_in_flight": plan.peak_in_flight(measured.timeline),
        "peak_activation_bytes": {
            "measured": measured.memory.peak_activation_bytes,
            "predicted": plan.peak_activations(schedule, shape, sizes),
        },
        "gradient_difference": run.relative_difference(ours, run.gradients([model])),
        "overruns": measured.overruns,
        "slip_seconds": {"median": measured.slip.median, "worst": measured.slip.worst},
    }
    return figures, predicted, measured.timeline


def _devices(asked: argparse.Namespace) -> run.Devices:
    if asked.devices == "cpu":
        return run.cpu(asked.stages)
    if asked.devices == "cuda":
        return run.cuda(asked.stages)
    return run.stand_ins(asked.stages, batch_time=asked.batch_time)


def _report(
    asked: argparse.Namespace, figures: dict[str, Any], predicted: plan.Timeline, measured: plan.Timeline
) -> str:
    """What a reader of the terminal wants to know, in characters every terminal has."""
    bubble, memory = figures["bubble_fraction"], figures["peak_activation_bytes"]
    column = plan.column_time(predicted)
    kib = [f"{now / 1024:.0f} ({then / 1024:.0f})" for now, then in zip(*memory.values(), strict=True)]
    shared = "" if measured.source == "measured" else "  (shared cores: not a bubble measurement)"
    lines = [
        f"{asked.schedule}, K = {figures['num_devices']}, M = {figures['num_micro_batches']}, "
        f"checkpoint {asked.checkpoint}; one column = {column * 1e3:.3g} ms",
        "",
        "predicted",
        plan.picture(predicted, column),
        "",
        measured.source,
        plan.picture(measured, column),
        "",
        f"bubble             {bubble['measured']:.1%} measured, {bubble['predicted']:.1%} predicted, "
        f"{bubble['formula']:.1%} = (K-1)/(M+K-1){shared}",
        f"step               {figures['makespan_seconds'] * 1e3:.0f} ms, of which "
        f"{figures['recompute_share']:.1%} of the device time recomputes",
        f"in flight          {', '.join(map(str, figures['peak_in_flight']))} (stage, micro-batch) pairs a device",
        f"activations, KiB   {', '.join(kib)} measured (predicted) a device",
        f"loss               {figures['loss']:.4f}",
        f"gradients          differ from the uncut model's by {figures['gradient_difference']:.1e} (relative)",
        f"overruns           {figures['overruns']}; woke up {figures['slip_seconds']['median'] * 1e3:.2f} ms late "
        f"(median), {figures['slip_seconds']['worst'] * 1e3:.2f} ms (worst)",
        f"measured on        {figures['devices']}",
    ]
    return "\n".join(lines)
