"""The games zoomed to 125 % and 200 %: nothing lies over anything else, all can be reached by scrolling."""

import json

import pytest
from conftest import LATE
from eyes import OUT_OF_REACH, OVERLAPS
from setup_folder import notebook

from pipekit.launcher import copies
from pipekit.launcher.lab import page_of, run_cells_first
from pipekit.launcher.words import Voice
from pipekit.show import say

pytestmark = pytest.mark.slow

GAMES = ("LaundryGame", "CardsGame", "GridPuzzle", "ScratchPaperGame")
CELL = "import ipywidgets\nfrom pipekit.learn import {names}\n\nipywidgets.VBox([{made}])"
ZOOMS = {125: {"width": 1024, "height": 476}, 200: {"width": 640, "height": 297}}  # of 1280 x 595


def only(script):
    """A check of the eyes on the game that fills the window."""
    return script.replace("'.pipekit-room'", "'.pipekit-wide'").replace(".pipekit-room", ".pipekit-wide")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_games_stay_whole_when_zoomed(opening, starter, pages, screenshot, lang):
    places, lab, voice = starter.places, starter.lab(), Voice(lang)
    copies.give(places, voice, lang)
    file = copies.copy_called(places, lang, "zoomed.ipynb")
    made = ", ".join(f'{name}("{lang}")' for name in GAMES)
    file.write_text(json.dumps(notebook(CELL.format(names=", ".join(GAMES), made=made))), encoding="utf-8")
    run_cells_first(places, voice, lab, file)
    page = pages()
    page.goto(f"{lab.address}{page_of(places, file)}?token={lab.token}")
    page.locator(".pk-table").nth(3).wait_for(timeout=LATE, state="attached")
    page.wait_for_timeout(1500)  # Lab draws a saved output again once its kernel is connected
    whole = page.viewport_size
    for index, name in enumerate(GAMES):
        wide = page.locator(".pipekit-game").nth(index).locator("button", has_text=say("wide", lang)).first
        wide.click()
        for percent, window in ZOOMS.items():
            page.set_viewport_size(window)
            page.wait_for_timeout(500)
            page.screenshot(path=screenshot.folder / f"{lang}-{name}-{percent}.png")
            assert page.evaluate(only(OVERLAPS)) == [], (name, percent)
            assert page.evaluate(only(OUT_OF_REACH)) == [], (name, percent)
        page.set_viewport_size(whole)
        wide.click()
