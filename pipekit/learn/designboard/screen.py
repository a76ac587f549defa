"""The design board's widgets: made, named and arranged here; what they show and do is the panel's."""

from __future__ import annotations

import ipywidgets

from pipekit.learn.controlroom.knobs import Menu, Stepper, button, drawer, html, line, show_if
from pipekit.learn.controlroom.style import STYLE
from pipekit.learn.designboard.board import DEVICES, MICRO_BATCHES
from pipekit.learn.designboard.canvas import Canvas
from pipekit.show import say

TOUCH = 44  # pixels: what a finger hits
BOARD_STYLE = f"""<style>
.pipekit-room.pipekit-design {{ --jp-widgets-inline-height: {TOUCH}px; }}
.pipekit-room.pipekit-design > * {{ margin-bottom: 3px; }}
.pipekit-room.pipekit-design :is(.jupyter-button, select, input[type=text], input[type=number]) {{
  height: {TOUCH}px; min-width: {TOUCH}px; line-height: normal; }}
.pipekit-room.pipekit-design > .pipekit-line {{ min-height: {TOUCH}px; }}
.pipekit-room.pipekit-design > .pipekit-said {{ min-height: 30px; }}
.pipekit-room.pipekit-design .pipekit-found {{ display: inline-block; }}
.pipekit-room.pipekit-design .pipekit-found + div {{ display: inline; margin-left: 12px; }}
.pipekit-room.pipekit-design a {{ display: inline-flex; align-items: center; justify-content: center; min-width: {TOUCH}px;
  min-height: {TOUCH}px; text-decoration: underline; }}
.pipekit-room.pipekit-design .pipekit-refused {{ background: #FFE9B8; color: #3D2B00; padding: 2px 8px; }}
.pipekit-room.pipekit-design .pipekit-found {{ background: #D9F0E6; color: #00382A; padding: 2px 8px; font-weight: bold; }}
</style>"""


class Screen:
    """Every widget of the board, by name."""

    def __init__(self) -> None:
        self.title = html()
        self.view = Menu(("class", "engineer"), "130px")
        self.wide = ipywidgets.ToggleButton(layout={"width": "auto"})
        self.language = ipywidgets.ToggleButtons(
            options=[("中", "zh"), ("EN", "en")], style={"button_width": "52px"}, tooltips=["中文", "English"]
        )
        self.stages, self.pieces = Stepper(*DEVICES), Stepper(*MICRO_BATCHES)
        self.undo, self.redo, self.clear, self.hint, self.push_left = (button() for _ in range(5))
        self.train, self.stop = button(button_style="primary"), button(disabled=True)
        self.files = ipywidgets.ToggleButton(layout={"width": "auto"})
        self.canvas = Canvas()
        self.said, self.figures = html(), html()
        self.bar = ipywidgets.FloatProgress(max=1.0, layout={"width": "150px"})
        self.text_label, self.links = html(), html()
        self.text = ipywidgets.Text(layout={"width": "480px"}, continuous_update=False)
        self.load = button()
        self.upload = ipywidgets.FileUpload(
            accept=".json,.txt,.csv", multiple=False, layout={"width": "auto"}
        )
        self._arrange()

    def _arrange(self) -> None:
        self.drawer = drawer(line(self.text_label, self.text, self.load, self.links, self.upload))
        talk = line(self.bar, self.said)
        talk.add_class("pipekit-said")
        self.boxes = (
            line(self.title, line(self.stages, self.pieces), line(self.view, self.wide, self.language), spread=True),
            line(
                self.train, self.stop, self.undo, self.redo, self.push_left, self.clear, self.hint, self.files,
            ),
            self.drawer,
            self.canvas,
            talk,
            self.figures,
        )  # fmt: skip

    @property
    def knobs(self) -> list[ipywidgets.Widget]:
        """What rests while a run goes on."""
        steppers = [part for knob in (self.stages, self.pieces) for part in knob.parts]
        buttons = [self.train, self.undo, self.redo, self.push_left, self.clear, self.hint]
        return [*steppers, *buttons, self.load, self.upload, self.text]

    @property
    def moving(self) -> list[ipywidgets.Widget]:
        """What changes while something runs, or by its end."""
        words = [self.said, self.figures, self.links]
        return [*self.knobs, *words, self.stop, self.canvas, self.bar, self.bar.layout]

    def label(self, lang: str, view: str) -> None:
        """Name everything in this language, for these readers."""

        def words(key: str) -> str:
            return say(key, lang, view)

        self.title.value = f"{STYLE}{BOARD_STYLE}<b>{words('design_title')}</b>"
        self.view.name(words("view"), [words("view_class"), words("view_engineer")])
        self.stages.name(words("stages_label"), words("stages_unit"))
        self.pieces.name(words("pieces_label"), words("pieces_unit"))
        for widget, key in (
            (self.undo, "design_undo"), (self.redo, "design_redo"), (self.clear, "design_clear"),
            (self.hint, "design_hint"), (self.push_left, "design_push_left"), (self.stop, "cancel"),
            (self.load, "design_load"), (self.wide, "wide"), (self.upload, "design_upload"),
        ):  # fmt: skip
            widget.description = widget.tooltip = words(key)
        self.push_left.tooltip = words("design_push_left_why")
        self.wide.tooltip = words("wide_why")
        self.files.description = self.files.tooltip = f"{words('design_files')} ▸"
        self.text_label.value = self.text.tooltip = words("design_text")
        self.bar.tooltip, self.language.tooltip = words("progress"), words("language")

    def open_files(self, opened: bool) -> None:
        """Show or hide what saves and loads."""
        show_if(self.drawer, opened)
