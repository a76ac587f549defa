"""What every game has: states that can be undone, a language, a table or two, and a still picture of them."""

from __future__ import annotations

import html
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic

import ipywidgets
import traitlets

from pipekit import show
from pipekit.errors import PipekitError
from pipekit.learn.controlroom.knobs import button, line
from pipekit.learn.controlroom.knobs import html as words_box
from pipekit.learn.controlroom.style import STYLE
from pipekit.learn.designboard.history import History, State
from pipekit.learn.games import table_picture
from pipekit.learn.games.refused import Refused
from pipekit.learn.games.table import NOTHING, Line, Scene, Table
from pipekit.show import say

TOUCH = 44  # pixels: what a finger hits
GAME_STYLE = f"""<style>
.pipekit-room.pipekit-game {{ --jp-widgets-inline-height: {TOUCH}px; }}
.pipekit-room.pipekit-game > * {{ margin-bottom: 3px; }}
.pipekit-room.pipekit-game :is(.jupyter-button, select, input[type=text], input[type=number]) {{
  height: {TOUCH}px; min-width: {TOUCH}px; line-height: normal; }}
.pipekit-room.pipekit-game > .pipekit-line {{ min-height: {TOUCH}px; }}
</style>"""
Said = Callable[[str], Line]  # what is said, in a language


