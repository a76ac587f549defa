"""From what was predicted and measured to what the room shows: pure functions, no widget and no thread."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from PIL import Image, ImageDraw

from pipekit import plan, show
from pipekit.learn.controlroom import guess as guesses
from pipekit.learn.controlroom import idle
from pipekit.learn.controlroom.guess import Guess
from pipekit.learn.controlroom.logbook import Entry
from pipekit.learn.controlroom.sentences import Said, count, forwards_first, shown
from pipekit.learn.controlroom.style import ROW, ROWS, WIDTH
from pipekit.learn.experiment import Outcome, Prediction, Settings
from pipekit.show import number, say
from pipekit.show.charts import KIB
from pipekit.show.fonts import drawn_language, font_for, sized

SMALLEST_ROW = 13  # pixels
TOLD = (1, 2, 4, 8, 16, 32)  # M of a predicted curve that its words tell
Live = Callable[
    [str, int, str], plan.Timeline
]  # whose step ("uncut", "cut"), K, devices -> what there is of it


@dataclass(frozen=True)
class Part:
    """One grid of the picture, and what is written around it."""

    timeline: plan.Timeline
    schedule: plan.Schedule
    caption: str
    note: str = ""
    annotation: str = ""
    latency: float = 0.0  # seconds a hop


def parts(
    settings: Settings,
    predict: Callable[[Settings], Prediction],
    outcome: Outcome | None,
    live: Live | None,
    slot: float,
    may_see: bool,
    forward_only: bool,
    lang: str,
    view: str,
) -> list[Part]:
    """The grids, from above to below: the uncut mini-batch, and the cut one; for an engineer its prediction too.

    What runs is shown as far as it has come (`live`), what was measured solid; else what is predicted, if it may be
    seen, or waiting rows.
    """
    lang, cut = drawn_language(lang), settings.key()
    uncut = settings.uncut()
    measured: dict[str, plan.Timeline | None] = {
        "cut": None if outcome is None else outcome.timeline,
        "uncut": None if outcome is None or outcome.uncut is None else outcome.uncut.timeline,
    }

    def part(which: str, asked: Settings, source: str = "") -> Part:
        prediction = predict(asked).timeline
        timeline = measured[which]
        if live is not None:
            timeline = live(which, prediction.num_devices, prediction.devices)
        if source == "predicted" or (timeline is None and may_see):
            timeline = prediction
        if timeline is None:
            timeline = plan.Timeline(plan.Spans.of([]), prediction.num_devices, source="measured")
        pieces = asked.build().num_micro_batches
        name = say("uncut_title" if pieces == 1 else "cut_title", lang, view, count=pieces)
        key = f"source_{timeline.source}" if len(timeline.spans) else ""
        key = "dashed_is_predicted" if key == "source_predicted" and view == "class" else key
        key = "live_now" if live is not None and key and source != "predicted" else key
        return Part(
            shown(timeline, forward_only), asked.build(), f"{name}  {say(key, lang, view) if key else ''}",
            _bubble_note(timeline, lang, view) if live is None else "", latency=settings.latency_ms / 1000,
        )  # fmt: skip

    below = part("cut", settings)
    if view == "engineer":
        return [part("cut", settings, "predicted"), *([] if outcome is None and live is None else [below])]
    if cut == uncut.key():
        return [below]
    above = part("uncut", uncut)
    if live is None and outcome is not None and len(above.timeline.spans):
        saved = float(count(above.timeline.makespan, slot)) - float(count(below.timeline.makespan, slot))
        if saved > 0:
            below = replace(
                below, annotation=say("saved_slots", lang, view, count=f"{saved:.1f}".removesuffix(".0"))
            )
    return [above, below]


def _bubble_note(timeline: plan.Timeline, lang: str, view: str) -> str:
    if view == "class" or not len(timeline.spans) or timeline.source == "shared":
        return ""
    return say("bubble_note", lang, view, percent=100 * plan.bubble_fraction(timeline))


def num_slots(shown_parts: Sequence[Part], slot: float) -> int:
    """How many columns a replay of these has."""
    return max(1, round(show.slots_of([part.timeline for part in shown_parts], slot) + 0.25))


def look(
    shown_parts: Sequence[Part], slot: float, lang: str, view: str, least: float = 0.0
) -> dict[str, Any]:
    """How these grids are painted: what `show.paint` takes."""
    timelines = [part.timeline for part in shown_parts]
    only_forward = all(set(t.spans.kinds.tolist()) <= {0} for t in timelines)
    by_piece = view == "class" and only_forward
    return {
        "lang": lang, "view": view, "column": slot, "num_slots": least or None, "width": WIDTH - 4,
        "captions": [part.caption for part in shown_parts], "notes": [part.note for part in shown_parts],
        "annotations": [part.annotation for part in shown_parts], "labels": "piece" if by_piece else "op",
        "dashed": True, "legend": not by_piece,
        "row": max(SMALLEST_ROW, min(ROW, ROWS // max(t.num_devices for t in timelines))),
    }  # fmt: skip


def paint(
    shown_parts: Sequence[Part], slot: float, lang: str, view: str, least: float, column: int = 0
) -> Image.Image:
    """The grids as one picture, up to a replay's `column` (0: all).

    Args:
        slot: seconds a slot. least: slots that the axis has at least.
    """
    timelines = [part.timeline for part in shown_parts]
    until: dict[str, Any] = {"until": column * slot, "cursor": column * slot} if column else {}
    return show.paint(timelines, **look(shown_parts, slot, lang, view, least), **until)


def in_words(shown_parts: Sequence[Part], letters: bool = True) -> str:
    """What is written around the grids, and, with `letters`, their ops."""
    lines = []
    for part in shown_parts:
        written = (part.caption, part.note, part.annotation)
        lines.append("  ".join(words.strip() for words in written if words.strip()))
        lines += [str(part.timeline)] if letters and len(part.timeline.spans) else []
    return "\n".join(lines)


def idle_cells(shown_parts: Sequence[Part], slot: float, lang: str, view: str, least: float) -> str:
    """Every idle stretch as a piece of HTML over the picture: pointed at or focused, it says why."""
    timelines = [part.timeline for part in shown_parts]
    scene = show.scene(timelines, **look(shown_parts, slot, lang, view, least))
    cells = []
    for part, place in zip(shown_parts, scene.places, strict=True):
        for device in range(part.timeline.num_devices):
            row = say("device", lang, view, number=number(device, view))
            for start, end in _gaps(part.timeline, device, slot):
                middle = part.timeline.start + (start + end) / 2
                reason = idle.why(part.schedule, part.timeline, device, middle, part.latency)
                if reason is not None:
                    box = place.box(device, start, end)
                    words = f"{row} · {idle.words(reason, lang, view)}"
                    cells.append(_idle_cell(box, (scene.width, scene.height), words))
    return "".join(cells)


def _gaps(timeline: plan.Timeline, device: int, slot: float) -> list[tuple[float, float]]:
    """The stretches of at least a quarter slot, since the timeline's start, in which a device has nothing to do."""
    spans = timeline.spans
    chosen = spans.devices == device
    begins, ends = spans.starts[chosen] - timeline.start, spans.ends[chosen] - timeline.start
    edges = [0.0, *[time for pair in zip(begins, ends, strict=True) for time in pair], timeline.makespan]
    pairs = [(edges[i], edges[i + 1]) for i in range(0, len(edges), 2)]
    return [(start, end) for start, end in pairs if end - start > slot / 4]


