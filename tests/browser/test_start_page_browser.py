"""The start page and an exercise in a real lab: links open notebooks, progress is what was done, hints fold."""

import json

import pytest
from conftest import LATE, SOON

from pipekit.launcher.places import COPIES
from pipekit.learn.exercises import results
from pipekit.show import say


def address(url, name):
    """Of another notebook in the same folder."""
    return url.replace("control-room", name)


def run_cells(page, count):
    """Run that many cells from the first, as a learner does."""
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=LATE)
    page.wait_for_function(
        "() => document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle'",
        timeout=LATE,
    )
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Escape")
    for _ in range(count):
        page.keyboard.press("Shift+Enter")


@pytest.fixture
def folder(starter):
    return starter.places.root / COPIES["zh"]


def test_the_first_page_opens_an_exercise_and_shows_what_was_solved(opening, pages, folder, screenshot):
    url, _ = opening
    page = pages()
    page.goto(address(url, "start"))
    link = page.locator(".jp-OutputArea a", has_text=say("exercise_count_cells_title", "zh")).or_(
        page.locator(".jp-OutputArea a[href*='exercises.ipynb']")
    )
    link.first.wait_for(timeout=LATE)
    page.screenshot(path=screenshot.folder / "zh-start.png")
    results.record("count_cells", True, "", folder)

    exercise = pages()
    exercise.goto(address(url, "exercises"))
    hint = exercise.locator("summary", has_text=say("exercise_hint", "zh", number=1)).first
    hint.wait_for(timeout=LATE)
    hint.scroll_into_view_if_needed()
    hint.click()
    exercise.get_by_text(say("exercise_count_cells_hint_1", "zh")).wait_for(timeout=SOON)
    assert hint.bounding_box()["height"] >= 44
    exercise.screenshot(path=screenshot.folder / "zh-hint.png")

    run_cells(page, 2)
    page.get_by_text(say("start_solved", "zh", solved=1, total=15)).wait_for(timeout=LATE)
    page.get_by_text(say("start_opened", "zh"), exact=True).first.wait_for(timeout=SOON)
    page.screenshot(path=screenshot.folder / "zh-start-after.png")
    assert json.loads((folder / results.FILE).read_text(encoding="utf-8"))["task"] == "count_cells"
