"""The same from a terminal: `python -m pipekit run --stages 4 --micro-batches 8`, `python -m pipekit doctor`."""

from __future__ import annotations

import argparse
import codecs
import io
import json
import locale
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pipekit import __version__, doctor, plan, run
from pipekit.errors import BatchError, PartitionError, PipekitError
from pipekit.learn.classroom.collect import collect, report, write_csv
from pipekit.learn.data import digits
from pipekit.learn.giants import terminal as giants
from pipekit.learn.handouts import terminal as handouts
from pipekit.learn.models import convnet, mlp
from pipekit.learn.phone import terminal as phone
from pipekit.plan.catalogue import CHUNKED
from pipekit.show import LANGUAGES, say, sentence

MODELS: dict[str, Callable[[], nn.Sequential]] = {"mlp": mlp, "convnet": convnet}
NOT_READY, USAGE_ERROR, INTERRUPTED = 1, 2, 130  # exit codes, as shells have them
MOST_STEPS = 1000  # measured steps of one command
MOST_SECONDS = 60.0  # of a mini-batch forward; a class waits for tens of them
PLAIN = {"√": "OK", "×": "X", "…": "...", "·": "|", "–": "-", "→": "->", "█": "#"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code: 0, 1 if the doctor found something to put right or there is nothing to collect, 2 for what can't
        be done as asked, 130 after Ctrl-C.
    """
    write_plainly(sys.stdout, sys.stderr)
    asked = _parser().parse_args(arguments)
    try:
        return COMMANDS[asked.command](asked)
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 -- until the interpreter is gone
        return 0
    except PipekitError as error:
        lang = language(None, sys.stderr.encoding, os.environ)
        print(f"pipekit: {sentence(error, lang, view='engineer')}", file=sys.stderr)
        return USAGE_ERROR
    except OSError as error:
        print(f"pipekit: {error}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        print("pipekit: interrupted; the step was undone", file=sys.stderr)
        return INTERRUPTED


def write_plainly(*streams: Any) -> None:
    """Let what a stream's encoding lacks (GBK, ASCII) come out as `PLAIN` says, or as an escape: never a traceback."""
    codecs.register_error("pipekit_plain", _plain)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):  # a notebook's stream takes everything
            stream.reconfigure(errors="pipekit_plain")


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(PLAIN.get(each) or ascii(each)[1:-1] for each in lacking), error.end


def language(asked: str | None, encoding: str | None, environment: Mapping[str, str]) -> str:
    """Chinese where it is asked for or the locale is Chinese, unless the terminal's encoding has no Chinese."""
    try:
        "中文".encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return "en"
    names = [environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG")]
    name = next(filter(None, names), None) or locale.getlocale()[0] or ""
    return asked or ("zh" if name.lower().startswith(("zh", "chinese")) else "en")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pipekit", description="Pipeline parallelism, really measured."
    )
    parser.add_argument("--version", action="version", version=f"pipekit {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser(
        "run", help="train one mini-batch of digits through a pipeline and show what happened"
    )
    one.add_argument(
        "--stages", type=int, default=4, metavar="K", help="devices (default 4), a stage each or more"
    )
    one.add_argument(
        "--micro-batches", type=int, default=4, metavar="M", help="pieces of the mini-batch (default 4)"
    )
    one.add_argument("--checkpoint", choices=plan.CHECKPOINTS, default="never", help="what is recomputed")
    one.add_argument("--recompute", choices=plan.RECOMPUTES, default="late", help="when (default late)")
    one.add_argument("--schedule", choices=["naive", *plan.SCHEDULES], default="gpipe")
    one.add_argument(
        "--chunks",
        type=int,
        default=2,
        metavar="V",
        help=f"stages a device in {', '.join(CHUNKED)} (default 2)",
    )
    one.add_argument("--model", choices=MODELS, default="mlp", help="8 equal blocks (default mlp)")
    one.add_argument(
        "--batch", type=int, default=64, metavar="N", help="samples of the mini-batch (default 64)"
    )
    one.add_argument("--devices", choices=["stand-ins", "cpu", "cuda"], default="stand-ins")
    one.add_argument(
        "--batch-time", type=float, default=0.16, metavar="S", help="stand-ins: seconds a mini-batch forward"
    )
    one.add_argument("--steps", type=int, default=3, metavar="N", help="measured steps; the median is shown")
    one.add_argument("--json", action="store_true", help="print the figures as JSON")
    one.add_argument(
        "--trace", type=Path, metavar="FILE", help="write the measured timeline in Chrome trace format"
    )
    giants.add_parser(commands)
    handouts.add_parser(commands)
    phone.add_parser(commands)
    ready = commands.add_parser("doctor", help="is this machine ready for the lesson?")
    ready.add_argument("--lang", choices=LANGUAGES, help="default: the locale's")
    ready.add_argument("--json", action="store_true", help="print the findings as JSON")
    results = commands.add_parser("collect", help="make one table of a class's results.jsonl files")
    results.add_argument("folder", type=Path, metavar="DIR", help="holds a folder a learner")
    results.add_argument("--lang", choices=LANGUAGES, help="default: the locale's")
    results.add_argument("--csv", type=Path, metavar="FILE", help="write the table for a spreadsheet, too")
    return parser


def _doctor(asked: argparse.Namespace) -> int:
    """Print each finding as soon as it is there; exit code 1 if one is red."""
    lang = language(asked.lang, sys.stdout.encoding, os.environ)
    found = []
    if not asked.json:
        print(say("doctor_title", lang), flush=True)
    for finding in doctor.examine(lang):
        found.append(finding)
        if not asked.json:
            print("\n".join(finding.lines(lang)), flush=True)
    red = sum(finding.level == "red" for finding in found)
    if asked.json:
        print(json.dumps({"red": red, "findings": [finding.record(lang) for finding in found]}, indent=1))
    else:
        print(say("doctor_ill", lang, count=red) if red else say("doctor_well", lang))
    return NOT_READY if red else 0


def _giants(asked: argparse.Namespace) -> int:
    giants.GIANTS[asked.giant](asked, language(asked.lang, sys.stdout.encoding, os.environ))
    return 0


def _handouts(asked: argparse.Namespace) -> int:
    return handouts.main(asked, language(asked.lang, sys.stdout.encoding, os.environ))


def _collect(asked: argparse.Namespace) -> int:
    """Print the class's table; exit code 1 if there is nothing to collect."""
    lang = language(asked.lang, sys.stdout.encoding, os.environ)
    found = collect(asked.folder)
    print(report(found, asked.folder, lang))
    if asked.csv is not None and found.learners:
        write_csv(found.learners, asked.csv, language(asked.lang, "utf-8", os.environ))
        print("\n" + say("collect_written", lang, file=asked.csv))
    return 0 if found.learners else NOT_READY


def _page(asked: argparse.Namespace) -> int:
    return phone.page(asked, language(asked.lang, sys.stdout.encoding, os.environ))


def _within(name: str, asked: float, least: float, most: float) -> None:
    if not least <= asked <= most:  # nan is not
        raise PipekitError("number_range", name=name, asked=asked, least=least, most=most)


def _run(asked: argparse.Namespace) -> int:
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


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": _run,
    "doctor": _doctor,
    "collect": _collect,
    "giants": _giants,
    "handouts": _handouts,
    "page": _page,
}
