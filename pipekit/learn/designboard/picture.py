"""The board as a still picture and as plain text, for where no kernel is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PIL import Image

from pipekit import plan, show
from pipekit.learn.controlroom import pictures
from pipekit.learn.controlroom.style import WIDTH
from pipekit.learn.designboard import scene, words
from pipekit.learn.designboard.board import Board
from pipekit.learn.designboard.figures import Figures
from pipekit.learn.experiment import Outcome
from pipekit.show.fonts import drawn_language


def still(
    board: Board, outcome: Outcome | None, tick: float, lang: str, view: str, above: str = ""
) -> Image.Image:
    """The designed grid as dashed frames, and what was measured below it.

    Args:
        tick: seconds that a designed tick lasts in the measured run. above: a line of words over it.
    """
    designed = board.timeline()
    spans = designed.spans
    scaled = plan.Spans(spans.codes, spans.devices, spans.starts * tick, spans.ends * tick)
    timelines = [replace(designed, spans=scaled, unit="s")]
    timelines += [] if outcome is None else [outcome.timeline]
    captions = words.captions(outcome, drawn_language(lang), view)
    columns = scene.num_columns(board)
    image = show.paint(
        timelines, lang=lang, view=view, column=tick, num_slots=columns, captions=captions, dashed=True,
        legend=bool(board.starts), width=WIDTH - 4,
    )  # fmt: skip
    return pictures.stack(image, [], above, lang)


def in_words(
    board: Board, found: Figures, outcome: Outcome | None, said: Sequence[str], lang: str, view: str
) -> str:
    """The same in letters: the grid, its numbers, what was said, and what was measured."""
    grid = [str(board.timeline()), ""] if board.starts else []
    numbers = [f"{name}: {value}" for name, value in words.rows(found, lang, view)]
    ran = [] if outcome is None else [show.devices_line(outcome.timeline, lang), str(outcome.timeline)]
    return "\n".join([*grid, *numbers, *[each for each in said if each], *ran])
