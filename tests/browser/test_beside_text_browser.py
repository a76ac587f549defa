"""Panels beside a notebook's text, in a lab that start.py opened: the text stays in sight, and no game is cut off."""

import json

from conftest import LATE
from setup_folder import notebook

from pipekit.launcher import copies
from pipekit.launcher.lab import page_of, run_cells_first
from pipekit.launcher.words import Voice

CELL = """import ipywidgets
from pipekit.learn import ControlRoom
from pipekit.learn.games import ScratchPaperGame

ipywidgets.VBox([ControlRoom("zh"), ScratchPaperGame("zh")])"""
CUT_OFF = """() => [...document.querySelectorAll('.pk-table')]
    .filter(each => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
    .map(each => [each.scrollWidth, each.clientWidth])"""


def test_panels_beside_text_leave_it_in_sight_and_games_fit(opening, starter, pages, screenshot):
    places, lab, voice = starter.places, starter.lab(), Voice("zh")
    copies.give(places, voice, "zh")
    file = copies.copy_called(places, "zh", "beside-text.ipynb")
    file.write_text(json.dumps(notebook(CELL)), encoding="utf-8")
    run_cells_first(places, voice, lab, file)
    page = pages()
    page.goto(f"{lab.address}{page_of(places, file)}?token={lab.token}")
    page.locator(".pk-table").first.wait_for(timeout=LATE, state="attached")
    page.wait_for_timeout(1500)  # Lab draws a saved output again once its kernel is connected
    page.screenshot(path=screenshot.folder / "beside-text.png")
    assert page.locator(".jp-InputArea-editor").first.is_visible()
    page.locator(".pk-table").first.scroll_into_view_if_needed()
    assert page.evaluate(CUT_OFF) == []
