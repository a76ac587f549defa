"""What the grid puzzle says: what is to be done, how far it is, what a wrong count is a count of, what it came to."""

from __future__ import annotations

from pipekit.learn.controlroom.guess import parse
from pipekit.learn.designboard.figures import figures
from pipekit.learn.games.grid_puzzle import (
    GUIDED,
    Puzzle,
    best,
    halves_of_the_bubble,
    misconception,
    numbers,
    stars,
)  # fmt: skip
from pipekit.learn.games.table import Line
from pipekit.show import say
from pipekit.show.i18n import WORDS


def begin(puzzle: Puzzle, lang: str) -> Line:
    """What is to be done."""
    pieces, whole = puzzle.num_micro_batches, best("uncut", puzzle.num_stages, puzzle.num_micro_batches)
    aim = "" if puzzle.task in GUIDED else best(puzzle.task, puzzle.num_stages, pieces)
    key = {
        "forward": "puzzle_begin_forward", "uncut": "puzzle_begin_uncut", "gpipe": "puzzle_begin_gpipe",
        "free": "puzzle_begin_free", "split": "puzzle_begin_split",
    }[puzzle.task]  # fmt: skip
    return Line(text=say(key, lang, pieces=pieces, best=aim, whole=whole), tone="plain")


def progress(puzzle: Puzzle, lang: str, right: bool = False) -> Line:
    """How far it is; at the end what it came to. `right`: something was just put or counted, not taken back."""
    if puzzle.solved:
        return Line(
            text=say("game_then", lang).join([_stars(puzzle, lang), *_ended(puzzle, lang)]), tone="good"
        )
    if puzzle.counting and (puzzle.counts or puzzle.task == "uncut"):
        return _counting(puzzle, lang, right)
    if puzzle.counting:
        return Line(text=say("puzzle_now_count", lang), tone="good")
    if not puzzle.board.starts or (puzzle.task in GUIDED and len(puzzle.board.starts) == 1):
        return begin(puzzle, lang)
    key = "puzzle_left" if right else "puzzle_still"
    return Line(text=say(key, lang, count=len(puzzle.missing)), tone="plain")


def _counting(puzzle: Puzzle, lang: str, right: bool) -> Line:
    """Of the numbers that are wrong the first, and why; else what is still to be counted."""
    for what, text in puzzle.counts:
        value = parse(text)
        if what not in puzzle.counted and value is not None:
            why = say(misconception(puzzle, what, int(value)), lang, count=int(value), rows=puzzle.num_stages)
            return Line(text=why, tone="warn")
    if not puzzle.counts:
        return begin(puzzle, lang)
    return Line(text=say("puzzle_count_on" if right else "puzzle_count_still", lang), tone="plain")


def _stars(puzzle: Puzzle, lang: str) -> str:
    won = stars(puzzle)
    return say("puzzle_stars", lang, stars="★" * won + "☆" * (3 - won))


def _ended(puzzle: Puzzle, lang: str) -> list[str]:
    pieces = puzzle.num_micro_batches
    aim = best(puzzle.task, puzzle.num_stages, pieces)
    right = numbers(puzzle)
    if puzzle.task == "uncut":
        share = 100 * right["idle"] / right["cells"]
        used = right["busy"] / puzzle.timeline.makespan
        return [
            say(
                "puzzle_end_uncut", lang, cells=right["cells"], busy_cells=right["busy"], idle=right["idle"],
                total=puzzle.num_stages, busy_gpus=f"{used:g}", percent=f"{share:.0f}",
            )
        ]  # fmt: skip
    if puzzle.task == "forward":
        before, after = halves_of_the_bubble(puzzle.timeline)
        return [
            say(
                "puzzle_end_forward", lang, cells=right["cells"], busy=right["busy"], idle=right["idle"],
                before=before, after=after,
            )
        ]  # fmt: skip
    found = figures(puzzle.board)
    said = [
        say("puzzle_end", lang, slots=found.makespan, best=aim, kept=" / ".join(map(str, found.in_flight)))
    ]
    if found.name is not None and puzzle.task not in GUIDED:
        name = say(found.name, lang, "engineer") if found.name in WORDS else found.name
        said.insert(0, say("design_found", lang, name=name))
    return said
