"""The board in a page: an anywidget that draws a scene and says what a hand did. It knows no rule and no number."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

from pipekit.learn.picture import MENUS

HERE = Path(__file__).parent
DRAG = (HERE / "drag.js").read_text(encoding="utf-8")  # before this script, and before the games' table's


class Canvas(anywidget.AnyWidget):
    """Draws `scene` (see `scene.scene`) and `ran` (`scene.ran`); `on_msg` brings `{"do": ..., ...}`."""

    _esm = MENUS + DRAG + (HERE / "canvas.js").read_text(encoding="utf-8")
    _css = (HERE / "canvas.css").read_text(encoding="utf-8")
    scene = traitlets.Dict().tag(sync=True)
    ran = traitlets.Dict().tag(sync=True)
