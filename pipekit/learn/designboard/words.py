"""What the board says, as HTML and as plain text: pure functions of what is on it and what was measured."""

from __future__ import annotations

import base64
import html
from itertools import groupby

from pipekit import show
from pipekit.learn.controlroom import sentences
from pipekit.learn.controlroom.sentences import Said
from pipekit.learn.designboard.board import Board
from pipekit.learn.designboard.figures import Figures, bubble
from pipekit.learn.designboard.saved import json_of, text_of
from pipekit.learn.designboard.scene import device_name, label
from pipekit.learn.designboard.training import Design
from pipekit.learn.experiment import Outcome
from pipekit.show import say
from pipekit.show.i18n import WORDS

MOST_NAMED = 8  # missing ops that are named, before "…"


def rows(found: Figures, lang: str, view: str) -> list[tuple[str, str]]:
    """(what, how much) of a board's numbers, in words."""
    counts = " / ".join(map(str, found.in_flight))
    share = "–" if found.bubble is None else percent(found.bubble)
    return [
        (say("bubble", lang, view), share),
        (say("design_makespan", lang, view), slots(found.makespan, lang, view)),
        (say("design_in_flight", lang, view), counts),
        (say("design_missing", lang, view), missing(found, lang, view)),
    ]


def slots(count: int, lang: str, view: str) -> str:
    """A number of slots with its unit."""
    return say("amount_slot" if count == 1 else "amount_slots", lang, view, count=count).strip()


def percent(share: float) -> str:
    """A share as it is said here: `42.9%`."""
    return f"{100 * share:.1f}%"


def missing(found: Figures, lang: str, view: str) -> str:
    """What a step still lacks, row by row; the first few of it."""
    if not found.missing:
        return say("design_complete", lang, view)
    rows = groupby(found.missing[:MOST_NAMED], lambda op: op.stage)
    names = [f"{device_name(s, lang, view)} {' '.join(label(op, view) for op in ops)}" for s, ops in rows]
    more = " …" if len(found.missing) > MOST_NAMED else ""
    return say("design_missing_count", lang, view, count=len(found.missing)) + "; ".join(names) + more


def figures_html(found: Figures, lang: str, view: str) -> str:
    """The same as one line of the page."""
    *most, (last, value) = rows(found, lang, view)
    cells = [f"<span>{html.escape(name)} <b>{html.escape(value)}</b></span>" for name, value in most]
    cells.append(f"<span>{html.escape(last)} {html.escape(value)}</span>")
    return f'<div class="pipekit-row">{"".join(cells)}</div>'


def verdict(found: Figures, lang: str, view: str) -> Said:
    """What a whole board is: a known schedule, or one of one's own; nothing while something is missing."""
    if found.missing:
        return Said("")
    if found.name is None:
        return Said(say("design_own", lang, view), "found")
    name = say(found.name, lang, "engineer") if found.name in WORDS else found.name
    return Said(say("design_found", lang, view, name=name), "found")


def trained(board: Board, outcome: Outcome, tick: float, lang: str, view: str) -> list[Said]:
    """Measured beside designed, and whether the result is the uncut model's: that was compared in this very run."""
    designed = board.pushed_left()
    planned = bubble(designed)
    said = say(
        "design_trained", lang, view, measured=sentences.count(outcome.timeline.makespan, tick),
        designed=designed.makespan, bubble=percent(outcome.bubble), planned=percent(planned or 0.0),
    )  # fmt: skip
    return [Said(said), sentences.same(outcome, lang, view)]


def evidence(design: Design, outcome: Outcome | None, tick: float, lang: str, view: str) -> Said:
    """On what it was measured, or would be."""
    return sentences.evidence(design, outcome, round(tick, 4), lang, view)


def talk(said: list[Said]) -> str:
    """Sentences as HTML; a screen reader reads them as they change."""
    tones = {"warn": "pipekit-warn", "refused": "pipekit-refused", "found": "pipekit-found"}
    lines = [
        f'<div class="{tones.get(each.tone, "")}">{html.escape(each.text)}</div>'
        for each in said
        if each.text
    ]
    return f'<div role="status">{"".join(lines)}</div>'


def links(board: Board, lang: str) -> str:
    """Links that save the board: its text, and every tick of it as JSON; both are in the page."""
    if not board.starts:
        return ""
    name = f"design-K{board.num_devices}-M{board.num_micro_batches}"
    files = {".txt": ("text/plain", text_of(board)), ".json": ("application/json", json_of(board))}
    made = []
    for suffix, (kind, content) in files.items():
        data = base64.b64encode(content.encode()).decode("ascii")
        made.append(f'<a download="{name}{suffix}" href="data:{kind};base64,{data}">{suffix[1:].upper()}</a>')
    return say("save_as", lang) + " ".join(made)


def captions(outcome: Outcome | None, lang: str, view: str) -> list[str]:
    """What stands over the designed grid and over the measured one of a still picture."""
    designed = say("design_designed", lang, view)
    return [designed] if outcome is None else [designed, show.devices_line(outcome.timeline, lang)]
