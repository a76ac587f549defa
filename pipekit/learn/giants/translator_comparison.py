"""One shared translator against one per language, several seeds, at equal compute: trained, kept, read, summed up.

A folder holds a record and the weights of each model that was trained; one that has a record is not trained again, so
that what was interrupted goes on. `translator_results.json` is what came out of the package's own run.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch

from pipekit.learn.giants.translator_data import HELD_OUT, LANGUAGES, Language
from pipekit.learn.giants.translator_saved import FOLDER, SHARED, save_translator
from pipekit.learn.giants.translator_training import RECIPE, TranslatorRecipe, train_translator, written_right

RESULTS = FOLDER / "translator_results.json"
LEARNS: dict[str, Sequence[Language]] = {
    SHARED: LANGUAGES,
    **{each.code: (each,) for each in LANGUAGES},
}
# Student's t: 97.5 % of it for 2, 3, ... seeds (1, 2, ... degrees of freedom).
T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
MOST_SEEDS = len(T_975) + 1


@dataclass(frozen=True, slots=True)
class Score:
    """How one language came out: shares of held-out numbers written right, a seed each.

    Args:
        alone: by the model of this language. shared: by the model of all.
    """

    language: Language
    alone: tuple[float, ...]
    shared: tuple[float, ...]

    @property
    def gain(self) -> float:
        """By how much the shared model is better, on average over the seeds."""
        return mean(self.shared) - mean(self.alone)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the gain: Student's t over the seeds' differences."""
        gains = [shared - alone for shared, alone in zip(self.shared, self.alone, strict=True)]
        half = T_975[len(gains) - 2] * stdev(gains) / len(gains) ** 0.5
        return self.gain - half, self.gain + half

    @property
    def sure(self) -> int:
        """1: the shared model is better, -1: worse, 0: the interval has 0 in it."""
        low, high = self.interval
        return (low > 0) - (high < 0)


def scores(results: dict[str, Any]) -> list[Score]:
    """Read the records, language by language."""
    found = {(run["seed"], run["model"]): run["accuracy"] for run in results["runs"]}
    seeds = sorted({seed for seed, _ in found})
    return [
        Score(
            language,
            tuple(found[seed, language.code][language.code] for seed in seeds),
            tuple(found[seed, SHARED][language.code] for seed in seeds),
        )
        for language in LANGUAGES
    ]


def saved_results(path: Path = RESULTS) -> dict[str, Any]:
    """The package's results, or a folder's own."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def train_all(
    folder: Path, num_seeds: int, tell: Callable[[str, int], None], recipe: TranslatorRecipe = RECIPE
) -> Path:
    """Train every model of every seed that has no record in `folder` yet, and write `results.json` there.

    Args:
        tell: called with a model's name and seed when its record is there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    records = []
    for seed in range(num_seeds):
        for name in LEARNS:
            file = folder / f"{seed}-{name}.json"
            if not file.exists():
                _write(file, _train_one(name, seed, recipe, file.with_suffix(".npz")))
            records.append(json.loads(file.read_text(encoding="utf-8")))
            tell(name, seed)
    path = folder / "results.json"
    _write(path, {**_settings(num_seeds, recipe, records), "runs": records})
    return path


def _train_one(name: str, seed: int, recipe: TranslatorRecipe, weights: Path) -> dict[str, Any]:
    trained = train_translator(LEARNS[name], seed, recipe)
    save_translator(trained.model, weights)
    return {
        "seed": seed,
        "model": name,
        "steps": trained.steps,
        "letters": trained.letters,
        "parameters": sum(parameter.numel() for parameter in trained.model.parameters()),
        "seconds": round(trained.seconds, 2),
        "date": time.strftime("%Y-%m-%d"),
        "accuracy": {each.code: round(written_right(trained.model, each.code), 4) for each in LEARNS[name]},
    }


def _settings(num_seeds: int, recipe: TranslatorRecipe, records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a reader needs to judge the numbers."""
    return {
        "command": f"python -m pipekit giants languages --full --seeds {num_seeds}",
        "date": max(record["date"] for record in records),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, one thread",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "seconds": round(sum(record["seconds"] for record in records)),
        "recipe": asdict(recipe),
        "held_out_numbers": HELD_OUT,
        "examples": {each.code: each.num_examples for each in LANGUAGES},
    }


def _write(path: Path, found: dict[str, Any]) -> None:
    """There whole or not at all; a record a line."""
    runs = found.pop("runs", None)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    if runs is not None:
        rows = ",\n  ".join(json.dumps(run) for run in runs)
        text = f'{text[:-2]},\n "runs": [\n  {rows}\n ]\n}}'
    part = path.with_name(path.name + ".part")
    part.write_text(text + "\n", encoding="utf-8")
    os.replace(part, path)
