"""A comparison as a table: for the page, as text, and as columns for a spreadsheet. Pure: rows in, words out."""

from __future__ import annotations

import csv
import html
import io
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pipekit.errors import SweepError
from pipekit.learn.comparison import sentences
from pipekit.learn.comparison.cases import Case
from pipekit.learn.comparison.rows import Figures, Prediction, Row
from pipekit.show import say

NOTHING = ""  # where there is no number, there is none
Cell = Callable[[Row], str]


@dataclass(frozen=True, slots=True)
class Column:
    """A head that may span several columns, what stands under it, and how a row's cell is said."""

    head: str
    below: str
    cell: Cell


def columns(lang: str, view: str, pieces: bool = False, few: bool = False) -> list[Column]:
    """What a class sees, few numbers; or all of it, for an engineer.

    Args:
        pieces: whether M differs from row to row.
        few: only a class's columns, whoever reads.
    """

    def head(key: str) -> str:
        return say(key, lang, view)

    closed, predicted, measured = head("compare_closed"), head("compare_predicted"), head("compare_measured")

    def trio(key: str, read: Callable[[Figures], str], form: Cell | None) -> list[Column]:
        first = [] if form is None else [Column(head(key), closed, form)]
        return [
            *first,
            Column(head(key), predicted, lambda row: _predicted(row, lambda each: read(each.figures))),
            Column(head(key), measured, lambda row: _measured(row, read)),
        ]

    times = trio("compare_col_time", _time, _closed_time)
    bubbles = trio("compare_col_bubble", lambda each: f"{each.bubble:.1%}", _closed_bubble)
    memory = [
        Column(
            head("compare_col_peak"),
            "",
            lambda row: _predicted(row, lambda each: sentences.amount(each.peak)),
        ),
    ]
    tail = [
        Column(
            head("compare_col_messages"), "", lambda row: _predicted(row, lambda each: str(each.messages))
        ),
        Column(head("compare_col_copies"), "", lambda row: _predicted(row, lambda each: str(each.copies))),
    ]
    first = [Column(head("schedule"), "", lambda row: sentences.name(row, lang, view, pieces))]
    if few or view == "class":
        return [*first, *times, *bubbles, *memory, *tail]
    return [
        *first,
        *times,
        *bubbles,
        *trio("compare_col_overhead", lambda each: f"{each.overhead:.1%}", None),
        *trio("compare_col_barrier", lambda each: _slots(each.barrier), None),
        *trio("compare_col_span", lambda each: _slots(each.span), _closed_span),
        *memory,
        Column(head("compare_col_pairs"), "", lambda row: _predicted(row, lambda each: str(each.pairs))),
        *tail,
        Column(head("compare_col_difference"), "", _difference),
    ]  # fmt: skip


def _predicted(row: Row, read: Callable[[Prediction], str]) -> str:
    return NOTHING if row.prediction is None else read(row.prediction)


def _measured(row: Row, read: Callable[[Figures], str]) -> str:
    return NOTHING if row.measured is None else read(row.measured.figures)


def _time(figures: Figures) -> str:
    return sentences.amount(round(figures.makespan, 2))


def _slots(slots: float) -> str:
    return sentences.amount(round(slots, 2) + 0.0)


def _closed_time(row: Row) -> str:
    form = None if row.prediction is None else row.prediction.form
    return NOTHING if form is None or form.makespan is None else _slots(form.makespan)


def _closed_bubble(row: Row) -> str:
    bubble = None if row.prediction is None else row.prediction.closed_bubble
    return NOTHING if bubble is None else f"{bubble:.1%}"


def _closed_span(row: Row) -> str:
    form = None if row.prediction is None else row.prediction.form
    return NOTHING if form is None or form.span_bubble is None else _slots(form.span_bubble)


def _difference(row: Row) -> str:
    return NOTHING if row.measured is None else f"{row.measured.difference:.1e}"


def forms(rows: Sequence[Row], lang: str, view: str) -> list[str]:
    """Each closed form with the conditions under which it is exact, in the field's letters."""
    said = []
    for row in rows:
        form = None if row.prediction is None else row.prediction.form
        if form is not None:
            condition = f"  [{form.condition}]" if form.condition else ""
            said.append(f"{sentences.schedule(row.variant.name, lang, view)}: {form.formula}{condition}")
    return list(dict.fromkeys(said))


def text(rows: Sequence[Row], lang: str, view: str, pieces: bool = False) -> list[str]:
    """The table as lines of words."""
    shown = columns(lang, view, pieces)
    heads = " | ".join(" ".join(part for part in (each.head, each.below) if part) for each in shown)
    lines = [
        sentences.row_error(row, lang, view)
        if row.prediction is None and row.error is not None
        else " | ".join(each.cell(row) or "-" for each in shown)
        for row in rows
    ]
    return [heads, *lines]


