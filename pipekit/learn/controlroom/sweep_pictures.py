"""From the rows of a sweep to lines, marks, sentences and a table: pure functions, no widget and no thread."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from pipekit import plan, show
from pipekit.learn.experiment import MOST_PIECES, Experiment, Settings
from pipekit.learn.sweeping import Choice, Row
from pipekit.show import say
from pipekit.show.fonts import drawn_language

MOST_SERIES = 8  # lines in a chart
MOST_SKIPPED = 6  # sentences about what can't be run
TIME_WORDS = {"class": "sweep_slots", "engineer": "sweep_seconds"}  # what the second chart's axis counts

STYLE = """<style>
.pipekit-sweep { --jp-widgets-font-size: 17px; --jp-widgets-inline-height: 32px; width: 1180px; max-width: 100%; }
.pipekit-sweep .widget-html { height: auto; }
.pipekit-sweep .widget-html-content { font-size: 17px; line-height: 1.4; }
.pipekit-sweep button { width: auto; font-size: 17px; }
.pipekit-sweep img { max-width: 100%; height: auto; align-self: flex-start; flex: none; }
.pipekit-sweep-table { max-height: 320px; overflow: auto; }
.pipekit-sweep-table :is(th, td) { text-align: right; padding: 0 16px 0 0; font-size: 16px; }
.pipekit-sweep-table :is(th, td):last-child { text-align: left; }
</style>"""


def families(choice: Choice, rows: Sequence[Row]) -> list[Settings]:
    """What a line stands for: first those that are asked for, then those measured before."""
    return list(dict.fromkeys(each.family() for each in [*choice.points, *(row.settings for row in rows)]))


def series(
    experiment: Experiment,
    choice: Choice,
    rows: Sequence[Row],
    looks: Mapping[Settings, int],
    lang: str,
    view: str,
) -> list[show.Series]:
    """The lines of a sweep with their marks, at most `MOST_SERIES`; times in slots for a class, else in seconds."""
    shown = families(choice, rows)[:MOST_SERIES]
    return [
        show.Series(
            name,
            looks[family],
            _predicted(experiment, choice, family, view),
            _marks(experiment, rows, family, view, measured=True),
            _marks(experiment, rows, family, view, measured=False),
        )
        for family, name in zip(shown, names(shown, lang, view), strict=True)
    ]


def unit(experiment: Experiment, view: str) -> float:
    """Seconds of what this audience counts time in."""
    return experiment.slot if view == "class" else 1.0


def _predicted(
    experiment: Experiment, choice: Choice, family: Settings, view: str
) -> dict[int, tuple[float, float]]:
    """Equal pieces up to `MOST_PIECES`; beyond, the points that are asked for."""
    beyond = {
        each.num_micro_batches: experiment.predict(each).timeline
        for each in choice.points
        if each.family() == family and each.num_micro_batches > MOST_PIECES
    }
    timelines = experiment.family(family) | beyond
    scale = unit(experiment, view)
    return {m: (plan.bubble_fraction(each), each.makespan / scale) for m, each in timelines.items()}


def _marks(
    experiment: Experiment, rows: Sequence[Row], family: Settings, view: str, measured: bool
) -> dict[int, tuple[float, float]]:
    """The newest row of each M that is a measurement, or that ran and is none."""
    return {
        row.settings.num_micro_batches: (row.bubble, row.step / unit(experiment, view))
        for row in rows
        if row.settings.family() == family
        and row.bubble is not None
        and row.step is not None
        and (row.status == "measured") == measured
    }


def names(shown: Sequence[Settings], lang: str, view: str) -> list[str]:
    """K, schedule, and what else tells the lines apart or is out of the ordinary."""
    several = len({each.checkpoint for each in shown}) > 1
    return [
        " ".join(
            [f"K={each.num_stages}", say(each.schedule, lang, "engineer")]
            + ([say(each.checkpoint, lang, view)] if several or each.checkpoint != "never" else [])
            + ([say("sweep_extra", lang, view, ms=each.overhead_ms)] if each.overhead_ms else [])
            + ([say("sweep_hop", lang, view, ms=each.latency_ms)] if each.latency_ms else [])
        )
        for each in shown
    ]


def charts(experiment: Experiment, lines: Sequence[show.Series], lang: str, view: str) -> bytes:
    """Both charts, as PNG."""
    return show.sweep_charts(
        lines, TIME_WORDS[view], source(experiment, lines, drawn_language(lang), view), lang
    )


def source(experiment: Experiment, lines: Sequence[show.Series], lang: str, view: str) -> str:
    """Where the picture comes from: what no picture may lose."""
    key = "sweep_source_measured" if any(each.measured for each in lines) else "sweep_source_predicted"
    return say(key, lang, view, slot_ms=1000 * experiment.slot)


def best(lines: Sequence[show.Series], lang: str, view: str) -> list[str]:
    """For each line with several measured points, the M with the fastest step: measured, and by prediction."""
    said = []
    for each in lines:
        fastest = each.fastest()
        if fastest is None or not fastest[1]:
            continue
        pieces = fastest[0]
        known = [m for m in each.measured if m in each.predicted]
        predicted = min(known, key=lambda m, each=each: each.predicted[m][1], default=pieces)  # type: ignore[misc]
        time = amount(each.measured[pieces][1], lang, view)
        said.append(say("sweep_best", lang, name=each.name, pieces=pieces, time=time, predicted=predicted))
    return said


def amount(count: float, lang: str, view: str) -> str:
    """A time in this audience's unit."""
    return say("slots" if view == "class" else "sweep_second_unit", lang, count=count)


