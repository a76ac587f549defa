"""The comparison panel: choose schedules, K, M and costs; all grids at once, predicted; train; see what was measured.

What it computes, draws and says is in the modules beside it.
"""

from __future__ import annotations

import html
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import traitlets

from pipekit import plan, show
from pipekit.errors import Cancelled, PipekitError
from pipekit.learn import sweeping
from pipekit.learn.comparison import best, measuring, pictures, sentences, tables
from pipekit.learn.comparison.best import Search
from pipekit.learn.comparison.cases import Case
from pipekit.learn.comparison.catalogue import KNOWN, Variant
from pipekit.learn.comparison.rows import Row, row
from pipekit.learn.comparison.screen import (
    COSTS,
    MOST_CHUNKS,
    MOST_DEVICES,
    MOST_MICRO_BATCHES,
    Screen,
)
from pipekit.learn.experiment import Watch
from pipekit.run import Pipeline
from pipekit.show import say
from pipekit.show.fonts import drawn_language

ASK_OVER = 30  # seconds: what takes longer is started by a second press
FILE = "pipekit-compare"
FIRST = ("gpipe", "1f1b", "interleaved_1f1b", "zb_h1", "zb_v")  # what it opens with
MANY = 20_000  # ops: more are predicted and drawn in the background, so that a knob never sticks
REMEMBERED = 256  # predictions, measurements
KNOBS = (
    "num_devices", "num_micro_batches", "num_chunks", "checkpoint", "slow_part", "slow_factor", "latency", "overhead",
    "schedules", *COSTS,
)  # fmt: skip