def groups(shown: Sequence[Column]) -> list[tuple[str, list[int]]]:
    """Each head with the places of the neighbours under it."""
    places = itertools.groupby(range(len(shown)), lambda index: shown[index].head)
    return [(head, list(several)) for head, several in places]


def page(rows: Sequence[Row], lang: str, view: str, pieces: bool = False) -> str:
    """The table as HTML; neighbours under the same head share it."""
    shown = columns(lang, view, pieces)
    top, below = [], []
    for head, several in groups(shown):
        tall = ' rowspan="2"' if len(several) == 1 else f' colspan="{len(several)}" class="pipekit-group"'
        top.append(f'<th scope="col"{tall}>{html.escape(head)}</th>')
        if len(several) > 1:
            below += [f'<th scope="col">{html.escape(shown[index].below)}</th>' for index in several]
    body = "".join(f"<tr>{_line(row, shown, lang, view)}</tr>" for row in rows)
    many = "" if view == "class" else " pipekit-many"
    return f'<div class="pipekit-compare-table{many}"><table><tr>{"".join(top)}</tr><tr>{"".join(below)}</tr>{body}</table></div>'


def _line(row: Row, shown: Sequence[Column], lang: str, view: str) -> str:
    """A row's cells; where it has no numbers, why."""
    if row.prediction is None and row.error is not None:
        why = html.escape(sentences.reason(row.error, lang, view))
        return f'<td>{html.escape(shown[0].cell(row))}</td><td class="pipekit-why" colspan="{len(shown) - 1}">{why}</td>'
    return "".join(f"<td>{html.escape(each.cell(row))}</td>" for each in shown)


def record(case: Case, row: Row) -> dict[str, Any]:
    """The spreadsheet's columns: plain numbers by name; slots, seconds, fractions. None where there is nothing."""
    prediction, measured = row.prediction, row.measured
    form = None if prediction is None else prediction.form
    found: dict[str, Any] = {
        "schedule": row.variant.name,
        "num_devices": case.num_devices,
        "num_micro_batches": row.num_micro_batches,
        "num_stages": None if prediction is None else prediction.schedule.num_stages,
        "checkpoint": row.variant.checkpoint,
        "makespan_closed": None if form is None else form.makespan,
        "bubble_closed": None if prediction is None else prediction.closed_bubble,
        "span_bubble_closed": None if form is None else form.span_bubble,
        "formula": "" if form is None else form.formula,
        "condition": "" if form is None else form.condition,
    }
    for name, figures in (
        ("predicted", None if prediction is None else prediction.figures),
        ("measured", None if measured is None else measured.figures),
    ):
        for column, field in (
            ("makespan", "makespan"), ("bubble", "bubble"), ("bubble_of_ideal", "overhead"),
            ("barrier_bubble", "barrier"), ("span_bubble", "span"),
        ):  # fmt: skip
            found[f"{column}_{name}"] = None if figures is None else getattr(figures, field)
    return found | {
        "peak": None if prediction is None else prediction.peak,
        "peak_pairs": None if prediction is None else prediction.pairs,
        "messages": None if prediction is None else prediction.messages,
        "parameter_copies": None if prediction is None else prediction.copies,
        "gradient_difference": None if measured is None else measured.difference,
        "overruns": None if measured is None else measured.overruns,
        "latest_wake_up_seconds": None if measured is None else measured.late,
        "slot_seconds": None if measured is None else measured.slot,
        "samples": None if measured is None else measured.samples,
        "devices": "" if measured is None else measured.timeline.devices,
        "forward": case.forward, "input_grad": case.input_grad, "weight_grad": case.weight_grad,
        "recompute": case.recompute, "latency": case.latency, "overhead": case.overhead,
        "slow_part": None if case.even else case.slow_part,
        "slow_factor": None if case.even else case.slow_factor,
        "error": "" if row.error is None else f"{type(row.error).__name__}: {row.error}",
    }  # fmt: skip


def csv_bytes(case: Case, rows: Sequence[Row]) -> bytes:
    """The table as Excel opens it: UTF-8 with its mark in front, English column names, numbers in full.

    Raises:
        SweepError: no schedule is chosen.
    """
    if not rows:
        raise SweepError("sweep_nothing", num_stages=1, num_micro_batches=1, num_policies=1, num_schedules=0)
    made = [record(case, row) for row in rows]
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(made[0]))
    writer.writeheader()
    writer.writerows(made)
    return out.getvalue().encode("utf-8-sig")
