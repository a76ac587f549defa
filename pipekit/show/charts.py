"""Charts as object-oriented matplotlib figures: never pyplot, which keeps one global figure for all threads."""

from __future__ import annotations

import io
import itertools
import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import NullLocator

from pipekit.plan import DeviceMemory
from pipekit.show.fonts import LATIN, drawn_language, font_for
from pipekit.show.i18n import number, say

SIZE = (5.2, 2.9)  # inches, at 100 dots each
DPI = 100
POINTS = 11.5  # 16 pixels at this DPI
BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#999999"
KIB = 1024
PREDICTED_BAR: dict[str, Any] = {"fill": False, "hatch": "///", "edgecolor": BLUE}
MEASURED_BAR: dict[str, Any] = {"color": BLUE}
WIDE = 1180  # pixels of a sweep's charts: the control room's width
PLOT, LEGEND_ROW, EDGE = (
    370,
    26,
    14,
)  # pixels: the height of the charts with their labels, of a row of the legend
LONG_NAME = 34  # letters that still fit into a third of the width; a Chinese one counts as two
# Told apart by shape too; each at least 3:1 against white, and apart for colour-blind eyes in the first five.
COLOURS = (BLUE, VERMILLION, "#007A5A", "#000000", "#8A3FA0", "#8C6400", "#C2407F", "#6B6B6B")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
SMALLEST_MARK, STEP = 8, 1.2  # points: of the line on top, and how much more each line under it has
MOST_TICKS = 10  # of M, before only powers of two are named


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a sweep over M, in two charts: each value is (bubble fraction, time of one step).

    Args:
        look: which colour, marker and dashes; the same number looks the same in every picture.
        predicted: a line. measured: solid marks.
        doubtful: hollow marks: it ran, but it's no measurement.
    """

    name: str
    look: int
    predicted: Mapping[int, tuple[float, float]]
    measured: Mapping[int, tuple[float, float]]
    doubtful: Mapping[int, tuple[float, float]]

    @property
    def colour(self) -> str:
        """Of line and marks."""
        return COLOURS[self.look % len(COLOURS)]

    def fastest(self) -> tuple[int, bool] | None:
        """The M with the quickest step, and whether it was measured: with two measured points, else predicted."""
        found = self.measured if len(self.measured) > 1 else self.predicted
        if not found:
            return None
        return min(found, key=lambda pieces: found[pieces][1]), found is self.measured


def bubble_chart(
    curve: Mapping[int, float],
    measured: Mapping[int, float],
    num_devices: int,
    num_micro_batches: int,
    lang: str = "en",
    view: str = "class",
) -> bytes:
    """Measured points on the predicted curve, as PNG.

    Args:
        curve: M -> predicted bubble fraction. measured: M -> measured bubble fraction.
        num_micro_batches: the M that is set now; a thin line marks it.
    """
    lang = drawn_language(lang)
    figure, axes = _figure(say("bubble_title", lang, view, num_devices=num_devices))
    axes.axvline(num_micro_batches, color=GREY, linewidth=1, linestyle=":")
    pieces = sorted(curve)
    axes.plot(
        pieces, [100 * curve[m] for m in pieces], color=BLUE, linewidth=2, label=say("curve", lang, view)
    )
    points = sorted(measured)
    heights = [100 * measured[m] for m in points]
    axes.plot(points, heights, "o", color=VERMILLION, markersize=8, label=say("points", lang, view))
    for m, height in zip(points, heights, strict=True):
        axes.annotate(f"{height:.0f}%", (m, height), textcoords="offset points", xytext=(7, 5))
    axes.set_xlim(0, max([32, *pieces]) + 2)
    axes.set_ylim(0, 100)
    axes.set_xlabel(say("bubble_x", lang, view))
    axes.set_ylabel(say("bubble_y", lang, view))
    axes.legend(frameon=False, loc="upper right")
    return as_png(figure, lang)


def memory_chart(
    predicted: Sequence[DeviceMemory] | None,
    measured_activations: Sequence[float] | None = None,
    lang: str = "en",
    view: str = "class",
    fullest: float = 0.0,
) -> bytes:
    """For each device two bars, predicted and measured: weights below, kept activations on top, as PNG.

    Args:
        predicted: None where nothing can be predicted.
        measured_activations: peak bytes, one a device; None before a run.
        fullest: bytes that the axis has room for at least, so that charts can be compared.
    """
    lang = drawn_language(lang)
    figure, axes = _figure(say("memory_title", lang, view))
    num_devices = len(predicted or measured_activations or ())
    weights = [(device.parameters + device.gradients) / KIB for device in predicted or ()] or [
        0.0
    ] * num_devices
    bars = [(-0.19, [device.activations for device in predicted], PREDICTED_BAR)] if predicted else []
    bars += [(0.19, list(measured_activations), MEASURED_BAR)] if measured_activations else []
    tops = [fullest / KIB]
    for index, (shift, activations, style) in enumerate(bars):
        places, kept = (
            [device + shift for device in range(num_devices)],
            [bytes_ / KIB for bytes_ in activations],
        )
        axes.bar(
            places, weights, 0.36, color=GREY, label=None if index else say("memory_weights", lang, view)
        )
        label = say("memory_measured" if style is MEASURED_BAR else "memory_predicted", lang, view)
        axes.bar(places, kept, 0.36, bottom=weights, label=label, **style)
        tops += [below + above for below, above in zip(weights, kept, strict=True)]
    names = [number(device, view) for device in range(num_devices)]
    ticks = [say("device", lang, view, number=name) if num_devices <= 5 else str(name) for name in names]
    axes.set_xticks(range(num_devices), ticks)
    axes.set_xlim(-0.6, num_devices - 0.4)  # bars stay where they are when measured ones join
    axes.set_ylim(0, max(tops) * 1.75 or 1)  # room for the legend
    if bars:
        axes.legend(frameon=False, loc="upper left")
    return as_png(figure, lang)


def sweep_charts(series: Sequence[Series], time_words: str, source: str, lang: str = "en") -> bytes:
    """Bubble over M and time of one step over M, measured marks on predicted lines, as one PNG.

    Args:
        time_words: a key of the words over the second chart: "sweep_slots" or "sweep_seconds".
        source: what the points ran on; stands under the charts.
    """
    lang = drawn_language(lang)
    handles = _legend(series, lang)
    columns = 3 if max(_length(str(each.get_label())) for each in handles) <= LONG_NAME else 2
    legend = math.ceil(len(handles) / columns) * LEGEND_ROW
    height = PLOT + legend + LEGEND_ROW + EDGE
    figure = Figure(figsize=(WIDE / DPI, height / DPI), dpi=DPI)
    bottom, tall = (height - PLOT + 62) / height, (PLOT - 62 - 38) / height
    bubble, times = (figure.add_axes((left, bottom, 0.435, tall)) for left in (0.05, 0.55))
    for axes, part, title, scale in ((bubble, 0, "sweep_bubble", 100.0), (times, 1, time_words, 1.0)):
        axes.set_title(say(title, lang))
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#DDDDDD", linewidth=1)
        axes.set_axisbelow(True)
        for index, each in enumerate(series):
            _draw_series(axes, each, part, scale, above=len(series) - 1 - index)
        _name_pieces(axes, series, lang)
    bubble.set_ylim(0, 100)
    times.set_ylim(bottom=0)
    _mark_fastest(times, series, lang)
    figure.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0.03, (LEGEND_ROW + EDGE / 2) / height), ncols=columns,
        frameon=False, borderpad=0, labelspacing=0.3, handlelength=2.2,
    )  # fmt: skip
    figure.text(0.04, EDGE / 2 / height, source, va="bottom")
    return as_png(figure, lang)


def _draw_series(axes: Axes, series: Series, part: int, scale: float, above: int) -> None:
    """A line and its marks; `above` others will lie on it, so its marks are larger: where values are the same, all are seen."""
    colour, marker = series.colour, MARKERS[series.look % len(MARKERS)]
    dashes = DASHES[series.look // len(COLOURS) % len(DASHES)]
    line = sorted(series.predicted)
    axes.plot(
        line, [scale * series.predicted[m][part] for m in line], color=colour, linestyle=dashes, linewidth=2
    )
    for marks, fill in ((series.measured, colour), (series.doubtful, "white")):
        axes.plot(
            list(marks), [scale * value[part] for value in marks.values()], marker, color=colour,
            markerfacecolor=fill, markeredgewidth=2, markersize=SMALLEST_MARK + STEP * above, zorder=3,
        )  # fmt: skip


def _name_pieces(axes: Axes, series: Sequence[Series], lang: str) -> None:
    """M doubles from tick to tick: the minimum of the time lies at small M, and both its sides are to be seen."""
    most = max([2, *(m for each in series for m in (*each.predicted, *each.measured, *each.doubtful))])
    asked = sorted({1, most} | {m for each in series for m in (*each.measured, *each.doubtful)})
    doubled = [2**power for power in range(most.bit_length())]
    ticks = asked if 2 < len(asked) <= MOST_TICKS and _apart(asked) else doubled
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.9, most * 1.12)
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(say("bubble_x", lang))


def _apart(ticks: Sequence[int]) -> bool:
    """Whether numbers on a doubling axis stand far enough from each other to be read."""
    return all(after / before > 1.15 for before, after in itertools.pairwise(ticks))


def _mark_fastest(axes: Axes, series: Sequence[Series], lang: str) -> None:
    """Say in words where the minimum is: of each line, or, with more than three, of the fastest alone."""
    found = [(each, each.fastest()) for each in series]
    marked = [(each, *best) for each, best in found if best is not None]
    if len(marked) > 3:
        marked = [min(marked, key=lambda each: _time_at(*each))]
    for each, pieces, measured in marked:
        key, time = (
            "sweep_fastest" if measured else "sweep_fastest_predicted",
            _time_at(each, pieces, measured),
        )
        low = time < 0.2 * axes.get_ylim()[1]  # no room below it
        last = pieces == max((*each.predicted, *each.measured))  # no room right of it
        axes.annotate(
            say(key, lang, pieces=pieces), (pieces, time), textcoords="offset points", xytext=(0, 28 if low else -28),
            ha="right" if last else "center", va="center", color=each.colour, zorder=4, bbox={"facecolor": "white", "linewidth": 0, "pad": 1},
            arrowprops={"arrowstyle": "-", "color": each.colour},
        )  # fmt: skip


def _time_at(series: Series, pieces: int, measured: bool) -> float:
    return (series.measured if measured else series.predicted)[pieces][1]


def _length(text: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)


def _legend(series: Sequence[Series], lang: str) -> list[Line2D]:
    """What lines and marks mean, then a name for each look."""
    plain: dict[str, Any] = {"color": "#444444", "linestyle": "none", "marker": "o", "markersize": 9}
    handles = [Line2D([], [], color="#444444", linewidth=2, label=say("curve", lang))]
    handles += [Line2D([], [], label=say("points", lang), **plain)]
    if any(each.doubtful for each in series):
        handles += [Line2D([], [], label=say("sweep_overrun", lang), markerfacecolor="white", **plain)]
    for each in series:
        look: dict[str, Any] = {
            "color": each.colour,
            "linestyle": DASHES[each.look // len(COLOURS) % len(DASHES)],
        }
        marker = MARKERS[each.look % len(MARKERS)]
        handles += [Line2D([], [], marker=marker, markersize=9, linewidth=2, label=each.name, **look)]
    return handles


def _figure(title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=SIZE, dpi=DPI)
    axes = figure.add_axes(
        (0.13, 0.19, 0.84, 0.67)
    )  # fixed: measuring the text for a tight box costs half again
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def as_png(figure: Figure, lang: str, points: float = POINTS) -> bytes:
    """A figure with every word of this size, in a font that has its letters."""
    families = [font_for(lang).name, LATIN]
    for text in figure.findobj(Text):
        text.set_fontfamily(families)
        text.set_fontsize(points)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", pil_kwargs={"compress_level": 1})
    return buffer.getvalue()
