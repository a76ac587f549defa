"""`python -m pipekit collect DIR`: a class's table from folders as they are handed in, broken ones too."""

import csv
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipekit.cli import main
from pipekit.learn.classroom import collect as collecting
from pipekit.learn.classroom.collect import collect, report, rows_of
from pipekit.learn.exercises import TASKS, results

ROOT = Path(__file__).resolve().parents[1]
NUM_LEARNERS = 60


def hand_in(folder, *verdicts, name=results.FILE):
    """A learner's folder: (task, misconception or "" for passed) one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    for task, wrong in verdicts:
        results.record(task, not wrong, wrong, folder)
    return (folder / results.FILE).rename(folder / name)


@pytest.fixture
def three(tmp_path):
    hand_in(
        tmp_path / "a", ("slot", "slot_one_late"), ("slot", "slot_product"), ("slot", ""), ("slot", "zeros")
    )
    hand_in(tmp_path / "b", ("slot", "slot_one_late"), ("slot", "slot_one_late"))
    hand_in(tmp_path / "c" / "我的课堂", ("slot", ""), ("recompute", "no_recompute"))
    return tmp_path


def row(folder, task):
    return next(each for each in rows_of(collect(folder).learners) if each.task == task)


def test_a_row_counts_learners_and_names_what_most_of_them_believed(three):
    slot = row(three, "slot")
    assert (slot.tried, slot.solved, slot.attempts) == (3, 2, 2)  # solved at the third and at the first try
    assert (slot.wrong, slot.believers) == ("slot_one_late", 2)
    assert row(three, "recompute").solved == 0 and row(three, "recompute").attempts is None


def test_every_exercise_has_its_row_in_the_courses_order(three):
    assert [each.task for each in rows_of(collect(three).learners)] == list(TASKS)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_table_says_it_in_words_and_in_columns(three, lang, capsys):
    assert main(["collect", str(three), "--lang", lang]) == 0
    said = capsys.readouterr().out
    assert ("3 位同学" in said) if lang == "zh" else ("Learners with results: 3" in said)
    lines = said.splitlines()[2:]
    assert len(lines) == 1 + len(TASKS)
    assert len({collecting._width(line[: line.rindex("2  ")]) for line in lines if "2: " in line}) <= 1


def test_the_file_for_a_spreadsheet_has_its_mark_and_the_same_cells(three, tmp_path, capsys):
    file = tmp_path / "班级.csv"
    assert main(["collect", str(three), "--lang", "zh", "--csv", str(file)]) == 0
    assert file.read_bytes().startswith(b"\xef\xbb\xbf")
    head, *rows = csv.reader(file.read_text(encoding="utf-8-sig").splitlines())
    assert len(rows) == len(TASKS) and {len(each) for each in rows} == {len(head)}
    assert "班级.csv" in capsys.readouterr().out


def test_an_empty_folder_is_said_in_words(tmp_path, capsys):
    assert main(["collect", str(tmp_path), "--lang", "en"]) == 1
    assert "no results.jsonl" in capsys.readouterr().out


def test_no_folder_is_said(tmp_path, capsys):
    assert main(["collect", str(tmp_path / "none")]) == 2
    assert "is not a folder" in capsys.readouterr().err


def test_broken_files_and_lines_are_counted_and_left_out(three):
    with open(three / "a" / results.FILE, "ab") as file:
        file.write(b'\xff\xfe not a line\n{"who": "x"')
    (three / "d").mkdir()
    (three / "d" / results.FILE).mkdir()  # a folder of that name is no file
    (three / "e").mkdir()
    (three / "e" / results.FILE).symlink_to(three / "nowhere")
    found = collect(three)
    assert (len(found.learners), found.unread, found.bad_lines) == (3, 1, 2)
    assert "files: 1, lines: 2." in report(found, three, "en")


@pytest.mark.parametrize(
    "line",
    [
        "[]", "null", "{}", '{"who": 1, "time": 2, "task": 3, "passed": 4, "wrong": 5, "attempt": 6}',
        '{"who": "a", "time": "b", "task": "=cmd()", "passed": true, "wrong": "", "attempt": 1}',
        '{"who": "a", "time": "b", "task": "slot", "passed": 1, "wrong": "", "attempt": 1}',
        '{"who": "a", "time": "b", "task": "slot", "passed": true, "wrong": "", "attempt": 1, "name": "c"}',
    ],
)  # fmt: skip
def test_what_is_no_result_is_no_result(line):
    assert results.parsed(line) is None


def test_results_of_a_newer_pipekit_are_shown_by_their_key(tmp_path):
    hand_in(tmp_path / "a", ("tomorrows_task", "new_belief"))
    assert "tomorrows_task" in report(collect(tmp_path), tmp_path, "zh")


def test_files_handed_in_under_other_names_are_learners_too(tmp_path):
    for name in ("1.jsonl", "2.jsonl"):
        hand_in(tmp_path, ("slot", ""), name=name)
    assert row(tmp_path, "slot").tried == 2


def test_a_folder_handed_in_twice_is_one_learner(three):
    shutil.copytree(three / "a", three / "a again")
    hand = three / "a again"
    results.record("slot", True, "", hand)
    assert len(collect(three).learners) == 3
    assert (row(three, "slot").tried, row(three, "slot").attempts) == (3, 2)


def test_folders_copied_from_a_used_one_are_different_learners_and_its_beginning_is_nobodys(tmp_path):
    hand_in(tmp_path / "teacher", ("count_cells", ""))
    for learner in ("a", "b"):
        shutil.copytree(tmp_path / "teacher", tmp_path / learner)
        results.record("slot", False, f"belief_{learner}", tmp_path / learner)
    shutil.rmtree(tmp_path / "teacher")
    assert row(tmp_path, "slot").tried == 2 and row(tmp_path, "count_cells").tried == 0


def test_neither_environments_nor_hidden_folders_are_looked_through(tmp_path):
    for place in (".venv", "node_modules", "a/.ipynb_checkpoints"):
        hand_in(tmp_path / place, ("slot", ""))
    assert collect(tmp_path).num_files == 0


@pytest.fixture
def sixty(tmp_path):
    """A class as it is: every learner tried every task up to six times."""
    dice = random.Random(0)
    for learner in range(NUM_LEARNERS):
        lines = []
        for task in TASKS:
            for attempt in range(1, dice.randint(2, 7)):
                passed = dice.random() < 0.4
                wrong = "" if passed else dice.choice(["zeros", "numbers_differ", "raised"])
                result = results.Result(
                    f"{learner:08x}", "2026-01-01T00:00:00Z", task, passed, wrong, attempt
                )
                lines.append(json.dumps(vars(result)))
        folder = tmp_path / f"learner {learner}" / "my-class"
        folder.mkdir(parents=True)
        (folder / results.FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_sixty_folders_are_read_once_each(sixty, monkeypatch):
    """Seconds depend on the machine, so what is held here is the number of files opened: one a learner."""
    opened = []
    monkeypatch.setattr(collecting, "lines_of", lambda path: opened.append(path) or results.lines_of(path))
    found = collect(sixty)
    assert len(found.learners) == len(opened) == len(set(opened)) == NUM_LEARNERS
    assert all(each.tried == NUM_LEARNERS for each in rows_of(found.learners))
    assert report(found, sixty, "zh").count("\n") == 1 + 1 + len(TASKS)


def test_sixty_folders_need_neither_torch_nor_what_draws(sixty):
    """These take seconds to load, as long as all the rest together; the table has no use for them."""
    command = [sys.executable, "-X", "importtime", "-m", "pipekit", "collect", str(sixty), "--lang", "en"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    loaded = {line.rpartition("|")[2].strip() for line in answer.stderr.splitlines()}
    assert "pipekit.learn.classroom.collect" in loaded  # it does list what is loaded
    assert loaded & {"torch", "matplotlib", "PIL", "ipywidgets", "IPython", "anywidget"} == set()
    assert answer.stdout.strip() == report(collect(sixty), sixty, "en")


def test_one_learner_is_not_learners(tmp_path):
    hand_in(tmp_path / "a", ("slot", ""))
    assert "Learners with results: 1\n" in report(collect(tmp_path), tmp_path, "en")


# -- what may be handed in


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_and_a_device_are_not_waited_for(three):
    os.mkfifo(three / "a" / "b.jsonl")
    (three / "d").mkdir()
    os.mkfifo(three / "d" / results.FILE)
    (three / "endless.jsonl").symlink_to("/dev/zero")
    found = collect(three)
    assert (len(found.learners), found.unread) == (3, 2)
    with pytest.raises(OSError, match="not a file"):
        results.record("slot", True, "", three / "d")


def test_an_editors_mark_at_the_beginning_costs_no_line(tmp_path):
    file = hand_in(tmp_path / "a", ("slot", ""))
    file.write_text(file.read_text(encoding="utf-8"), encoding="utf-8-sig")
    found = collect(tmp_path)
    assert (len(found.learners), found.bad_lines) == (1, 0)


def test_thousands_of_made_up_tasks_are_counted_in_a_moment(tmp_path):
    """Each row once looked through everything: minutes for one file."""
    line = json.loads((hand_in(tmp_path / "a", ("slot", ""))).read_text(encoding="utf-8"))
    made_up = "\n".join(json.dumps({**line, "task": f"t{number}"}) for number in range(20_000))
    (tmp_path / "a" / results.FILE).write_text(made_up, encoding="utf-8")
    begin = time.process_time()
    assert len(rows_of(collect(tmp_path).learners)) == 20_000 + len(TASKS)
    assert time.process_time() - begin < 4
