"""The lesson's page: a bar with five stops and a stopwatch, and below it the stop that the class is at."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import ipywidgets
import traitlets

from pipekit import show
from pipekit.learn.controlroom import ControlRoom
from pipekit.learn.controlroom.knobs import html, show_if
from pipekit.learn.controlroom.room import STARTED
from pipekit.learn.experiment import Experiment, Settings
from pipekit.learn.games import CardsGame, LaundryGame, ScratchPaperGame
from pipekit.learn.lesson.bar import Bar, scene
from pipekit.learn.lesson.embed import embedded
from pipekit.learn.lesson.erase import EraseAndRedo
from pipekit.learn.lesson.pieces import MorePieces
from pipekit.learn.lesson.still import still
from pipekit.learn.lesson.stops import STOPS, outline
from pipekit.learn.lesson.stopwatch import Stopwatch
from pipekit.learn.lesson.style import STYLE
from pipekit.learn.lesson.two_parts import TwoParts
from pipekit.show import say

TRAINING = ("grids", "pieces", "erase")


class Lesson(show.Panel):
    """A whole lesson on one page: guess and laundry, cards, two grids, more pieces, erase and redo.

    Args:
        lang: `"zh"` or `"en"`.
        experiment: what the stops train; they share it, so that only one of them trains at a time.
        clock: seconds; what the stopwatch goes by.

    `lesson.go(2)` goes to the third stop; stops can be skipped and gone back to, and keep what was done there.
    `lesson.panels` are the stops that have been made so far.
    """

    lang = traitlets.Enum(show.LANGUAGES, "zh")
    stop_index = traitlets.Int(0, min=0, max=len(STOPS) - 1)
    wide = traitlets.Bool(False)
    large = traitlets.Bool(False)  # whether the stopwatch fills the page

    def __init__(
        self,
        lang: str = "zh",
        experiment: Experiment | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.experiment = experiment or Experiment()
        self.panels: dict[str, ipywidgets.Widget] = {}
        self.stopwatch = Stopwatch()
        self._answered = False
        self._within: list[show.Panel] = []  # panels of its own, in whatever stop
        self._clock = clock
        self.bar, self.body = Bar(), ipywidgets.VBox()
        self.body.add_class("pipekit-stop")
        style = html()
        style.value = STYLE
        super().__init__((style, self.bar, self.body), lang=lang)
        self.add_class("pipekit-room")
        self.add_class("pipekit-lesson")
        self.bar.on_msg(lambda bar, content, buffers: self._hear(content))
        self.observe(lambda change: self._arrive(), ["stop_index", "large"])
        self.observe(lambda change: self._dress(), "wide")
        self.wide = bool(os.environ.get(STARTED))
        # The first look at a model takes seconds: it is over before a class comes to the stops that train.
        self._first_look = show.Run(lambda run: self.experiment.predict(Settings())).start()
        self._arrive()

    # -- where the class is

    def go(self, index: int) -> None:
        """Go to a stop, counted from 0; it is made when it is first gone to, and kept."""
        self.large = False
        self.stop_index = index

    @property
    def panel(self) -> ipywidgets.Widget:
        """The stop that the class is at."""
        return self.panels[STOPS[self.stop_index].key]

    def _arrive(self) -> None:
        key = STOPS[self.stop_index].key
        with self.lock:
            if key not in self.panels:
                self.panels[key] = self._make(key)
                self.body.children = tuple(self.panels.values())
            for each, panel in self.panels.items():
                show_if(panel, each == key)  # only hidden: what was done in it stays
            show_if(self.body, not self.large)
            self._draw_bar()

    def _make(self, key: str) -> ipywidgets.Widget:
        makers: dict[str, Callable[[], ipywidgets.Widget]] = {
            "laundry": lambda: self._laundry(),
            "cards": lambda: CardsGame(lang=self.lang),
            "grids": lambda: ControlRoom(lang=self.lang, experiment=self.experiment),
            "pieces": lambda: MorePieces(self.lang, self.experiment, self._laundry_answered),
            "erase": lambda: TwoParts(
                (say("lesson_erase_game", self.lang), lambda: self._own(ScratchPaperGame(lang=self.lang))),
                (
                    say("lesson_erase_run", self.lang),
                    lambda: self._own(EraseAndRedo(self.lang, self.experiment)),
                ),
            ),
        }
        if key in TRAINING:
            self._first_look.wait()
        made = makers[key]()
        return self._own(made) if isinstance(made, show.Panel) else made

    def _own(self, panel: show.Panel) -> show.Panel:
        """A panel as a part of this page, which alone knows whether the page hears threads."""
        panel.foreground = self.foreground
        self._within.append(panel)
        return embedded(panel)

    def _found_deaf(self) -> None:
        super()._found_deaf()
        for panel in self._within:
            panel.foreground = True

    def _laundry(self) -> LaundryGame:
        """The game keeps its answer until the class has asked for it at the fourth stop."""
        return LaundryGame(lang=self.lang, answers="after_guess" if self._answered else "kept")

    def _laundry_answered(self) -> None:
        """Now the game that asked may say it, too."""
        self._answered = True
        game = self.panels.get("laundry")
        if game is not None:
            game.answers = "after_guess"

    # -- the bar

    def _hear(self, content: dict[str, Any]) -> None:
        """What was pressed in the bar."""
        now = self._clock()
        presses: dict[str, Callable[[], Any]] = {
            "go": lambda: self.go(int(content["stop"])),
            "start": lambda: self._wind(self.stopwatch.start(now)),
            "stop": lambda: self._wind(self.stopwatch.stop(now)),
            "lap": lambda: self._wind(self.stopwatch.lap(now)),
            "reset": lambda: self._wind(Stopwatch()),
            "large": lambda: setattr(self, "large", not self.large),
            "wide": lambda: setattr(self, "wide", not self.wide),
            "look": lambda: None,
        }
        presses[content["do"]]()
        self._draw_bar()

    def _wind(self, stopwatch: Stopwatch) -> None:
        self.stopwatch = stopwatch

    def _draw_bar(self) -> None:
        self.bar.scene = scene(
            self.stop_index, self.stopwatch, self._clock(), self.lang, self.large, self.wide
        )

    def _dress(self) -> None:
        (self.add_class if self.wide else self.remove_class)("pipekit-wide")
        self._draw_bar()

    # -- where no kernel is

    def picture_png(self) -> bytes:
        """The five stops and what they ask, as a picture; no answer."""
        return show.png(still(outline(self.lang), self.lang))

    def picture_text(self) -> str:
        """The same in words."""
        return "\n".join([*outline(self.lang), say("still_line", self.lang)])
