"""The room's widgets: made, named and arranged here; what they show and do is the room's."""

from __future__ import annotations

import ipywidgets

from pipekit import plan, show
from pipekit.learn.controlroom.knobs import Menu, Stepper, button, drawer, html, line, show_if
from pipekit.learn.controlroom.presets import PRESETS
from pipekit.learn.controlroom.style import STYLE
from pipekit.learn.picture import Picture
from pipekit.show import say

MOST_STAGES, MOST_MICRO_BATCHES = 8, 32
SCHEDULES = ("naive", "gpipe", "1f1b")
FACTORS = (1.5, 2.0, 3.0)
MILLISECONDS = (0.0, 2.0, 5.0, 10.0, 20.0)
PACES = (0.25, 0.5, 1.0, 2.0)  # seconds a slot in a replay
CLOCKS = (1.0, 2.0, 4.0, 8.0)  # times slower than the class's own clock
DRAWERS = ("more", "history", "memory", "sweeps")


class Screen:
    """Every widget of the room, by name."""

    def __init__(self) -> None:
        # head
        self.title = html()
        self.view = Menu(("class", "engineer"), "110px")
        self.size = Menu(("big", "normal"), "90px")
        self.wide = ipywidgets.ToggleButton(layout={"width": "auto"})
        self.language = ipywidgets.ToggleButtons(
            options=[("中", "zh"), ("EN", "en")], style={"button_width": "52px"}, tooltips=["中文", "English"]
        )
        # knobs
        self.stages = Stepper(1, MOST_STAGES)
        self.pieces = Stepper(1, MOST_MICRO_BATCHES)
        self.checkpoint = Menu(plan.CHECKPOINTS, "145px")
        self.schedule = Menu(SCHEDULES, "150px")
        self.train, self.stop = button(button_style="primary"), button(disabled=True)
        # guess, or how far the run is
        self.guess_slots_words, self.guess_percent_words, self.guess_answer = html(), html(), html()
        self.guess_slots, self.guess_percent = (
            ipywidgets.Text(layout={"width": "74px"}, continuous_update=False) for _ in range(2)
        )
        self.guess_done, self.guess_none = button(), button()
        self.bar = ipywidgets.FloatProgress(max=1.0, layout={"width": "150px"})
        self.status = html()
        # pictures and words
        self.grid, self.memory, self.curve = (Picture() for _ in range(3))
        self.idle = html()
        self.position = ipywidgets.IntSlider(min=0, max=1, readout=False, layout={"width": "150px"})
        self.play = ipywidgets.Play(min=0, max=1, interval=500, show_repeat=False)
        self.back, self.forward = button("◀"), button("▶")
        self.pace = Menu(PACES, "100px")
        self.pace.value = self.play.interval / 1000
        self.direction = Menu((True, False), "150px")
        self.save = button()
        self.toggles = {key: ipywidgets.ToggleButton(layout={"width": "auto"}) for key in DRAWERS}
        self.figures, self.sentences, self.evidence = html(), html(), html()
        # drawers
        self.presets = {preset.key: button() for preset in PRESETS}
        self.reset = button()
        self.slow_device = Menu((-1, *range(MOST_STAGES)), "110px")
        self.slow_factor = Menu(FACTORS, "80px")
        self.overhead = Menu(MILLISECONDS, "90px")
        self.latency = Menu(MILLISECONDS, "90px")
        self.batch_norm, self.real_time = (
            ipywidgets.Checkbox(indent=False, layout={"width": "auto"}) for _ in range(2)
        )
        self.clock = Menu(CLOCKS, "140px")
        self.slower = button(button_style="warning")
        self.sweep = button()
        self.table = html()
        self.table.layout.align_self = "flex-start"
        self.go_back = Menu((-1,), "220px")
        self.saved = html()
        self._arrange()

    def _arrange(self) -> None:
        self.guess_box = line(
            self.guess_slots_words, self.guess_slots, self.guess_percent_words, self.guess_percent,
            self.guess_done, self.guess_none, self.guess_answer,
        )  # fmt: skip
        self.guess_box.add_class("pipekit-ask")
        self.progress_box = line(self.bar, self.status)
        self.progress_box.add_class("pipekit-progress")
        self.talk = ipywidgets.VBox([self.guess_box, self.progress_box, self.saved])
        self.talk.add_class("pipekit-talk")  # always as high as its line: the grids don't jump
        self.stage = ipywidgets.Box([self.grid, self.idle])
        self.stage.add_class("pipekit-stage")
        self.replay_box = line(
            self.play, self.position, self.back, self.forward, self.pace, self.direction, self.save,
            *self.toggles.values(),
        )  # fmt: skip
        self.drawers = {
            "more": drawer(
                line(*self.presets.values(), self.reset),
                line(self.slow_device, self.slow_factor, self.overhead, self.latency),
                line(self.clock, self.batch_norm, self.real_time),
            ),
            "history": drawer(line(self.go_back, self.sweep), line(self.table, self.curve), tall=True),
            "memory": drawer(self.memory, tall=True),
            "sweeps": drawer(tall=True),  # filled when it is first opened
        }
        self.boxes = (
            line(self.title, line(self.view, self.size, self.wide, self.language), spread=True),
            line(self.stages, self.pieces, self.checkpoint, self.schedule, self.train, self.stop),
            self.talk,
            self.stage,
            self.replay_box,
            *self.drawers.values(),
            self.figures,
            self.sentences,
            line(self.evidence, self.slower),
        )

    @property
    def knobs(self) -> list[Menu | Stepper]:
        """What decides a run; it rests while one goes on."""
        return [
            self.stages, self.pieces, self.checkpoint, self.schedule,
            self.slow_device, self.slow_factor, self.overhead, self.latency, self.clock,
        ]  # fmt: skip

    @property
    def moving(self) -> list[ipywidgets.Widget]:
        """What changes while something runs, or by its end."""
        buttons = [
            self.train, self.stop, self.sweep, self.save, self.back, self.forward, self.slower, self.reset,
            *self.presets.values(),
        ]  # fmt: skip
        words = [self.status, self.figures, self.sentences, self.evidence, self.idle, self.table, self.saved]
        knobs = [part for knob in self.knobs for part in knob.parts]
        layouts = [each.layout for each in (self.slower, self.bar, self.progress_box, self.guess_box)]
        pictures = [
            self.grid,
            self.curve,
            self.memory,
            self.bar,
            self.position,
            self.play,
            self.go_back.field,
            self.direction.field,
        ]
        return [*buttons, *words, *knobs, *layouts, *pictures, self.batch_norm, self.real_time]

    def label(self, lang: str, view: str) -> None:
        """Name everything in this language, for these readers."""

        def words(key: str, **numbers: object) -> str:
            return say(key, lang, view, **numbers)

        self.title.value = f"{STYLE}<b>{words('title')}</b>"
        self.view.name(words("view"), [words("view_class"), words("view_engineer")])
        self.size.name(words("text_size"), [words("text_big"), words("text_normal")])
        self.stages.name(words("stages_label"), words("stages_unit"))
        self.pieces.name(words("pieces_label"), words("pieces_unit"))
        self.checkpoint.name_by_keys("checkpoint", lang, view)
        self.schedule.name_by_keys("schedule", lang, view)
        self.guess_percent_words.value = words("guess_percent")
        for widget, key in (
            (self.stop, "cancel"), (self.guess_done, "guess_done"), (self.guess_none, "guess_none"),
            (self.save, "save_picture"), (self.reset, "reset"), (self.slower, "slower"),
        ):  # fmt: skip
            widget.description = widget.tooltip = words(key)
        self.wide.description, self.wide.tooltip = words("wide"), words("wide_why")
        self.back.tooltip, self.forward.tooltip = words("replay_back"), words("replay_forward")
        self.pace.name(words("replay_pace"), lambda pace: words("seconds_a_slot", seconds=pace))
        self.direction.name("", [words("only_forward"), words("both_ways")])
        for key, toggle in self.toggles.items():
            toggle.description = toggle.tooltip = f"{words(key)} ▸"
        for preset in PRESETS:
            self.presets[preset.key].description = words(f"preset_{preset.key}")
            self.presets[preset.key].tooltip = words(f"preset_{preset.key}_why")
        devices = [words("device", number=show.number(device, view)) for device in range(MOST_STAGES)]
        self.slow_device.name(words("slow_stage"), [words("nobody"), *devices])
        self.slow_factor.name(words("slow_factor"), "{:g} ×".format)
        for menu, key in ((self.overhead, "overhead_ms"), (self.latency, "latency_ms")):
            menu.name(words(key), "{:g} ms".format)
        self.clock.name(words("clock"), lambda clock: words("times_slower", times=clock))
        for widget, key in ((self.batch_norm, "batch_norm"), (self.real_time, "real_time")):
            widget.description = widget.tooltip = words(key)
        for widget, key in (
            (self.guess_slots, "slots_asked"), (self.guess_percent, "guess_percent"), (self.bar, "progress"),
            (self.position, "replay_slider"), (self.language, "language"),
        ):  # fmt: skip
            widget.tooltip = words(key)

    def open_only(self, key: str) -> None:
        """Open this drawer and close the others; "" closes all."""
        for each, toggle in self.toggles.items():
            toggle.value = each == key
            show_if(self.drawers[each], toggle.value)