class ComparisonPanel(show.Panel):
    """Schedules side by side at the same total work: all grids on one axis, and one table.

    Args:
        lang: `"zh"` or `"en"`. view: `"class"` or `"engineer"`; both can be switched at any time.
        knobs: `num_devices`, `num_micro_batches`, `num_chunks` (v, where it can be chosen), `schedules` (names),
            `checkpoint`, `forward`, `input_grad`, `weight_grad`, `recompute`, `latency`, `overhead` (in slots, as in
            `Case`), `slow_part`, `slow_factor`, `cap` (for `find_best`).

    From a cell: `panel.rows` is the table as it stands, `panel.run().wait()` trains with every schedule and returns
    the rows, `panel.find_best().wait()` searches under `panel.cap`.
    """

    lang = traitlets.Enum(show.LANGUAGES, "zh")
    view = traitlets.Enum(("class", "engineer"), "class")
    num_devices = traitlets.Int(4, min=1, max=MOST_DEVICES)
    num_micro_batches = traitlets.Int(8, min=1, max=MOST_MICRO_BATCHES)
    num_chunks = traitlets.Int(2, min=1, max=MOST_CHUNKS)
    checkpoint = traitlets.Enum(plan.CHECKPOINTS, "never")
    schedules = traitlets.List(traitlets.Enum(tuple(KNOWN)))
    forward = traitlets.Float(1.0, min=0.0)
    input_grad = traitlets.Float(1.0, min=0.0)
    weight_grad = traitlets.Float(1.0, min=0.0)
    recompute = traitlets.Float(1.0, min=0.0)
    latency = traitlets.Float(0.0, min=0.0)
    overhead = traitlets.Float(0.0, min=0.0)
    slow_part = traitlets.Int(-1, min=-1)
    slow_factor = traitlets.Float(2.0)
    cap = traitlets.Float(4.0, min=0.0)

    def __init__(self, lang: str = "zh", view: str = "class", **knobs: Any) -> None:
        self.screen = Screen()
        self._rows: list[Row] = []
        self._predicted: dict[tuple[Case, Variant], Row] = {}
        self._measured: dict[tuple[Case, Variant, int], Row] = {}
        self._search: Search | None = None
        self._pipeline: Pipeline | None = None
        self._status: tuple[str, dict[str, Any]] = ("compare_ready", {})
        self._running, self._confirmed, self._ticking = False, False, False
        self._starting = threading.Lock()
        self._later = show.Latest(self._refresh)
        self._progress = show.Latest(self._draw_progress)
        knobs.setdefault("schedules", list(FIRST))
        super().__init__(self.screen.arranged, lang=lang, view=view, **knobs)
        self.add_class("pipekit-room")
        self.add_class("pipekit-compare")
        self._connect()
        self._tick()
        self._label()

    # -- for cells and tests

    @property
    def case(self) -> Case:
        """What all schedules have in common."""
        return Case(
            self.num_devices, self.num_micro_batches, self.forward, self.input_grad, self.weight_grad,
            self.recompute, self.latency, self.overhead, self.slow_part, self.slow_factor,
        )  # fmt: skip

    @property
    def variants(self) -> list[Variant]:
        """The schedules asked for, in the field's order, with what the knobs choose about them."""
        return [
            Variant.of(name, self.num_chunks, self.checkpoint) for name in KNOWN if name in self.schedules
        ]

    @property
    def rows(self) -> list[Row]:
        """The table as it stands."""
        with self.lock:
            return self._current_rows()

    def run(self) -> show.Run[list[Row]]:
        """Really train with every row's schedule, in the background; `.wait()` gives the rows."""
        with self._starting:  # two presses may come on two threads
            self.stop()
            self.settle()
            return self._begin(self._train, "compare_preparing")

    def find_best(self) -> show.Run[list[Row]]:
        """Find each schedule at its best v, M and policy under `cap`, in the background; `.wait()` gives the rows."""
        with self._starting:
            self.stop()
            self.settle()
            return self._begin(self._find, "compare_preparing")

    def as_set(self) -> None:
        """Back from the best to what the knobs say."""
        self._search = None
        self._refresh()

    def cancel(self) -> None:
        """Stop now; the step that runs is undone, what was measured before is kept."""
        if self.current is not None and not self.current.done:
            self._tell("cancelling")
            self.current.cancel()

    def save_csv(self) -> Path:
        """Write the table into the current folder, under a free name; where it is.

        Raises:
            SweepError: no schedule is chosen. FileError: the folder can't be written.
        """
        return sweeping.save_beside(Path.cwd(), f"{FILE}.csv", tables.csv_bytes(self.case, self.rows))

    def save_png(self) -> Path:
        """Write the picture into the current folder, under a free name; where it is.

        Raises:
            FileError: the folder can't be written.
        """
        return sweeping.save_beside(Path.cwd(), f"{FILE}.png", self.picture().png)

    def picture(self) -> show.Still:
        """All grids and the table as one still picture."""
        rows = self.rows
        drawn = pictures.still(self.case, rows, self.lang, self.view, self._pieces)
        return show.Still(show.png(drawn), "\n".join(self._words(rows)))

    def picture_png(self) -> bytes:
        """The same as PNG, and how to bring it alive: what a notebook shows where no kernel is."""
        below = say("still_line", self.lang, self.view)
        return show.png(pictures.still(self.case, self.rows, self.lang, self.view, self._pieces, below))

    def picture_text(self) -> str:
        """The table and what it means, in words."""
        return "\n".join([*self._words(self.rows), say("still_line", self.lang, self.view)])

    def _words(self, rows: list[Row]) -> list[str]:
        lang, view = self.lang, self.view
        kept = [
            f"{sentences.name(each, lang, view)}: {sentences.equality(each, lang, view)}"
            for each in rows
            if each.figures is not None
        ]
        source = sentences.source(self.case, rows, lang, view)
        table = tables.text(rows, lang, view, self._pieces)
        return [*source, *table, *kept, *self._notes(rows)]

    def moving(self) -> list[Any]:
        """What changes while something runs."""
        return self.screen.moving

    def settle(self) -> None:
        """Wait until all that was asked for is drawn."""
        self._later.settle()
        self._progress.settle()

    # -- widgets

    def _connect(self) -> None:
        screen = self.screen
        pairs = {
            "lang": screen.language, "view": screen.view, "num_devices": screen.devices,
            "num_micro_batches": screen.pieces, "num_chunks": screen.chunks, "checkpoint": screen.checkpoint,
            "slow_part": screen.slow_part, "slow_factor": screen.slow_factor, "latency": screen.latency,
            "overhead": screen.overhead, "cap": screen.cap, **screen.costs,
        }  # fmt: skip
        for trait, widget in pairs.items():
            traitlets.link((self, trait), (widget, "value"))
        for box in screen.boxes.values():
            box.observe(lambda change: self._ticked(), "value")
        self.observe(lambda change: self._knobs_changed(), list(KNOBS))
        self.observe(lambda change: self._label(), ["lang", "view"])
        screen.run.on_click(lambda button: self._press())
        screen.find.on_click(lambda button: self.find_best())
        screen.back.on_click(lambda button: self.as_set())
        screen.cancel.on_click(lambda button: self.cancel())
        screen.csv.on_click(lambda button: self._save(self.save_csv))
        screen.png.on_click(lambda button: self._save(self.save_png))

    def _ticked(self) -> None:
        if not self._ticking:
            self.schedules = [name for name, box in self.screen.boxes.items() if box.value]

    def _tick(self) -> None:
        """Let the boxes show which schedules are compared."""
        self._ticking = True  # a box that is moved from here says nothing about the others
        for name, box in self.screen.boxes.items():
            box.value = name in self.schedules
        self._ticking = False

    def _knobs_changed(self) -> None:
        self._tick()
        self._search, self._confirmed = None, False
        if not self._running:
            self._status = ("compare_ready", {})
        ops = 3 * self.num_devices * self.num_micro_batches * len(self.schedules)
        if ops > MANY and not self.foreground:
            self._later.ask()
        else:
            self._refresh()

    def _label(self) -> None:
        """Say everything in the panel's language."""
        with self.lock:
            self.screen.label(self.lang, self.view)
        self._refresh()

    # -- rows

    @property
    def _found(self) -> Search | None:
        """The best of each schedule, while it is of these knobs."""
        found = self._search
        return found if found is not None and found.case == self.case else None

    @property
    def _pieces(self) -> bool:
        """Whether each row says its own M."""
        return self._found is not None

    def _current_rows(self) -> list[Row]:
        """The search's rows or the knobs', each with its measurement if there is one."""
        case, found = self.case, self._found
        plain = [self._predict(case, each) for each in self.variants] if found is None else found.rows
        return [self._measured.get((case, each.variant, each.num_micro_batches), each) for each in plain]

    def _predict(self, case: Case, variant: Variant) -> Row:
        known = self._predicted.get((case, variant))
        if known is None:
            if len(self._predicted) > REMEMBERED:
                self._predicted.clear()
            known = self._predicted[case, variant] = row(case, variant)
        return known

    # -- drawing

    def _refresh(self) -> None:
        """Predict, draw and say everything."""
        with self.lock:
            self._rows = self._current_rows()
            image = pictures.draw(self.case, self._rows, self.lang, self.view, self._pieces)
            self.screen.picture.show(show.png(image), "\n".join(self._words(self._rows)))
            self.screen.table.value = tables.page(self._rows, self.lang, self.view, self._pieces)
            self.screen.notes.value = "".join(
                f"<div>{html.escape(said)}</div>" for said in self._notes(self._rows)
            )
            self._usable()
            self._say_status()

    def _notes(self, rows: list[Row]) -> list[str]:
        found = self._found
        said = [] if found is None else sentences.search(found, self.lang, self.view)
        said += sentences.notes(rows, self.lang, self.view)
        if self.view == "engineer":
            said += tables.forms(rows, self.lang, self.view)
        return said + ([] if drawn_language(self.lang) == self.lang else [say("font_hint", self.lang)])

    def _say_status(self) -> None:
        key, numbers = self._status
        said = dict(numbers)
        if "error" in said:
            said = {"why": show.sentence(said["error"], self.lang, self.view)}
        if key == "compare_training":
            said["number"] = said.pop("done") + 1
            said["name"] = sentences.schedule(said["name"], self.lang, self.view)
        words = say(key, self.lang, self.view, **said)
        self.screen.status.value = f'<div role="status">{html.escape(words)}</div>'

    def _draw_progress(self) -> None:
        with self.lock:
            _, numbers = self._status
            if "total" in numbers and "done" in numbers:
                self.screen.bar.value = numbers["done"] / max(1, numbers["total"])
            self._usable()
            self._say_status()

    def _usable(self) -> None:
        """Which buttons can be pressed, and what they say."""
        screen, running = self.screen, self._running
        for field in screen.fields:
            field.disabled = running
        can = any(each.prediction is not None for each in self._rows)
        screen.run.disabled = running or not can
        screen.find.disabled = running or not self.schedules
        screen.cancel.disabled = not running
        screen.back.disabled = running or not self._pieces
        screen.csv.disabled = screen.png.disabled = running or not can
        key = "compare_confirm" if self._confirmed else "compare_run"
        screen.run.description = say(key, self.lang, self.view, seconds=math.ceil(self._seconds))
        screen.run.tooltip = screen.run.description
        screen.run.button_style = "warning" if self._confirmed else "primary"

    @property
    def _seconds(self) -> float:
        return measuring.seconds(self.case, self._rows)

    # -- running

    def _press(self) -> None:
        """The run button: a long run wants a second press."""
        with self.lock:
            if self._running:
                return
            if self._seconds > ASK_OVER and not self._confirmed:
                self._confirmed = True
                self._usable()
                return
        self.run()

    def _save(self, save: Callable[[], Path]) -> None:
        """A save button: say where the file is, or why there is none."""
        try:
            self._status = ("sweep_saved", {"path": save()})
        except PipekitError as error:
            self._status = ("failed", {"error": sweeping.bare(error)})
        with self.lock:
            self._say_status()

    def _begin(self, work: Callable[[show.Run[Any]], list[Row]], status: str) -> show.Run[list[Row]]:
        with self.lock:
            self._running, self._confirmed, self._status = True, False, (status, {})
            self.screen.bar.value = 0.0

        def whole(current: show.Run[Any]) -> list[Row]:
            try:
                return work(current)
            except Cancelled:
                self._status = ("compare_cancelled", {})
                raise
            except BaseException as error:
                self._status = ("failed", {"error": error})
                raise
            finally:
                self._running = False
                self.screen.bar.value = 0.0
                self._refresh()

        self._progress.ask()
        return self.start(whole, on_cancel=self._cancel_pipeline)

    def _train(self, current: show.Run[Any]) -> list[Row]:
        began, case = time.monotonic(), self.case

        def phase(key: str, **numbers: Any) -> None:
            if current.stopping:
                raise Cancelled("cancelled")
            self._tell(key, **numbers)

        def span(ended: plan.Span) -> None:
            if current.stopping:
                self._cancel_pipeline()

        def keep(index: int, found: Row) -> None:
            if len(self._measured) > REMEMBERED:
                self._measured.clear()
            self._measured[case, found.variant, found.num_micro_batches] = found
            self._refresh()  # here, between two schedules: in the background it would disturb the next one's clock

        rows = measuring.measure_all(case, self._rows, keep, Watch(phase, span, self._set_pipeline))
        good = sum(each.measured is not None for each in rows)
        rest = sum(each.measured is None and each.prediction is not None for each in rows)
        self._status = ("compare_finished", {"good": good, "rest": rest, "seconds": time.monotonic() - began})
        return rows

    def _find(self, current: show.Run[Any]) -> list[Row]:
        began = time.monotonic()

        def step(done: int, total: int) -> None:
            if current.stopping:
                raise Cancelled("cancelled")
            self._tell("compare_searching", done=done, total=total)

        names = [name for name in KNOWN if name in self.schedules]
        self._search = best.best_under(self.case, names, self.cap, step)
        self._status = ("compare_found", {"seconds": time.monotonic() - began})
        return list(self._search.rows)

    def _tell(self, key: str, **numbers: Any) -> None:
        self._status = (key, numbers)
        self._progress.ask()

    def _set_pipeline(self, pipeline: Pipeline | None) -> None:
        self._pipeline = pipeline

    def _cancel_pipeline(self) -> None:
        pipeline = self._pipeline
        if pipeline is not None:
            pipeline.cancel()
