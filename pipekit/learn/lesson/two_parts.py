"""A stop with two parts, of which one is in view: a game, and the real thing."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from pipekit.learn.controlroom.knobs import show_if

Part = tuple[str, Callable[[], ipywidgets.Widget]]  # its name, and what makes it


class TwoParts(ipywidgets.VBox):
    """Parts behind a row of buttons; each is made when it is first chosen, and kept."""

    def __init__(self, *parts: Part) -> None:
        self.parts = parts
        self.made: dict[int, ipywidgets.Widget] = {}
        self.choice = ipywidgets.ToggleButtons(
            options=[(name, index) for index, (name, _) in enumerate(parts)], style={"button_width": "auto"}
        )
        self.choice.tooltip = " · ".join(name for name, _ in parts)  # without one a page would say "null"
        self.choice.add_class("pipekit-parts")
        super().__init__([self.choice])
        self.choice.observe(lambda change: self._choose(change["new"]), "value")
        self._choose(0)

    def _choose(self, index: int) -> None:
        if index not in self.made:
            self.made[index] = self.parts[index][1]()
            self.children = (self.choice, *self.made.values())
        for each, part in self.made.items():
            show_if(part, each == index)
