"""From what was predicted and measured to what the room shows: pure functions, no widget and no thread."""

from __future__ import annotations

import html
import io
from collections.abc import Collection, Mapping, Sequence

from PIL import Image

from pipekit import plan, show
from pipekit.learn.experiment import Outcome, Prediction, Settings
from pipekit.show import say, tiny
from pipekit.show.fonts import drawn_language

FORMULA_GAP = 0.005  # where formula and exact prediction differ by more, the room says why


def grid(
    prediction: Prediction, measured: plan.Timeline, slot: float, lang: str, complete: bool = True
) -> Image.Image:
    """The measured grid under the predicted one, on one time axis of `slot` seconds.

    Args:
        complete: whether all of `measured` is there, so that it has a bubble.
    """
    timelines = [prediction.timeline, measured]
    fractions = [plan.bubble_fraction(each) for each in (timelines if complete else timelines[:1])]
    notes = [say("bubble_note", drawn_language(lang), percent=100 * fraction) for fraction in fractions]
    return show.paint(timelines, lang=lang, column=slot, notes=[*notes, ""])


def curve(
    settings: Settings, family: Mapping[int, plan.Timeline], outcomes: Collection[Outcome], lang: str
) -> bytes:
    """Measured bubbles of this K, schedule and policy on their predicted curve, as PNG."""
    predicted = {count: plan.bubble_fraction(timeline) for count, timeline in family.items()}
    measured = {
        outcome.key.num_micro_batches: outcome.bubble
        for outcome in outcomes
        if outcome.key.family() == settings.key().family()
    }
    return show.bubble_chart(predicted, measured, settings.num_stages, settings.key().num_micro_batches, lang)


def memory(prediction: Prediction, most: Prediction, outcome: Outcome | None, lang: str) -> bytes:
    """What each device keeps at its fullest, measured beside predicted, as PNG.

    Args:
        most: the same with nothing erased: its height is the axis's, so that erasing is seen.
    """
    counted = None if outcome is None else outcome.result.memory.peak_activation_bytes
    fullest = max((device.total for device in most.memory or ()), default=0.0)
    return show.memory_chart(prediction.memory, counted, lang, fullest=fullest)


def figures(prediction: Prediction, outcome: Outcome | None, slot: float, lang: str) -> list[list[str]]:
    """The table's rows: what it is, then by formula, predicted, measured."""
    timelines = [prediction.timeline] + ([] if outcome is None else [outcome.timeline])
    total = prediction.timeline.num_devices
    bubbles = [f"{plan.bubble_fraction(each):.1%}" for each in timelines]
    slots = [say("slots", lang, count=each.makespan / slot) for each in timelines]
    busy = [say("busy", lang, count=plan.busy_devices(each), total=total) for each in timelines]
    rows = [
        [say("figure_bubble", lang), f"{prediction.formula:.1%}", *bubbles],
        [say("figure_makespan", lang), "", *slots],
        [say("figure_busy", lang), "", *busy],
    ]
    return [[*row, *["–"] * (4 - len(row))] for row in rows]


def sentences(prediction: Prediction, outcome: Outcome | None, lang: str) -> list[str]:
    """What must be said beside the table: whether the results are equal, the loss, where the formula doesn't hold."""
    said = []
    if outcome is None:
        said.append(say("equal_unknown", lang))
    else:
        difference = tiny(outcome.difference, lang)
        said.append(say("equal" if outcome.same else "not_equal", lang, difference=difference))
    if outcome is not None and outcome.trained:
        said.append(say("loss", lang, before=outcome.loss_before, after=outcome.loss_after))
    if abs(plan.bubble_fraction(prediction.timeline) - prediction.formula) > FORMULA_GAP:
        said.append(say("formula_gap", lang))
    return said


def evidence(num_devices: int, outcome: Outcome | None, slot: float, lang: str) -> str:
    """The devices line: what is declared, what was really done, and how well the clock was kept."""
    line = say("declared", lang, count=num_devices, slot_ms=1000 * slot)
    if outcome is None:
        return say("will_train", lang) + line
    kept = say("overruns", lang, overruns=outcome.result.overruns, slip_ms=1000 * outcome.result.slip.median)
    return say("really_trained", lang) + line + kept


def table(rows: Sequence[Sequence[str]], lang: str) -> str:
    """Rows as HTML; what was measured stands out."""
    heads = ["", say("formula", lang), say("simulated", lang), say("measured", lang)]
    head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f'<table class="pipekit-figures"><tr>{head}</tr>{body}</table>'


def lines(texts: Sequence[str]) -> str:
    """Sentences as HTML, one a line."""
    return "".join(f"<div>{html.escape(text)}</div>" for text in texts)


def words(
    prediction: Prediction,
    measured: plan.Timeline | None,
    rows: Sequence[Sequence[str]],
    said: Sequence[str],
    lang: str,
) -> str:
    """The room as text: both grids, the table, the sentences."""
    parts = []
    for timeline in [prediction.timeline] + ([] if measured is None else [measured]):
        parts += [show.devices_line(timeline, lang), str(timeline), ""]
    heads = [say(key, lang) for key in ("formula", "simulated", "measured")]
    for name, *cells in rows:
        parts.append(f"{name}: " + "; ".join(f"{h} {c}" for h, c in zip(heads, cells, strict=True) if c))
    return "\n".join([*parts, *said])


def stack(top: Image.Image, below: Sequence[bytes]) -> Image.Image:
    """One still picture: the grids, and the charts side by side under them."""
    charts = [Image.open(io.BytesIO(data)) for data in below]
    height = top.height + max(chart.height for chart in charts)
    sheet = Image.new("RGB", (max(top.width, sum(chart.width for chart in charts)), height), "white")
    sheet.paste(top, (0, 0))
    x = 0
    for chart in charts:
        sheet.paste(chart, (x, top.height))
        x += chart.width
    return sheet


STYLE = """<style>
.pipekit-room { --jp-widgets-font-size: 17px; --jp-widgets-inline-height: 34px; max-width: 1080px; }
.pipekit-room .widget-html { height: auto; }
.pipekit-room .widget-html-content { font-size: 17px; line-height: 1.45; }
.pipekit-room img { max-width: 100%; height: auto; align-self: flex-start; flex: none; }
.pipekit-room .pipekit-figures { border-collapse: collapse; }
.pipekit-room .pipekit-figures th { font-weight: normal; opacity: 0.75; }
.pipekit-room .pipekit-figures :is(th, td) { text-align: right; padding: 0 22px 0 0; font-size: 17px; }
.pipekit-room .pipekit-figures :is(th, td):last-child { min-width: 130px; }
.pipekit-room .pipekit-figures td:first-child { text-align: left; }
.pipekit-room .pipekit-figures td:last-child { font-weight: bold; }
</style>"""
