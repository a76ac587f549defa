"""The notebooks' source: a module a page, each with its `PAGE`. Text is written in both languages, code once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Words = tuple[str, str]  # Chinese, English

# The course, in the order in which it is read; `03-how-many-pieces` is `how_many_pieces.py`.
ORDER = (
    "start",
    "control-room",
    "lesson-45",
    "games",
    "01-desk-is-full",
    "02-relay-or-line",
    "03-how-many-pieces",
    "04-too-fine",
    "05-same-result",
    "06-equal-weight",
    "07-erase-and-redo",
    "08-giant-pictures",
    "09-giant-languages",
    "10-after-gpipe",
    "11-own-experiment",
    "12-engineers-page",
    "13-side-by-side",
    "exercises",
    "exercises-code",
    "design-board",
    "compare-schedules",
)


@dataclass(frozen=True)
class Page:
    """One notebook: its cells, and what the syllabus says of it.

    Args:
        question: what a learner can answer afterwards. minutes: how long it takes in class.
        rows: topics of the lesson that it covers. runs: what really trains in it.
        teacher: notes that a learner doesn't see: time plan, answers, what is simplified.
    """

    title: Words
    question: Words
    minutes: int
    rows: tuple[int, ...]
    runs: Words
    cells: list[dict[str, Any]]
    teacher: Words | None = None


def module_of(name: str) -> str:
    """The module of a notebook: its name without its number."""
    return name.lstrip("0123456789-").replace("-", "_")


def text(zh: str, en: str) -> dict[str, Any]:
    """A text cell in both languages."""
    return {"kind": "markdown", "zh": zh.strip(), "en": en.strip()}


def code(source: str, *tags: str, hidden: bool = False) -> dict[str, Any]:
    """A code cell. `LANG` in it becomes the notebook's language.

    Tagged `nbval-check-output`, its output must be the same every time. The output of a hidden one waits behind a
    click: it gives an answer away.
    """
    return {"kind": "code", "source": source.strip(), "tags": list(tags), "hidden": hidden}
