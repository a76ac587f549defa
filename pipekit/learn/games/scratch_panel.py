"""The scratch-paper game as a panel: compute, keep, wipe, answer; hints, the best way, a race, a chain of one's own."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ipywidgets

from pipekit.errors import ScheduleError
from pipekit.learn.controlroom.guess import parse
from pipekit.learn.controlroom.knobs import Stepper, button, line, show_if
from pipekit.learn.controlroom.knobs import html as words_box
from pipekit.learn.games import chain as chains
from pipekit.learn.games import scratch_best, scratch_scene
from pipekit.learn.games.game import Game
from pipekit.learn.games.refused import Refused
from pipekit.learn.games.scratch import CELLS, Move, Scratch, new_game
from pipekit.learn.games.scratch_scene import Paper
from pipekit.learn.games.table import Line, Scene
from pipekit.show import say


class ScratchPaperGame(Game[Paper]):
    """A chain of sums is computed forward, then its values are asked for backward; a few cells keep some of them.

    Args:
        lang: `"zh"` or `"en"`; can be switched at any time.
        num_cells: how many values can be kept, 0 to 9. chain: such as `"2 +4 x3 -8"`; left out, the lesson's.

    From a cell: `game.compute()`, `game.keep(0)` (cells count from 0), `game.take(0)`, `game.wipe(0)`,
    `game.from_start()`, `game.hint()`, `game.show_best()`; `game.state.game` is where it stands.
    """

    def __init__(self, lang: str = "zh", num_cells: int = 3, chain: str | None = None) -> None:
        self.cells = Stepper(*CELLS)
        self.race = ipywidgets.ToggleButton(layout={"width": "auto"})
        self.hint_button, self.best_button, self.chain_button = button(), button(), button()
        self.chain_label, self.question = words_box(), words_box()
        self.chain_field = ipywidgets.Text(layout={"width": "330px"})
        self.guess_field = ipywidgets.Text(layout={"width": "96px"})
        self.guess_done, self.guess_none = button(), button()
        self._following = False
        self._hinted: tuple[Scratch, Move] | None = None
        settings = line(
            self.cells, self.race, self.hint_button, self.best_button, self.chain_label, self.chain_field, self.chain_button
        )  # fmt: skip
        self.ask_line = line(self.question, self.guess_field, self.guess_done, self.guess_none)
        self.ask_line.add_class("pipekit-ask")
        made = chains.LESSON if chain is None else chains.read(chain)
        super().__init__(
            Paper(_begun(num_cells, made)), "scratch_title", lang, num_tables=2, lines=(settings, self.ask_line)
        )  # fmt: skip
        self._listen()
        self._relabel()

    # -- moves

    def play(self, game: Scratch) -> None:
        """The game after a move; who has begun is no longer asked to guess."""
        self.do(replace(self.state, game=game, asking=False))

    def compute(self) -> None:
        """Compute the next step; `Refused` where there is nothing in the head."""
        self.play(self.state.game.compute())

    def keep(self, cell: int) -> None:
        """Keep what is in the head in a cell (from 0)."""
        self.play(self.state.game.keep(cell))

    def take(self, cell: int) -> None:
        """Go on from what a cell keeps."""
        self.play(self.state.game.take(cell))

    def wipe(self, cell: int) -> None:
        """Empty a cell."""
        self.play(self.state.game.wipe(cell))

    def from_start(self) -> None:
        """Go on from the printed start."""
        self.play(self.state.game.restart())

    def guess(self, steps: int | str) -> None:
        """How many steps will be computed in all; `Refused` where it is no whole number."""
        number = parse(str(steps))
        if number is None or not 0 < number < 1000 or number != round(number):
            raise Refused("scratch_guess_number", asked=str(steps).strip()[:12] or "-")
        self.do(replace(self.state, guess=round(number), asking=False))

    def decline(self) -> None:
        """Play without guessing."""
        self.do(replace(self.state, asking=False))

    def set(self, num_cells: int | None = None, chain: str | None = None, race: bool | None = None) -> None:
        """Another number of cells or another chain, from its beginning; or the computer beside the player."""
        paper, game = self.state, self.state.game
        if num_cells is not None or chain is not None:
            cells = len(game.cells) if num_cells is None else num_cells
            game = _begun(cells, game.chain if chain is None else chains.read(chain))
            paper = Paper(game, race=paper.race)
        self.do(paper if race is None else replace(paper, race=race))

    def restart(self) -> None:
        """The same chain and cells from the beginning."""
        game = self.state.game
        self.do(Paper(new_game(len(game.cells), game.chain), race=self.state.race))

    def hint(self) -> Move:
        """Show a move that leads to the fewest steps from here, and return it."""
        if self.state.game.won:
            raise Refused("scratch_over")
        move = scratch_best.hint(self.state.game)
        self._hinted = (self.state.game, move)
        self.say(lambda lang: scratch_scene.hint_words(move, lang))
        return move

    def show_best(self) -> None:
        """Play the whole game with the fewest steps; undo goes back through its moves."""
        game = new_game(len(self.state.game.cells), self.state.game.chain)
        for move in scratch_best.best_game(game).log:
            game = game.play(move)
            self.history.do(replace(self.state, game=game, asking=False))
        self.say(None)

    def hear(self, content: dict[str, Any]) -> None:
        """What a hand did on the table."""
        kind, *numbers = content["key"].split(":")
        if kind == "compute":
            self.compute()
        elif kind == "restart":
            self.from_start()
        elif kind == "wipe":
            self.wipe(int(numbers[0]))
        else:
            self.press_cell(int(numbers[0]))

    def press_cell(self, cell: int) -> None:
        """One press for both: a cell that is of use is taken from, any other is written into."""
        step, game = self.state.game.cells[cell], self.state.game
        if step is None or (step > game.asked and game.head):
            self.keep(cell)
        else:
            self.take(cell)

    # -- what it shows

    def scenes(self) -> Sequence[Scene]:
        """The chain, and below it what can be done."""
        paper, hinted = self.state, self._hinted
        marked = hinted[1] if hinted is not None and hinted[0] == paper.game else None
        return [scratch_scene.chain(paper, self.lang), scratch_scene.desk(paper, marked, self.lang)]

    def remark(self) -> Line:
        """Where the game stands; at its end which way was played."""
        return scratch_scene.remark(self.state, self.lang)

    def draw(self) -> None:
        """The tables, and the knobs as the game has them."""
        with self.lock:
            super().draw()
            self._following = True
            paper = self.state
            self.cells.value, self.race.value = len(paper.game.cells), paper.race
            self.chain_field.value = str(paper.game.chain)
            self._following = False
            show_if(self.ask_line, paper.asking)
            self.question.value = html.escape(say("scratch_ask", self.lang, cells=len(paper.game.cells)))
            self.hint_button.disabled = paper.game.won

    def label(self) -> None:
        """Name the knobs and the question."""
        self.cells.name(say("scratch_cells", self.lang))
        self.chain_label.value = self.chain_field.tooltip = say("scratch_chain", self.lang)
        self.guess_field.placeholder = self.guess_field.tooltip = "?"
        for widget, key in (
            (self.race, "scratch_race"), (self.hint_button, "scratch_hint"), (self.best_button, "scratch_best_game"),
            (self.chain_button, "scratch_chain_use"), (self.guess_done, "guess_done"), (self.guess_none, "guess_none"),
        ):  # fmt: skip
            widget.description = widget.tooltip = say(key, self.lang)

    # -- what its widgets do

    def _listen(self) -> None:
        for widget, act in (
            (self.hint_button, self.hint), (self.best_button, self.show_best), (self.guess_none, self.decline),
            (self.guess_done, lambda: self.guess(self.guess_field.value)),
            (self.chain_button, lambda: self.set(chain=self.chain_field.value)),
        ):  # fmt: skip
            widget.on_click(lambda _, act=act: self.attempt(act))
        self.cells.observe(lambda change: self._choose(num_cells=change["new"]), "value")
        self.race.observe(lambda change: self._choose(race=change["new"]), "value")

    def _choose(self, **chosen: Any) -> None:
        """A knob was moved by a hand, not by the game."""
        if not self._following:
            self.set(**chosen)


def _begun(num_cells: int, chain: chains.Chain) -> Scratch:
    """A new game; `ScheduleError` where there is no room for so many cells."""
    least, most = CELLS
    if not least <= num_cells <= most:
        raise ScheduleError("number_range", name="num_cells", least=least, most=most, asked=num_cells)
    return new_game(num_cells, chain)
