"""The course as a list, read from beside the notebooks: `notebooks/build.py` writes `course.json` from the pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipekit.show import LANGUAGES

FILE = "course.json"
OPENED = ".ipynb_checkpoints/{name}-checkpoint.ipynb"  # JupyterLab writes it when a notebook is opened


@dataclass(frozen=True)
class Lesson:
    """One notebook of the course.

    Args:
        here: whether it lies in the folder. opened: whether it was opened there.
    """

    name: str
    title: str
    question: str
    minutes: int
    here: bool
    opened: bool


def course(folder: Path, lang: str) -> list[Lesson]:
    """The course in order, as it stands in a folder of notebooks; empty if no `course.json` can be found or read.

    It lies beside the languages' folders, that is one folder up; or, of a learner's own copies, in `notebooks/` there.
    """
    for place in (folder, folder.parent, folder.parent / "notebooks"):
        try:
            entries = json.loads((place / FILE).read_text(encoding="utf-8"))
            return [_lesson(entry, folder, LANGUAGES.index(lang)) for entry in entries]
        except (OSError, ValueError, LookupError, TypeError):
            continue
    return []


def _lesson(entry: dict[str, object], folder: Path, place: int) -> Lesson:
    name, minutes = str(entry["name"]), entry["minutes"]
    title, question = (_words(entry[key])[place] for key in ("title", "question"))
    opened = (folder / OPENED.format(name=name)).exists()
    return Lesson(name, title, question, int(str(minutes)), (folder / f"{name}.ipynb").exists(), opened)


def _words(both: object) -> Sequence[str]:
    if not isinstance(both, list):
        raise TypeError("words come in both languages")
    return [str(words) for words in both]