class Game(show.Panel, Generic[State]):
    """A game on one or more tables.

    A subclass draws `scenes()`, hears what a hand did (`hear`), and names its widgets (`label`).

    Args:
        begin: the state that it starts with, and starts again with.
        title: the key of its name. lang: `"zh"` or `"en"`; can be switched at any time.
        knobs: what stands in the head, beside the name. lines: what stands under it. moves: what stands beside undo, on a
            line of their own (without such, undo is in the head).
    """

    lang = traitlets.Enum(show.LANGUAGES, "zh")
    wide = traitlets.Bool(False)

    def __init__(
        self,
        begin: State,
        title: str,
        lang: str,
        num_tables: int = 1,
        knobs: Sequence[ipywidgets.Widget] = (),
        lines: Sequence[ipywidgets.Widget] = (),
        moves: Sequence[ipywidgets.Widget] = (),
    ) -> None:
        self.history, self._begin, self._title_key = History(begin), begin, title
        self._said: Said = lambda lang: self.remark()
        self.title = words_box()
        self.undo_button, self.redo_button, self.restart_button = button(), button(), button()
        self.wide_button = ipywidgets.ToggleButton(layout={"width": "auto"})
        self.language = ipywidgets.ToggleButtons(
            options=[("中", "zh"), ("EN", "en")], style={"button_width": "52px"}, tooltips=["中文", "English"]
        )
        self.tables = tuple(Table() for _ in range(num_tables))
        undo = (self.undo_button, self.redo_button, self.restart_button)
        self.head = line(
            line(self.title, *knobs),
            line(*(() if moves else undo), self.wide_button, self.language),
            spread=True,
        )
        acts = [line(*moves, *undo)] if moves else []
        super().__init__((self.head, *lines, *acts, *self.tables), lang=lang)
        self.add_class("pipekit-room")
        self.add_class("pipekit-game")
        traitlets.link((self, "lang"), (self.language, "value"))
        traitlets.link((self, "wide"), (self.wide_button, "value"))
        self._connect()

    # -- the state

    @property
    def state(self) -> State:
        """Where the game is."""
        return self.history.state

    def do(self, state: State, said: Said | None = None) -> None:
        """Another state, which can be undone, and what is said about it; one that can't be drawn is not taken."""
        with self.lock:
            before = self.history.copy()
            self.history.do(state)
            try:
                self.say(said)
            except Exception:
                self.history = before
                self.say(None)
                raise

    def undo(self) -> None:
        """Take the last move back."""
        self._travel(self.history.undo)

    def redo(self) -> None:
        """Do again what was taken back."""
        self._travel(self.history.redo)

    def restart(self) -> None:
        """Begin again; that can be undone too."""
        self.do(self._begin)

    def _travel(self, step: Callable[[], bool]) -> None:
        with self.lock:
            step()
            self.say(None)

    def attempt(self, act: Callable[[], Any]) -> None:
        """Do it; what is refused is said, with the reason."""
        try:
            act()
        except PipekitError as error:
            self.refuse(error)
        except Refused as refused:
            sentence = refused.sentence
            self.say(lambda lang: Line(text=sentence(lang), tone="warn"))

    def refuse(self, error: PipekitError) -> None:
        """Say why something can't be done."""
        self.say(
            lambda lang: Line(text=say("game_refused", lang, why=show.sentence(error, lang)), tone="warn")
        )

    # -- what it shows

    @abstractmethod
    def scenes(self) -> Sequence[Scene]:
        """What is on each table, in this language; the last one's `said` is filled in here."""

    @abstractmethod
    def hear(self, content: dict[str, Any]) -> None:
        """What a hand did on a table, besides undo and redo."""

    def label(self) -> None:
        """Name the widgets of this game in this language."""

    def remark(self) -> Line:
        """What is said where nothing else is."""
        return NOTHING

    def say(self, said: Said | None) -> None:
        """Say this, or what there is to remark, and draw."""
        with self.lock:
            self._said = said or (lambda lang: self.remark())
            self.draw()

    def draw(self) -> None:
        """Send what has changed to the page."""
        with self.lock:
            for table, scene in zip(self.tables, self._drawn(), strict=True):
                table.scene = dict(scene)
            self.undo_button.disabled = not self.history.can_undo
            self.redo_button.disabled = not self.history.can_redo

    def _drawn(self) -> list[Scene]:
        *others, last = self.scenes()
        last = {**last, "said": self._said(self.lang)}
        return [*others, last]

    def picture_png(self) -> bytes:
        """The tables as PNG: what a notebook shows where no kernel is."""
        with self.lock:
            words = [say("still_line", self.lang), say(self._title_key, self.lang)]
            return show.png(table_picture.still(self._drawn(), words, self.lang))

    def picture_text(self) -> str:
        """The tables in letters and words."""
        with self.lock:
            words = [say(self._title_key, self.lang)]
            return "\n".join([table_picture.in_words(self._drawn(), words), say("still_line", self.lang)])

    # -- its widgets

    def _connect(self) -> None:
        for widget, act in (
            (self.undo_button, self.undo), (self.redo_button, self.redo), (self.restart_button, self.restart),
        ):  # fmt: skip
            widget.on_click(lambda _, act=act: self.attempt(act))
        for table in self.tables:
            table.on_msg(lambda table, content, buffers: self._heard(content))
        self.observe(lambda change: self._relabel(), "lang")
        self.observe(lambda change: self._dress(), "wide")

    def _heard(self, content: dict[str, Any]) -> None:
        acts: dict[str, Callable[[], None]] = {"undo": self.undo, "redo": self.redo}
        self.attempt(acts.get(content["do"], lambda: self.hear(content)))

    def _relabel(self) -> None:
        with self.lock:
            name = html.escape(say(self._title_key, self.lang))
            self.title.value = f"{STYLE}{GAME_STYLE}<b>{name}</b>"
            for widget, key in (
                (self.undo_button, "design_undo"), (self.redo_button, "design_redo"),
                (self.restart_button, "game_restart"), (self.wide_button, "wide"),
            ):  # fmt: skip
                widget.description = widget.tooltip = say(key, self.lang)
            self.wide_button.tooltip, self.language.tooltip = (
                say("wide_why", self.lang),
                say("language", self.lang),
            )
            self.label()
            self.draw()

    def _dress(self) -> None:
        (self.add_class if self.wide else self.remove_class)("pipekit-wide")