def _idle_cell(box: tuple[int, int, int, int], size: tuple[int, int], words: str) -> str:
    left, top, right, bottom = box
    width, height = size
    far = " pipekit-far" if left > width / 2 else ""
    far += " pipekit-low" if bottom > 0.9 * height else ""  # its words stand above it
    place = (
        f"left:{100 * left / width:.2f}%;top:{100 * top / height:.2f}%;"
        f"width:{100 * (right - left) / width:.2f}%;height:{100 * (bottom - top) / height:.2f}%"
    )
    said = html.escape(words, quote=True)
    return (
        f'<span class="pipekit-idle{far}" tabindex="0" role="note" aria-label="{said}" data-why="{said}" '
        f'style="{place}"></span>'
    )


def column_words(shown_parts: Sequence[Part], column: int, slot: float, lang: str, view: str) -> str:
    """Who does what in a replay's column (from 1), grid by grid, in words; of the uncut batch only who works."""
    said = [_part_words(part, column, slot, lang, view) for part in shown_parts]
    return say("column", lang, view, column=number(column - 1, view), devices=" ".join(said))


def _part_words(part: Part, column: int, slot: float, lang: str, view: str) -> str:
    timeline, pieces = part.timeline, part.schedule.num_micro_batches
    begin, end = timeline.start + (column - 1) * slot, timeline.start + column * slot
    done: dict[int, list[plan.Op]] = {}
    for span in timeline.spans:
        middle = (span.start + span.end) / 2
        if begin <= middle < end or span.start <= (begin + end) / 2 < span.end:
            done.setdefault(span.device, []).append(span.op)
    if begin >= timeline.end - slot / 4:
        words = say("all_done", lang, view)
    else:
        devices = sorted(done) if pieces == 1 and done else range(timeline.num_devices)
        each = [_device_words(device, done.get(device, []), pieces, lang, view) for device in devices]
        words = say("semicolon", lang).join(each)
    name = say("uncut_short" if pieces == 1 else "cut_title", lang, view, count=pieces)
    return say("column_part", lang, view, name=name, words=words)


