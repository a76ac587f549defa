"""An exercise as a learner has it: show, try, be checked, get hints; in Chinese or English."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipekit.errors import PipekitError
from pipekit.learn.exercises import results
from pipekit.learn.exercises.answers import blame
from pipekit.learn.exercises.catalogue import TASKS
from pipekit.learn.exercises.task import Refused, Task, case_of
from pipekit.learn.exercises.timelimit import Limited, TimeUp
from pipekit.learn.exercises.verdict import UNANSWERED, Verdict
from pipekit.learn.models import one_thread
from pipekit.show import say, sentence
from pipekit.show.i18n import WORDS

SECONDS = 10.0  # for a learner's code and its grader
NUM_HINTS = 3
TEXT = "font-size:18px;line-height:1.6;color:#111111;background:#ffffff"
FOLD = "margin:6px 0 0 12px;padding:4px 0"


@dataclass(frozen=True, repr=False)
class Page:
    """Words with a form for notebooks and one for terminals."""

    html: str
    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<div style="{TEXT};padding:4px 8px">{self.html}</div>'


class Exercise:
    """One exercise in one language.

    Args:
        folder: where `results.jsonl` is written; left out: the working folder, which is a notebook's own.
    """

    def __init__(self, task: Task, lang: str, folder: Path | None = None) -> None:
        self.task, self.lang, self.folder = task, lang, folder
        self._num_hints = 0

    def __repr__(self) -> str:
        return f"<exercise {self.task.key}: {self._say('title')}>"

    def _say(self, part: str) -> str:
        return say(f"exercise_{self.task.key}_{part}", self.lang)

    @property
    def stub(self) -> str:
        """Code to start from."""
        return self.task.stub

    def show(self) -> Page:
        """The problem, with a picture where one helps."""
        title, problem = self._say("title"), self._say("problem")
        body = html.escape(problem).replace("\n", "<br>")
        return Page(body + self.task.picture(self.lang), f"{title}\n{problem}")

    def hint(self) -> Page:
        """Three hints: in a notebook each opens inside the one before; in a terminal each call gives one more."""
        self._num_hints = min(self._num_hints + 1, NUM_HINTS)
        hints = [self._say(f"hint_{number}") for number in range(1, NUM_HINTS + 1)]
        folded = ""
        for number in range(NUM_HINTS, 0, -1):
            name = say("exercise_hint", self.lang, number=number)
            folded = fold(name, html.escape(hints[number - 1]) + folded)
        return Page(folded, "\n".join(hints[: self._num_hints]))

    def solution(self) -> Page:
        """One right answer, behind a fold, and why it is right."""
        name, why = say("exercise_solution", self.lang), self._say("right")
        code = f'<pre style="{TEXT};font-size:16px">{html.escape(self.task.solution)}</pre>'
        return Page(fold(name, code + html.escape(why)), f"{self.task.solution}\n{why}")

    def check(self, answer: Any = None) -> Verdict:
        """Grade an answer, whatever it is or does; the verdict goes into `results.jsonl`.

        Nothing is raised, except KeyboardInterrupt when somebody stops the cell. An untouched stub is no try.
        """
        try:
            with one_thread():
                limited = Limited(lambda: self.task.grade(answer))
                limited.run(SECONDS)
        except Refused as refused:
            known = f"wrong_{refused.wrong}" in WORDS  # an answer may raise what it likes
            return self._noted(refused if known else Refused("raised", blame(refused)))
        except TimeUp:
            stopped = "too_slow_still_runs" if limited.abandoned else "too_slow"
            return self._noted(Refused(stopped, case_of("case_seconds", seconds=f"{SECONDS:g}")))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an answer that can't even be looked at
            return self._noted(Refused("raised", blame(error)))
        return self._noted(None)

    def _noted(self, refused: Refused | None) -> Verdict:
        """The verdict in words, written down."""
        wrong = refused.wrong if refused else ""
        note = "" if wrong == UNANSWERED else self._record(refused is None, wrong)
        return Verdict(refused is None, self._words(refused), wrong, note)

    def _words(self, refused: Refused | None) -> str:
        if refused is None:
            return say("verdict_right", self.lang, why=self._say("right"))
        if refused.wrong == UNANSWERED:
            return say("wrong_unanswered", self.lang)
        lines = [say("verdict_wrong", self.lang, what=say(f"wrong_{refused.wrong}", self.lang))]
        if refused.case:
            shown = refused.case
            shown = shown if isinstance(shown, str) else say(shown.key, self.lang, **shown.numbers)
            lines.append(say("verdict_case", self.lang, case=shown))
        if isinstance(refused.error, PipekitError):
            lines.append(sentence(refused.error, self.lang, view="engineer"))
        return "\n".join(lines)

    def _record(self, passed: bool, wrong: str) -> str:
        """Write it down; what hinders that is said, and the verdict stands all the same."""
        try:  # also the working folder may be gone
            folder = Path.cwd() if self.folder is None else self.folder
            results.record(self.task.key, passed, wrong, folder)
        except OSError as error:
            return say("verdict_unwritten", self.lang, why=error.strerror or type(error).__name__)
        return ""


def fold(name: str, body: str) -> str:
    """What opens with a click, without a kernel too."""
    return (
        f'<details style="{FOLD}"><summary style="cursor:pointer;min-height:44px;font-weight:bold">'
        f"{html.escape(name)}</summary>{body}</details>"
    )


def get(key: str, lang: str = "zh") -> Exercise:
    """The exercise of that name.

    Raises:
        KeyError: there is none; names those there are.
    """
    if key not in TASKS:
        raise KeyError(say("exercise_unknown", lang, asked=key, known=", ".join(TASKS)))
    return Exercise(TASKS[key], lang)
