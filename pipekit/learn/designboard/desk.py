"""The desk under the design board: its state, what it says, and the widgets that show both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets
import traitlets

from pipekit import plan, show
from pipekit.learn.controlroom.knobs import show_if
from pipekit.learn.controlroom.sentences import Said
from pipekit.learn.designboard import picture, saved, scene, words
from pipekit.learn.designboard.board import DEVICES, MICRO_BATCHES, Board
from pipekit.learn.designboard.figures import Figures, figures
from pipekit.learn.designboard.history import History
from pipekit.learn.designboard.live import Live
from pipekit.learn.designboard.scene import Mark, device_name, op_name
from pipekit.learn.designboard.screen import Screen
from pipekit.learn.designboard.training import Design, Experiments, design_of
from pipekit.learn.experiment import Experiment, Outcome
from pipekit.plan import Op
from pipekit.show import number, say

Status = Callable[[], Said]  # in whatever language the board speaks when it is said
LIVE_EVERY = 0.2  # seconds between two pictures of what runs: more would disturb its clock on two cores


def _nothing() -> Said:
    return Said("")


class Desk(show.Panel):
    """What stands on the board and was measured with it, and the widgets that show it."""

    lang = traitlets.Enum(show.LANGUAGES, "zh")
    view = traitlets.Enum(("class", "engineer"), "class")
    wide = traitlets.Bool(False)
    num_stages = traitlets.Int(2, min=DEVICES[0], max=DEVICES[1])
    num_micro_batches = traitlets.Int(3, min=MICRO_BATCHES[0], max=MICRO_BATCHES[1])

    def __init__(
        self,
        lang: str = "zh",
        num_stages: int = 2,
        num_micro_batches: int = 3,
        experiment: Experiment | None = None,
        view: str = "class",
    ) -> None:
        board = Board(num_stages, num_micro_batches)
        self.history, self._known = History(board), (board, figures(board))
        self.experiments = Experiments(experiment)
        self.outcomes: dict[Design, Outcome] = {}
        self.screen = Screen()
        self._live: Live | None = None
        self._status: Status = lambda: self._words("design_begin")
        self._marks: Sequence[Mark] = ()
        self._progress = show.Latest(self._draw_progress, every=LIVE_EVERY)
        super().__init__(
            self.screen.boxes,
            lang=lang,
            view=view,
            num_stages=num_stages,
            num_micro_batches=num_micro_batches,
        )
        self.add_class("pipekit-room")
        self.add_class("pipekit-design")
        for trait, widget in (
            ("lang", self.screen.language), ("view", self.screen.view), ("wide", self.screen.wide),
            ("num_stages", self.screen.stages), ("num_micro_batches", self.screen.pieces),
        ):  # fmt: skip
            traitlets.link((self, trait), (widget, "value"))
        self.observe(lambda change: self._label(), ["lang", "view"])
        self.observe(lambda change: self._resized(), ["num_stages", "num_micro_batches"])
        self.observe(lambda change: self._dress(), "wide")
        self._label()

    @property
    def board(self) -> Board:
        """What stands on it."""
        return self.history.state

    @property
    def figures(self) -> Figures:
        """Bubble, makespan, memory, what is missing, and which known schedule it is."""
        board, known = self._known
        if board is not self.board:
            self._known = board, known = self.board, figures(self.board)
        return known

    @property
    def outcome(self) -> Outcome | None:
        """What was measured with this schedule; None before it has been run."""
        return None if self.board.missing() else self.outcomes.get(design_of(self.board))

    def settle(self) -> None:
        """Wait until all that was asked for is drawn."""
        self._progress.settle()

    def moving(self) -> list[ipywidgets.Widget]:
        """What changes while something runs, or by its end."""
        return self.screen.moving

    def picture(self) -> show.Still:
        """The board, and the measured timeline if there is one, as a still picture."""
        with self.lock:
            drawn = picture.still(self.board, self.outcome, self._tick, self.lang, self.view)
            return show.Still(show.png(drawn), self._told())

    def picture_png(self) -> bytes:
        """The same as PNG, and how to bring it alive: what a notebook shows where no kernel is."""
        with self.lock:
            above = say("still_line", self.lang, self.view)
            return show.png(picture.still(self.board, self.outcome, self._tick, self.lang, self.view, above))

    def picture_text(self) -> str:
        """The board in letters and words."""
        with self.lock:
            return f"{self._told()}\n{say('still_line', self.lang, self.view)}"

    def _told(self) -> str:
        said = [each.text for each in self._said()]
        return picture.in_words(self.board, self.figures, self.outcome, said, self.lang, self.view)

    def _label(self) -> None:
        with self.lock:
            self.screen.label(self.lang, self.view)
            self._draw()

    def _dress(self) -> None:
        (self.add_class if self.wide else self.remove_class)("pipekit-wide")

    # -- changes

    @property
    def _experiment(self) -> Experiment:
        return self.experiments.of(self.board.num_micro_batches)

    @property
    def _tick(self) -> float:
        return self.experiments.tick(self.board.num_micro_batches)

    def _change(self, board: Board, status: Status = _nothing) -> None:
        """Another board, which can be undone; while something runs the board rests."""
        with self.lock:
            if self._live is None:
                self.history.do(board)
                self._follow()
                self._say(status)

    def _loaded(self, board: Board) -> None:
        self._change(board, lambda: self._words("design_loaded", count=len(board.starts)))

    def _travel(self, step: Callable[[], bool]) -> None:
        with self.lock:
            if self._live is None:
                step()
                self._follow()
                self._say()

    def _follow(self) -> None:
        """K and M as the board has them."""
        self.screen.text.value = saved.text_of(
            self.board
        )  # not when drawing: what was typed wrong stays to be put right
        with self.hold_trait_notifications():
            self.num_stages, self.num_micro_batches = self.board.num_devices, self.board.num_micro_batches

    def _resized(self) -> None:
        """K or M was moved: other devices begin empty, other pieces keep what still has its place."""
        board = self.board
        if self.num_stages != board.num_devices:
            self._change(Board(self.num_stages, self.num_micro_batches), lambda: self._words("design_begin"))
        elif self.num_micro_batches != board.num_micro_batches:
            self._change(board.with_micro_batches(self.num_micro_batches))

    def _end(self, status: Status = _nothing) -> None:
        """Show the result whole, and give the board back."""
        try:
            self._progress.settle()
        finally:
            with self.lock:
                self._live = None
                self._say(status)

    # -- drawing

    def _words(self, key: str, **numbers: Any) -> Said:
        text = say(key, self.lang, self.view, **numbers)
        return Said(text[:1].upper() + text[1:])

    def _place(self, op: Op, tick: int) -> dict[str, Any]:
        device = device_name(op.stage, self.lang, self.view)
        return {"op": op_name(op, self.lang, self.view), "device": device, "slot": number(tick, self.view)}

    def _say(self, status: Status = _nothing, marks: Sequence[Mark] = ()) -> None:
        """Say this, show that, and draw."""
        with self.lock:
            self._status, self._marks = status, marks
            self._draw()

    def _said(self) -> list[Said]:
        """What the line under the board says: what runs; or what was done, and what the board is, or came to."""
        if self._live is not None:
            return [self._words(self._live.phase, **self._live.numbers)]
        outcome = self.outcome
        verdict = words.verdict(self.figures, self.lang, self.view)
        ran = [] if outcome is None else words.trained(self.board, outcome, self._tick, self.lang, self.view)
        return [self._status(), verdict, *ran]

    def _draw(self) -> None:
        screen, running, lang, view = self.screen, self._live is not None, self.lang, self.view
        screen.canvas.scene = scene.scene(self.board, lang, view, self._marks, running)
        screen.said.value = words.talk(self._said())
        screen.figures.value = words.figures_html(self.figures, lang, view)
        screen.links.value = words.links(self.board, lang)
        self._draw_ran()
        self._rest(running)

    def _draw_ran(self) -> None:
        """What was measured, or what has been so far, and on what."""
        outcome, live = self.outcome, self._live
        ran: dict[str, Any] = {}
        if live is not None:
            ran = self._ran(live.timeline(self.board.num_devices), self._words("live_now"))
        elif outcome is not None:
            on = words.evidence(design_of(self.board), outcome, self._tick, self.lang, self.view)
            ran = self._ran(outcome.timeline, on)
        self.screen.canvas.ran = ran

    def _ran(self, timeline: plan.Timeline, on: Said) -> dict[str, Any]:
        return scene.ran(timeline, self._tick, on.text, on.tone, self.lang, self.view)

    def _draw_progress(self) -> None:
        with self.lock:
            if self._live is not None:
                self.screen.bar.value = self._live.share
                self.screen.said.value = words.talk(self._said())
                self._draw_ran()

    def _rest(self, running: bool) -> None:
        """Who can be pressed."""
        screen, board = self.screen, self.board
        for knob in screen.knobs:
            knob.disabled = running
        screen.stop.disabled = not running
        screen.undo.disabled = running or not self.history.can_undo
        screen.redo.disabled = running or not self.history.can_redo
        screen.clear.disabled = screen.push_left.disabled = running or not board.starts
        show_if(screen.bar, running)
        screen.train.description = screen.train.tooltip = self._train_words()

    def _train_words(self) -> str:
        """What training costs, where that can be said."""
        if self.board.missing():
            return say("design_train", self.lang, self.view)
        seconds = max(1, round(self.experiments.seconds(self.board)))
        return say("train", self.lang, self.view, seconds=seconds)