def _device_words(device: int, ops: Sequence[plan.Op], pieces: int, lang: str, view: str) -> str:
    """What one device does in a column: an op, several in their order, or nothing."""
    if not ops:
        what = say("idle", lang, view)
    elif view == "engineer":
        what = " ".join(map(str, ops))
    else:
        numbers = [str(number(op.micro_batch)) for op in ops if op.kind == ops[0].kind]
        piece = say("whole_piece", lang) if pieces == 1 else say("piece", lang, piece="、".join(numbers))
        what = say("piece_and_kind", lang, piece=piece, kind=say(f"kind_{ops[0].kind.value}", lang))
    name = say("device", lang, view, number=number(device, view))
    return say("column_device", lang, view, device=name, what=what)


def downloads(shown_parts: Sequence[Part], settings: Settings, slot: float, lang: str, view: str) -> str:
    """Links to the picture as files; each carries the bubble, and the line that says on what it was measured."""
    timelines, drawn = [part.timeline for part in shown_parts], drawn_language(lang)
    options = look(shown_parts, slot, lang, view)
    options["captions"] = [
        " · ".join([part.caption.split("  ")[0], show.devices_line(part.timeline, drawn)])
        for part in shown_parts
    ]
    options["notes"] = [
        "" if t.source == "shared" else say("bubble_note", drawn, view, percent=100 * plan.bubble_fraction(t))
        for t in timelines
    ]
    files = {
        "png": ("image/png", show.png(show.paint(timelines, **options))),
        "gif": ("image/gif", show.gif(timelines, **options)),
        "svg": ("image/svg+xml", show.svg(timelines, **options).encode("utf-8")),
    }
    key = settings.key()
    name = f"pipekit-{key.schedule}-K{key.num_stages}-M{key.num_micro_batches}"
    links = [
        f'<a download="{name}.{ending}" href="data:{kind};base64,{base64.b64encode(data).decode("ascii")}">'
        f"{ending.upper()}</a>"
        for ending, (kind, data) in files.items()
    ]
    return f"<div>{html.escape(say('save_as', lang, view))} {' · '.join(links)}</div>"


def curve(
    settings: Settings,
    family: Mapping[int, plan.Timeline],
    outcomes: Collection[Outcome],
    lang: str,
    view: str,
) -> show.Still:
    """Measured bubbles of this K, schedule and policy on their predicted curve (empty: not to be seen)."""
    predicted = {pieces: plan.bubble_fraction(timeline) for pieces, timeline in family.items()}
    measured = {
        outcome.key.num_micro_batches: outcome.bubble
        for outcome in outcomes
        if outcome.key.family() == settings.key().family()
    }
    now, num_devices = settings.key().num_micro_batches, settings.num_stages
    lines = [say("bubble_title", lang, view, num_devices=num_devices)]
    for key, found in (("points", measured), ("curve", predicted)):
        each = [
            f"M={pieces} {found[pieces]:.0%}" for pieces in sorted({*TOLD, now, *measured}) if pieces in found
        ]
        lines += [f"{say(key, lang, view)}: {say('semicolon', lang).join(each)}"] if each else []
    chart = show.bubble_chart(predicted, measured, num_devices, now, lang, view)
    return show.Still(chart, "\n".join(lines))


