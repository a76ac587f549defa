"""A panel as a part of a lesson: what is the whole page's, the page's bar does."""

from __future__ import annotations

from typing import TypeVar

import ipywidgets

from pipekit.learn.controlroom import ControlRoom
from pipekit.learn.controlroom.knobs import show_if
from pipekit.learn.games.game import Game

Made = TypeVar("Made", bound=ipywidgets.Widget)


def embedded(panel: Made) -> Made:
    """The panel without its own head, as far as that names it, fills the window or switches the language."""
    if isinstance(panel, ControlRoom):
        panel.wide = False
        show_if(panel.children[0], False)
    if isinstance(panel, Game):
        panel.wide = False
        for widget in (panel.wide_button, panel.language):
            show_if(widget, False)
    return panel