def undrawn(choice: Choice, rows: Sequence[Row], lang: str) -> list[str]:
    """That there are more lines than a chart can show."""
    more = len(families(choice, rows)) - MOST_SERIES
    return [say("sweep_undrawn", lang, most=MOST_SERIES, count=more)] if more > 0 else []


def skipped(choice: Choice, lang: str, view: str) -> list[str]:
    """What the lists ask for and can't be had: for each reason the K and the M it is about."""
    if not choice.skipped:
        return []
    reasons: dict[str, list[Settings]] = {}
    for each, error in choice.skipped.items():
        reasons.setdefault(show.sentence(error, lang, view), []).append(each)
    said = [f"{_listed(about)}: {reason}" for reason, about in reasons.items()]
    more = len(said) - MOST_SKIPPED
    rest = [say("sweep_more", lang, count=more)] if more > 0 else []
    return [say("sweep_skipped", lang, count=len(choice.skipped)), *said[:MOST_SKIPPED], *rest]


def _listed(about: Sequence[Settings]) -> str:
    stages = sorted({each.num_stages for each in about})
    pieces = sorted({each.num_micro_batches for each in about})
    return f"K={', '.join(map(str, stages))}; M={', '.join(map(str, pieces))}"


def table(experiment: Experiment, rows: Sequence[Row], lang: str, view: str) -> list[list[str]]:
    """Heads, then a line for each row, in words."""
    measured, predicted = say("points", lang, view), say("curve", lang, view)
    heads = ["K", "M"]
    heads += [say(key, lang, view) for key in ("schedule", "checkpoint", "overhead_ms", "latency_ms")]
    for key in ("bubble", "sweep_time"):
        heads += [f"{say(key, lang, view)} {measured}", f"{say(key, lang, view)} {predicted}"]
    heads += [say("sweep_outcome", lang, view)]
    return [heads, *(_line_of(row, unit(experiment, view), lang, view) for row in rows)]


def _line_of(row: Row, scale: float, lang: str, view: str) -> list[str]:
    settings = row.settings
    bubbles = ["-" if each is None else f"{each:.1%}" for each in (row.bubble, row.bubble_predicted)]
    steps = [
        "-" if each is None else amount(each / scale, lang, view) for each in (row.step, row.step_predicted)
    ]
    return [
        str(settings.num_stages),
        str(settings.num_micro_batches),
        say(settings.schedule, lang, "engineer"),
        say(settings.checkpoint, lang, view),
        f"{settings.overhead_ms:g}",
        f"{settings.latency_ms:g}",
        *bubbles,
        *steps,
        _outcome(row, lang, view),
    ]


def _outcome(row: Row, lang: str, view: str) -> str:
    if row.error is not None:
        return say("failed", lang, why=" ".join(show.sentence(row.error, lang, view).split()))
    keys = {"measured": "points", "overrun": "sweep_overrun"}
    return say(keys.get(row.status, f"source_{row.status}"), lang, view)


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Words as an HTML table that scrolls."""
    head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f'<div class="pipekit-sweep-table"><table><tr>{head}</tr>{body}</table></div>'


def lines_html(texts: Sequence[str]) -> str:
    """Sentences as HTML, one a line."""
    return "".join(f"<div>{html.escape(text)}</div>" for text in texts)
