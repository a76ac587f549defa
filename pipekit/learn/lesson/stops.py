"""The five stops of a lesson, and how long a class stays at each."""

from __future__ import annotations

from dataclasses import dataclass

from pipekit.show import say


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop: its name is `say(f"lesson_{key}")`, what it asks `say(f"lesson_{key}_question")`.

    Args:
        minutes: planned, of a lesson's 45.
    """

    key: str
    minutes: int


STOPS = (
    Stop("laundry", 7),
    Stop("cards", 13),
    Stop("grids", 9),
    Stop("pieces", 6),
    Stop("erase", 7),
)
ENDING = 3  # minutes at the end: the three exit questions


def label(index: int, lang: str) -> str:
    """A stop's number and name."""
    return f"{index + 1} {say(f'lesson_{STOPS[index].key}', lang)}"


def question(index: int, lang: str) -> str:
    """What a stop asks."""
    return say(f"lesson_{STOPS[index].key}_question", lang)


def outline(lang: str) -> list[str]:
    """The lesson in lines: every stop with its minutes and its question, no answer."""
    return [
        f"{label(index, lang)}  {say('lesson_minutes', lang, count=stop.minutes)}  {question(index, lang)}"
        for index, stop in enumerate(STOPS)
    ]
