"""See it: timelines as pictures, charts, and panels that live. Knows `plan`, never `run` and never torch."""

from pipekit.show.charts import Series, bubble_chart, memory_chart, sweep_charts
from pipekit.show.export import frames, gif, save, svg
from pipekit.show.grid import FILLS, paint, png, scene, slots_of
from pipekit.show.i18n import LANGUAGES, devices_line, number, say, sentence, tiny
from pipekit.show.lesson_charts import Still, desk_chart, desk_verdict, side_by_side_chart, step_chart
from pipekit.show.panel import Latest, Panel, Run

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
