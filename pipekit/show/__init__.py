"""See it: timelines as pictures, charts, and panels that live. Knows `plan`, never `run` and never torch."""

from typing import TYPE_CHECKING

from pipekit.lazily import on_demand
from pipekit.show.i18n import LANGUAGES, devices_line, number, say, sentence, tiny

if TYPE_CHECKING:
    from pipekit.show.charts import Series, bubble_chart, memory_chart, sweep_charts
    from pipekit.show.export import frames, gif, save, svg
    from pipekit.show.grid import FILLS, paint, png, scene, slots_of
    from pipekit.show.lesson_charts import desk_chart, desk_verdict, side_by_side_chart, step_chart
    from pipekit.show.panel import Latest, Panel, Run
    from pipekit.show.still import Still, grid_chart
else:  # a type checker reads the imports above, Python imports on demand
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            "charts": ["Series", "bubble_chart", "memory_chart", "sweep_charts"],
            "export": ["frames", "gif", "save", "svg"],
            "grid": ["FILLS", "paint", "png", "scene", "slots_of"],
            "lesson_charts": ["desk_chart", "desk_verdict", "side_by_side_chart", "step_chart"],
            "panel": ["Latest", "Panel", "Run"],
            "still": ["Still", "grid_chart"],
        },
    )

__all__ = [
    "FILLS",
    "LANGUAGES",
    "Latest",
    "Panel",
    "Run",
    "Series",
    "Still",
    "bubble_chart",
    "desk_chart",
    "desk_verdict",
    "devices_line",
    "frames",
    "gif",
    "grid_chart",
    "memory_chart",
    "number",
    "paint",
    "png",
    "save",
    "say",
    "scene",
    "side_by_side_chart",
    "sentence",
    "sweep_charts",
    "slots_of",
    "step_chart",
    "svg",
    "tiny",
]