def memory(
    prediction: Prediction | None, most: Prediction, outcome: Outcome | None, lang: str, view: str
) -> show.Still:
    """What each device keeps at its fullest, measured beside predicted (None: not to be seen).

    Args:
        most: the same with nothing erased: its height is the axis's, so that erasing is seen.
    """
    counted = None if outcome is None else outcome.result.memory.peak_activation_bytes
    fullest = max((device.total for device in most.memory or ()), default=0.0)
    predicted = None if prediction is None else prediction.memory
    bars: dict[str, Sequence[float]] = {
        "memory_weights": [device.parameters + device.gradients for device in predicted or ()],
        "memory_predicted": [device.activations for device in predicted or ()],
        "memory_measured": list(counted or ()),
    }
    lines = [say("memory_title", lang, view)]
    for device in range(max(map(len, bars.values()))):
        each = [f"{say(key, lang, view)} {sizes[device] / KIB:.1f}" for key, sizes in bars.items() if sizes]
        name = say("device", lang, view, number=number(device, view))
        lines.append(f"{name}: {say('semicolon', lang).join(each)}")
    return show.Still(show.memory_chart(predicted, counted, lang, view, fullest), "\n".join(lines))


def history(entries: Sequence[Entry], slot: float, forward_only: bool, lang: str, view: str) -> str:
    """All runs as a table: what was set, guessed, by formula, measured.

    Args:
        slot: seconds of the class's slot, at pace 1. forward_only: whether figures are of the way forward.
    """
    if not entries:
        return lines([say("history_empty", lang, view)])
    heads = [
        "",
        *(say(key, lang, view) for key in ("guessed", "formula_short", "measured_short", "figure_makespan")),
    ]
    rows = []
    for index, entry in enumerate(entries):
        guess = "–" if entry.guess is None or entry.guess.percent is None else f"{entry.guess.percent:g}%"
        timeline = shown(entry.outcome.timeline, forward_only and forwards_first(entry.settings))
        bubble = "–" if timeline.source == "shared" else f"{plan.bubble_fraction(timeline):.1%}"
        slots = say("slots", lang, view, count=timeline.makespan / entry.outcome.slot(slot))
        formula = f"{entry.outcome.prediction.formula:.1%}"
        rows.append([entry_name(index, entry, lang, view), guess, formula, bubble, slots])
    return _html_table(heads, rows)


def entry_name(index: int, entry: Entry, lang: str, view: str) -> str:
    """A run in a few words: its number, K, M, and what differs from the lesson."""
    settings, lesson = entry.settings, Settings()
    words = [f"{number(index, view)}: K={settings.num_stages}, M={settings.key().num_micro_batches}"]
    words += [say(settings.schedule, lang, view)] if settings.schedule != lesson.schedule else []
    words += [say(settings.checkpoint, lang, view)] if settings.checkpoint != lesson.checkpoint else []
    words += [say("preset_slow_stage", lang, view)] if settings.slow_device >= 0 else []
    for key in ("overhead_ms", "latency_ms"):
        words += [f"{say(key, lang, view)} {getattr(settings, key):g}"] if getattr(settings, key) else []
    words += [say("times_slower", lang, view, times=settings.pace)] if settings.pace != lesson.pace else []
    words += [say("real_time", lang, view)] if settings.real_time else []
    words += ["BatchNorm"] if settings.batch_norm else []
    return ", ".join(words)


