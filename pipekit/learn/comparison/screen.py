"""The comparison panel's widgets: made, named and arranged here; what they show and do is the panel's."""

from __future__ import annotations

import ipywidgets

from pipekit import plan, show
from pipekit.learn.comparison import sentences
from pipekit.learn.comparison.catalogue import KNOWN
from pipekit.learn.controlroom.knobs import Menu, Stepper, button, html, line, show_if
from pipekit.learn.controlroom.style import STYLE
from pipekit.learn.picture import Picture
from pipekit.show import say

MOST_DEVICES, MOST_MICRO_BATCHES, MOST_CHUNKS, MOST_PARTS = 64, 1024, 8, 8
FACTORS = (1.5, 2.0, 3.0)
COSTS = ("forward", "input_grad", "weight_grad", "recompute")
NAMED = {  # a number's field, and what stands before it
    "latency": "compare_latency",
    "overhead": "compare_overhead",
    "cap": "compare_cap",
    "forward": "compare_forward",
    "input_grad": "compare_input_grad",
    "weight_grad": "compare_weight_grad",
    "recompute": "compare_recompute",
}

OWN_STYLE = """<style>
.pipekit-compare-table { overflow-x: auto; }
.pipekit-compare-table table { border-collapse: collapse; }
.pipekit-compare-table :is(th, td) { text-align: right; padding: 1px 9px; font-size: 15px; font-weight: normal;
  vertical-align: bottom; }
.pipekit-compare-table.pipekit-many :is(th, td) { padding: 1px 4px; font-size: 14px; }
.pipekit-compare-table th { color: #444; max-width: 118px; white-space: normal; }
.pipekit-compare-table.pipekit-many th { max-width: 84px; }
.pipekit-compare-table .pipekit-group { text-align: center; border-bottom: 1px solid #bbb; max-width: none; }
.pipekit-compare-table td { border-top: 1px solid #ddd; white-space: nowrap; }
.pipekit-compare-table :is(th, td):first-child { padding-left: 0; }
.pipekit-compare-table.pipekit-many td:first-child { white-space: normal; max-width: 130px; }
.pipekit-compare-table :is(tr:first-child > th, td):first-child { text-align: left; }
.pipekit-compare-table .pipekit-why { text-align: left; white-space: normal; }
.pipekit-room.pipekit-compare .widget-checkbox { width: auto; }
</style>"""


class Screen:
    """Every widget of the panel, by name."""

    def __init__(self) -> None:
        self.title = html()
        self.view = Menu(("class", "engineer"), "110px")
        self.language = ipywidgets.ToggleButtons(
            options=[("中", "zh"), ("EN", "en")], style={"button_width": "52px"}, tooltips=["中文", "English"]
        )
        self.devices, self.pieces = Stepper(1, MOST_DEVICES), Stepper(1, MOST_MICRO_BATCHES)
        self.chunks = Stepper(1, MOST_CHUNKS)
        self.checkpoint = Menu(plan.CHECKPOINTS, "170px")
        self.slow_part = Menu((-1, *range(MOST_PARTS)), "120px")
        self.slow_factor = Menu(FACTORS, "80px")
        self.latency, self.overhead, self.cap = _number(0.25), _number(0.05), _number(0.5)
        self.costs_words = html()
        self.costs = {name: _number(0.25) for name in COSTS}
        self.number_words = {name: html() for name in NAMED}
        self.schedules_words = html()
        self.boxes = {name: ipywidgets.Checkbox(indent=False, layout={"width": "auto"}) for name in KNOWN}
        self.run = button(button_style="primary")
        self.cancel, self.find, self.back, self.csv, self.png = (button() for _ in range(5))
        self.bar = ipywidgets.FloatProgress(max=1.0, layout={"width": "130px"})
        self.status, self.notes, self.table = html(), html(), html()
        self.picture = Picture()
        self._arrange()

    def _arrange(self) -> None:
        def named(name: str, field: ipywidgets.Widget) -> ipywidgets.HBox:
            return line(self.number_words[name], field)

        self.overhead_box = named("overhead", self.overhead)
        self.costs_box = line(
            self.costs_words, *(named(name, field) for name, field in self.costs.items()), self.checkpoint
        )
        self.arranged = (
            line(self.title, line(self.view, self.language), spread=True),
            line(
                self.devices, self.pieces, self.chunks, self.slow_part, self.slow_factor,
                named("latency", self.latency), self.overhead_box,
            ),
            self.costs_box,
            line(self.schedules_words, *self.boxes.values()),
            line(self.run, self.cancel, named("cap", self.cap), self.find, self.back, self.csv, self.png),
            line(self.bar, self.status),
            self.picture,
            self.table,
            self.notes,
        )  # fmt: skip

    @property
    def fields(self) -> list[ipywidgets.Widget]:
        """What decides the rows; it rests while something runs."""
        knobs = (self.devices, self.pieces, self.chunks, self.checkpoint, self.slow_part, self.slow_factor)
        numbers = (self.latency, self.overhead, self.cap, *self.costs.values())
        return [*(part for knob in knobs for part in knob.parts), *numbers, *self.boxes.values()]

    @property
    def moving(self) -> list[ipywidgets.Widget]:
        """What changes while something runs, or by its end."""
        buttons = [self.run, self.cancel, self.find, self.back, self.csv, self.png]
        return [*buttons, *self.fields, self.bar, self.status, self.picture, self.notes, self.table]

    def label(self, lang: str, view: str) -> None:
        """Name everything in this language, for these readers; a class has fewer knobs."""

        def words(key: str, **numbers: object) -> str:
            return say(key, lang, view, **numbers)

        self.title.value = f"{STYLE}{OWN_STYLE}<b>{words('compare_title')}</b>"
        self.view.name(words("view"), [words("view_class"), words("view_engineer")])
        self.devices.name(words("stages_label"), words("stages_unit"))
        self.pieces.name(words("pieces_label"), words("pieces_unit"))
        self.chunks.name(words("compare_chunks"))
        self.checkpoint.name_by_keys("checkpoint", lang, view)
        parts = [words("compare_part", number=show.number(part, view)) for part in range(MOST_PARTS)]
        self.slow_part.name(words("compare_slow_part"), [words("nobody"), *parts])
        self.slow_factor.name("", "{:g} ×".format)
        for name, said in self.number_words.items():
            said.value = words(NAMED[name])
            field = self.costs[name] if name in self.costs else getattr(self, name)
            field.tooltip = said.value
        self.costs_words.value = words("compare_costs")
        self.schedules_words.value = words("compare_schedules")
        for name, box in self.boxes.items():
            box.description = box.tooltip = sentences.schedule(name, lang, view)
        for widget, key in (
            (self.cancel, "cancel"), (self.find, "compare_find"), (self.back, "compare_as_set"),
            (self.csv, "sweep_save_csv"), (self.png, "sweep_save_png"),
        ):  # fmt: skip
            widget.description = widget.tooltip = words(key)
        self.bar.tooltip, self.language.tooltip = words("progress"), words("language")
        for only_engineers in (self.chunks, self.overhead_box, self.costs_box):
            show_if(only_engineers, view == "engineer")


def _number(step: float) -> ipywidgets.BoundedFloatText:
    return ipywidgets.BoundedFloatText(min=0, max=1000, step=step, layout={"width": "68px"})
