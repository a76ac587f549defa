"""The start page: the course in order, links to what is here, progress from the folder; and the picture's contrast."""

import json
import re
from pathlib import Path

import pytest

from pipekit.learn import StartPage
from pipekit.learn.exercises import TASKS, pictures, results
from pipekit.learn.exercises.keys import NOTEBOOKS

NOTEBOOKS_FOLDER = Path(__file__).resolve().parents[1] / "notebooks"


@pytest.fixture
def folder(tmp_path):
    """A learner's folder beside a course of two notebooks, of which one is here."""
    entries = [
        {
            "name": "exercises",
            "title": ["练习", "Exercises"],
            "question": ["会吗？", "Can you?"],
            "minutes": 25,
        },
        {"name": "a & b", "title": ["甲", "A < B"], "question": ["乙？", "B?"], "minutes": 5},
    ]
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "course.json").write_text(json.dumps(entries), encoding="utf-8")
    mine = tmp_path / "my-class"
    mine.mkdir()
    (mine / "exercises.ipynb").write_text("{}", encoding="utf-8")
    return mine


def test_the_course_is_listed_in_order_and_links_to_what_is_here(folder):
    page = StartPage("en", folder)
    assert [lesson.name for lesson in page.lessons] == ["exercises", "a & b"]
    assert re.findall(r'href="([^"]+)"', page._repr_html_()) == ["exercises.ipynb"]
    assert "A &lt; B" in page._repr_html_()
    assert repr(page).splitlines()[0] == "1. Exercises (25 min): Can you?"


def test_progress_is_what_was_solved_and_reset_begins_anew(folder):
    page = StartPage("en", folder)
    results.record("slot", True, "", folder)
    results.record("count_cells", True, "", folder)
    results.record("recompute", False, "no_recompute", folder)
    assert page.solved == ["count_cells", "slot"]
    assert "2 of 15 solved" in page._repr_html_() and "1 / 8" in page._repr_html_()
    assert page.reset().solved == []
    assert len(list(folder.glob("results-*.jsonl"))) == 1


def test_a_notebook_that_jupyterlab_opened_is_marked(folder):
    assert ">opened<" not in StartPage("en", folder)._repr_html_()
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "a & b-checkpoint.ipynb").write_text("{}", encoding="utf-8")
    assert ">opened<" in StartPage("en", folder)._repr_html_()


@pytest.mark.parametrize("broken", ["", "{", "[1]", '[{"name": "a"}]', "null"])
def test_without_a_course_that_can_be_read_it_says_so(broken, folder):
    (folder / "course.json").write_text(broken, encoding="utf-8")
    (folder.parent / "notebooks" / "course.json").unlink()
    for said in (repr(StartPage("en", folder)), StartPage("en", folder)._repr_html_()):
        assert "was not found" in said


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_committed_folders_list_every_notebook_but_the_start_page_itself(lang):
    page = StartPage(lang, NOTEBOOKS_FOLDER / lang)
    here = {file.stem for file in (NOTEBOOKS_FOLDER / lang).glob("*.ipynb")} - {"start"}
    assert {lesson.name for lesson in page.lessons if lesson.here} == here


def test_every_exercise_is_posed_in_one_notebook():
    assert sorted(task for tasks in NOTEBOOKS.values() for task in tasks) == sorted(TASKS)
    for name, tasks in NOTEBOOKS.items():
        source = (NOTEBOOKS_FOLDER / "en" / f"{name}.ipynb").read_text(encoding="utf-8")
        assert [task for task in TASKS if f'exercises.get(\\"{task}\\"' in source] == list(tasks)


def test_the_filled_grid_is_not_shown_where_it_is_to_be_filled_in():
    assert pictures.empty_grid("en").count(">1</td>") == 1 and ">2</td>" not in pictures.empty_grid("en")
    source = (NOTEBOOKS_FOLDER / "en" / "exercises.ipynb").read_text(encoding="utf-8")
    shown = [
        "".join(cell["outputs"][0]["data"]["text/html"])
        for cell in json.loads(source)["cells"]
        if cell.get("outputs")
    ]
    assert pictures.four_pieces("en") not in "".join(shown)
