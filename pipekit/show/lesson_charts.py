"""Charts of the home notebooks: bars of what lies on each desk, and the time of one step over M."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from pipekit.plan import PieceCost, SideBySide, Timeline, bubble_fraction
from pipekit.show.charts import BLUE, DPI, VERMILLION, WIDE, as_png
from pipekit.show.fonts import drawn_language
from pipekit.show.grid import paint, png
from pipekit.show.i18n import devices_line, number, say
from pipekit.show.still import Still

DESK_HEIGHT, STEP_HEIGHT = 330, 370  # pixels
POINTS = 13  # 18 pixels at this DPI
PARTS = ("parameters", "gradients", "notes", "activations")
# Fill, and hatches that tell them apart without colour.
LOOKS = (("#0072B2", ""), ("#E69F00", "//"), ("#009E73", ".."), ("#CC79A7", "xx"))
UNITS = {1e6: ("MB", "desk_unit"), 1e9: ("GB", "desk_giant_unit")}


def desk_chart(
    desks: Sequence[Sequence[float]], limit: float, source: str, lang: str = "en", unit: float = 1e6
) -> Still:
    """A bar a device: parameters, gradients, the optimizer's notes, activations, under the line where the desk ends.

    Args:
        desks: four numbers of bytes a device. limit: bytes of one desk.
        source: a key of the words: "desk_predicted" or "desk_counted".
        unit: bytes of the axis's unit, 1e6 or 1e9.
    """
    drawn = drawn_language(lang)
    short, name = UNITS[unit]
    figure = Figure(figsize=(WIDE / DPI, DESK_HEIGHT / DPI), dpi=DPI)
    axes = figure.add_axes((0.065, 0.12, 0.58, 0.76))
    axes.set_title(say("desk_chart", drawn, source=say(source, drawn)))
    bottoms = [0.0] * len(desks)
    for part, (colour, hatch) in zip(range(len(PARTS)), LOOKS, strict=True):
        heights = [desk[part] / unit for desk in desks]
        axes.bar(
            range(len(desks)), heights, 0.6, bottom=bottoms, color=colour, hatch=hatch, edgecolor="white", linewidth=1,
            label=say(f"desk_{PARTS[part]}", drawn),
        )  # fmt: skip
        bottoms = [below + height for below, height in zip(bottoms, heights, strict=True)]
    for index, total in enumerate(bottoms):
        axes.annotate(f"{total:.2f}", (index, total), textcoords="offset points", xytext=(0, 4), ha="center")
    size = limit / unit
    axes.axhline(size, color="#000000", linewidth=3, label=say("desk_limit", drawn, size=size, unit=short))
    axes.set_xticks(
        range(len(desks)), [say("device", drawn, number=number(index)) for index in range(len(desks))]
    )
    axes.set_xlim(-0.6, len(desks) - 0.4)
    axes.set_ylim(0, 1.2 * max(size, *bottoms))
    axes.set_ylabel(say(name, drawn))
    _plain(axes)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(0.655, 0.5), frameon=False)
    return Still(as_png(figure, drawn, POINTS), desk_words(desks, limit, source, lang, unit))


def desk_words(
    desks: Sequence[Sequence[float]], limit: float, source: str, lang: str, unit: float = 1e6
) -> str:
    """The same in words: each bar, and whether all fit."""
    short, _ = UNITS[unit]
    lines = [say("desk_chart", lang, source=say(source, lang))]
    for index, desk in enumerate(desks):
        named: dict[str, Any] = {part: value / unit for part, value in zip(PARTS, desk, strict=True)}
        lines.append(say("desk_bar", lang, number=number(index), total=sum(desk) / unit, unit=short, **named))
    return "\n".join([*lines, desk_verdict(desks, limit, lang, unit)])


def desk_verdict(desks: Sequence[Sequence[float]], limit: float, lang: str, unit: float = 1e6) -> str:
    """Whether all desks are large enough, said of the fullest."""
    totals = [sum(desk) for desk in desks]
    fullest = max(range(len(totals)), key=totals.__getitem__)
    key = "desk_full" if totals[fullest] > limit else "desk_fits"
    return say(
        key, lang, number=number(fullest), most=totals[fullest] / unit, size=limit / unit, unit=UNITS[unit][0]
    )


def step_chart(timelines: Mapping[int, Timeline], cost: PieceCost, lang: str = "en") -> Still:
    """The time of one step over M: what was run, and the curve that a piece's fitted cost predicts.

    Args:
        timelines: M -> of one step, all on the same devices; hollow marks where it's no measurement.
    """
    some = next(iter(timelines.values()))
    seconds = {count: timeline.makespan for count, timeline in timelines.items()}
    num_devices, measured = some.num_devices, some.source == "measured"
    drawn = drawn_language(lang)
    figure = Figure(figsize=(WIDE / DPI, STEP_HEIGHT / DPI), dpi=DPI)
    axes = figure.add_axes((0.075, 0.32, 0.5, 0.58))
    axes.set_title(say("fine_title", drawn))
    counts, best = sorted(seconds), cost.best(num_devices)
    curve = [counts[0] * (counts[-1] / counts[0]) ** (step / 100) for step in range(101)]
    fitted = say("fine_fitted", drawn, alpha=1e3 * cost.alpha, beta=1e3 * cost.beta)
    axes.plot(curve, [1e3 * cost.step(num_devices, m) for m in curve], color=BLUE, linewidth=2, label=fitted)
    axes.plot(
        counts, [1e3 * seconds[m] for m in counts], "o", color=VERMILLION, markersize=10, markeredgewidth=2,
        markerfacecolor=VERMILLION if measured else "white", label=say("fine_measured" if measured else "fine_shared", drawn),
    )  # fmt: skip
    if counts[0] <= best <= counts[-1]:
        axes.axvline(best, color="#000000", linestyle="--", label=say("fine_best", drawn, best=best))
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(0, 1.1e3 * max(seconds.values()))
    axes.set_xlabel(say("fine_x", drawn))
    axes.set_ylabel(say("fine_y", drawn))
    _plain(axes)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="center left", bbox_to_anchor=(0.585, 0.6), frameon=False)
    figure.text(0.04, 0.02, devices_line(some, drawn), va="bottom", wrap=True)
    found = min(counts, key=seconds.__getitem__)
    key = "fine_said" if math.isfinite(best) else "fine_said_finer"
    said = say(key, lang, found=found, time=1e3 * seconds[found], best=best)
    return Still(as_png(figure, drawn, POINTS), f"{said}\n{devices_line(some, lang)}")


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#DDDDDD", linewidth=1)
    axes.set_axisbelow(True)


def side_by_side_chart(choices: Sequence[SideBySide], lang: str = "en") -> Still:
    """Ways to share the same devices, one under the other on one ruler; under each what the exchange adds to it."""
    captions = [
        say("side_chart", lang, pipelines=each.num_pipelines, stages=each.num_stages) for each in choices
    ]
    notes = [say("side_note", lang, bubble=bubble_fraction(each.timeline)) for each in choices]
    footers = [
        say(
            "side_footer", lang, work=each.timeline.makespan, exchange=each.exchange, step=each.step,
            share=_share(each, lang),
        )
        for each in choices
    ]  # fmt: skip
    drawn = paint(
        [each.timeline for each in choices], lang=lang, captions=captions, notes=notes, footers=footers,
        labels="piece", column=1.0, row=20,
    )  # fmt: skip
    words = (
        f"{caption}: {note}. {footer}" for caption, note, footer in zip(captions, notes, footers, strict=True)
    )
    return Still(png(drawn), "\n".join(words))


def _share(choice: SideBySide, lang: str) -> str:
    """What a GPU holds: the whole model, or 1/4 of it."""
    held = Fraction(choice.parameters).limit_denominator(1000)
    return say("side_whole", lang) if held == 1 else say("side_part", lang, share=str(held))
