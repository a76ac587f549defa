"""Knobs for a projector: a number between two arrows, and menus whose words can change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets
import traitlets

from pipekit.show import say


class Stepper(ipywidgets.HBox):
    """`label [◀] 4 [▶] unit`: a whole number moved by one, or typed; the arrow keys move it too."""

    value = traitlets.Int()

    def __init__(self, low: int, high: int) -> None:
        self.label, self.unit = html(), html()
        self.field = ipywidgets.BoundedIntText(
            min=low, max=high, value=low, continuous_update=True, layout={"width": "52px"}
        )
        self.less, self.more = button("◀"), button("▶")
        super().__init__([self.label, self.less, self.field, self.more, self.unit])
        self.add_class("pipekit-line")
        self.add_class("pipekit-stepper")
        self.value = low
        traitlets.link((self, "value"), (self.field, "value"))
        self.less.on_click(lambda _: self._step(-1))
        self.more.on_click(lambda _: self._step(1))

    def _step(self, by: int) -> None:
        self.value = min(max(self.value + by, self.field.min), self.field.max)

    def name(self, label: str, unit: str = "") -> None:
        """What stands before and after it; the arrows say the same to a screen reader."""
        self.label.value, self.unit.value = label, unit
        self.field.tooltip = label
        self.less.tooltip, self.more.tooltip = f"{label} -1", f"{label} +1"

    @property
    def parts(self) -> tuple[ipywidgets.Widget, ...]:
        """What can be moved."""
        return self.field, self.less, self.more

    def rest(self, resting: bool) -> None:
        """Whether it can't be moved."""
        for part in self.parts:
            part.disabled = resting


class Menu(ipywidgets.HBox):
    """A named menu; its words change with the language, its choice doesn't.

    One whose values are told by a function (`name`) takes others too: from code any number can be chosen.
    """

    value = traitlets.Any()

    def __init__(self, values: Sequence[Any], width: str) -> None:
        self.values = tuple(values)
        self._word: Callable[[Any], str] | None = None
        self.label = html()
        self.field = ipywidgets.Dropdown(options=self.values, value=self.values[0], layout={"width": width})
        super().__init__([self.label, self.field])
        self.add_class("pipekit-line")
        self.value = self.values[0]
        self._naming = False
        self.observe(lambda change: self._show(), "value")
        self.field.observe(lambda change: self._chosen(change["new"]), "value")

    def name(self, label: str, words: Sequence[str] | Callable[[Any], str]) -> None:
        """Its label, and a word for each value: one by one, or from a function."""
        self.label.value = self.field.tooltip = label
        self._word = words if callable(words) else None
        said = [words(value) for value in self.values] if callable(words) else words
        self._naming = True  # new options select the first one: that's no choice of the learner's
        self.field.options = list(zip(said, self.values, strict=True))
        self._naming = False
        self._show()

    def _show(self) -> None:
        if self.value not in self.values and self._word is not None:
            self.values = tuple(sorted((*self.values, self.value)))
            self.name(self.label.value, self._word)
        self.field.value = self.value

    def _chosen(self, value: Any) -> None:
        if not self._naming:
            self.value = value

    def name_by_keys(self, key: str, lang: str, view: str) -> None:
        """The same with words from the table: each value is its own key."""
        self.name(say(key, lang, view), [say(value, lang, view) for value in self.values])

    @property
    def parts(self) -> tuple[ipywidgets.Widget, ...]:
        """What can be moved."""
        return (self.field,)

    def rest(self, resting: bool) -> None:
        """Whether it can't be moved."""
        self.field.disabled = resting


def html() -> ipywidgets.HTML:
    """Words; nothing shows when a mouse rests on them (without a tooltip a page would say "null")."""
    words = ipywidgets.HTML()
    words.tooltip = ""
    return words


def button(words: str = "", **traits: Any) -> ipywidgets.Button:
    """A button as wide as its words."""
    return ipywidgets.Button(description=words, tooltip=words, layout={"width": "auto"}, **traits)


def line(*children: ipywidgets.Widget, spread: bool = False) -> ipywidgets.HBox:
    """Widgets side by side on one line of the screen."""
    box = ipywidgets.HBox(list(children))
    box.add_class("pipekit-line")
    if spread:
        box.add_class("pipekit-ends")
    return box


def drawer(*children: ipywidgets.Widget, tall: bool = False) -> ipywidgets.VBox:
    """A box that a button opens and closes; it begins closed.

    Args:
        tall: on a full window it takes the place of the grids, so that all of it is seen at once.
    """
    box = ipywidgets.VBox(list(children), layout={"display": "none"})
    box.add_class("pipekit-drawer")
    if tall:
        box.add_class("pipekit-tall")
    return box


def show_if(widget: ipywidgets.Widget, shown: bool) -> None:
    """Show or hide a widget."""
    widget.layout.display = None if shown else "none"


def pause(play: ipywidgets.Play) -> None:
    """Halt what plays; ipywidgets 7 writes the trait with an underscore."""
    setattr(play, "playing" if play.has_trait("playing") else "_playing", False)
