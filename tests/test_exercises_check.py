"""`check()` gives a verdict whatever an answer is or does, and writes it down; `hint()` and `solution()` fold."""

import json
import os
import threading

import pytest

import pipekit.learn.exercises as exercises
from pipekit.learn.exercises import TASKS, exercise, results, timelimit
from pipekit.learn.exercises.exercise import Exercise
from pipekit.learn.exercises.task import Refused

COUNT, SLOT, ORDER, GRID = "count_cells", "slot", "gpipe_order", "fill_grid"


@pytest.fixture
def given(tmp_path):
    """Check an answer to a task."""

    def check(task, answer, lang="en"):
        return Exercise(TASKS[task], lang, tmp_path).check(answer)

    return check


@pytest.fixture
def impatient(monkeypatch):
    """Half a second is enough where nothing is going to come."""
    monkeypatch.setattr(exercise, "SECONDS", 0.5)
    monkeypatch.setattr(timelimit, "GRACE", 0.3)


def still_running():
    return [thread for thread in threading.enumerate() if thread.name == "pipekit-answer"]


class Evil:
    """Everything that may be asked of it fails."""

    def __getattribute__(self, name):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")

    def __iter__(self):
        raise RuntimeError("no")

    def __len__(self):
        raise RuntimeError("no")

    def __eq__(self, other):
        raise RuntimeError("no")

    def __bool__(self):
        raise RuntimeError("no")

    def __float__(self):
        raise RuntimeError("no")

    __hash__ = None


class EvilError(Exception):
    def __str__(self):
        raise RuntimeError("no")


def raises(error):
    def answer(*arguments):
        raise error

    return answer


def forever(*arguments):
    while True:
        pass


def endless(*arguments):
    while True:
        yield 1


released = threading.Event()


def stubborn(*arguments):
    while not released.is_set():
        try:
            while not released.is_set():
                pass
        except BaseException:
            pass


def deep(*arguments):
    return deep(*arguments)


STRANGE = [
    7, "seven", b"seven", {}, [], [[]], [None], object(), Evil(), [Evil()] * 3, float("nan"), [float("nan")] * 3,
    [float("inf")] * 4, [10**400] * 3, [1j, 2, 3], [True, False, True], range(10**12), {"a": 1}, {1, 2, 3}, Ellipsis,
    endless(), iter([]), lambda: 1, print, type, TASKS, "x" * 10**6, [[[[1]]]], "0F0 | 1F0",
]  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_whatever_the_answer_is_there_is_a_verdict_and_it_can_be_shown(task, given):
    for answer in STRANGE:
        verdict = given(task, answer)
        assert not verdict and verdict.wrong
        assert len(repr(verdict)) < 1500 and "role" in verdict._repr_html_()


@pytest.mark.parametrize("task", exercises.IN_CODE)
def test_whatever_a_function_does_there_is_a_verdict(task, given):
    returns = (Evil(), [Evil()] * 4, "x" * 10**6, range(10**12), endless(), float("nan"), [[1] * 9] * 9, type)
    for value in returns:
        assert not given(task, lambda *arguments, value=value: value)
    for error in (
        ValueError("no"),
        EvilError(),
        SystemExit(3),
        KeyboardInterrupt(),
        MemoryError(),
        StopIteration(),
    ):
        assert given(task, raises(error)).wrong == "raised"
    assert given(task, deep).wrong == "raised"
    assert given(task, lambda: 1).wrong == "raised"


class Ending(Exception):
    def __str__(self):
        raise SystemExit


def test_an_error_that_cannot_be_told_is_a_verdict_too(given):
    nowhere = {"__name__": None}  # a function without a module
    exec("def slot(k, m):\n    return k / 0", nowhere)
    assert given(SLOT, nowhere["slot"]).wrong == "raised"
    assert given(SLOT, raises(Ending())).wrong == "raised"
    assert given(SLOT, raises(Refused("nobody_knows"))).wrong == "raised"


def test_a_verdict_stands_where_the_working_folder_is_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(exercise.Path, "cwd", lambda: os.stat(tmp_path / "gone"))
    verdict = Exercise(TASKS[COUNT], "en").check([64, 16, 48])
    assert verdict and "No such file" in verdict.note


def test_an_error_is_told_with_its_line(given):
    def slot(k, m):
        return k / 0

    assert f"ZeroDivisionError: division by zero (line {slot.__code__.co_firstlineno + 1})" in repr(
        given(SLOT, slot)
    )


def test_a_loop_that_never_ends_is_stopped(given, impatient):
    assert given(SLOT, forever).wrong == "too_slow"
    assert given(COUNT, endless()).wrong == "wrong_count"
    assert still_running() == []


def test_a_loop_that_catches_errors_is_stopped_too(given, impatient):
    def careless(k, m):
        while True:
            try:
                while True:
                    abs(k)
            except Exception:
                continue

    assert given(SLOT, careless).wrong == "too_slow"
    assert still_running() == []


def test_code_that_swallows_every_exception_is_left_alone_and_said(given, impatient):
    released.clear()
    try:
        verdict = given(SLOT, stubborn)
        assert len(still_running()) == 1
    finally:
        released.set()
        for thread in still_running():
            thread.join()
    assert verdict.wrong == "too_slow_still_runs" and "restart the kernel" in verdict.words


