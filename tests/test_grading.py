"""`notebooks/GRADING.md`: its examples do what it says, without the tools that they are for."""

import doctest
import re
from pathlib import Path

import pytest

from pipekit.learn.exercises import TASKS, exercise

GUIDE = Path(__file__).resolve().parents[1] / "notebooks" / "GRADING.md"
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
PROBLEM, ANSWER, GRADE, OTTER = BLOCKS
WRONG = "def order(K, M):\n    return [' '.join(f'{s}F{m}' for m in range(M)) for s in range(K)]"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def as_handed_out(answer):
    """What nbgrader gives a learner in place of the solution."""
    return re.sub(
        r" *### BEGIN SOLUTION.*### END SOLUTION", "    raise NotImplementedError()", answer, flags=re.DOTALL
    )


def graded(answer):
    """Run the three cells one after the other."""
    names = {}
    for cell in (PROBLEM, answer, GRADE):
        exec(cell, names)


def test_the_nbgrader_cells_pass_with_the_solution():
    graded(ANSWER)


def test_they_fail_with_the_misconception_as_the_message():
    with pytest.raises(AssertionError, match="只有往前算"):
        graded(WRONG)


def test_they_fail_as_handed_out():
    with pytest.raises(AssertionError, match="NotImplementedError"):
        graded(as_handed_out(ANSWER))


def failures(answer):
    """How many cases of the otter test fail: each is a doctest in the names of the learner's notebook."""
    names = {}
    exec(OTTER, names)
    exec(answer, names)
    count = 0
    for suite in names["test"]["suites"]:
        for number, case in enumerate(suite["cases"]):
            test = doctest.DocTestParser().get_doctest(case["code"], dict(names), f"case {number}", None, 0)
            count += doctest.DocTestRunner(verbose=False).run(test, out=lambda text: None).failed
    return count


def test_the_otter_test_passes_with_the_solution_and_fails_without():
    assert [failures(answer) for answer in (ANSWER, WRONG, as_handed_out(ANSWER))] == [0, 1, 1]


def test_what_it_says_of_names_and_time_is_so():
    words = GUIDE.read_text(encoding="utf-8")
    assert f"最多 {exercise.SECONDS:g} 秒" in words and f"at most {exercise.SECONDS:g} seconds" in words
    assert "gpipe_order" in TASKS
