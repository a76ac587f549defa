"""The games' table in a page: an anywidget that draws a scene and says what a hand did. It knows no rule of any game."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import anywidget
import traitlets

from pipekit.learn.designboard.canvas import DRAG
from pipekit.learn.designboard.scene import colour
from pipekit.learn.picture import MENUS
from pipekit.plan import Kind
from pipekit.show.grid import FILLS, ink_on

HERE = Path(__file__).parent


class Item(TypedDict, total=False):
    """One thing on the table; what is left out is empty, false, or 1 for the spans.

    key: unique; a thing that stays keeps its key from scene to scene, and with it the focus.
    kind: "button" | "cell" | "label" | "input" (a text field for a number).
    name: what a screen reader says instead of `text`.
    press: a cell that can be pressed; buttons can unless they are disabled.
    drag: it can be taken in hand, by dragging or by a press. A button stays in hand after it was put down
        somewhere (a stock of chips), anything else leaves it.
    drop: things can be put on it.
    mark: "" | "ok" | "wrong" | "hint" | "now". align: "left" | "center" | "right".
    """

    key: str
    kind: str
    row: int
    column: int
    rowspan: int
    colspan: int
    text: str
    name: str
    fill: str
    ink: str
    mark: str
    align: str
    press: bool
    pressed: bool
    disabled: bool
    drag: bool
    drop: bool


class Line(TypedDict):
    """What is said under the table. tone: "plain" | "good" | "warn"."""

    text: str
    tone: str


NOTHING = Line(text="", tone="plain")


class Scene(TypedDict):
    """All that is seen. columns: widths, in pixels or as CSS says them (`"1fr"`); row_height in pixels."""

    name: str
    columns: list[int | str]
    rows: int
    row_height: int
    items: list[Item]
    said: Line


def painted(kind: Kind) -> Item:
    """How what belongs to an op of this kind looks."""
    return {"fill": colour(FILLS[kind]), "ink": colour(ink_on(FILLS[kind]))}


class Table(anywidget.AnyWidget):
    """Draws `scene`; `on_msg` brings what a hand did.

    `{"do": "press", "key": K}`, `{"do": "drop", "key": K, "on": K}`, `{"do": "type", "key": K, "text": "..."}`,
    `{"do": "undo"}`, `{"do": "redo"}`.
    """

    _esm = MENUS + DRAG + (HERE / "table.js").read_text(encoding="utf-8")
    _css = (HERE / "table.css").read_text(encoding="utf-8")
    scene = traitlets.Dict().tag(sync=True)