def test_the_time_limit_works_on_other_threads_too(given, impatient):
    """JupyterLab runs what a page asks for in threads of its own, where no signal comes."""
    verdicts = []
    thread = threading.Thread(target=lambda: verdicts.append(given(SLOT, forever)))
    thread.start()
    thread.join()
    assert verdicts[0].wrong == "too_slow"


def test_an_answer_that_changes_what_it_is_given_changes_no_oracle(given):
    def finish(times, M):
        total = sum(times) + (M - 1) * max(times)
        times.clear()
        return total

    assert given("finish_time", finish)


def test_stopping_the_cell_stops_the_wait_and_the_answer(monkeypatch):
    limited = timelimit.Limited(forever)

    def interrupted(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(limited, "_ends_within", interrupted)
    with pytest.raises(KeyboardInterrupt):
        limited.run(10)
    assert not limited.abandoned


# -- what is written down


def lines(folder):
    return [json.loads(line) for line in (folder / results.FILE).read_text(encoding="utf-8").splitlines()]


def test_every_try_is_written_down_without_a_name(given, impatient, tmp_path):
    given(COUNT, [0, 0, 0])
    given(COUNT, [64, 16, 48])
    given(SLOT, forever)
    first, second, third = lines(tmp_path)
    assert set(first) == {"who", "time", "task", "passed", "wrong", "attempt"}
    assert (first["passed"], first["wrong"], first["attempt"]) == (False, "zeros", 1)
    assert (second["passed"], second["wrong"], second["attempt"]) == (True, "", 2)
    assert (third["task"], third["wrong"], third["attempt"]) == (SLOT, "too_slow", 1)
    assert len({first["who"], second["who"], third["who"]}) == 1 and len(first["who"]) == 8


def test_an_untouched_stub_is_no_try(given, tmp_path):
    assert given(COUNT, [..., ..., ...]).wrong == "unanswered"
    assert list(tmp_path.iterdir()) == []


def test_it_is_written_where_the_notebook_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert exercises.get(COUNT, lang="en").check([64, 16, 48])
    assert lines(tmp_path)[0]["passed"]


@pytest.mark.parametrize("broken", ['{"who": "ab', "\ufeff", "[" * 9000, '{"who": 1}\n\x00\x00', "\n\n"])
def test_a_broken_last_line_harms_no_other(broken, given, tmp_path):
    given(COUNT, [0, 0, 0])
    with open(tmp_path / results.FILE, "a", encoding="utf-8") as file:
        file.write(broken)
    given(COUNT, [64, 16, 48])
    found = list(results.read(tmp_path / results.FILE))
    assert [(each.passed, each.attempt) for each in found] == [(False, 1), (True, 2)]
    assert found[0].who == found[1].who


def test_a_folder_that_cannot_be_written_is_said_and_the_verdict_stands(given, tmp_path):
    (tmp_path / results.FILE).mkdir()
    verdict = given(COUNT, [64, 16, 48])
    assert verdict and "not written down" in verdict.note
    assert verdict.note in repr(verdict) and verdict.note in verdict._repr_html_()


def test_many_kernels_in_one_folder_lose_no_line(tmp_path):
    def one():
        for _ in range(20):
            results.record(COUNT, True, "", tmp_path)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(results.read(tmp_path / results.FILE))) == 80


def test_reset_keeps_what_was_there_under_todays_date(tmp_path):
    assert results.reset(tmp_path) is None
    kept = []
    for _ in range(2):
        results.record(COUNT, True, "", tmp_path)
        kept.append(results.reset(tmp_path))
    assert len({*kept}) == 2 and all(each.exists() for each in kept)
    assert not (tmp_path / results.FILE).exists()


# -- what is shown


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("task", TASKS)
def test_the_problem_shows_and_three_hints_open_one_inside_the_other(task, lang):
    made = exercises.get(task, lang)
    assert made.show()._repr_html_() and made.task.key in repr(made)
    page = made.hint()._repr_html_()
    assert page.count("<details") == page.count("</details>") == 3
    assert page.endswith("</details></details></details></div>")


def test_in_a_terminal_each_call_gives_one_more_hint():
    task = exercises.get(COUNT, lang="en")
    assert [len(repr(task.hint()).splitlines()) for _ in range(4)] == [1, 2, 3, 3]


def test_the_solution_waits_behind_a_fold():
    page = exercises.get(COUNT, lang="en").solution()._repr_html_()
    before, _, after = page.partition("<details")
    assert "16" not in before.replace("font-size:16px", "") and "4 * 16" in after


@pytest.mark.parametrize("task", TASKS)
def test_the_problem_does_not_give_the_answer_away(task):
    made = exercises.get(task, lang="en")
    shown = made.show().html
    assert made._say("right") not in shown and made.task.solution not in shown


def test_an_unknown_exercise_is_said_with_the_known_ones():
    with pytest.raises(KeyError, match="count_cells"):
        exercises.get("nothing", lang="en")


def test_a_verdict_is_a_truth_value():
    """So that `assert task.check(answer)` is all a grading tool needs."""
    assert exercises.Verdict(True, "yes") and not exercises.Verdict(False, "no", "zeros")