def figures(
    prediction: Prediction, outcome: Outcome | None, slot: float, lang: str, view: str
) -> list[list[str]]:
    """The engineer's table: what it is, then by formula, predicted, measured."""
    timelines = [prediction.timeline] + ([] if outcome is None else [outcome.timeline])
    total = prediction.timeline.num_devices
    bubbles = ["–" if t.source == "shared" else f"{plan.bubble_fraction(t):.1%}" for t in timelines]
    slots = [say("slots", lang, view, count=each.makespan / slot) for each in timelines]
    busy = [
        "–" if t.source == "shared" else say("busy", lang, view, count=plan.busy_devices(t), total=total)
        for t in timelines
    ]
    rows = [
        [say("figure_bubble", lang, view), f"{prediction.formula:.1%}", *bubbles],
        [say("figure_makespan", lang, view), "", *slots],
        [say("figure_busy", lang, view), "", *busy],
    ]
    return [[*row, *["–"] * (4 - len(row))] for row in rows]


def row(
    prediction: Prediction | None,
    outcome: Outcome | None,
    guess: Guess | None,
    pieces: int,
    slot: float,
    forward_only: bool,
    lang: str,
) -> str:
    """The class's figures on one line: the bubble as measured, by formula and as guessed; what that means.

    Args:
        prediction: None where it may not be seen yet. pieces: M.
        forward_only: whether the figures are of the way forward, as the picture is.
    """
    cells = []
    if outcome is not None and outcome.timeline.source == "measured":
        timeline = shown(outcome.timeline, forward_only)
        bubble = plan.bubble_fraction(timeline)
        cells.append(f"{say('measured_short', lang)} <b>{bubble:.1%}</b>")
    if prediction is not None:
        schedule = prediction.timeline.num_devices - 1, pieces + prediction.timeline.num_devices - 1
        cells.append(f"{say('formula_short', lang)} {schedule[0]}/{schedule[1]} = {prediction.formula:.1%}")
    if guess is not None and guess.percent is not None:
        cells.append(f"{say('guessed', lang)} {guess.percent:g}%")
    if cells:
        cells.insert(0, say("bubble", lang))
    if outcome is not None and outcome.timeline.source == "measured":
        if guess is not None:
            slots = float(count(timeline.makespan, slot)) if guess.forward_only == forward_only else None
            cells.append(guesses.verdict(guess, Guess(slots, 100 * bubble), lang))
        cells.append(say("busy_short", lang, count=f"{plan.busy_devices(timeline):.1f}"))
    if outcome is not None:
        cells.append(say("same_short" if outcome.same else "different_short", lang))
    spans = "".join(f"<span>{cell}</span>" for cell in cells if cell)
    return f'<div class="pipekit-row">{spans}</div>' if spans else ""


def table(rows: Sequence[Sequence[str]], lang: str, view: str) -> str:
    """The engineer's rows as HTML; what was measured stands out."""
    return _html_table(["", *(say(key, lang, view) for key in ("formula", "simulated", "measured"))], rows)


def _html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f'<table class="pipekit-figures"><tr>{head}</tr>{body}</table>'


def lines(texts: Sequence[str]) -> str:
    """Sentences as HTML, one a line."""
    return "".join(f"<div>{html.escape(text)}</div>" for text in texts)


def said(sentences: Sequence[Said]) -> str:
    """What is said, as HTML; a warning is amber."""
    return "".join(f'<div class="pipekit-{each.tone}">{html.escape(each.text)}</div>' for each in sentences)


def stack(top: Image.Image, below: Sequence[bytes], words: str, lang: str) -> Image.Image:
    """One still picture: a line of words if there are any, the grids, and the charts side by side under them."""
    charts = [Image.open(io.BytesIO(data)) for data in below]
    line = 30 if words else 0
    width = max(top.width, sum(chart.width for chart in charts))
    sheet = Image.new(
        "RGB", (width, line + top.height + max((chart.height for chart in charts), default=0)), "white"
    )
    face = sized(font_for(drawn_language(lang)), 16)
    ImageDraw.Draw(sheet).text((6, 4), words, font=face, fill=(85, 85, 85))
    sheet.paste(top, (0, line))
    x = 0
    for chart in charts:
        sheet.paste(chart, (x, line + top.height))
        x += chart.width
    return sheet
