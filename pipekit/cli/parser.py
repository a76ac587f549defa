"""What may be asked in a terminal: every command with its options. None is imported for that, so `--help` is quick."""

from __future__ import annotations

import argparse
from pathlib import Path

from pipekit import __version__, plan
from pipekit.plan.catalogue import CHUNKED
from pipekit.show import LANGUAGES


def parser() -> argparse.ArgumentParser:
    """All commands."""
    whole = argparse.ArgumentParser(
        prog="python -m pipekit", description="Pipeline parallelism, really measured."
    )
    whole.add_argument("--version", action="version", version=f"pipekit {__version__}")
    commands = whole.add_subparsers(dest="command", required=True)
    _run(
        commands.add_parser(
            "run", help="train one mini-batch of digits through a pipeline and show what happened"
        )
    )
    _giants(
        commands.add_parser("giants", help="the small relatives of two giant models: try them, train them")
    )
    _handouts(
        commands.add_parser("handouts", help="write sheets to print: for the class, and the teacher's key")
    )
    _page(commands.add_parser("page", help="write the page for phones: one file, no network"))
    _doctor(commands.add_parser("doctor", help="is this machine ready for the lesson?"))
    _collect(commands.add_parser("collect", help="make one table of a class's results.jsonl files"))
    return whole


def _speaks(command: argparse.ArgumentParser) -> None:
    command.add_argument("--lang", choices=LANGUAGES, help="default: the locale's")


def _run(one: argparse.ArgumentParser) -> None:
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
    one.add_argument(
        "--model", choices=["mlp", "convnet"], default="mlp", help="8 equal blocks (default mlp)"
    )
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


def _giants(giants: argparse.ArgumentParser) -> None:
    kinds = giants.add_subparsers(dest="giant", required=True)
    _pictures(kinds.add_parser("pictures", help="AmoebaNet's: reads handwritten digits"))
    _languages(kinds.add_parser("languages", help="the translator's: writes a number in 16 languages"))


def _pictures(pictures: argparse.ArgumentParser) -> None:
    file = "giant-pictures.pt"
    pictures.add_argument(
        "--full", action="store_true", help=f"train from the start, or go on where {file} ends; Ctrl-C stops"
    )
    pictures.add_argument("--seed", type=int, default=0, help="of weights and order, for --full (default 0)")
    pictures.add_argument(
        "--weights",
        type=Path,
        metavar="FILE",
        help=f"default: the package's; with --full {file} in this folder",
    )
    _speaks(pictures)
    pictures.add_argument("--epochs", type=int, metavar="N", help="rounds of --full")


def _languages(languages: argparse.ArgumentParser) -> None:
    languages.add_argument("--number", type=int, default=365, metavar="N", help="0 to 999 (default 365)")
    languages.add_argument(
        "--full",
        action="store_true",
        help="train the shared translator and one per language, for several seeds (about 2 minutes a seed); "
        "Ctrl-C stops, and the same command goes on",
    )
    languages.add_argument(
        "--seeds", type=int, default=5, metavar="N", help="how many, for --full (default 5)"
    )
    languages.add_argument(
        "--folder",
        type=Path,
        default=Path("giant-languages"),
        metavar="DIR",
        help="where --full keeps weights and records (default giant-languages)",
    )
    _speaks(languages)


def _handouts(handouts: argparse.ArgumentParser) -> None:
    _speaks(handouts)
    handouts.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="folder to write into (default: this one)"
    )


def _page(page: argparse.ArgumentParser) -> None:
    _speaks(page)
    page.add_argument(
        "--out", type=Path, metavar="FILE", help="where to (default pipekit-LANG.html, in this folder)"
    )
    page.add_argument("--decode", nargs="+", metavar="CODE", help="instead, say what pupils' codes say")


def _doctor(ready: argparse.ArgumentParser) -> None:
    _speaks(ready)
    ready.add_argument("--json", action="store_true", help="print the findings as JSON")


def _collect(results: argparse.ArgumentParser) -> None:
    results.add_argument("folder", type=Path, metavar="DIR", help="holds a folder a learner")
    _speaks(results)
    results.add_argument("--csv", type=Path, metavar="FILE", help="write the table for a spreadsheet, too")
