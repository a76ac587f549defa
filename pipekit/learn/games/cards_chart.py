"""The groups' stopwatch times on the curve of one group's own speeds, as a chart."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipekit.learn.games.cards import NUM_CARDS, finish
from pipekit.learn.games.cards_groups import WAYS, Fit
from pipekit.learn.games.cards_state import Times
from pipekit.show import number, say
from pipekit.show.charts import BLUE, DPI, VERMILLION, as_png
from pipekit.show.fonts import drawn_language

SIZE = (6.3, 3.5)  # inches at 100 dots
LOOKS = {"done": (BLUE, "-", "o"), "first": (VERMILLION, "--", "s")}
GREY = "#767676"


def chart(times: Sequence[Times], group: int, fit: Fit | None, lang: str) -> bytes:
    """PNG: a line for each of both times over the number of pieces, this group's marks, and the others' in grey."""
    lang = drawn_language(lang)
    figure = Figure(figsize=SIZE, dpi=DPI)
    axes = figure.add_axes((0.1, 0.16, 0.87, 0.74))
    axes.set_title(say("fit_chart", lang, group=number(group)))
    axes.spines[["top", "right"]].set_visible(False)
    for what, (colour, dashes, marker) in LOOKS.items():
        _line(axes, what, fit, colour, dashes, lang)
        rest = [each for index, each in enumerate(times) if index != group]
        _marks(axes, what, rest, marker, GREY, 5, "fit_chart_rest", lang)
        _marks(axes, what, [times[group]], marker, colour, 10, "fit_chart_own", lang)
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.9, NUM_CARDS * 1.15)
    axes.set_xticks(WAYS, [str(pieces) for pieces in WAYS])
    axes.minorticks_off()
    axes.set_ylim(0, axes.get_ylim()[1] * 1.45)  # room for the legend
    axes.set_xlabel(say("fit_chart_x", lang))
    axes.set_ylabel(say("fit_chart_y", lang))
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, loc="upper right")
    return as_png(figure, lang)


def _line(axes: Axes, what: str, fit: Fit | None, colour: str, dashes: str, lang: str) -> None:
    if fit is not None:
        pieces = [each for each in range(1, NUM_CARDS + 1) if NUM_CARDS % each == 0]
        heights = [getattr(finish(fit.speeds, each, fit.handover), what) for each in pieces]
        axes.plot(pieces, heights, dashes, color=colour, linewidth=2, label=say(f"fit_chart_{what}", lang))


def _marks(
    axes: Axes, what: str, times: Sequence[Times], marker: str, colour: str, size: float, key: str, lang: str
) -> None:
    found = [(pieces, each[what, pieces]) for each in times for pieces in WAYS if (what, pieces) in each]
    if found:
        label = say(key, lang) if what == "done" else None
        places, heights = zip(*found, strict=True)
        axes.plot(
            places, heights, marker, color=colour, markersize=size, linestyle="none", label=label, zorder=3
        )
