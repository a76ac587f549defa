"""Charts as object-oriented matplotlib figures: never pyplot, which keeps one global figure for all threads."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

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


def bubble_chart(
    curve: Mapping[int, float],
    measured: Mapping[int, float],
    num_devices: int,
    num_micro_batches: int,
    lang: str = "en",
) -> bytes:
    """Measured points on the predicted curve, as PNG.

    Args:
        curve: M -> predicted bubble fraction. measured: M -> measured bubble fraction.
        num_micro_batches: the M that is set now; a thin line marks it.
    """
    lang = drawn_language(lang)
    figure, axes = _figure(say("bubble_title", lang, num_devices=num_devices))
    axes.axvline(num_micro_batches, color=GREY, linewidth=1, linestyle=":")
    pieces = sorted(curve)
    axes.plot(pieces, [100 * curve[m] for m in pieces], color=BLUE, linewidth=2, label=say("curve", lang))
    points = sorted(measured)
    heights = [100 * measured[m] for m in points]
    axes.plot(points, heights, "o", color=VERMILLION, markersize=8, label=say("points", lang))
    for m, height in zip(points, heights, strict=True):
        axes.annotate(f"{height:.0f}%", (m, height), textcoords="offset points", xytext=(7, 5))
    axes.set_xlim(0, max([32, *pieces]) + 2)
    axes.set_ylim(0, 100)
    axes.set_xlabel(say("bubble_x", lang))
    axes.set_ylabel(say("bubble_y", lang))
    axes.legend(frameon=False, loc="upper right")
    return _png(figure, lang)


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
    figure, axes = _figure(say("memory_title", lang))
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
        axes.bar(places, weights, 0.36, color=GREY, label=None if index else say("memory_weights", lang))
        label = say("memory_measured" if style is MEASURED_BAR else "memory_predicted", lang)
        axes.bar(places, kept, 0.36, bottom=weights, label=label, **style)
        tops += [below + above for below, above in zip(weights, kept, strict=True)]
    names = [number(device, view) for device in range(num_devices)]
    ticks = [say("device", lang, number=name) if num_devices <= 5 else str(name) for name in names]
    axes.set_xticks(range(num_devices), ticks)
    axes.set_xlim(-0.6, num_devices - 0.4)  # bars stay where they are when measured ones join
    axes.set_ylim(0, max(tops) * 1.75 or 1)  # room for the legend
    if bars:
        axes.legend(frameon=False, loc="upper left")
    return _png(figure, lang)


def _figure(title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=SIZE, dpi=DPI)
    axes = figure.add_axes(
        (0.13, 0.19, 0.84, 0.67)
    )  # fixed: measuring the text for a tight box costs half again
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _png(figure: Figure, lang: str) -> bytes:
    families = [font_for(lang).name, LATIN]
    for text in figure.findobj(Text):
        text.set_fontfamily(families)
        text.set_fontsize(POINTS)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", pil_kwargs={"compress_level": 1})
    return buffer.getvalue()
