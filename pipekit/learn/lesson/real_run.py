"""A stop that really trains: guess, run several settings one after another, see what was measured."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets
import traitlets

from pipekit import show
from pipekit.errors import Cancelled
from pipekit.learn.controlroom import pictures, sentences
from pipekit.learn.controlroom.guess import complaint, parse
from pipekit.learn.controlroom.knobs import button, line, show_if
from pipekit.learn.controlroom.knobs import html as words_box
from pipekit.learn.designboard.live import Live
from pipekit.learn.experiment import Experiment, Outcome, Settings
from pipekit.learn.lesson.still import still
from pipekit.learn.lesson.style import TABLE
from pipekit.learn.picture import Picture
from pipekit.show import say

TRIES = 3  # of one step: another program may take the computer away from it


class RealRun(show.Panel):
    """Guess, then really train each of `asked`, one step each, and compare.

    Nothing that a prediction says is on the page before the class has guessed, or said that it doesn't want to. A
    subclass says what is guessed (`guess_words`), and what came out (`_rows`, `_picture`).

    Args:
        experiment: shared with a lesson's other stops, so that only one of them trains at a time.
        asked: what is run, one after another. below: what stands under what came out.
    """

    lang = traitlets.Enum(show.LANGUAGES, "zh")
    prefix = ""  # of its words' keys: what it asks is `prefix_question`

    def __init__(
        self,
        asked: Sequence[Settings],
        lang: str,
        experiment: Experiment | None,
        below: Sequence[ipywidgets.Widget] = (),
    ) -> None:
        self.experiment, self.asked = experiment or Experiment(), tuple(asked)
        self.outcomes: dict[Settings, Outcome] = {}
        self.guesses: tuple[float | None, ...] | None = None
        self.decided = False
        self._live: Live | None = None
        self._status: tuple[str, dict[str, Any]] = ("", {})
        self._progress = show.Latest(self._draw_progress, every=0.2)
        self._make_widgets(len(self.guess_words(lang)))
        parts = (self.question, self.ask, self.press, self.result, self.evidence, *below)
        super().__init__(parts, lang=lang)
        self.add_class("pipekit-real")
        self._label()
        self.refresh()

    def guess_words(self, lang: str) -> list[str]:
        """What stands before each field that is guessed in, all in percent."""
        raise NotImplementedError

    def _rows(self) -> list[list[str]]:
        """What was guessed, predicted and measured, as far as it may be seen; heads first."""
        raise NotImplementedError

    def _picture(self) -> bytes:
        """The same as a chart or grids, as PNG; b"" where there is nothing to see yet."""
        raise NotImplementedError

    def _make_widgets(self, num_guesses: int) -> None:
        self.fields = [ipywidgets.Text(layout={"width": "84px"}) for _ in range(num_guesses)]
        self.field_words = [words_box() for _ in self.fields]
        self.done, self.none, self.answer = button(), button(), words_box()
        pairs = [part for pair in zip(self.field_words, self.fields, strict=True) for part in pair]
        self.question, self.intro = words_box(), words_box()
        self.ask = line(self.intro, *pairs, self.done, self.none, self.answer)
        self.ask.add_class("pipekit-ask")
        self.train, self.halt = button(button_style="primary"), button(disabled=True)
        self.bar = ipywidgets.FloatProgress(max=1.0, layout={"width": "150px"})
        self.status, self.figures, self.evidence = words_box(), words_box(), words_box()
        self.press = line(self.train, self.halt, self.bar, self.status)
        self.picture = Picture()
        self.result = line(self.figures, self.picture)
        self.result.add_class("pipekit-result")
        self.done.on_click(lambda _: self.guess(*(field.value for field in self.fields)))
        self.none.on_click(lambda _: self.no_guess())
        self.train.on_click(lambda _: self.run())
        self.halt.on_click(lambda _: self.cancel())

    def _label(self) -> None:
        seconds = math.ceil(sum(self.experiment.predict(each).timeline.makespan for each in self._steps))
        for widget, key in ((self.done, "guess_done"), (self.none, "guess_none"), (self.halt, "cancel")):
            widget.description = widget.tooltip = say(key, self.lang)
        self.train.description = self.train.tooltip = say(
            "lesson_run", self.lang, count=len(self.asked), seconds=seconds
        )
        self.bar.tooltip = say("progress", self.lang)
        self.question.value = f"<b>{html.escape(say(f'{self.prefix}_question', self.lang))}</b>"
        self.intro.value = html.escape(say(f"{self.prefix}_guess", self.lang))
        for widget, field, words in zip(
            self.field_words, self.fields, self.guess_words(self.lang), strict=True
        ):
            widget.value, field.tooltip = html.escape(words), words

    # -- guessing

    def guess(self, *said: str) -> None:
        """What the class says, a share each, as it would write it."""
        wrong = [words for text in said if (words := complaint(text, "percent", self.lang))]
        self.answer.value = pictures.lines(wrong[:1])
        if not wrong:
            self.guesses = tuple(parse(text, "percent") for text in said)
            self._decide()

    def no_guess(self) -> None:
        """The class doesn't want to guess."""
        self._decide()

    def _decide(self) -> None:
        self.decided = True
        self.refresh()

    # -- running

    @property
    def _steps(self) -> tuple[Settings, ...]:
        """What is run: the quickest once more, before all, to warm up."""
        quickest = min(self.asked, key=lambda each: self.experiment.predict(each).timeline.makespan)
        return (quickest, *self.asked)

    def run(self) -> show.Run[list[Outcome]]:
        """Train one step with each of the settings in the background; `.wait()` gives the outcomes."""
        self.stop()
        self.decided = True
        num_ops = sum(each.build().num_ops for each in self._steps)
        live = self._live = Live(num_ops, self._progress.ask)
        self._status = ("preparing", {})
        self.refresh()

        def work(current: show.Run[list[Outcome]]) -> list[Outcome]:
            try:
                measured = self._measure(live, current)
            except Cancelled:
                self._end("cancelled")
                raise
            except BaseException as error:
                self._end("failed", error=error)
                raise
            self.outcomes = dict(zip(self.asked, measured, strict=True))
            self._end("")
            return measured

        return self.start(work, on_cancel=live.cancel)

    def _measure(self, live: Live, current: show.Run[Any]) -> list[Outcome]:
        measured, num_ops = [], 0
        watch = live.watch(current)
        with self.experiment.bench(self.asked[0], watch) as measure:
            for number, asked in enumerate(self._steps):

                def once(asked: Settings, number: int = number, before: int = num_ops) -> Outcome:
                    live.count_from(before)
                    watch.phase("lesson_running", number=max(number, 1), total=len(self.asked))
                    return measure(asked)

                measured.append(_in_time(once, asked))
                num_ops += asked.build().num_ops
        return measured[1:]

    def cancel(self) -> None:
        """Stop what runs, between two ops."""
        if self._live is not None and self.current is not None:
            self._live.tell("cancelling")
            self.current.cancel()

    def _end(self, status: str, **numbers: Any) -> None:
        with self.lock:
            self._live, self._status = None, (status, numbers)
            self.refresh()

    # -- drawing

    def moving(self) -> list[ipywidgets.Widget]:
        """What changes while it runs, or by its end."""
        layouts = [self.ask.layout, self.bar.layout, self.picture.layout]
        return [
            self.train, self.halt, self.bar, self.status, self.figures, self.picture, self.evidence, *layouts,
        ]  # fmt: skip

    def refresh(self) -> None:
        """Draw all of it."""
        with self.lock:
            running = self._live is not None
            self.train.disabled, self.halt.disabled = running, not running
            show_if(self.ask, not self.decided)
            show_if(self.bar, running)
            self._draw_progress()
            rows, drawn = self._rows(), self._picture()
            self.picture.show(drawn, "\n".join(self._lines()) if drawn else "")
            self.figures.value = TABLE + table(rows) if rows else ""
            show_if(self.picture, bool(self.picture.value))
            self.evidence.value = pictures.said([self._evidence()])

    def _evidence(self) -> sentences.Said:
        """On what it ran; of several runs the one that the computer disturbed most."""
        latest = max(self.outcomes.values(), key=lambda each: each.late, default=None)
        return sentences.evidence(self.asked[-1], latest, self.experiment.slot, self.lang)

    def _draw_progress(self) -> None:
        live = self._live
        key, numbers = self._status if live is None else (live.phase, live.numbers)
        if "error" in numbers:
            numbers = {"why": show.sentence(numbers["error"], self.lang)}
        self.bar.value = 0.0 if live is None else live.share
        words = say(key, self.lang, **numbers) if key else ""
        self.status.value = f'<div role="status">{html.escape(words)}</div>'

    # -- where no kernel is

    def _lines(self) -> list[str]:
        """What it asks, or what came out, line by line."""
        rows = ["  ".join(row) for row in self._rows()]
        return [*rows, self._evidence().text] if rows else [say(f"{self.prefix}_question", self.lang)]

    def picture_png(self) -> bytes:
        """What it asks or what came out, as a picture."""
        pictures_below = [bytes(self.picture.value)] if self.picture.value else []
        return show.png(still(self._lines(), self.lang, pictures_below))

    def picture_text(self) -> str:
        """The same in words."""
        return "\n".join([*self._lines(), say("still_line", self.lang)])


def _in_time(measure: Callable[[Settings], Outcome], asked: Settings) -> Outcome:
    """A step whose workers woke up in time, if that comes within `TRIES`; else the one least late."""
    outcomes: list[Outcome] = []
    while len(outcomes) < TRIES and (not outcomes or outcomes[-1].late):
        outcomes.append(measure(asked))
    return min(outcomes, key=lambda each: each.late)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Words as a table; its first row and the first of each row say what the others are."""
    heads, *others = rows
    head = "".join(f'<th scope="col">{html.escape(words)}</th>' for words in heads)
    body = "".join(
        f'<tr><th scope="row">{html.escape(row[0])}</th>'
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in others
    )
    return f'<table class="pipekit-real-table"><tr>{head}</tr>{body}</table>'
