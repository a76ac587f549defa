"""The sweep panel: type lists of K and M, choose policies and schedules, and watch measured points fill the curves.

The engine side is `pipekit.learn.sweeping`, what is drawn and said is in `sweep_pictures`.
"""

from __future__ import annotations

import functools
import html
import math
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ipywidgets
import traitlets

from pipekit import plan, show
from pipekit.errors import Cancelled, PipekitError
from pipekit.learn import sweeping
from pipekit.learn.controlroom import sweep_pictures
from pipekit.learn.experiment import Experiment, Settings, Watch
from pipekit.learn.picture import Picture
from pipekit.learn.sweeping import Choice, Row, Sweep
from pipekit.run import Pipeline
from pipekit.show import say
from pipekit.show.fonts import drawn_language

ASK_OVER = 30  # seconds: what takes longer is started by a second press
FILE = "pipekit-sweep"
SCHEDULES = ("gpipe", "1f1b")  # one stage a device, as in the control room
LISTS = ("stages", "micro_batches", "policies", "schedules", "overhead_ms", "latency_ms", "again")


class SweepPanel(show.Panel):
    """Try a cross product of settings, one real step each: bubble and time of a step over M.

    Args:
        lang: `"zh"` or `"en"`. view: `"class"` or `"engineer"`; both can be switched at any time.
        experiment: model, mini-batch and clock, shared with a control room; left out, the lesson's.
        lists: `stages="1, 2, 4"`, `micro_batches="1-8"`, `policies=["never"]`, `schedules=["gpipe"]`,
            `overhead_ms`, `latency_ms`, `again`: whether known points are measured again.

    From a cell, `panel.run().wait()` measures and returns the rows; `panel.points` are all rows so far.
    """

    lang = traitlets.Enum(show.LANGUAGES, "zh")
    view = traitlets.Enum(("class", "engineer"), "class")
    stages = traitlets.Unicode("4")
    micro_batches = traitlets.Unicode("1, 2, 4, 8, 16, 32")
    policies = traitlets.List(traitlets.Unicode(), ["never"])
    schedules = traitlets.List(traitlets.Unicode(), ["gpipe"])
    overhead_ms = traitlets.Float(10.0, min=0.0)
    latency_ms = traitlets.Float(0.0, min=0.0)
    again = traitlets.Bool(False)

    def __init__(
        self, lang: str = "zh", experiment: Experiment | None = None, view: str = "class", **lists: Any
    ) -> None:
        self.experiment = experiment or Experiment()
        self._rows: list[Row] = []
        self._looks: dict[Settings, int] = {}
        self._sweep: Sweep | None = None
        self._pipeline: Pipeline | None = None
        self._status: tuple[str, dict[str, Any]] = ("sweep_idle", {})
        self._total, self._confirmed, self._ticking, self._drawn = 0, False, False, b""
        self._wrong: PipekitError | None = None  # why the lists can't be read
        self._asked = Choice({}, {})  # what they ask for
        self._starting = threading.Lock()
        self._progress = show.Latest(self._draw_progress)
        self._make_widgets()
        super().__init__(self._arranged(), lang=lang, view=view, **lists)
        self.add_class("pipekit-sweep")
        self._connect()
        self._lists_changed()

    # -- for cells and tests

    @property
    def points(self) -> list[Row]:
        """Every row so far, in the order in which they came; failed ones too."""
        with self.lock:
            return list(self._rows)

    @property
    def choice(self) -> Choice:
        """What the lists ask for: points with their predicted seconds, and what is skipped.

        Raises:
            PipekitError: a list can't be read.
        """
        points = sweeping.cross(
            sweeping.numbers(self.stages, "num_stages"),
            sweeping.numbers(self.micro_batches, "num_micro_batches"),
            self.policies,
            self.schedules,
            self.overhead_ms,
            self.latency_ms,
        )
        return sweeping.choose(self.experiment, points)

    def run(self) -> show.Run[list[Row]]:
        """Measure what the lists ask for in the background; `.wait()` gives the new rows.

        Raises:
            PipekitError: a list can't be read.
        """
        with self._starting:  # two presses may come on two threads
            self.stop()
            sweep = Sweep(self.experiment, self._wanted(self.choice).points)
            return self._begin(sweep)

    def pause(self) -> None:
        """Rest after the point that runs."""
        if self._sweep is not None:
            self._sweep.pause()
            self._tell("sweep_pausing")

    def resume(self) -> None:
        """Go on with the next point."""
        if self._sweep is not None:
            self._sweep.resume()
            self._progress.ask()

    def cancel(self) -> None:
        """Stop now; the point that runs is undone, the ones before are kept."""
        if self.current is not None and not self.current.done:
            self._tell("cancelling")
            self.current.cancel()

    def save_csv(self) -> Path:
        """Write all rows into the current folder, under a free name; where it is.

        Raises:
            SweepError: there is no row. FileError: the folder can't be written.
        """
        return sweeping.save_beside(Path.cwd(), f"{FILE}.csv", sweeping.csv_bytes(self.points))

    def save_png(self) -> Path:
        """Write the charts into the current folder, under a free name; where they are.

        Raises:
            FileError: the folder can't be written.
        """
        return sweeping.save_beside(Path.cwd(), f"{FILE}.png", self.picture_png())

    def picture_png(self) -> bytes:
        """Both charts: what a notebook shows where no kernel is."""
        with self.lock:
            return self._drawn

    def picture(self) -> show.Still:
        """Both charts as a still picture."""
        with self.lock:
            return show.Still(self._drawn, "\n".join(self._words()))

    def picture_text(self) -> str:
        """What was measured and what is to be, in words."""
        return "\n".join([*self._words(), say("still_line", self.lang, self.view)])

    def _words(self) -> list[str]:
        with self.lock:
            lines = self._lines(self.lang)
            table = sweep_pictures.table(self.experiment, self._rows, self.lang, self.view)
            return [
                sweep_pictures.source(self.experiment, lines, self.lang, self.view),
                *sweep_pictures.best(lines, self.lang, self.view),
                *sweep_pictures.skipped(self._asked, self.lang, self.view),
                *(" | ".join(row) for row in table),
            ]

    def settle(self) -> None:
        """Wait until all that was asked for is drawn."""
        self._progress.settle()

    # -- widgets

    def _make_widgets(self) -> None:
        text, short = {"width": "300px"}, {"width": "260px"}  # all four on one line
        style = {"description_width": "initial"}
        self.title = ipywidgets.HTML()
        self.language = ipywidgets.ToggleButtons(
            options=[("中文", "zh"), ("English", "en")], style={"button_width": "90px"}
        )
        self.stages_field, self.pieces_field = (
            ipywidgets.Text(continuous_update=False, layout=text, style=style) for _ in range(2)
        )
        self.overhead_field, self.latency_field = (
            ipywidgets.BoundedFloatText(min=0, max=1000, step=1, layout=short, style=style) for _ in range(2)
        )
        self.policies_label, self.schedules_label = ipywidgets.HTML(), ipywidgets.HTML()
        box = functools.partial(ipywidgets.Checkbox, indent=False, layout={"width": "auto"})
        self.policy_boxes = {name: box() for name in plan.CHECKPOINTS}
        self.schedule_boxes = {name: box() for name in SCHEDULES}
        self.again_box = box()
        auto = {"width": "auto", "flex": "0 0 auto"}
        self.start_button, self.pause_button, self.cancel_button, self.csv_button, self.png_button = (
            ipywidgets.Button(layout=auto) for _ in range(5)
        )
        self.bar = ipywidgets.FloatProgress(max=1.0, layout={"width": "150px", "flex": "0 0 auto"})
        self.status, self.notes, self.table = (ipywidgets.HTML() for _ in range(3))
        self.charts = Picture()

    def _arranged(self) -> tuple[ipywidgets.Widget, ...]:
        def line(*children: ipywidgets.Widget) -> ipywidgets.HBox:
            layout = ipywidgets.Layout(flex_flow="row wrap", align_items="center", grid_gap="2px 10px")
            return ipywidgets.HBox(children, layout=layout)

        return (
            line(self.title, self.language),
            line(self.stages_field, self.pieces_field, self.overhead_field, self.latency_field),
            line(self.policies_label, *self.policy_boxes.values(), self.schedules_label, *self.schedule_boxes.values(), self.again_box),
            line(self.start_button, self.pause_button, self.cancel_button, self.csv_button, self.png_button, self.bar),
            self.status,
            self.charts,
            self.notes,
            self.table,
        )  # fmt: skip

    def _connect(self) -> None:
        for trait, widget in {
            "lang": self.language,
            "stages": self.stages_field,
            "micro_batches": self.pieces_field,
            "overhead_ms": self.overhead_field,
            "latency_ms": self.latency_field,
            "again": self.again_box,
        }.items():
            traitlets.link((self, trait), (widget, "value"))
        for trait, boxes in (("policies", self.policy_boxes), ("schedules", self.schedule_boxes)):
            for ticked in boxes.values():
                ticked.observe(lambda change, trait=trait, boxes=boxes: self._ticked(trait, boxes), "value")
        self.observe(lambda change: self._lists_changed(), list(LISTS))
        self.observe(lambda change: self._label(), ["lang", "view"])
        self.start_button.on_click(lambda button: self._press())
        self.pause_button.on_click(lambda button: self._pause_or_resume())
        self.cancel_button.on_click(lambda button: self.cancel())
        self.csv_button.on_click(lambda button: self._save(self.save_csv))
        self.png_button.on_click(lambda button: self._save(self.save_png))

    def _ticked(self, trait: str, boxes: Mapping[str, ipywidgets.Checkbox]) -> None:
        if not self._ticking:
            setattr(self, trait, [name for name, each in boxes.items() if each.value])

    def _tick(self) -> None:
        """Let the boxes show what the lists say."""
        self._ticking = True  # a box that is moved from here says nothing about the others
        for boxes, chosen in ((self.policy_boxes, self.policies), (self.schedule_boxes, self.schedules)):
            for name, each in boxes.items():
                each.value = name in chosen
        self._ticking = False

    def _label(self) -> None:
        """Say everything in the panel's language."""
        with self.lock:
            words = functools.partial(say, lang=self.lang, view=self.view)
            self.title.value = f"{sweep_pictures.STYLE}<b>{words('sweep_title')}</b>"
            for widget, key in {
                self.stages_field: "num_stages",
                self.pieces_field: "num_micro_batches",
                self.overhead_field: "overhead_ms",
                self.latency_field: "latency_ms",
                self.again_box: "sweep_again",
                self.cancel_button: "cancel",
                self.csv_button: "sweep_save_csv",
                self.png_button: "sweep_save_png",
                **{each: name for name, each in self.policy_boxes.items()},
                **{each: name for name, each in self.schedule_boxes.items()},
            }.items():
                widget.description = words(key)
            self.policies_label.value, self.schedules_label.value = words("checkpoint"), words("schedule")
        self._refresh()

    # -- what the lists ask for

    def _lists_changed(self) -> None:
        with self.lock:
            self._confirmed = False
            self._tick()
            self._asked, self._wrong = Choice({}, {}), None
            try:
                self._asked = self.choice
            except PipekitError as error:
                self._wrong = sweeping.bare(error)
            if not self._running:
                wanted = self._wanted(self._asked)
                known = self._asked.points and not wanted.points
                self._status = (
                    ("sweep_known", {"count": len(self._asked.points)}) if known else ("sweep_idle", {})
                )
        self._label()

    def _wanted(self, choice: Choice) -> Choice:
        """What is still to be measured: known points only where asked again; failed and disturbed ones always."""
        known = {row.settings for row in self._rows if row.status == "measured"}
        return choice if self.again else choice.only(lambda each: each not in known)

    @property
    def _running(self) -> bool:
        return self._sweep is not None

    # -- drawing

    def _refresh(self) -> None:
        """Draw and say everything."""
        with self.lock:
            lines = self._lines(drawn_language(self.lang))
            self._drawn = sweep_pictures.charts(self.experiment, lines, self.lang, self.view)
            self.charts.show(self._drawn, "\n".join(self._words()))
            self._say()

    def _lines(self, lang: str) -> list[show.Series]:
        for each in sweep_pictures.families(self._asked, self._rows):
            self._looks.setdefault(each, len(self._looks))
        return sweep_pictures.series(self.experiment, self._asked, self._rows, self._looks, lang, self.view)

    def _say(self) -> None:
        """The words, without the charts."""
        self._usable()
        self._say_status()
        hint = [] if drawn_language(self.lang) == self.lang else [say("font_hint", self.lang)]
        self.notes.value = sweep_pictures.lines_html(
            [
                *sweep_pictures.best(self._lines(self.lang), self.lang, self.view),
                *sweep_pictures.undrawn(self._asked, self._rows, self.lang),
                *hint,
                *sweep_pictures.skipped(self._asked, self.lang, self.view),
            ]
        )
        heads, *rows = sweep_pictures.table(self.experiment, self._rows, self.lang, self.view)
        self.table.value = sweep_pictures.html_table(heads, rows) if rows else ""

    def _say_status(self) -> None:
        key, numbers = self._status
        if self._wrong is not None and not self._running:
            key, numbers = "failed", {"error": self._wrong}
        if "error" in numbers:
            numbers = {"why": show.sentence(numbers["error"], self.lang, self.view)}
        said = say(key, self.lang, **numbers)
        sweep = self._sweep
        if sweep is not None:
            left = math.ceil(Choice(dict(sweep.pending), {}).seconds)
            done = self._total - len(sweep.pending)
            said += "  " + say("sweep_progress", self.lang, done=done, total=self._total, seconds=left)
        self.status.value = f'<div role="status">{html.escape(said)}</div>'

    def _draw_progress(self) -> None:
        with self.lock:
            if self._sweep is not None and self._total:
                self.bar.value = 1 - len(self._sweep.pending) / self._total
            self._usable()
            self._say_status()

    def _usable(self) -> None:
        """Which buttons can be pressed, and what they say."""
        running = self._running
        for knob in (self.stages_field, self.pieces_field, self.overhead_field, self.latency_field, self.again_box,
                     *self.policy_boxes.values(), *self.schedule_boxes.values()):  # fmt: skip
            knob.disabled = running
        wanted = self._wanted(self._asked)
        self.start_button.disabled = running or not wanted.points
        self.pause_button.disabled = self.cancel_button.disabled = not running
        self.csv_button.disabled = not self._rows
        key = "sweep_confirm" if self._confirmed else "sweep_start"
        count, seconds = len(wanted.points), math.ceil(wanted.seconds)
        self.start_button.description = say(key, self.lang, count=count, seconds=seconds)
        self.start_button.button_style = "warning" if self._confirmed else "primary"
        paused = self._sweep is not None and self._sweep.paused
        self.pause_button.description = say("sweep_resume" if paused else "sweep_pause", self.lang)

    # -- running

    def _press(self) -> None:
        """The start button: a long sweep wants a second press."""
        with self.lock:
            if self._running or self._wrong is not None:
                return
            if self._wanted(self._asked).seconds > ASK_OVER and not self._confirmed:
                self._confirmed = True
                self._usable()
                return
        self.run()

    def _pause_or_resume(self) -> None:
        if self._sweep is not None and self._sweep.paused:
            self.resume()
        else:
            self.pause()

    def _save(self, save: Callable[[], Path]) -> None:
        """A save button: say where the file is, or why there is none."""
        try:
            self._status = ("sweep_saved", {"path": save()})
        except PipekitError as error:
            self._status = ("failed", {"error": sweeping.bare(error)})
        with self.lock:
            self._say_status()

    def _begin(self, sweep: Sweep) -> show.Run[list[Row]]:
        with self.lock:
            self._sweep, self._total, self._confirmed = sweep, len(sweep.pending), False
            self._status = ("sweep_preparing", {})
        rows: list[Row] = []

        def keep(row: Row) -> None:
            rows.append(row)
            with self.lock:
                self._rows.append(row)
            self._refresh()  # here, between two steps: in the background it would disturb the next one's clock

        def work(current: show.Run[list[Row]]) -> list[Row]:
            began = time.monotonic()
            try:
                sweep.run(self._watch(current), keep)
            except Cancelled:
                self._end("sweep_cancelled", done=len(rows), total=self._total)
                raise
            except BaseException as error:
                self._end("failed", error=error)
                raise
            good = sum(row.status == "measured" for row in rows)
            self._end("sweep_finished", done=len(rows), good=good, seconds=time.monotonic() - began)
            return rows

        started = self.start(work, on_cancel=self._cancel_pipeline)
        self._progress.ask()
        return started

    def _watch(self, current: show.Run[Any]) -> Watch:
        """What a sweep tells the panel; and where it finds out that it shall stop."""

        def phase(key: str, **numbers: Any) -> None:
            if current.stopping:
                raise Cancelled("cancelled")
            if self._status != (key, numbers):
                self._tell(key, **numbers)

        def span(ended: plan.Span) -> None:
            if current.stopping:
                self._cancel_pipeline()

        return Watch(phase, span, self._set_pipeline)

    def _tell(self, key: str, **numbers: Any) -> None:
        self._status = (key, numbers)
        self._progress.ask()

    def _set_pipeline(self, pipeline: Pipeline | None) -> None:
        self._pipeline = pipeline

    def _cancel_pipeline(self) -> None:
        pipeline = self._pipeline
        if pipeline is not None:
            pipeline.cancel()

    def _end(self, status: str, **numbers: Any) -> None:
        """Say how it ended; the panel can be used again. The charts have been drawn as the points came."""
        with self.lock:
            if self._total and self._sweep is not None:
                self.bar.value = 1 - len(self._sweep.pending) / self._total
            self._sweep, self._status = None, (status, numbers)
            self._say()
