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
from pipekit.show import say

FEWEST_SEEDS = 2  # an interval needs two
STEPS = 2  # of the cut training that shows that the result is the same


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
