"""What a comparison says: names, captions, what stayed, which bubble is meant, what a search tried. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pipekit import show
from pipekit.learn.comparison.best import Search
from pipekit.learn.comparison.cases import Case
from pipekit.learn.comparison.catalogue import KNOWN
from pipekit.learn.comparison.rows import Row
from pipekit.learn.experiment import LATE, ROUNDING
from pipekit.show import say
from pipekit.show.i18n import devices_words

APART = 0.01  # slots by which two bubbles differ before it's worth a sentence


def amount(value: float) -> str:
    """A number of slots or shares, as short as it can be told.

    >>> amount(33.0), amount(26.25), amount(103.4321), amount(24576.0)
    ('33', '26.25', '103.4', '24576')
    """
    return f"{value:.4g}" if abs(value) < 100 else f"{round(value, 1):.10g}"


def name(row: Row, lang: str, view: str, pieces: bool = False) -> str:
    """The schedule, and what was chosen about it.

    Args:
        pieces: whether M is said too, where it isn't the same for all.
    """
    chosen = row.variant
    parts = [schedule(chosen.name, lang, view)]
    if KNOWN[chosen.name].chunks:
        parts.append(say("compare_name_chunks", lang, view, count=chosen.num_chunks))
    if pieces:
        parts.append(say("compare_name_pieces", lang, view, count=row.num_micro_batches))
    if chosen.checkpoint != "never":
        parts.append(say(chosen.checkpoint, lang, view))
    return say("comma", lang).join(parts)


def schedule(key: str, lang: str, view: str) -> str:
    """A schedule's name alone; a class's remarks on it have no room here."""
    return say(key, lang, view).partition("（" if lang == "zh" else " (")[0]


def caption(row: Row, lang: str, view: str, pieces: bool = False) -> str:
    """The line above a grid: what it is, measured or predicted, its time and bubble."""
    figures = row.figures
    assert figures is not None
    source = "predicted" if row.measured is None else row.measured.timeline.source
    said = say(
        "compare_caption", lang, view,
        name=name(row, lang, view, pieces),
        source=say("curve" if source == "predicted" else "points", lang, view)
        if source != "shared"
        else say("source_shared", lang, view),
        slots=amount(round(figures.makespan, 1) if row.measured is not None else figures.makespan),
        percent=100 * figures.bubble,
    )  # fmt: skip
    if row.measured is not None and row.measured.overruns:
        said += " · " + say("compare_overrun", lang, view, count=row.measured.overruns)
    if row.measured is not None and row.measured.late > LATE:
        said += " · " + say("compare_late", lang, view, ms=1000 * row.measured.late)
    return said


def equality(row: Row, lang: str, view: str) -> str:
    """The line under a grid: what stayed. Nothing is claimed before gradients were compared."""
    if row.measured is None:
        if row.error is not None:
            return say("compare_refused", lang, view, why=reason(row.error, lang, view))
        return say("compare_not_compared", lang, view)
    difference = row.measured.difference
    if difference == 0:
        return say("said_same_exactly", lang, view)
    key = "said_same" if difference < ROUNDING else "compare_different"
    return say(key, lang, view, difference=_share(difference, lang, view))


def _share(difference: float, lang: str, view: str) -> str:
    return show.tiny(difference, lang) if view == "class" else f"{difference:.1e}"


def reason(error: BaseException, lang: str, view: str) -> str:
    """Why something can't be had, on one line."""
    return " ".join(show.sentence(error, lang, view).split())


def source(case: Case, rows: Sequence[Row], lang: str, view: str) -> list[str]:
    """Where the picture comes from: what no picture may lose."""
    said = []
    measured = [row.measured for row in rows if row.measured is not None]
    if measured:
        one = measured[0]
        on = devices_words(one.timeline, lang)[1]
        said.append(say("compare_source_measured", lang, view, samples=one.samples, on=on))
    if len(measured) < len(rows):
        said.append(say("compare_source_predicted", lang, view, devices=case.num_devices))
    return said


def notes(rows: Sequence[Row], lang: str, view: str) -> list[str]:
    """Short sentences on what the table means, where it could be misread."""
    said = []
    predicted = [(row, row.prediction.figures) for row in rows if row.prediction is not None]
    apart = [(figures.barrier - figures.span, row, figures) for row, figures in predicted]
    if apart and (most := max(apart, key=lambda each: each[0]))[0] > APART:
        _, row, figures = most
        barrier, span = amount(figures.barrier), amount(round(figures.span, 9))
        said.append(
            say("compare_two_bubbles", lang, view, name=name(row, lang, view), barrier=barrier, span=span)
        )
    if view == "engineer" and predicted:
        said.append(say("compare_two_bases", lang, view))
    if any(row.variant.name.startswith("dualpipe") for row, _ in predicted):
        said.append(say("compare_fused", lang, view))
    if predicted:
        said.append(say("compare_memory_unit", lang, view))
    return said


def row_error(row: Row, lang: str, view: str) -> str:
    """Why a schedule has no row of numbers."""
    assert row.error is not None
    return say(
        "compare_failed_row", lang, view,
        name=schedule(row.variant.name, lang, view), why=reason(row.error, lang, view),
    )  # fmt: skip


def search(found: Search, lang: str, view: str) -> list[str]:
    """What a search tried, and for which schedules nothing fits."""
    comma = say("then_comma", lang)

    def listed(values: Sequence[object]) -> str:
        return comma.join(map(str, values))

    policies = [say(policy, lang, view) for policy in found.policies]
    said = [
        say(
            "compare_tried", lang, view,
            cap=amount(found.cap), tried=found.tried, over=found.over, refused=found.refused,
            pieces=listed(found.pieces),
            chunks=say("compare_tried_chunks", lang, view, chunks=listed(found.chunks)) if found.chunks else "",
            policies=say("compare_tried_policies", lang, view, policies=listed(policies)) if policies else "",
        )
    ]  # fmt: skip
    for row in found.rows:
        least = found.least.get(row.variant.name)
        if row.prediction is None and least is not None:
            known = schedule(row.variant.name, lang, view)
            said.append(
                say("compare_over_cap", lang, view, name=known, least=amount(least), cap=amount(found.cap))
            )
    fitting = [row for row in found.rows if row.prediction is not None]
    if not found.case.overhead and fitting and all(
        row.num_micro_batches in (1, max(found.pieces)) for row in fitting
    ):  # fmt: skip
        said.append(say("compare_finest", lang, view))
    return said
