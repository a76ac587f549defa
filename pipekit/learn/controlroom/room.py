"""The room itself: what the knobs say, what runs, and who is told. Widgets are the screen's, pictures pure functions.

Knobs are traits, so `room.num_stages = 6` moves the stepper and the picture.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import ipywidgets
import traitlets
from PIL import Image

from pipekit import plan, show
from pipekit.errors import Cancelled, DeviceError, PipekitError
from pipekit.learn.controlroom import pictures, sentences
from pipekit.learn.controlroom.guess import Guess, complaint, parse
from pipekit.learn.controlroom.knobs import pause, show_if
from pipekit.learn.controlroom.logbook import Logbook
from pipekit.learn.controlroom.presets import LESSON, PRESETS, Preset
from pipekit.learn.controlroom.screen import CLOCKS, MOST_MICRO_BATCHES, MOST_STAGES, SCHEDULES, Screen
from pipekit.learn.controlroom.style import WIDTH
from pipekit.learn.controlroom.sweep import SweepPanel
from pipekit.learn.experiment import Experiment, Outcome, Prediction, Settings, Watch
from pipekit.run import Pipeline
from pipekit.show import say
from pipekit.show.fonts import drawn_language

T = TypeVar("T")
SWEEP = (1, 4, 8, 16)
LIVE_EVERY = 0.2  # seconds between two pictures of what runs: more would disturb its clock on two cores
LONG = 30  # seconds; a run that takes longer asks first
STARTED = "PIPEKIT_STARTED"  # set by start.py: the panel is all there is to see, so it fills the window
KNOBS = (
    "num_stages", "num_micro_batches", "checkpoint", "schedule", "slow_device", "slow_factor", "overhead_ms",
    "latency_ms", "batch_norm", "real_time", "pace",
)  # fmt: skip


@dataclass
class _Live:
    """The run that is going on, as far as it has come: its newest uncut step and its newest cut one.

    What it runs besides, other M or another policy, has no grid of its own and is only counted.
    """

    settings: Settings | None = None
    total: int = 1  # ops of all its steps
    done: int = 0
    phase: str = ""
    spans: dict[str, dict[plan.Op, plan.Span]] = field(default_factory=dict)  # by whose step it is
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, phase: str) -> None:
        """From now on spans belong to this phase."""
        with self.lock:
            self.phase = phase

    def add(self, span: plan.Span) -> None:
        """An op has ended; one that had ended already means that the next step has begun."""
        with self.lock:
            which = self.phase if self.phase in ("uncut", "kept", "sweeping") else "cut"
            spans = self.spans.setdefault(which, {})
            if span.op in spans:
                spans.clear()
            spans[span.op] = span
            self.done += 1

    def timeline(self, which: str, num_devices: int, devices: str) -> plan.Timeline:
        """The newest step so far, "uncut" or "cut"."""
        with self.lock:
            spans = plan.Spans.of(self.spans.get(which, {}).values())
        return plan.Timeline(spans, num_devices, source="measured", devices=devices)


class ControlRoom(show.Panel):
    """Guess, really train, replay, understand: GPUs, pieces, scratch paper and schedule on one screen.

    Args:
        lang: `"zh"` or `"en"`; can be switched at any time.
        experiment: model, mini-batch and clock; left out, the lesson's.
        view: `"class"` (guess first; counts from 1) or `"engineer"` (everything, predicted live; counts from 0).
        wide: fill the window from the beginning, in a lab that start.py opened. Beside text it would hide the text.

    From a cell, `room.run().wait()` trains once and returns the `Outcome`, `room.sweep().wait()` tries several M, and
    `room.picture()` is a still of all pictures.
    """

    lang = traitlets.Enum(show.LANGUAGES, "zh")
    view = traitlets.Enum(("class", "engineer"), "class")
    size = traitlets.Enum(("big", "normal"), "big")
    wide = traitlets.Bool(False)
    forward_only = traitlets.Bool(True)
    num_stages = traitlets.Int(4, min=1, max=MOST_STAGES)
    num_micro_batches = traitlets.Int(4, min=1, max=MOST_MICRO_BATCHES)
    checkpoint = traitlets.Enum(plan.CHECKPOINTS, "never")
    schedule = traitlets.Enum(SCHEDULES, "gpipe")
    slow_device = traitlets.Int(-1, min=-1, max=MOST_STAGES - 1)
    slow_factor = traitlets.Float(2.0, min=0.1, max=100.0)
    overhead_ms = traitlets.Float(0.0, min=0.0, max=1000.0)
    latency_ms = traitlets.Float(0.0, min=0.0, max=1000.0)
    batch_norm = traitlets.Bool(False)
    real_time = traitlets.Bool(False)
    pace = traitlets.Float(1.0, min=0.25, max=16.0)

    def __init__(
        self, lang: str = "zh", experiment: Experiment | None = None, view: str = "class", wide: bool = False
    ) -> None:
        self.experiment = experiment or Experiment()
        self.logbook = Logbook()
        self.screen = Screen()
        self._live = _Live()
        self._pipeline: Pipeline | None = None
        self._status: tuple[str, dict[str, Any]] = ("", {})
        self._asked: Settings | None = None  # these would take long: one more press is a yes
        self._batch = 0  # how many are changing several knobs: draw once, at the end
        self._charts = show.Latest(self._draw_charts, quiet=0.2)
        self._progress = show.Latest(self._draw_progress, every=LIVE_EVERY)
        super().__init__(self.screen.boxes, lang=lang, view=view)
        self.add_class("pipekit-room")
        self._connect()
        self._change_view()
        self._label()
        self.wide = wide and bool(os.environ.get(STARTED))
        self._draw_charts()

    # -- for cells and tests

    @property
    def settings(self) -> Settings:
        """What the knobs say."""
        return Settings(**{name: getattr(self, name) for name in KNOBS})

    @settings.setter
    def settings(self, settings: Settings) -> None:
        self._set(settings)

    @property
    def outcome(self) -> Outcome | None:
        """What was measured with these settings; None before they have been run."""
        return self.logbook.outcome(self.settings)

    @property
    def slot(self) -> float:
        """Seconds of a slot; in real time what a quarter of the uncut mini-batch was measured to take forward."""
        outcome = self.outcome
        return (
            self.experiment.slot_of(self.settings) if outcome is None else outcome.slot(self.experiment.slot)
        )

    @property
    def may_see(self) -> bool:
        """Whether predictions may be shown: an engineer's always, a class's after its guess."""
        return self.view == "engineer" or self.logbook.may_see(self.settings)

    @property
    def in_view(self) -> bool:
        """Whether only the way forward is shown; some settings make no sense without the way back."""
        return self.forward_only and sentences.forwards_first(self.settings)

    def guess(self, slots: str = "", percent: str = "") -> None:
        """What the class says: slots of the cut mini-batch and the share of idle time, as they would write them."""
        complaints = [
            complaint(slots, "slots", self.lang, self.view),
            complaint(percent, "percent", self.lang, self.view),
        ]
        self.screen.guess_answer.value = pictures.lines([words for words in complaints if words])
        if not any(complaints):
            self.logbook.decide(
                self.settings, Guess(parse(slots, "slots"), parse(percent, "percent"), self.in_view)
            )
            self.refresh()

    def no_guess(self) -> None:
        """The class doesn't want to guess."""
        self.logbook.decide(self.settings, None)
        self.refresh()

    def apply(self, preset: Preset | str) -> None:
        """Set all knobs to a preset, given itself or by its key."""
        chosen = next(each for each in PRESETS if preset in (each, each.key))
        self._set(chosen.settings, forward_only=not chosen.both_ways)

    def run(self) -> show.Run[Outcome]:
        """Train once in the background with these settings, and measure; `.wait()` gives the outcome."""
        settings = self.settings
        self.logbook.decide(settings, None)

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

    def timelines(self) -> list[plan.Timeline]:
        """What the picture shows, from above to below: in class the uncut mini-batch and the cut one."""
        return [part.timeline for part in self._parts()]

    def picture(self) -> show.Still:
        """Grids and charts as one still picture; where there is none, why."""
        with self.lock:
            return show.Still(show.png(self._sheet("")), self._refused() or "\n".join(self._words()))

    def _sheet(self, words: str) -> Image.Image:
        """The picture under a line of words."""
        with self.lock:
            refused = self._refused()
            if refused:
                blank = Image.new("RGB", (WIDTH, 1), "white")
                return pictures.stack(blank, [], refused, self.lang)
            self._draw_charts()
            charts = [image.value for image in (self.screen.memory, self.screen.curve) if image.value]
            return pictures.stack(self._grid(), charts, words, self.lang)

    def picture_png(self) -> bytes:
        """The same as PNG, and how to bring it alive: what a notebook shows where no kernel is."""
        return show.png(self._sheet(say("still_line", self.lang, self.view)))

    def picture_text(self) -> str:
        """The room in words and letters."""
        with self.lock:
            refused = self._refused()
            if refused:
                return refused
            return "\n".join([*self._words(), say("still_line", self.lang, self.view)])

    def _words(self) -> list[str]:
        """The grids in letters, and what is said of them."""
        parts = [line for each in self.timelines() for line in self._in_letters(each)]
        return [*parts, *(said.text for said in self._said())]

    def _refused(self) -> str:
        """Why these settings have no picture; "" where they have one."""
        try:
            self._predict(self.settings)
        except PipekitError as error:
            return say("failed", self.lang, self.view, why=show.sentence(error, self.lang, self.view))
        return ""

    def _in_letters(self, timeline: plan.Timeline) -> list[str]:
        return [show.devices_line(timeline, self.lang), str(timeline), ""] if len(timeline.spans) else []

    def settle(self) -> None:
        """Wait until all that was asked for is drawn."""
        self._progress.settle()
        self._charts.settle()

    # -- widgets

    def _connect(self) -> None:
        screen = self.screen
        for trait, widget in (
            ("lang", screen.language), ("view", screen.view), ("size", screen.size), ("wide", screen.wide),
            ("forward_only", screen.direction), ("num_stages", screen.stages),
            ("num_micro_batches", screen.pieces), ("checkpoint", screen.checkpoint),
            ("schedule", screen.schedule), ("slow_device", screen.slow_device),
            ("slow_factor", screen.slow_factor), ("overhead_ms", screen.overhead),
            ("latency_ms", screen.latency), ("batch_norm", screen.batch_norm), ("real_time", screen.real_time),
            ("pace", screen.clock),
        ):  # fmt: skip
            traitlets.link((self, trait), (widget, "value"))
        traitlets.link((screen.play, "value"), (screen.position, "value"))
        self.observe(lambda change: self._change_view(), "view")
        self.observe(lambda change: self._label(), ["lang", "view"])
        self.observe(lambda change: self._dress(), ["size", "wide"])
        self.observe(lambda change: self._moved(), list(KNOBS))
        self.observe(lambda change: self.refresh(), "forward_only")
        screen.position.observe(lambda change: self._draw_replay(), "value")
        screen.pace.observe(self._set_pace, "value")
        screen.train.on_click(lambda _: self._ask_or_run())
        screen.stop.on_click(lambda _: self.cancel())
        screen.sweep.on_click(lambda _: self.sweep())
        screen.guess_done.on_click(lambda _: self.guess(screen.guess_slots.value, screen.guess_percent.value))
        screen.guess_none.on_click(lambda _: self.no_guess())
        screen.back.on_click(lambda _: self._step(-1))
        screen.forward.on_click(lambda _: self._step(1))
        screen.save.on_click(lambda _: self._offer_pictures())
        screen.slower.on_click(lambda _: self._slower())
        screen.reset.on_click(lambda _: self._set(LESSON, forward_only=True))
        screen.go_back.observe(self._go_back, "value")
        for preset in PRESETS:
            screen.presets[preset.key].on_click(lambda _, chosen=preset: self.apply(chosen))
        for key, toggle in screen.toggles.items():
            toggle.observe(lambda change, chosen=key: self._toggle(chosen, change["new"]), "value")

    def _label(self) -> None:
        """Say everything in the room's language, for its readers."""
        with self.lock:
            self.screen.label(self.lang, self.view)
            self._name_entries()
            self.refresh()

    def _change_view(self) -> None:
        """What an audience sees first."""
        with self.lock:
            self.forward_only = self.view == "class"
            show_if(self.screen.toggles["sweeps"], self.view == "engineer")
            self.screen.open_only("more" if self.view == "engineer" else "")

    def _dress(self) -> None:
        """How large the text is, and whether the panel fills the browser's window."""
        for name, on in (("pipekit-normal", self.size == "normal"), ("pipekit-wide", self.wide)):
            (self.add_class if on else self.remove_class)(name)

    def _toggle(self, key: str, opened: bool) -> None:
        if opened and key == "sweeps" and not self.screen.drawers[key].children:
            panel = SweepPanel(self.lang, self.experiment, self.view)
            for trait in ("lang", "view"):
                traitlets.dlink((self, trait), (panel, trait))
            self.screen.drawers[key].children = (panel,)
        if opened:
            self.screen.open_only(key)
        else:
            show_if(self.screen.drawers[key], False)

    def _set(self, settings: Settings, **traits: Any) -> None:
        """Move several knobs, and draw once."""
        if self.current is not None and not self.current.done:
            return  # knobs rest during a run
        self._batch += 1
        try:
            for name in KNOBS:
                setattr(self, name, getattr(settings, name))
            for name, value in traits.items():
                setattr(self, name, value)
        finally:
            self._batch -= 1
        self._moved()

    # -- drawing

    def refresh(self) -> None:
        """Draw what can be said at once; charts follow."""
        if self._batch:
            return
        with self.lock:
            self._usable(self._live.settings is None)  # not the thread's end: that comes after its last word
            try:
                prediction = self._predict(self.settings)
            except PipekitError as error:
                self._cannot(error)
                return
            show_if(self.screen.stage, True)
            self._show_grid()
            self._show_words(prediction)
            self._show_cost()
            self._say_status()
        if self.foreground:
            self._draw_charts()  # what a thread drew would not reach the page
        else:
            self._charts.ask()

    def _moved(self) -> None:
        """A knob was moved: what the last run had to say is old, and there is something new to guess."""
        if self._batch:
            return
        self._asked = None
        if self.current is None or self.current.done:
            self._status = ("", {})
            for widget in (self.screen.guess_slots, self.screen.guess_percent, self.screen.guess_answer):
                widget.value = ""
        self.screen.saved.value = ""
        self._rewind()
        self.refresh()

    def _cannot(self, error: PipekitError) -> None:
        """These settings have no picture: say why, and keep the knobs usable."""
        show_if(self.screen.stage, False)  # the old picture would belong to other settings
        why = say("failed", self.lang, self.view, why=show.sentence(error, self.lang, self.view))
        self.screen.figures.value, self.screen.evidence.value = pictures.lines([why]), ""
        self.screen.sentences.value = ""

    def _parts(self) -> list[pictures.Part]:
        """The grids of the picture: live while something runs, else what was measured or may be predicted."""
        settings, outcome, slot = self.settings, self.outcome, self.slot
        live = self._live if self._live.settings == settings.key() else None
        return pictures.parts(
            settings, self._predict, outcome, None if live is None else live.timeline,
            slot, self.may_see, self.in_view, self.lang, self.view,
        )  # fmt: skip

    def _predict(self, settings: Settings) -> Prediction:
        """What should happen; in real time only the shape is known, so it is drawn in measured slots."""
        prediction = self.experiment.predict(settings)
        if not self.real_time:
            return prediction
        spans, longer = prediction.timeline.spans, self.slot / self.experiment.slot_of(settings)
        scaled = plan.Spans(spans.codes, spans.devices, spans.starts * longer, spans.ends * longer)
        return replace(prediction, timeline=replace(prediction.timeline, spans=scaled))

    def _slots(self, timeline: plan.Timeline) -> float:
        """How many slots of a timeline are in view."""
        return sentences.shown(timeline, self.in_view).makespan / self.slot

    def _least(self) -> float:
        """Slots that the axis has at least: those of the uncut mini-batch, which a class is told."""
        if self.view == "engineer":
            return 0.0
        return round(self._slots(self._predict(self.settings.uncut()).timeline), 6)

    def _grid(self, column: int = 0) -> Image.Image:
        return pictures.paint(self._parts(), self.slot, self.lang, self.view, self._least(), column)

    def _show_grid(self) -> None:
        screen, parts, slot = self.screen, self._parts(), self.slot
        look = (parts, slot, self.lang, self.view, self._least())
        resting = self._live.settings is None
        screen.grid.show(show.png(pictures.paint(*look)), pictures.in_words(parts, letters=resting))
        screen.idle.value = pictures.idle_cells(*look) if resting else ""
        screen.position.max = screen.play.max = pictures.num_slots(parts, slot)
        self._replayable(self.outcome is not None and resting)

    def _replayable(self, replayable: bool) -> None:
        """Whether there is a run to replay and to save."""
        screen = self.screen
        for widget in (screen.position, screen.play, screen.back, screen.forward, screen.save):
            widget.disabled = not replayable

    def _show_words(self, prediction: Prediction) -> None:
        outcome = self.outcome
        rows = pictures.figures(prediction, outcome, self.slot, self.lang, self.view)
        guess = self.logbook.guess(self.settings)
        if self.view == "engineer":
            self.screen.figures.value = pictures.table(rows, self.lang, self.view)
        else:
            seen = prediction if self.may_see else None
            slot = self.slot
            self.screen.figures.value = pictures.row(
                seen, outcome, guess, self.settings.key().num_micro_batches, slot, self.in_view, self.lang
            )
        *three, evidence = self._said()
        self.screen.sentences.value = pictures.said(three)
        self.screen.evidence.value = pictures.said([evidence]) + pictures.lines(self._hints())
        show_if(self.screen.slower, self._overran or self._clock_refused)
        show_if(self.screen.guess_box, not self.may_see and self._live.settings is None)
        count = self.settings.key().num_micro_batches
        words = {
            "uncut": sentences.count(self._least(), 1.0),
            "count": count,
            "samples": self.experiment.batch_size // 4,
        }
        key = "guess_intro" if count > 1 else "guess_first"  # of the whole batch the slots are told
        self.screen.guess_slots_words.value = say(key, self.lang, self.view, **words)
        show_if(self.screen.guess_slots, count > 1)

    def _show_cost(self) -> None:
        screen, words = self.screen, (self.lang, self.view)
        seconds = max(1, round(self.experiment.seconds(self.settings)))
        asking = self._asked == self.settings
        screen.train.description = say("ask_long" if asking else "train", *words, seconds=seconds)
        screen.train.tooltip = screen.train.description

    def _said(self) -> list[sentences.Said]:
        """Three sentences after a run, and always the line that says on what."""
        slot, outcome = self.slot, self.outcome
        three = [] if outcome is None else sentences.three(outcome, slot, self.lang, self.view, self.in_view)
        return [*three, sentences.evidence(self.settings, outcome, slot, self.lang, self.view)]

    def _hints(self) -> list[str]:
        keys = ["font_hint"] if drawn_language(self.lang) != self.lang else []
        keys += ["foreground_note"] if self.foreground else []
        return [say(key, self.lang, self.view) for key in keys]

    def _draw_charts(self) -> None:
        with self.lock:
            settings, outcomes = self.settings, list(self.logbook.outcomes.values())
            entries, seen = list(self.logbook.entries), self.may_see
        try:
            prediction, family = self._predict(settings), self.experiment.family(settings)
        except PipekitError:
            return  # `refresh` has said it
        most = self._predict(settings.kept())
        outcome = self.logbook.outcome(settings)
        memory = pictures.memory(prediction if seen else None, most, outcome, self.lang, self.view)
        curve = pictures.curve(settings, family if seen else {}, outcomes, self.lang, self.view)
        table = pictures.history(entries, self.experiment.slot, self.in_view, self.lang, self.view)
        cost = max(1, round(self.experiment.sweep_seconds(settings, SWEEP)))
        counts = ", ".join(map(str, SWEEP))
        with self.lock:
            sweep = self.screen.sweep
            sweep.description = say("sweep", self.lang, self.view, counts=counts, seconds=cost)
            sweep.tooltip = sweep.description
            self.screen.memory.show(memory.png, memory.words)
            self.screen.curve.show(curve.png, curve.words)
            self.screen.table.value = table

    def _draw_progress(self) -> None:
        with self.lock:
            self.screen.bar.value = min(1.0, self._live.done / self._live.total)
            self._say_status()
            if self._live.settings == self.settings.key():
                self.screen.grid.show(show.png(self._grid()), pictures.in_words(self._parts(), letters=False))

    def _say_status(self) -> None:
        key, numbers = self._status
        if "error" in numbers:
            numbers = {"why": show.sentence(numbers["error"], self.lang, self.view)}
        words = say(key, self.lang, self.view, **numbers) if key else ""
        self.screen.status.value = f'<div role="status">{pictures.lines([words])}</div>'
        running = self._live.settings is not None
        show_if(self.screen.bar, running)
        show_if(self.screen.progress_box, running or (self.may_see and bool(key)))

    # -- replay

    def _rewind(self) -> None:
        pause(self.screen.play)
        self.screen.position.value = 0

    def _step(self, by: int) -> None:
        position = self.screen.position
        pause(self.screen.play)
        position.value = min(max(position.value + by, 0), position.max)

    def _set_pace(self, change: Any) -> None:
        self.screen.play.interval = round(1000 * change["new"])

    def _draw_replay(self) -> None:
        """The picture up to the column that the replay has reached, and who does what in it; 0 shows all."""
        with self.lock:
            if self.outcome is None or self._live.settings is not None:
                return
            column, parts = self.screen.position.value, self._parts()
            words = pictures.column_words(parts, column, self.slot, self.lang, self.view) if column else ""
            self.screen.grid.show(show.png(self._grid(column)), words or pictures.in_words(parts))
            self.screen.saved.value = pictures.lines([words] if column else [])

    def _offer_pictures(self) -> None:
        """Links to the picture as files, for slides: they are in the page, so nothing has to be found on a disk."""
        if self.outcome is not None:
            parts = self._parts()
            self.screen.saved.value = pictures.downloads(
                parts, self.settings, self.slot, self.lang, self.view
            )

    # -- history

    def _name_entries(self) -> None:
        names = [
            pictures.entry_name(number, each, self.lang, self.view)
            for number, each in enumerate(self.logbook.entries)
        ]
        self.screen.go_back.values = (-1, *range(len(names)))
        self.screen.go_back.value = -1
        self.screen.go_back.name(say("go_back", self.lang, self.view), ["–", *names])

    def _go_back(self, change: Any) -> None:
        if change["new"] is not None and change["new"] >= 0:
            self._set(self.logbook.entries[change["new"]].settings)

    # -- running

    def _ask_or_run(self) -> None:
        """Train once; what takes long asks first, and the same button answers yes."""
        settings = self.settings
        if self.experiment.seconds(settings) > LONG and self._asked != settings:
            self._asked = settings
            self._show_cost()
            return
        self._asked = None
        self.run()

    @property
    def _overran(self) -> bool:
        """Whether some op of what is shown computed longer than its stand-in declared."""
        outcome = self.outcome
        if outcome is None or self.real_time:
            return False
        return any(
            each.overruns for each in (outcome.result, outcome.uncut, outcome.kept) if each is not None
        )

    @property
    def _clock_refused(self) -> bool:
        """Whether these settings were refused because their ops are too short for this machine's clock."""
        error = self._status[1].get("error")
        return isinstance(error, DeviceError) and error.key == "clock_coarse"

    def _slower(self) -> None:
        """A clock half as fast, and once more; what was guessed counts slots, so it is as good on this clock."""
        guess = self.logbook.guess(self.settings)
        self.pace = min(2 * self.pace, CLOCKS[-1])
        self.logbook.decide(self.settings, guess)
        self._ask_or_run()

    def moving(self) -> list[ipywidgets.Widget]:
        """What changes while something runs, or by its end."""
        return self.screen.moving

    def cancel(self) -> None:
        """Stop what runs, between two ops; the model is as before."""
        if self.current is not None and not self.current.done:
            self._tell("cancelling")
            self.current.cancel()

    def _begin(self, settings: Settings, num_ops: int, work: Callable[[Watch], T]) -> show.Run[T]:
        """Run work in the background; whatever becomes of it, say so and leave the panel usable."""
        self.stop()
        self._rewind()
        self._live = _Live(settings.key(), num_ops)
        self._status = ("preparing", {})
        screen = self.screen
        for words in (screen.saved, screen.idle, screen.figures, screen.sentences):
            words.value = ""  # what they say is about an earlier run
        if self.view == "class":
            screen.open_only("")
        show_if(self.screen.guess_box, False)
        self._replayable(False)
        self._say_status()

        def whole(current: show.Run[T]) -> T:
            try:
                self._charts.settle()  # drawing would disturb the clock
                result = work(self._watch(current))
            except Cancelled:
                self._end("cancelled")
                raise
            except BaseException as error:
                self._end("failed", error=error)
                raise
            self._end("")
            return result

        self._usable(False)
        return self.start(whole, on_cancel=self._cancel_pipeline)

    def _watch(self, current: show.Run[Any]) -> Watch:
        """What a run tells the room; and where a run finds out that it shall stop."""

        def phase(key: str, **numbers: Any) -> None:
            if current.stopping:
                raise Cancelled("cancelled")
            self._live.begin(key)
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
                self.logbook.keep(outcome)
        self._draw_charts()  # here, between two steps: in the background it would disturb the next one's clock

    def _set_pipeline(self, pipeline: Pipeline | None) -> None:
        self._pipeline = pipeline

    def _cancel_pipeline(self) -> None:
        pipeline = self._pipeline
        if pipeline is not None:
            pipeline.cancel()

    def _usable(self, usable: bool) -> None:
        """Knobs rest while something runs: all grids are always about the same settings."""
        screen = self.screen
        for knob in screen.knobs:
            knob.rest(not usable)
        if self.schedule == "naive":
            screen.pieces.rest(True)  # a relay race has one piece
        screen.direction.rest(not sentences.forwards_first(self.settings))
        screen.batch_norm.disabled = screen.real_time.disabled = not usable
        for button in (screen.train, screen.sweep, screen.reset, *screen.presets.values()):
            button.disabled = not usable
        screen.go_back.rest(not usable)
        screen.stop.disabled = usable

    def _end(self, status: str, **numbers: Any) -> None:
        """Show the result whole before saying how it ended; the panel can be used again."""
        try:
            self._progress.settle()
        finally:
            with self.lock:
                self._live = _Live()
                self._status = (status, numbers)
                self._usable(True)
                self._name_entries()
                self.refresh()
                self._usable(True)
