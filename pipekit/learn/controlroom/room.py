"""The room itself: knobs, buttons, and the threads between them.

Knobs are traits, so `room.num_stages = 6` moves the slider and the picture. Callbacks hand on to pure functions.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import ipywidgets
import traitlets
from PIL import Image

from pipekit import plan, show
from pipekit.errors import Cancelled, PipekitError
from pipekit.learn.controlroom import pictures
from pipekit.learn.experiment import Experiment, Outcome, Prediction, Settings, Watch
from pipekit.run import Pipeline
from pipekit.show import say
from pipekit.show.fonts import drawn_language

T = TypeVar("T")
MOST_STAGES, MOST_MICRO_BATCHES = 8, 32
SCHEDULES = ("naive", "gpipe", "1f1b")
SWEEP = (1, 4, 8, 16)


@dataclass
class _Live:
    """The run that is going on, as far as it has come."""

    settings: Settings | None = None
    total: int = 1  # ops of all its steps
    done: int = 0
    spans: dict[plan.Op, plan.Span] = field(default_factory=dict)  # of its newest step
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, span: plan.Span) -> None:
        """An op has ended; one that had ended already means that the next step has begun."""
        with self.lock:
            if span.op in self.spans:
                self.spans = {}
            self.spans[span.op] = span
            self.done += 1

    def timeline(self, num_devices: int, devices: str) -> plan.Timeline:
        """The newest step so far."""
        with self.lock:
            spans = plan.Spans.of(self.spans.values())
        return plan.Timeline(spans, num_devices, source="measured", devices=devices)


class ControlRoom(show.Panel):
    """K, M, checkpoint policy and schedule on one screen: predicted while a slider moves, then measured.

    Args:
        lang: `"zh"` or `"en"`; can be switched at any time.
        experiment: model, mini-batch and clock; left out, the lesson's.

    From a cell, `room.run().wait()` trains once and returns the `Outcome`, `room.sweep().wait()` tries several M, and
    `room.picture()` is a still of all pictures.
    """

    lang = traitlets.Enum(show.LANGUAGES, "zh")
    num_stages = traitlets.Int(4, min=1, max=MOST_STAGES)
    num_micro_batches = traitlets.Int(4, min=1, max=MOST_MICRO_BATCHES)
    checkpoint = traitlets.Enum(plan.CHECKPOINTS, "never")
    schedule = traitlets.Enum(SCHEDULES, "gpipe")

    def __init__(self, lang: str = "zh", experiment: Experiment | None = None) -> None:
        self.experiment = experiment or Experiment()
        self.outcomes: dict[Settings, Outcome] = {}
        self._live = _Live()
        self._pipeline: Pipeline | None = None
        self._status: tuple[str, dict[str, Any]] = ("idle_status", {})
        self._charts = show.Latest(self._draw_charts, quiet=0.2)
        self._progress = show.Latest(self._draw_progress)
        self._make_widgets()
        super().__init__(self._arranged(), lang=lang)
        self.add_class("pipekit-room")
        self._connect()
        self._label()
        self._draw_charts()

    # -- for cells and tests

    @property
    def settings(self) -> Settings:
        """What the knobs say."""
        return Settings(self.num_stages, self.num_micro_batches, self.checkpoint, self.schedule)

    @property
    def outcome(self) -> Outcome | None:
        """What was measured with these settings; None before they have been run."""
        return self.outcomes.get(self.settings.key())

    def run(self) -> show.Run[Outcome]:
        """Train once in the background with these settings, and measure; `.wait()` gives the outcome."""
        settings = self.settings

        def work(watch: Watch) -> Outcome:
            outcome = self.experiment.train_once(settings, watch)
            self._keep([outcome])
            return outcome

        return self._begin(settings, self.experiment.num_ops(settings), work)

    def sweep(self) -> show.Run[list[Outcome]]:
        """Try M = 1, 4, 8, 16 in the background; `.wait()` gives the outcomes."""
        settings = self.settings

        def work(watch: Watch) -> list[Outcome]:
            return self.experiment.sweep(settings, SWEEP, watch, self._keep)

        return self._begin(settings, self.experiment.sweep_num_ops(settings, SWEEP), work)

    def picture(self) -> Image.Image:
        """Grids and charts as one still picture."""
        with self.lock:
            self._draw_charts()
            image = self._grid(self.experiment.predict(self.settings))
            return pictures.stack(image, [self.memory.value, self.curve.value])

    def picture_png(self) -> bytes:
        """The same as PNG: what a notebook shows where no kernel is."""
        return show.png(self.picture())

    def picture_text(self) -> str:
        """The room in words and letters."""
        with self.lock:
            prediction, outcome = self.experiment.predict(self.settings), self.outcome
            rows = pictures.figures(prediction, outcome, self.experiment.slot, self.lang)
            said = [*pictures.sentences(prediction, outcome, self.lang), *self._evidence()]
            measured = None if outcome is None else outcome.timeline
            return pictures.words(prediction, measured, rows, said, self.lang)

    def settle(self) -> None:
        """Wait until all that was asked for is drawn."""
        self._progress.settle()
        self._charts.settle()

    # -- widgets

    def _make_widgets(self) -> None:
        wide = ipywidgets.Layout(width="500px")
        style = {"description_width": "120px"}
        fixed = ipywidgets.Layout(width="auto", flex="0 0 auto")
        self.title = ipywidgets.HTML()
        self.language = ipywidgets.ToggleButtons(
            options=[("中文", "zh"), ("English", "en")], style={"button_width": "90px"}
        )
        self.stages_slider = ipywidgets.IntSlider(min=1, max=MOST_STAGES, layout=wide, style=style)
        self.pieces_slider = ipywidgets.IntSlider(min=1, max=MOST_MICRO_BATCHES, layout=wide, style=style)
        self.schedule_menu = ipywidgets.Dropdown(options=SCHEDULES, layout=wide, style=style)
        self.checkpoint_menu = ipywidgets.Dropdown(options=plan.CHECKPOINTS, layout=wide, style=style)
        self.train_button = ipywidgets.Button(button_style="primary", layout=fixed)
        self.sweep_button = ipywidgets.Button(layout=fixed)
        self.cancel_button = ipywidgets.Button(layout=fixed, disabled=True)
        self.bar = ipywidgets.FloatProgress(
            max=1.0, layout={"width": "130px", "flex": "0 0 auto", "display": "none"}
        )
        self.status, self.figures, self.evidence = (ipywidgets.HTML() for _ in range(3))
        self.grid, self.memory, self.curve = (ipywidgets.Image(format="png") for _ in range(3))

    def _arranged(self) -> tuple[ipywidgets.Widget, ...]:
        row = ipywidgets.HBox
        line = ipywidgets.Layout(align_items="center", flex_flow="row wrap", grid_gap="0 8px")
        between = ipywidgets.Layout(justify_content="space-between", flex_flow="row wrap")
        return (
            row([self.title, self.language], layout=between),
            row([self.stages_slider, self.pieces_slider], layout=between),
            row([self.schedule_menu, self.checkpoint_menu], layout=between),
            row(
                [self.train_button, self.sweep_button, self.cancel_button, self.bar, self.status], layout=line
            ),
            self.grid,
            self.figures,
            row([self.memory, self.curve], layout={"flex_flow": "row wrap"}),
            self.evidence,
        )

    def _connect(self) -> None:
        traitlets.link((self, "lang"), (self.language, "value"))
        traitlets.link((self, "num_stages"), (self.stages_slider, "value"))
        traitlets.link((self, "num_micro_batches"), (self.pieces_slider, "value"))
        self._menus = {
            self.schedule_menu: (
                SCHEDULES,
                traitlets.link((self, "schedule"), (self.schedule_menu, "value")),
            ),
            self.checkpoint_menu: (
                plan.CHECKPOINTS,
                traitlets.link((self, "checkpoint"), (self.checkpoint_menu, "value")),
            ),
        }
        self.observe(lambda change: self._label(), "lang")
        self.observe(
            lambda change: self._moved(), ["num_stages", "num_micro_batches", "checkpoint", "schedule"]
        )
        self.train_button.on_click(lambda button: self.run())
        self.sweep_button.on_click(lambda button: self.sweep())
        self.cancel_button.on_click(lambda button: self.cancel())

    def _label(self) -> None:
        """Say everything in the room's language."""
        with self.lock:
            self.title.value = f"{pictures.STYLE}<b>{say('title', self.lang)}</b>"
            self.stages_slider.description = say("num_stages", self.lang)
            self.pieces_slider.description = say("num_micro_batches", self.lang)
            self.schedule_menu.description = say("schedule", self.lang)
            self.checkpoint_menu.description = say("checkpoint", self.lang)
            for menu, (values, link) in self._menus.items():
                link.unlink()  # new options select the first one: that's no choice of the learner's
                menu.options = [(say(value, self.lang), value) for value in values]
                link.link()
            self.cancel_button.description = say("cancel", self.lang)
            self.refresh()

    # -- drawing

    def refresh(self) -> None:
        """Draw what can be said at once; charts follow."""
        with self.lock:
            try:
                prediction = self.experiment.predict(self.settings)
            except PipekitError as error:
                self._cannot(error)
                return
            self.grid.value = show.png(self._grid(prediction))
            self.grid.layout.display = None
            rows = pictures.figures(prediction, self.outcome, self.experiment.slot, self.lang)
            said = pictures.sentences(prediction, self.outcome, self.lang)
            self.figures.value = pictures.table(rows, self.lang) + pictures.lines(said)
            self.evidence.value = pictures.lines(self._evidence())
            seconds = math.ceil(self.experiment.seconds(prediction))
            self.train_button.description = say("train", self.lang, seconds=seconds)
            self._say_status()
        self._charts.ask()

    def _moved(self) -> None:
        """A knob was moved: what the last run had to say is old."""
        if self.current is None or self.current.done:
            self._status = ("idle_status", {})
            self._usable(True)
        self.refresh()

    def _cannot(self, error: PipekitError) -> None:
        """These settings have no picture: say why, and keep the knobs usable."""
        self.grid.layout.display = "none"  # the old picture would belong to other settings
        self.figures.value = pictures.lines([say("failed", self.lang, why=show.sentence(error, self.lang))])

    def _grid(self, prediction: Prediction) -> Image.Image:
        """Predicted, and under it what was measured with these settings, or is being measured now."""
        devices = prediction.timeline.num_devices
        running = self._live.settings == self.settings.key()
        complete = self.outcome is not None and not running
        if self.outcome is not None and not running:
            measured = self.outcome.timeline
        else:
            measured = self._live.timeline(devices, prediction.timeline.devices if running else "")
        return pictures.grid(prediction, measured, self.experiment.slot, self.lang, complete)

    def _draw_charts(self) -> None:
        with self.lock:
            settings, outcomes = self.settings, list(self.outcomes.values())
        try:
            prediction, family = self.experiment.predict(settings), self.experiment.family(settings)
        except PipekitError:
            return  # `refresh` has said it
        most = self.experiment.predict(replace(settings, checkpoint="never"))
        memory = pictures.memory(prediction, most, self.outcomes.get(settings.key()), self.lang)
        curve = pictures.curve(settings, family, outcomes, self.lang)
        seconds = math.ceil(self.experiment.sweep_seconds(settings, SWEEP))
        with self.lock:
            self.memory.value, self.curve.value = memory, curve
            counts = ", ".join(map(str, SWEEP))
            self.sweep_button.description = say("sweep", self.lang, counts=counts, seconds=seconds)

    def _draw_progress(self) -> None:
        with self.lock:
            self.bar.value = min(1.0, self._live.done / self._live.total)
            self._say_status()
            if self._live.settings == self.settings.key():
                self.grid.value = show.png(self._grid(self.experiment.predict(self.settings)))

    def _say_status(self) -> None:
        key, numbers = self._status
        if "error" in numbers:
            numbers = {"why": show.sentence(numbers["error"], self.lang)}
        self.status.value = f'<div role="status">{pictures.lines([say(key, self.lang, **numbers)])}</div>'

    def _evidence(self) -> list[str]:
        line = pictures.evidence(self.num_stages, self.outcome, self.experiment.slot, self.lang)
        hint = [] if drawn_language(self.lang) == self.lang else [say("font_hint", self.lang)]
        return [line, *hint]

    # -- running

    def cancel(self) -> None:
        """Stop what runs, between two ops; the model is as before."""
        if self.current is not None and not self.current.done:
            self._tell("cancelling")
            self.current.cancel()

    def _begin(self, settings: Settings, num_ops: int, work: Callable[[Watch], T]) -> show.Run[T]:
        """Run work in the background; whatever becomes of it, say so and leave the panel usable."""
        self.stop()
        self._live = _Live(settings.key(), num_ops)
        self._status = ("preparing", {})
        self._say_status()

        def whole(current: show.Run[T]) -> T:
            began = time.monotonic()
            try:
                self._charts.settle()  # drawing would disturb the clock
                result = work(self._watch(current))
            except Cancelled:
                self._end("cancelled")
                raise
            except BaseException as error:
                self._end("failed", error=error)
                raise
            self._end("finished", seconds=time.monotonic() - began)
            return result

        self._usable(False)
        return self.start(whole, on_cancel=self._cancel_pipeline)

    def _watch(self, current: show.Run[Any]) -> Watch:
        """What a run tells the room; and where a run finds out that it shall stop."""

        def phase(key: str, **numbers: Any) -> None:
            if current.stopping:
                raise Cancelled("cancelled")
            self._tell(key, **numbers)

        def span(ended: plan.Span) -> None:
            self._live.add(ended)
            self._progress.ask()
            if current.stopping:
                self._cancel_pipeline()

        return Watch(phase, span, self._set_pipeline)

    def _tell(self, key: str, **numbers: Any) -> None:
        self._status = (key, numbers)
        self._progress.ask()

    def _keep(self, outcomes: Iterable[Outcome]) -> None:
        with self.lock:
            for outcome in outcomes:
                known = self.outcomes.get(outcome.key)
                if outcome.trained or known is None or not known.trained:  # a run knows more than a sweep
                    self.outcomes[outcome.key] = outcome
        self._draw_charts()  # here, between two steps: in the background it would disturb the next one's clock

    def _set_pipeline(self, pipeline: Pipeline | None) -> None:
        self._pipeline = pipeline

    def _cancel_pipeline(self) -> None:
        pipeline = self._pipeline
        if pipeline is not None:
            pipeline.cancel()

    def _usable(self, usable: bool) -> None:
        """Knobs rest while something runs: the two grids are always about the same settings."""
        for knob in (self.stages_slider, self.schedule_menu, self.checkpoint_menu):
            knob.disabled = not usable
        self.pieces_slider.disabled = not usable or self.schedule == "naive"  # a relay race has one piece
        self.train_button.disabled = self.sweep_button.disabled = not usable
        self.cancel_button.disabled = usable
        self.bar.layout.display = "none" if usable else None

    def _end(self, status: str, **numbers: Any) -> None:
        """Show the result whole before saying how it ended; the panel can be used again."""
        try:
            self._progress.settle()
        finally:
            self._live = _Live()
            self._status = (status, numbers)
            self._usable(True)
            self.refresh()
