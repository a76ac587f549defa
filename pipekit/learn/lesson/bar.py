"""The lesson's bar in a page: where the class is, and the stopwatch. It shows a scene and says what was pressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from pipekit.learn.lesson.stops import STOPS, label, question
from pipekit.learn.lesson.stopwatch import Stopwatch, in_words
from pipekit.show import say

HERE = Path(__file__).parent
PRESSES = ("start", "stop", "lap", "reset", "large", "wide")


class Bar(anywidget.AnyWidget):
    """Draws `scene` (see `scene`); `on_msg` brings `{"do": "go", "stop": 2}`, `{"do": "start"}` and their like.

    `{"do": "look"}` is a page that was opened again, and asks what the stopwatch shows by now.
    """

    _esm = (HERE / "bar.js").read_text(encoding="utf-8")
    _css = (HERE / "bar.css").read_text(encoding="utf-8")
    scene = traitlets.Dict().tag(sync=True)


def scene(
    current: int, watch: Stopwatch, now: float, lang: str, large: bool = False, wide: bool = False
) -> dict[str, Any]:
    """What the bar shows.

    Args:
        current: the stop that the class is at. now: the clock's reading.
        large: whether the stopwatch fills the page. wide: whether the lesson fills the window.
    """
    words = {key: say(f"lesson_{key}", lang) for key in PRESSES}
    words |= {f"{key}_why": say(f"lesson_{key}_why", lang) for key in PRESSES}
    words["large"] = say("lesson_small" if large else "lesson_large", lang)
    words["wide"] = say("lesson_narrow" if wide else "lesson_wide", lang)
    return {
        "name": say("lesson_title", lang),
        "stops": [
            {
                "label": label(index, lang),
                "minutes": say("lesson_minutes", lang, count=stop.minutes),
                "question": question(index, lang),
            }
            for index, stop in enumerate(STOPS)
        ],
        "current": current,
        "watch": {
            "name": say("lesson_watch", lang),
            "elapsed": watch.elapsed(now),
            "running": watch.running,
            "laps": [
                say("lesson_lap_said", lang, number=number, time=in_words(lap))
                for number, lap in enumerate(watch.laps, 1)
            ],
        },
        "words": words,
        "large": large,
        "wide": wide,
    }
