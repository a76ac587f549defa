"""The translator from a terminal: `python -m pipekit giants languages`, and with `--full` all of them from the start."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from pipekit.errors import PipekitError
from pipekit.learn.giants.translator_comparison import LEARNS, MOST_SEEDS, saved_results, train_all
from pipekit.learn.giants.translator_saved import SHARED, saved_translator
from pipekit.learn.giants.translator_tables import ComparedLanguages, compared_languages, translate
from pipekit.learn.giants.translator_training import train_cut_translator
from pipekit.show import LANGUAGES, say

FEWEST_SEEDS = 2  # an interval needs two
STEPS = 2  # of the cut training that shows that the result is the same


def add_languages_parser(kinds: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Tell the command line what `giants languages` understands."""
    parser = kinds.add_parser("languages", help="the translator's: writes a number in 16 languages")
    parser.add_argument("--number", type=int, default=365, metavar="N", help="0 to 999 (default 365)")
    parser.add_argument(
        "--full",
        action="store_true",
        help="train the shared translator and one per language, for several seeds (about 2 minutes a seed); "
        "Ctrl-C stops, and the same command goes on",
    )
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="how many, for --full (default 5)")
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path("giant-languages"),
        metavar="DIR",
        help="where --full keeps weights and records (default giant-languages)",
    )
    parser.add_argument("--lang", choices=LANGUAGES, help="default: the locale's")


def languages(asked: argparse.Namespace, lang: str) -> None:
    """Write a number, compare cut and whole, and say what the comparison gave; with `--full` run it first."""
    if asked.full:
        print(_trained(asked.folder, asked.seeds, lang))
        return
    print(translate(saved_translator(), asked.number, lang))
    print(train_cut_translator(steps=STEPS).said(lang))
    print(compared_languages(lang))


def _trained(folder: Path, num_seeds: int, lang: str) -> ComparedLanguages:
    if not FEWEST_SEEDS <= num_seeds <= MOST_SEEDS:
        raise PipekitError(
            "number_range", name="--seeds", asked=num_seeds, least=FEWEST_SEEDS, most=MOST_SEEDS
        )
    began, total, done = time.monotonic(), num_seeds * len(LEARNS), 0

    def told(name: str, seed: int) -> None:
        nonlocal done
        done += 1
        who = say("words_shared", lang) if name == SHARED else name
        seconds = time.monotonic() - began
        line = say("words_trained", lang, done=done, total=total, name=who, seed=seed, seconds=seconds)
        print(line, flush=True)

    path = train_all(folder, num_seeds, told)
    print(say("giant_saved", lang, path=path))
    return ComparedLanguages(saved_results(path), lang)
