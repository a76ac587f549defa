"""A still picture that carries its words: for a notebook, for a reader who can't see it, for a page without a kernel."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipekit.plan import Timeline
from pipekit.show.grid import paint, png
from pipekit.show.i18n import devices_line


@dataclass(frozen=True)
class Still:
    """A picture, as PNG, with what it shows in words."""

    png: bytes
    words: str

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, str], dict[str, Any]]:
        return bundle(self.png, self.words), {"image/png": {"alt": self.words}}


def bundle(picture: bytes, words: str) -> dict[str, str]:
    """A PNG and its words as a notebook displays them.

    JupyterLab shows an image/png without its alternative text, whatever the metadata say; of HTML, which it prefers,
    it keeps the text, and the picture too where nobody trusts the notebook.
    """
    data = base64.b64encode(picture).decode("ascii")
    shown = f'<img alt="{html.escape(words)}" src="data:image/png;base64,{data}">'
    return {"text/html": shown, "image/png": data, "text/plain": words}


def grid_chart(timelines: Sequence[Timeline], lang: str = "en", **look: Any) -> Still:
    """Timelines as `paint` paints them, with their words: where each comes from, and its ops in letters.

    Args:
        look: whatever else `paint` takes; `notes` are words too.
    """
    notes = look.get("notes") or [""] * len(timelines)
    words = [
        line
        for timeline, note in zip(timelines, notes, strict=True)
        for line in (devices_line(timeline, lang), note, str(timeline))
        if line
    ]
    return Still(png(paint(timelines, lang=lang, **look)), "\n".join(words))
