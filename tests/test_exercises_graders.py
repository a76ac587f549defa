"""Graders: what they accept, what they refuse, and that they name the misconception."""

import re
from pathlib import Path

import exercise_answers
import pytest

import pipekit.learn.exercises as exercises
from pipekit.learn.exercises import TASKS, scratch_plan
from pipekit.learn.exercises.gradients import broken
from pipekit.learn.games.scratch import optimum
from pipekit.show.i18n import WORDS

RIGHT, WRONG, MORE_WRONG = exercise_answers.RIGHT, exercise_answers.WRONG, exercise_answers.MORE_WRONG
REFUSALS = [(task, answer, wrong) for task, many in WRONG.items() for wrong, answer in many.items()]


def check(task, answer, folder, lang="en"):
    return exercises.Exercise(TASKS[task], lang, folder).check(answer)


def run(source):
    names = {}
    exec(source, names)
    return names


@pytest.mark.parametrize("task", TASKS)
def test_the_solution_is_right_and_the_stub_is_no_answer(task, tmp_path):
    made = TASKS[task]
    assert check(task, run(made.solution)[made.name], tmp_path)
    assert check(task, run(made.stub)[made.name], tmp_path).wrong == "unanswered"


@pytest.mark.parametrize(
    ("task", "index"), [(task, i) for task, many in RIGHT.items() for i in range(len(many))]
)
def test_right_answers_may_be_written_differently(task, index, tmp_path):
    verdict = check(task, RIGHT[task][index], tmp_path)
    assert verdict, verdict


@pytest.mark.parametrize(
    ("task", "answer", "wrong"),
    [*REFUSALS, *MORE_WRONG],
    ids=lambda part: part if isinstance(part, str) and " " not in part else "",
)
def test_a_wrong_answer_is_refused_and_its_misconception_named(task, answer, wrong, tmp_path):
    assert check(task, answer, tmp_path).wrong == wrong


@pytest.mark.parametrize("task", TASKS)
def test_every_grader_has_a_different_right_answer_and_at_least_four_wrong_ones(task):
    assert RIGHT[task] and len(WRONG[task]) >= 4


def test_every_misconception_has_words_and_every_words_a_grader():
    folder = Path(exercises.__file__).parent
    sources = "".join(file.read_text(encoding="utf-8") for file in folder.glob("*.py"))
    refused = set(re.findall(r'Refused\(\s*"([a-z_0-9]+)"', sources))
    assert {f"wrong_{each}" for each in refused} <= WORDS.keys()
    assert {f"wrong_{wrong}" for _, _, wrong in REFUSALS} <= WORDS.keys()


def test_the_models_that_break_transparency_are_those_with_the_pieces_own_statistics():
    assert broken() == {"C", "F"}


def test_fourteen_is_the_optimum_for_three_cells():
    """By the dynamic programme that the game itself is tested with."""
    assert optimum(9, scratch_plan.CELLS) == 14


LATIN = re.compile(r"[A-Za-z]{4,}")
CODE = {
    "GPipe",
    "PyTorch",
    "LayerNorm",
    "GroupNorm",
    "times",
    "alpha",
    "beta",
    "grad",
    "backward",
    "zero",
    "check",
}


@pytest.mark.parametrize("task", (*exercises.BY_HAND, "slot", "finish_time", "best_pieces", "recompute"))
def test_a_chinese_verdict_has_no_english_in_it(task, tmp_path):
    for wrong, answer in WRONG[task].items():
        if wrong not in (
            "raised",
            "not_a_number",
            "unreadable_move",
        ):  # there the learner's own words are quoted
            words = check(task, answer, tmp_path, "zh").words
            assert {*LATIN.findall(words)} <= CODE, words
