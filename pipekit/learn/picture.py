"""A picture of a panel in a page: what ipywidgets' own Image lacks is words for a reader who can't see it."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

HERE = Path(__file__).parent
MENUS = (HERE / "menus.js").read_text(encoding="utf-8")  # before this script, the board's and the games'


class Picture(anywidget.AnyWidget):
    """Shows `value`, a PNG, whose alternative text is `alt`; both change together by `show`."""

    _esm = MENUS + (HERE / "picture.js").read_text(encoding="utf-8")
    _css = (HERE / "picture.css").read_text(encoding="utf-8")
    value = traitlets.Bytes().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)

    def show(self, png: bytes, words: str) -> None:
        """Another picture, with its words; no picture: b"" and ""."""
        with self.hold_sync():
            self.value, self.alt = png, words
