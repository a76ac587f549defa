"""Exercises for pencil and paper: numbers, a cut, a grid. What is right is asked of the plan, not written down."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from torch import nn

from pipekit import plan, run
from pipekit.learn.exercises import pictures
from pipekit.learn.exercises.answers import items, judge, listed, number, numbers, wrong_count
from pipekit.learn.exercises.task import Refused, Task
from pipekit.plan import Costs, gpipe

PIECES = (1, 4, 8, 16)
LAYERS, GPUS = 40, 4
CARDS, PEOPLE = 12, 3
LAYER_TIMES = (1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4)
FORWARD_ONLY = Costs(forward=1, backward=0)


def grade_count_cells(answer: Any) -> None:
    """Cells, busy, idle of the mini-batch in one piece: 4 slots a GPU, forward only."""
    relay = plan.simulate(gpipe(GPUS, 1), Costs(forward=4, backward=0))
    cells, busy = round(relay.num_devices * relay.makespan), round(plan.busy_time(relay).sum())
    pieces = plan.simulate(gpipe(GPUS, 4), FORWARD_ONLY)
    cut = round(pieces.num_devices * pieces.makespan)
    judge(
        None,
        numbers(answer, 3),
        [cells, busy, cells - busy],
        {
            "busy_idle_swapped": [cells, cells - busy, busy],
            "cut_grid_counted": [cut, busy, cut - busy],
            "slots_not_cells": [busy, busy / GPUS, busy - busy / GPUS],
            "all_work_at_once": [cells, cells, 0],
        },
    )


def grade_cut_layers(answer: Any) -> None:
    """First and last layer on each GPU, counted from 1."""
    stages = run.partition(nn.Sequential(*(nn.Identity() for _ in range(LAYERS))), GPUS)
    each = [len(stage) for stage in stages]
    lasts = [sum(each[: stage + 1]) for stage in range(GPUS)]
    right = [(last - size + 1, last) for last, size in zip(lasts, each, strict=True)]
    parts = items(answer, GPUS)
    if not any(isinstance(part, Iterable) for part in parts):
        found = numbers(answer, GPUS)
        raise Refused("counts_not_layers" if sum(found) == LAYERS else "not_pairs", listed(found))
    if len(parts) != GPUS:
        raise wrong_count(GPUS, parts)
    rows = [[number(value) for value in items(part, LAYERS)] for part in parts]
    if any(not row for row in rows):
        raise Refused("stage_without_layers")
    if any(row != [row[0] + place for place in range(len(row))] for row in rows if len(row) > 2):
        raise Refused("not_consecutive")
    judge_pairs([(row[0], row[-1]) for row in rows], right)


def judge_pairs(pairs: list[tuple[float, float]], right: list[tuple[int, int]]) -> None:
    """Say what is wrong with (first, last) layer of each GPU."""
    if pairs == right:
        return
    case = ", ".join(f"{first:g}-{last:g}" for first, last in pairs)
    neighbours = list(itertools.pairwise(pairs))
    if pairs == [(first - 1, last - 1) for first, last in right]:
        raise Refused("layers_from_zero", case)
    if any(last == first for (_, last), (first, _) in neighbours):
        raise Refused("border_twice", case)
    if sorted(pairs) == right:
        raise Refused("stages_out_of_order", case)
    ends = pairs[0][0], pairs[-1][1]
    if ends != (1, LAYERS) or any(last + 1 != first for (_, last), (first, _) in neighbours):
        raise Refused("layers_missing", case)
    raise Refused("stages_unequal", case)


def grade_predict_bubble(answer: Any) -> None:
    """The bubble in percent for M = 1, 4, 8, 16 on 4 GPUs; whole percents are near enough."""
    timelines = [plan.simulate(gpipe(GPUS, m), Costs(forward=1, backward=1)) for m in PIECES]
    right = [100 * plan.bubble_fraction(timeline) for timeline in timelines]
    judge(
        [f"M={m}" for m in PIECES],
        numbers(answer, len(PIECES)),
        right,
        {
            "busy_not_idle": [100 - percent for percent in right],
            "shares_not_percent": [percent / 100 for percent in right],
            "idle_by_work": [100 * plan.bubble_overhead(timeline) for timeline in timelines],
            "bubble_stays": [right[0]] * len(PIECES),
            "bubble_by_pieces": [right[0] / m for m in PIECES],
        },
        tolerance=0.51,
    )


def grade_card_times(answer: Any) -> None:
    """When C gets the first card and when all is done: all 12 at once, 4 at a time, one by one."""
    ways = (1, 3, 12)  # pieces
    timelines = [plan.simulate(gpipe(PEOPLE, m), Costs(forward=CARDS / m, backward=0)) for m in ways]
    gets = [min(s.start for s in t.spans if s.op.stage == PEOPLE - 1) for t in timelines]
    done = [t.makespan for t in timelines]
    first_done = [start + CARDS / m for start, m in zip(gets, ways, strict=True)]

    def rows(*columns: list[float]) -> list[float]:
        return [value for row in zip(*columns, strict=True) for value in row]

    parts = items(answer, len(ways) * 2)
    pairs = [items(part, 2) for part in parts] if len(parts) == len(ways) else [parts]
    judge(
        None,
        numbers([value for pair in pairs for value in pair], 2 * len(ways)),
        rows(gets, done),
        {
            "first_card_done": rows(first_done, done),
            "no_overlap": rows(gets, [float(CARDS * PEOPLE)] * len(ways)),
            "only_one_person": rows(gets, [float(CARDS)] * len(ways)),
            "one_card_too_early": rows([start - 1 for start in gets], [end - 1 for end in done]),
            "pairs_swapped": rows(done, gets),
        },
    )


def grade_balance_stages(answer: Any) -> None:
    """How many layers each GPU gets: any cut whose heaviest stage is as light as can be."""
    found = numbers(answer, GPUS)
    best = loads(plan.balance(LAYER_TIMES, GPUS))
    if found == [float(load) for load in best]:
        raise Refused("loads_not_counts")
    if any(count != round(count) or count < 0 for count in found):
        raise Refused("not_whole", listed(found))
    counts = [round(count) for count in found]
    if 0 in counts:
        raise Refused("stage_without_layers")
    if sum(counts) != len(LAYER_TIMES):
        raise Refused("layers_missing", f"{' + '.join(map(str, counts))} = {sum(counts)}")
    heaviest, case = max(loads(counts)), " ".join(f"{load}" for load in loads(counts))
    if heaviest > max(best):
        raise Refused("equal_counts" if len(set(counts)) == 1 else "stage_too_heavy", case)


def loads(counts: list[int]) -> list[int]:
    """The time of each stage that has so many layers."""
    ends = [sum(counts[: stage + 1]) for stage in range(len(counts))]
    return [sum(LAYER_TIMES[end - count : end]) for end, count in zip(ends, counts, strict=True)]


TASKS = (
    Task(
        "count_cells", 4, grade_count_cells, "cells",
        "cells = [..., ..., ...]",
        "cells = [4 * 16, 4 * 4, 4 * 16 - 4 * 4]",
        pictures.relay,
    ),
    Task(
        "cut_layers", 3, grade_cut_layers, "layers",
        "layers = [(1, ...), (..., ...), (..., ...), (..., 40)]",
        "layers = [(1, 10), (11, 20), (21, 30), (31, 40)]",
    ),
    Task(
        "predict_bubble", 6, grade_predict_bubble, "percent",
        "percent = [..., ..., ..., ...]",
        "percent = [100 * 3 / (m + 3) for m in (1, 4, 8, 16)]",
    ),
    Task(
        "card_times", 15, grade_card_times, "times",
        "times = [(..., ...), (..., ...), (..., ...)]",
        "times = [(24, 36), (8, 20), (2, 14)]",
    ),
    Task(
        "balance_stages", 10, grade_balance_stages, "counts",
        "counts = [..., ..., ..., ...]",
        "counts = [5, 3, 2, 2]",
        lambda lang: pictures.bars(LAYER_TIMES, lang),
    ),
)  # fmt: skip
