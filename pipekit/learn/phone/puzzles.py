"""The grids that are filled in by hand: the right answer of every cell, and what to say to every possible answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipekit import plan
from pipekit.show import number, say

IDLE = "-"


@dataclass(frozen=True)
class Puzzle:
    """One grid: who works, on how many pieces; its first cell is given.

    Args:
        name: begins the keys of its words.
        workers: how sentences call them. short: how rows are called, under `corner`.
    """

    name: str
    workers: tuple[str, ...]
    short: tuple[str, ...]
    corner: str
    num_pieces: int

    @cached_property
    def schedule(self) -> plan.Schedule:
        """All pieces, in order, through everybody."""
        return plan.gpipe(len(self.workers), self.num_pieces)

    @cached_property
    def timeline(self) -> plan.Timeline:
        """Who works on what in which slot."""
        return plan.simulate(self.schedule, plan.Costs()).only("F")

    @cached_property
    def answers(self) -> list[list[str]]:
        """(workers, slots): the number of a piece, or `IDLE`."""
        labels = plan.cells(self.timeline, 1.0)
        return [
            [IDLE if label == "." else str(number(int(label.lstrip("F")))) for label in row] for row in labels
        ]


def puzzles(lang: str) -> tuple[Puzzle, ...]:
    """The lesson's two grids: cards in three pieces, GPUs with four."""
    numbers = tuple(number(device) for device in range(4))
    gpus = tuple(say("device", lang, number=each) for each in numbers)
    return (
        Puzzle("cards", tuple("ABC"), tuple("ABC"), "", 3),
        Puzzle("gpus", gpus, tuple(map(str, numbers)), say("phone_fill_corner", lang), 4),
    )


def table(puzzle: Puzzle, lang: str) -> dict[str, Any]:
    """What the page looks up: names, answers, and `said[worker][slot][answer]`, a sentence's place in the list."""
    sentences: list[str] = []

    def place(sentence: str) -> int:
        if sentence not in sentences:
            sentences.append(sentence)
        return sentences.index(sentence)

    answers, choices = puzzle.answers, [*map(str, range(1, puzzle.num_pieces + 1)), IDLE]
    said = [
        [
            {choice: place(reply(puzzle, worker, slot, choice, lang)) for choice in choices}
            for slot in range(len(row))
        ]
        for worker, row in enumerate(answers)
    ]
    return {
        "name": puzzle.name,
        "workers": puzzle.workers,
        "short": puzzle.short,
        "corner": puzzle.corner,
        "choices": choices,
        "answers": answers,
        "said": said,
        "sentences": sentences,
        "idle": sum(row.count(IDLE) for row in answers),
        "busy": sum(len(row) - row.count(IDLE) for row in answers),
        "bubble": f"{plan.bubble_fraction(puzzle.timeline):.0%}",
    }


def reply(puzzle: Puzzle, worker: int, slot: int, choice: str, lang: str) -> str:
    """What to say to an answer, right or wrong: always why."""
    right = puzzle.answers[worker][slot]
    who, before = puzzle.workers[worker], puzzle.workers[max(worker - 1, 0)]
    spans = {span.op: span for span in puzzle.timeline.spans}
    asked = right if choice == IDLE else choice
    words: dict[str, Any] = {"who": who, "before": before, "piece": asked, "right": right}
    if asked == IDLE:  # right: nothing to do in this slot
        last = max(span.end for op, span in spans.items() if op.stage == worker)
        return say("phone_fill_right_end" if slot >= last else "phone_fill_right_start", lang, **words)
    op = plan.Op(plan.Kind.FORWARD, worker, int(asked) - 1)
    waits = plan.needs(op, puzzle.schedule)
    words["given"] = number(round(spans[waits[0]].end) - 1) if waits else 0
    words["slot"] = number(round(spans[op].start))
    if choice == right:
        return say("phone_fill_right" if waits else "phone_fill_right_first", lang, **words)
    if choice == IDLE:
        return say("phone_fill_not_idle" if waits else "phone_fill_not_idle_first", lang, **words)
    if words["slot"] <= slot:
        return say("phone_fill_done_before", lang, **words)
    if slot < words["given"]:
        return say("phone_fill_not_there", lang, **words)
    return say("phone_fill_one_at_a_time", lang, **words)
