"""Exercises that ask for a function of numbers: which slot, when is all done, how many pieces."""

from __future__ import annotations

import random
from functools import cache
from math import sqrt
from typing import Any

from pipekit import plan
from pipekit.learn.exercises import pictures
from pipekit.learn.exercises.answers import function, judge, number
from pipekit.learn.exercises.task import Refused, Task
from pipekit.plan import Costs, gpipe

MOST_PIECES = 64  # that the best number is looked for among
NEAR_ENOUGH = 1.01  # of the best time: the curve is flat around it, and roots are rounded
OVERHEADS = (  # (K, alpha, beta), the lesson's first; in the last one piece is best
    (4, 0.003, 0.4),
    (2, 0.01, 0.9),
    (3, 0.02, 0.25),
    (8, 0.001, 0.1),
    (4, 0.5, 0.1),
)


def grade_slot(answer: Any) -> None:
    """In which slot GPU k works on piece m, all counted from 1."""
    slot = function(answer)
    width = 9
    forward = plan.simulate(gpipe(6, width), Costs(forward=1, backward=0))
    starts = {(s.op.stage + 1, s.op.micro_batch + 1): s.start + 1 for s in forward.spans if s.op.kind == "F"}
    telling = [(1, 1), (2, 3), (4, 4), (3, 1)]  # asked first: the case that a refusal shows
    asked = list(dict.fromkeys([*telling, *sorted(starts)]))
    judge(
        [f"k={k}, m={m}" for k, m in asked],
        [number(slot(k, m)) for k, m in asked],
        [starts[pair] for pair in asked],
        {
            "slot_one_late": [k + m for k, m in asked],
            "slot_one_early": [k + m - 2 for k, m in asked],
            "slot_product": [k * m for k, m in asked],
            "slot_only_piece": [m for _, m in asked],
            "slot_only_gpu": [k for k, _ in asked],
            "slot_relay": [4 * (k - 1) + m for k, m in asked],
        },
        partly="only_one_case",
    )


def grade_finish_time(answer: Any) -> None:
    """When all pieces are through: `times` of one piece on each GPU, M pieces, forward only."""
    finish = function(answer)
    dice = random.Random()
    asked = [([1, 1, 1, 1], 4), ([2, 1, 4], 12), ([5, 2, 2, 3], 1)]
    asked += [
        ([dice.randint(1, 9) for _ in range(dice.randint(2, 6))], dice.randint(2, 12)) for _ in range(6)
    ]
    asked += [([1, 6, 2, 3], 5)]  # neither the first nor the last is the slowest
    judge(
        [f"times={times}, M={m}" for times, m in asked],
        [number(finish(list(times), m)) for times, m in asked],
        [
            plan.simulate(gpipe(len(times), m), Costs(forward=times, backward=0)).makespan
            for times, m in asked
        ],
        {
            "finish_relay": [m * sum(times) for times, m in asked],
            "finish_no_fill": [m * max(times) for times, m in asked],
            "finish_all_slowest": [(m + len(times) - 1) * max(times) for times, m in asked],
            "finish_first_piece": [sum(times) for times, _ in asked],
            "finish_last_gpu": [sum(times) + (m - 1) * times[-1] for times, m in asked],
            "finish_mean": [sum(times) + (m - 1) * sum(times) / len(times) for times, m in asked],
            "finish_one_too_many": [sum(times) + m * max(times) for times, m in asked],
        },
        partly="only_one_case",
    )


@cache
def step_time(num_stages: int, alpha: float, beta: float, pieces: int) -> float:
    """One step, forward and back together alpha + beta / M a piece and stage: (M + K - 1)(alpha + beta / M)."""
    half = Costs(forward=beta / 2, backward=beta / 2, overhead=alpha / 2)
    return plan.simulate(gpipe(num_stages, pieces), half, sizes=[1 / pieces] * pieces).makespan


def grade_best_pieces(answer: Any) -> None:
    """How many pieces are quickest; up to 1 % slower than the best is right."""
    best = function(answer)
    asked = [(k, alpha, beta) for k, alpha, beta in OVERHEADS]
    cases = [f"K={k}, alpha={alpha:g}, beta={beta:g}" for k, alpha, beta in asked]
    found = [number(best(*numbers)) for numbers in asked]
    shown = [f"{case}: {pieces:g}" for case, pieces in zip(cases, found, strict=True)]
    times = [
        min(step_time(*numbers, pieces) for pieces in range(1, MOST_PIECES + 1)) * NEAR_ENOUGH
        for numbers in asked
    ]
    beliefs = {
        "root_forgotten": [beta * (k - 1) / alpha for k, alpha, beta in asked],
        "gpus_forgotten": [sqrt(beta / alpha) for k, alpha, beta in asked],
        "upside_down": [sqrt(alpha * (k - 1) / beta) for k, alpha, beta in asked],
        "always_four_k": [4.0 * k for k, *_ in asked],
        "always_one": [1.0] * len(asked),
    }
    for name, believed in beliefs.items():
        if all(max(1, round(a)) == max(1, round(b)) for a, b in zip(found, believed, strict=True)):
            raise Refused(name, shown[0])
    for (k, alpha, beta), pieces, limit, case in zip(asked, found, times, shown, strict=True):
        if pieces < 1:
            raise Refused("no_pieces", case)
        if pieces != round(pieces):
            raise Refused("not_whole", case)
        if pieces > 8 * MOST_PIECES:
            raise Refused("as_many_as_possible", case)
        if step_time(k, alpha, beta, round(pieces)) > limit:
            raise Refused("not_the_best", case)


TASKS = (
    Task(
        "slot", 5, grade_slot, "slot",
        "def slot(k, m):\n    return ...",
        "def slot(k, m):\n    return k + m - 1",
        pictures.four_pieces,
    ),
    Task(
        "finish_time", 10, grade_finish_time, "finish",
        "def finish(times, M):\n    return ...",
        "def finish(times, M):\n    return sum(times) + (M - 1) * max(times)",
        pictures.slow_stage,
    ),
    Task(
        "best_pieces", 8, grade_best_pieces, "best",
        "def best(K, alpha, beta):\n    return ...",
        "from math import sqrt\n\n\ndef best(K, alpha, beta):\n"
        "    return max(1, round(sqrt(beta * (K - 1) / alpha)))",
    ),
)  # fmt: skip
