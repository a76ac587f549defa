"""The grid puzzle as a panel: take a piece, put it into a cell, be told why not, count the cells, collect stars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pipekit.errors import PipekitError, ScheduleError
from pipekit.learn.controlroom.knobs import Menu, Stepper, button
from pipekit.learn.designboard.board import DEVICES, MICRO_BATCHES
from pipekit.learn.designboard.scene import device_name, op_name
from pipekit.learn.games import grid_puzzle_said, grid_puzzle_scene
from pipekit.learn.games.game import Game, Said
from pipekit.learn.games.grid_puzzle import TASKS, Puzzle
from pipekit.learn.games.grid_puzzle_scene import cell_key
from pipekit.learn.games.table import Line, Scene
from pipekit.plan import Kind, Op
from pipekit.show import number, say


class GridPuzzle(Game[Puzzle]):
    """Fill a timetable in by hand.

    Args:
        lang: `"zh"` or `"en"`.
        task: `"forward"` (the lesson's grid, checked cell by cell, then counted), `"uncut"` (the relay race, counted),
            `"gpipe"`, `"free"` (any order; stars for being quick), `"split"` (also with backwards in two halves).
        num_stages: K, from 2 to 4. num_micro_batches: M, from 2 to 8.
    """

    def __init__(
        self, lang: str = "zh", task: str = "forward", num_stages: int = 4, num_micro_batches: int = 4
    ) -> None:
        self.task = Menu(TASKS, "270px")
        self.stages, self.pieces = Stepper(*DEVICES), Stepper(*MICRO_BATCHES)
        self.hint_button = button()
        self._marks: dict[str, str] = {}
        super().__init__(
            Puzzle.of(task, num_stages, num_micro_batches), "puzzle_title", lang,
            knobs=(self.task, self.stages, self.pieces), moves=(self.hint_button,),
        )  # fmt: skip
        self._listen()
        self._relabel()

    # -- moves

    def put(self, op: Op | str, tick: int | None = None, device: int | None = None) -> None:
        """Put an op at a tick (from 0) of a device's row; without a tick as early as possible.

        Raises:
            ScheduleError: with the reason; the mistake is noted.
        """
        op = Op.parse(op) if isinstance(op, str) else op
        try:
            puzzle = self.state.put(op, tick, device)
        except ScheduleError:
            self.history.note(self.state.missed())
            raise
        self.do(puzzle, self._right)

    def take_off(self, op: Op | str) -> None:
        """Take an op off; `ScheduleError` where another one needs it."""
        self._marks = {}
        self.do(self.state.take_off(Op.parse(op) if isinstance(op, str) else op))

    def count(self, what: str, text: str) -> None:
        """Say how many `"cells"`, `"busy"` or `"idle"` ones there are; `ScheduleError` where it is no whole number."""
        self.do(self.state.count(what, text), self._right)

    def hint(self) -> tuple[Op, int] | None:
        """Show something that can come next, and return it and its tick."""
        found = self.state.hint()
        if found is not None:
            op, tick = found
            self._marks = {cell_key(op.stage, tick): "hint"}
            self.say(lambda lang: self._hinted(op, tick, lang))
        return found

    def begin(self, task: str, num_stages: int, num_micro_batches: int) -> None:
        """Another puzzle; that can be undone."""
        self.do(Puzzle.of(task, num_stages, num_micro_batches))

    def restart(self) -> None:
        """Begin the puzzle that is there again; that can be undone too."""
        self.begin(self.state.task, self.state.num_stages, self.state.num_micro_batches)

    def do(self, state: Puzzle, said: Said | None = None) -> None:
        """Another state: what was marked in the old one is not in it."""
        self._marks = {}
        super().do(state, said)

    def _travel(self, step: Callable[[], bool]) -> None:
        self._marks = {}
        super()._travel(step)

    # -- what it shows

    def scenes(self) -> Sequence[Scene]:
        """Chips, grid, and what is to be counted."""
        return [grid_puzzle_scene.scene(self.state, self.lang, self._marks)]

    def remark(self) -> Line:
        """What is to be done, how far it is, or what it came to."""
        return grid_puzzle_said.progress(self.state, self.lang)

    def _right(self, lang: str) -> Line:
        return grid_puzzle_said.progress(self.state, lang, right=True)

    def draw(self) -> None:
        """The table, and the knobs as the game has them."""
        with self.lock:
            super().draw()
            puzzle = self.state
            self.task.value = puzzle.task
            self.stages.value, self.pieces.value = puzzle.num_stages, puzzle.num_micro_batches
            self.hint_button.disabled = not puzzle.missing

    def label(self) -> None:
        """Name the knobs."""
        words = {
            "forward": "puzzle_forward", "uncut": "puzzle_uncut", "gpipe": "puzzle_gpipe", "free": "puzzle_free",
            "split": "puzzle_split",
        }  # fmt: skip
        self.task.name("", [say(words[task], self.lang) for task in TASKS])
        self.task.field.tooltip = say("puzzle_task", self.lang)
        self.stages.name(say("stages_label", self.lang), say("stages_unit", self.lang))
        self.pieces.name(say("pieces_label", self.lang), say("pieces_unit", self.lang))
        self.hint_button.description = self.hint_button.tooltip = say("design_hint", self.lang)

    def _hinted(self, op: Op, tick: int, lang: str) -> Line:
        place = {"op": op_name(op, lang, "class"), "device": device_name(op.stage, lang, "class")}
        return Line(text=say("design_hinted", lang, slot=number(tick), **place), tone="plain")

    # -- what a hand does

    def hear(self, content: dict[str, Any]) -> None:
        """A piece was put down, an op moved or taken off, a cell pressed with an empty hand, a number typed."""
        acts: dict[str, Callable[[], None]] = {
            "press": lambda: self.say(lambda lang: Line(text=say("puzzle_take_first", lang), tone="plain")),
            "drop": lambda: self._dropped(str(content["key"]), str(content["on"])),
            "type": lambda: self._typed(str(content["key"]), str(content["text"])),
        }
        acts[content["do"]]()

    def _dropped(self, key: str, on: str) -> None:
        if on == "off":
            if (there := self._op_at(key)) is not None:
                self.take_off(there)
            return
        kind, *place = on.split(":")
        device, tick = int(place[0]), int(place[1]) if kind == "cell" else None
        op = self._op_at(key) or Op(Kind(key[5]), device, int(key[6:]))
        try:
            self.put(op, tick, device)
        except ScheduleError as error:
            self._marks = {on: "wrong", **self._needed(error)}
            raise

    def _op_at(self, key: str) -> Op | None:
        """The op that stands in a cell."""
        kind, *place = key.split(":")
        return self.state.board.at(int(place[0]), int(place[1])) if kind == "cell" else None

    def _needed(self, error: PipekitError) -> dict[str, str]:
        """The cell of the op in the way, if it is there."""
        op = error.numbers.get("earlier_op")
        starts = self.state.board.starts
        return {cell_key(op.stage, starts[op]): "hint"} if isinstance(op, Op) and op in starts else {}

    def _typed(self, key: str, text: str) -> None:
        if text.strip():
            self.count(key.partition(":")[2], text)

    def _listen(self) -> None:
        self.hint_button.on_click(lambda _: self.attempt(self.hint))
        self.task.observe(lambda change: self._chosen(task=change["new"]), "value")
        self.stages.observe(lambda change: self._chosen(num_stages=change["new"]), "value")
        self.pieces.observe(lambda change: self._chosen(num_micro_batches=change["new"]), "value")

    def _chosen(self, **asked: Any) -> None:
        """A knob was moved by a hand, not by the game itself: another puzzle."""
        puzzle = self.state
        now: dict[str, Any] = {
            "task": puzzle.task,
            "num_stages": puzzle.num_stages,
            "num_micro_batches": puzzle.num_micro_batches,
        }
        if now != now | asked:
            self.begin(**(now | asked))
