"""The laundry as a panel: choose baskets and machines, guess, step the clock or let it run."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ipywidgets
import traitlets

from pipekit import show
from pipekit.learn.controlroom.knobs import Menu, Stepper, button, line, show_if
from pipekit.learn.controlroom.knobs import html as words_box
from pipekit.learn.games import laundry_scene
from pipekit.learn.games.game import Game
from pipekit.learn.games.laundry import BASKETS, MACHINES, TIMES, WAYS, Laundry, Play
from pipekit.learn.games.laundry_scene import NAMES
from pipekit.learn.games.table import Line, Scene
from pipekit.show import say

SECONDS = 0.8  # a slot, while the clock runs


class LaundryGame(Game[Play]):
    """Baskets through machines, 30 minutes each: one basket after another, or as on a production line.

    Args:
        lang: `"zh"` or `"en"`. num_baskets, num_machines: at the beginning.
        answers: `"after_guess"`: the line is shown once a class has guessed or declined to; `"kept"`: it isn't shown
            until `answers` is set to `"after_guess"` (the lesson does so after the pieces).
    """

    answers = traitlets.Enum(("after_guess", "kept"), "after_guess")

    def __init__(
        self, lang: str = "zh", num_baskets: int = 4, num_machines: int = 3, answers: str = "after_guess"
    ) -> None:
        self.baskets, self.machines = Stepper(*BASKETS), Stepper(*MACHINES)
        self.slow = Menu(range(len(_slow_choices(num_machines))), "170px")
        self.way = ipywidgets.ToggleButtons(options=WAYS, style={"button_width": "auto"})
        self.back, self.forward, self.run_button = button(), button(), button(button_style="primary")
        self.question, self.guess_field = words_box(), ipywidgets.Text(layout={"width": "96px"})
        self.guess_done, self.guess_none = button(), button()
        self._running = self._following = False
        self.ask_line = line(self.question, self.guess_field, self.guess_done, self.guess_none)
        self.ask_line.add_class("pipekit-ask")
        super().__init__(
            Play(Laundry(num_baskets, num_machines)), "laundry_title", lang, num_tables=2,
            knobs=(self.baskets, self.machines, self.slow), lines=(self.ask_line,),
            moves=(self.way, self.back, self.forward, self.run_button),
        )  # fmt: skip
        self.answers = answers
        self._listen()
        self._relabel()
        show_if(self.undo_button, False)  # the clock has buttons of its own
        show_if(self.redo_button, False)

    @property
    def kept(self) -> bool:
        """Whether the answer is kept back, whatever is guessed."""
        return self.answers == "kept"

    @property
    def shown(self) -> Play:
        """Where the game is, as far as it may be seen."""
        return replace(self.state, guesses=(), declined=False) if self.kept else self.state

    # -- moves

    def go(self, way: str) -> None:
        """Look at `"one_by_one"` or `"line"`, from its beginning."""
        self._do(self.state.going(way))

    def step(self, by: int = 1) -> None:
        """The clock on by some slots, or back; a way that may not be seen yet doesn't move."""
        if self.shown.may_look:
            self._do(self.state.stepped(by))

    def guess(self, minutes: float | str) -> None:
        """What the class guesses for the line; `ScheduleError` where it is no number of minutes."""
        self._do(self.state.guessed(str(minutes)))

    def decline(self) -> None:
        """Look without guessing."""
        self._do(replace(self.state, declined=True))

    def set(self, **numbers: int) -> None:
        """Other baskets or machines: `num_baskets`, `num_machines`, `slow_machine`, `times`."""
        self._do(self.state.with_laundry(replace(self.state.laundry, **numbers)))

    def play(self) -> show.Run[None]:
        """Let the clock run to the end, in the background; at the end it begins again."""
        if self.state.finished:
            self._do(replace(self.state, slot=0))
        return self.start(self._run)

    def _run(self, current: show.Run[None]) -> None:
        self._set_running(True)
        try:
            while self.shown.may_look and not self.state.finished and not current.stopping:
                current.stop.wait(SECONDS)
                if not current.stopping:
                    self.step()
        finally:
            self._set_running(False)

    def _set_running(self, running: bool) -> None:
        self._running = running
        self.draw()

    def _do(self, play: Play) -> None:
        self.do(play)

    def restart(self) -> None:
        """The clock back to the beginning, baskets and machines as at first; the way stays, and so does what was guessed.

        What has been seen can't be guessed any more; a new class gets a new game by running its cell.
        """
        self.stop()
        self.do(self.state.begun_again(self._begin.laundry))

    # -- what it shows

    def scenes(self) -> Sequence[Scene]:
        """The laundry now, and its timetable so far."""
        return [laundry_scene.floor(self.shown, self.lang), laundry_scene.grid(self.shown, self.lang)]

    def remark(self) -> Line:
        """What each machine does, or what it came to."""
        return laundry_scene.remark(self.state, self.kept, self.lang)

    def hear(self, content: dict[str, Any]) -> None:
        """Nothing on the tables can be pressed."""

    def moving(self) -> list[ipywidgets.Widget]:
        """What changes while the clock runs."""
        return [*self.tables, self.back, self.forward, self.run_button]

    def draw(self) -> None:
        """The tables, and which buttons do something."""
        with self.lock:
            super().draw()
            play = self.shown
            self.back.disabled = play.slot == 0
            self.forward.disabled = not play.may_look or play.finished
            self.run_button.disabled = not play.may_look
            words = say("laundry_pause" if self._running else "laundry_play", self.lang)
            self.run_button.description = self.run_button.tooltip = words
            asks = self.state.guess is None and not self.state.declined
            show_if(self.ask_line, asks)
            self._follow()

    def label(self) -> None:
        """Name the knobs, the ways and the question."""
        lang = self.lang

        def words(key: str) -> str:
            return say(key, lang)

        self.baskets.name(words("laundry_baskets"), words("laundry_baskets_unit"))
        self.machines.name(words("laundry_machines"), words("laundry_machines_unit"))
        self._name_slow()
        chosen = self.way.value
        self.way.options = [(words(f"laundry_{way}"), way) for way in WAYS]
        self.way.value = chosen
        self.way.tooltip = words("laundry_way")
        self.way.tooltips = [words("laundry_one_by_one"), words("laundry_line")]
        self.question.value = html.escape(words("laundry_ask"))
        for widget, key in (
            (self.back, "laundry_back"), (self.forward, "laundry_forward"),
            (self.guess_done, "guess_done"), (self.guess_none, "guess_none"),
        ):  # fmt: skip
            widget.description = widget.tooltip = words(key)
        self.guess_field.tooltip = self.guess_field.placeholder = words("laundry_guess")

    def _name_slow(self) -> None:
        choices = _slow_choices(self.state.laundry.num_machines)
        self.slow.values = tuple(range(len(choices)))
        names = NAMES[self.state.laundry.num_machines]
        said = [
            say("laundry_nobody", self.lang)
            if times == 1
            else say("laundry_slowly", self.lang, machine=say(names[machine], self.lang), count=times)
            for machine, times in choices
        ]
        self.slow.name(say("laundry_slow", self.lang), said)

    # -- what its widgets do

    def _listen(self) -> None:
        for widget, act in (
            (self.back, lambda: self.step(-1)), (self.forward, self.step), (self.run_button, self._play_or_pause),
            (self.guess_done, lambda: self.guess(self.guess_field.value)), (self.guess_none, self.decline),
        ):  # fmt: skip
            widget.on_click(lambda _, act=act: self.attempt(act))
        self.baskets.observe(lambda change: self._choose(num_baskets=change["new"]), "value")
        self.machines.observe(  # the slow one may be among those that go
            lambda change: self._choose(num_machines=change["new"], slow_machine=0, times=1), "value"
        )
        self.slow.observe(lambda change: self._choose_slow(change["new"]), "value")
        self.way.observe(lambda change: self._choose_way(change["new"]), "value")
        self.observe(lambda change: self.say(None), "answers")

    def _play_or_pause(self) -> None:
        if self._running:
            self.stop()
        else:
            self.play()

    def _choose(self, **numbers: int) -> None:
        """A knob was moved by a hand, not by the game."""
        laundry = replace(self.state.laundry, **numbers)
        if not self._following and laundry != self.state.laundry:
            self.guess_field.value = ""
            self._do(self.state.with_laundry(laundry))

    def _choose_slow(self, choice: int) -> None:
        machine, times = _slow_choices(self.state.laundry.num_machines)[choice]
        self._choose(slow_machine=machine, times=times)

    def _choose_way(self, way: str | None) -> None:
        if way is not None:
            self.go(way)

    def _follow(self) -> None:
        """The knobs as the game has them."""
        laundry, self._following = self.state.laundry, True
        self.baskets.value, self.machines.value = laundry.num_baskets, laundry.num_machines
        choices = _slow_choices(laundry.num_machines)
        if len(self.slow.values) != len(choices):
            self.slow.value = 0  # nobody: what was chosen may not be among the new ones
            self._name_slow()
        self.slow.value = choices.index(
            (laundry.slow_machine, laundry.times) if laundry.times > 1 else (0, 1)
        )
        self.way.value, self._following = self.state.way, False


def _slow_choices(num_machines: int) -> tuple[tuple[int, int], ...]:
    """(machine, slots a basket), by the menu's number: nobody first, then each machine slower by each factor."""
    return ((0, 1), *((machine, times) for machine in range(num_machines) for times in TIMES[1:]))
