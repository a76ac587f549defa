"""The design board: put ops into rows, be told why one can't go there, see what it comes to, and really train it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipekit import show
from pipekit.errors import Cancelled, PipekitError
from pipekit.learn.controlroom.sentences import Said
from pipekit.learn.designboard import saved
from pipekit.learn.designboard.board import LENGTHS, Board
from pipekit.learn.designboard.desk import Desk
from pipekit.learn.designboard.figures import hint
from pipekit.learn.designboard.live import Live
from pipekit.learn.designboard.scene import Mark, op_name
from pipekit.learn.designboard.training import design_of
from pipekit.learn.experiment import Outcome
from pipekit.plan import Kind, Op, Schedule
from pipekit.show import say


class DesignBoard(Desk):
    """A schedule of one's own: place ops by mouse, touch, keyboard or code; every move is checked, and it trains.

    Args:
        lang: `"zh"` or `"en"`; can be switched at any time.
        num_stages: K, one stage a device. num_micro_batches: M.
        experiment: model, mini-batch and clock; left out, the lesson's, in pieces of one size.
        view: `"class"` (F and B; counts from 1) or `"engineer"` (also I, W and R; counts from 0).

    From a cell, `board.put("1F0", 1)` puts an op at a tick and raises where it can't go, `board.load(text)` reads a
    whole schedule, `board.schedule` is what stands there, and `board.run().wait()` trains it and returns the `Outcome`.
    """

    def __init__(self, *asked: Any, **named: Any) -> None:
        super().__init__(*asked, **named)
        self._connect()

    @property
    def schedule(self) -> Schedule:
        """The order of the ops that stand on it; `ScheduleError` for an empty board."""
        return self.board.schedule()

    def put(self, op: Op | str, tick: int | None = None, device: int | None = None) -> None:
        """Put an op at a tick (from 0) of a device's row, or move it there; without a tick as early as possible.

        Raises:
            ScheduleError: it can't go there; names what it needs and when that ends.
        """
        op = Op.parse(op) if isinstance(op, str) else op
        board = self.board.put(op, tick, device)
        self._change(board, lambda: self._words("design_put", **self._place(op, board.starts[op])))

    def take_off(self, op: Op | str) -> None:
        """Take an op off the board; `ScheduleError` where another one needs it."""
        op = Op.parse(op) if isinstance(op, str) else op
        name = functools.partial(op_name, op)
        self._change(
            self.board.take_off(op), lambda: self._words("design_taken_off", op=name(self.lang, self.view))
        )

    def undo(self) -> None:
        """Take the last change back."""
        self._travel(self.history.undo)

    def redo(self) -> None:
        """Do again what was taken back."""
        self._travel(self.history.redo)

    def clear(self) -> None:
        """Take everything off."""
        self._change(Board(self.num_stages, self.num_micro_batches), lambda: self._words("design_begin"))

    def push_left(self) -> None:
        """The same order, every op as early as it can be: as the devices will run it."""
        earlier, before = self.board.pushed_left(), self.board.makespan
        self._change(earlier, lambda: self._words("design_pushed", count=before - earlier.makespan))

    def hint(self) -> tuple[Op, int] | None:
        """Show something that could come next, and return it and its tick; None where nothing is missing."""
        found, count = hint(self.board), self.figures.saved
        if found is None:
            key = "design_hint_push" if count else "design_hint_train"
            self._say(lambda: self._words(key, count=count))
            return None
        op, tick = found
        mark = Mark("hint", op.stage, tick, LENGTHS[op.kind])
        self._say(lambda: self._words("design_hinted", **self._place(op, tick)), [mark])
        return found

    def load(self, schedule: Schedule | str) -> str | None:
        """Put a whole schedule on the board, given as data or as text; K and M follow it.

        Returns:
            The name of the known schedule that it is, or None.

        Raises:
            ScheduleError: it can't be read, can't run, or the board has no room for it.
        """
        made = saved.board_of_text(schedule) if isinstance(schedule, str) else saved.board_of(schedule)
        self._loaded(made)
        return self.figures.name

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
        """Write the board with its ticks as JSON, or its order as text where the name ends in `.txt`.

        Raises:
            FileError: as `plan.write_timeline`.
        """
        return saved.write(self.board, path, overwrite)

    def open_file(self, path: str | os.PathLike[str]) -> None:
        """Read what `save` wrote, or the order of any timeline that `plan.write_timeline` wrote.

        Raises:
            FileError, ScheduleError: it can't be read, or the board has no room for it.
        """
        self._loaded(saved.read(path))

    def run(self) -> show.Run[Outcome]:
        """Train the schedule once in the background and measure it; `.wait()` gives the outcome.

        Raises:
            ScheduleError: something is missing.
        """
        design, experiment = design_of(self.board), self._experiment
        self.stop()
        live = self._live = Live(experiment.num_ops(design), self._progress.ask)
        self._draw()

        def work(current: show.Run[Outcome]) -> Outcome:
            try:
                outcome = experiment.train_once(design, live.watch(current))
            except Cancelled:
                self._end(lambda: self._words("cancelled"))
                raise
            except BaseException as error:
                self._end(functools.partial(self._failure, error, "failed"))
                raise
            self.outcomes[design] = outcome
            self._end()
            return outcome

        return self.start(work, on_cancel=live.cancel)

    def cancel(self) -> None:
        """Stop what runs, between two ops; the model is as before."""
        if self._live is not None and self.current is not None:
            self._live.tell("cancelling")
            self.current.cancel()

    # -- what a hand does

    def _connect(self) -> None:
        screen = self.screen
        acts: dict[Any, Callable[[], Any]] = {
            screen.undo: self.undo, screen.redo: self.redo, screen.clear: self.clear, screen.hint: self.hint,
            screen.push_left: self.push_left, screen.train: self.run, screen.stop: self.cancel,
            screen.load: lambda: self.load(screen.text.value),
        }  # fmt: skip
        for button, act in acts.items():
            button.on_click(lambda _, act=act: self._try(act))
        screen.files.observe(lambda change: screen.open_files(change["new"]), "value")
        screen.upload.observe(lambda change: self._try(self._uploaded), "value")
        screen.canvas.on_msg(lambda canvas, content, buffers: self._hear(content))

    def _hear(self, content: dict[str, Any]) -> None:
        """What a hand did on the board."""
        acts: dict[str, Callable[[], Any]] = {
            "put": lambda: self._put_by_hand(content),
            "take_off": lambda: self.take_off(str(content["op"])),
            "undo": self.undo,
            "redo": self.redo,
        }
        self._try(acts[content["do"]])

    def _put_by_hand(self, content: dict[str, Any]) -> None:
        """An op that was moved, or a kind and a piece that were dropped on a row, which says the stage."""
        device, tick = int(content["device"]), content["tick"]
        if "op" in content:
            op = Op.parse(content["op"])
        elif "chip" in content:
            op = Op(Kind(content["chip"][0]), device, int(content["chip"][1:]))
        else:
            self._say(lambda: self._words("design_take_first"))
            return
        self.put(op, tick, device)

    def _try(self, act: Callable[[], Any]) -> None:
        """Do it; what is refused is said, with the reason, and the op in the way is shown."""
        try:
            act()
        except PipekitError as error:
            self._say(functools.partial(self._failure, error, "design_refused"), self._guilty(error))

    def _failure(self, error: BaseException, key: str) -> Said:
        why = show.sentence(error, self.lang, self.view)
        return Said(say(key, self.lang, self.view, why=why), "refused")

    def _guilty(self, error: PipekitError) -> list[Mark]:
        found = [error.numbers.get(name) for name in ("earlier_op", "op")]
        there = [op for op in found if isinstance(op, Op) and op in self.board.starts]
        return [Mark("needed", op.stage, self.board.starts[op], LENGTHS[op.kind]) for op in there[:1]]

    def _uploaded(self) -> None:
        """A file was chosen; ipywidgets 7 and 8 hand it over differently."""
        value = self.screen.upload.value
        if value:
            file = next(iter(value.values() if isinstance(value, dict) else value))
            name = file["name"] if "name" in file else file["metadata"]["name"]
            self._loaded(saved.board_of_content(bytes(file["content"]), name))
