"""What an exercise is made of, and how a grader refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pipekit.errors import PipekitError


@dataclass(frozen=True)
class Case:
    """Where a misconception shows, in words of both languages: `say(key, lang, **numbers)`."""

    key: str
    numbers: dict[str, Any]


def case_of(key: str, **numbers: Any) -> Case:
    """A case by the name of its words."""
    return Case(key, numbers)


class Refused(Exception):
    """A grader's refusal: which misconception it is, and the case that shows it.

    Args:
        wrong: the misconception, a key of `verdict_words`; in words `say("wrong_" + wrong, lang)`.
        case: where it shows; a text where both languages read the same: `K=3, M=5: 12`.
        error: the engine's own sentence, where it refused too.
    """

    def __init__(self, wrong: str, case: Case | str = "", error: PipekitError | None = None) -> None:
        super().__init__(wrong, case)
        self.wrong, self.case, self.error = wrong, case, error


def no_picture(lang: str) -> str:
    """Of an exercise that words alone say."""
    return ""


@dataclass(frozen=True)
class Task:
    """One exercise, without its words: these are `say("exercise_KEY_problem", lang)` and so on.

    Args:
        row: the lesson's topic.
        grade: takes an answer; returns None if it is right, raises `Refused` if not.
        name: what the answer is called in `stub` and `solution`, two pieces of code without words.
        picture: language -> HTML that helps to understand the problem.
    """

    key: str
    row: int
    grade: Callable[[Any], None]
    name: str
    stub: str
    solution: str
    picture: Callable[[str], str] = no_picture
