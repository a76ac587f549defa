"""Stop 4: more pieces. M = 1, 4, 8, 16 really run, beside what was guessed and what the formula says."""

from __future__ import annotations

import html
from collections.abc import Callable

import ipywidgets

from pipekit import plan, show
from pipekit.learn.controlroom.knobs import button, line
from pipekit.learn.controlroom.knobs import html as words_box
from pipekit.learn.experiment import Experiment, Outcome, Settings
from pipekit.learn.games import laundry
from pipekit.learn.lesson.real_run import RealRun
from pipekit.show import say

COUNTS = (1, 4, 8, 16)


class MorePieces(RealRun):
    """M = 1, 4, 8, 16: guess how much of the time is idle, then really run each; at last, the laundry's answer.

    Args:
        on_answer: called when the class wants the laundry's answer.
    """

    prefix = "lesson_pieces"

    def __init__(
        self,
        lang: str = "zh",
        experiment: Experiment | None = None,
        on_answer: Callable[[], None] = lambda: None,
    ) -> None:
        self.laundry, self.laundry_words = button(), words_box()
        self._on_answer = on_answer
        asked = [Settings(num_micro_batches=count) for count in COUNTS]
        super().__init__(asked, lang, experiment, below=[line(self.laundry, self.laundry_words)])
        self.laundry.description = self.laundry.tooltip = say("lesson_laundry_answer", lang)
        self.laundry.on_click(lambda _: self.give_answer())

    def guess_words(self, lang: str) -> list[str]:
        """One for each M."""
        return [say("lesson_pieces_field", lang, count=count) for count in COUNTS]

    def refresh(self) -> None:
        """Draw all of it; who hasn't guessed yet isn't offered the laundry's answer."""
        super().refresh()
        self.laundry.disabled = not self.decided

    def moving(self) -> list[ipywidgets.Widget]:
        """What changes while it runs, or by its end."""
        return [*super().moving(), self.laundry]

    def give_answer(self) -> None:
        """Say how long the laundry takes, and tell whoever waits for that."""
        self.laundry_words.value = html.escape(laundry_answer(self.lang))
        self._on_answer()

    def _rows(self) -> list[list[str]]:
        rows = [[say("lesson_pieces_head", self.lang), *map(str, COUNTS)]]
        if self.guesses is not None:
            said = ("–" if each is None else f"{each:g}%" for each in self.guesses)
            rows.append([say("guessed", self.lang), *said])
        measured = self._measured()
        if measured:
            bubbles = (f"{each.bubble:.1%}" for each in measured.values())
            rows.append([say("measured_short", self.lang), *bubbles])
        rows.append([say("formula_short", self.lang), *(formula_words(count) for count in COUNTS)])
        if measured:
            busy = (f"{plan.busy_devices(each.timeline):.2f}" for each in measured.values())
            rows.append([say("lesson_pieces_busy", self.lang), *busy])
        return rows if self.decided else []

    def _measured(self) -> dict[int, Outcome]:
        """M -> what was measured; empty before a run."""
        return {each.num_micro_batches: self.outcomes[each] for each in self.asked if each in self.outcomes}

    def _picture(self) -> bytes:
        points = {count: outcome.bubble for count, outcome in self._measured().items()}
        return self._chart(points) if self.decided else b""

    def _chart(self, points: dict[int, float]) -> bytes:
        settings = self.asked[0]
        curve = {
            count: plan.bubble_fraction(timeline)
            for count, timeline in self.experiment.family(settings).items()
        }
        return show.bubble_chart(curve, points, settings.num_stages, max(COUNTS), self.lang)


def formula_words(count: int, num_stages: int = Settings().num_stages) -> str:
    """(K-1)/(M+K-1) in whole percent and as a fraction.

    >>> formula_words(4), formula_words(16)
    ('43% = 3/7', '16% = 3/19')
    """
    share = plan.formula_bubble(num_stages, count)
    return f"{share:.0%} = {num_stages - 1}/{count + num_stages - 1}"


def laundry_answer(lang: str) -> str:
    """What the lesson's first question comes to."""
    game = laundry.Laundry()
    return say(
        "lesson_laundry_said", lang, baskets=game.num_baskets, machines=game.num_machines, minutes=laundry.SLOT,
        pipelined=laundry.minutes(game, "line"), in_turn=laundry.minutes(game, "one_by_one"),
    )  # fmt: skip
