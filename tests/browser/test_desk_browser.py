"""The desk in a real lab: slider and GPUs by keyboard, the count by mouse; all of it on one projector's screen."""

import json

import pytest
from conftest import LATE
from eyes import FAINT, NULL_TITLES, OVERLAPS
from setup_folder import notebook

from pipekit.launcher import copies
from pipekit.launcher.lab import page_of, run_cells_first
from pipekit.launcher.words import Voice
from pipekit.show import say

PANEL = """from pipekit.learn import DeskPanel

panel = DeskPanel(lang="{lang}")
panel"""
HEIGHT = 535  # pixels that a panel may take at 1280 x 720


class OnDesk:
    """A page with the desk on it."""

    def __init__(self, page, lang):
        self.page, self.lang, self.panel = page, lang, page.locator(".pipekit-room")

    def said(self, key, **numbers):
        self.panel.get_by_text(say(key, self.lang, **numbers)).first.wait_for(timeout=LATE)

    def look(self):
        """Nothing is covered, faint, badly named or cut off."""
        self.page.wait_for_timeout(400)
        assert self.page.evaluate(OVERLAPS) == []
        assert self.page.evaluate(FAINT, 4.5) == []
        assert self.page.evaluate(NULL_TITLES) == []
        assert self.panel.bounding_box()["height"] <= HEIGHT
        edge = self.panel.bounding_box()
        picture = self.panel.locator("img").first.bounding_box()
        assert picture["x"] + picture["width"] <= edge["x"] + edge["width"]


@pytest.fixture
def opened(opening, starter, pages):
    """A function that opens the panel in a language, its cell run beforehand."""

    def open_it(lang):
        places, lab, voice = starter.places, starter.lab(), Voice(lang)
        copies.give(places, voice, lang)
        file = copies.control_room(places, lang).with_name("desk.ipynb")
        file.write_text(json.dumps(notebook(PANEL.format(lang=lang))), encoding="utf-8")
        run_cells_first(places, voice, lab, file)
        page = pages(height=720)
        page.goto(f"{lab.address}{page_of(places, file)}?token={lab.token}")
        page.wait_for_function(
            "() => document.querySelector('.pipekit-room img')?.naturalWidth > 0", timeout=LATE
        )
        page.wait_for_timeout(1500)  # Lab draws a saved output again once its kernel is connected
        return OnDesk(page, lang)

    return open_it


@pytest.mark.parametrize("lang", ["zh", pytest.param("en", marks=pytest.mark.slow)])
def test_a_tower_grows_until_it_does_not_fit_and_is_cut_until_it_does(opened, screenshot, lang):
    desk = opened(lang)
    desk.look()
    handle = desk.panel.locator("[role=slider]").first
    handle.focus()
    for _ in range(3):
        handle.press("ArrowRight")
    desk.said("desk_full", number=1, most=2.05, size=2, unit="MB")
    screenshot(desk, "desk-full")
    desk.panel.locator(".pipekit-stepper input").focus()
    desk.page.keyboard.press("ArrowUp")
    desk.said("desk_fits", most=1.05, size=2, unit="MB")
    desk.panel.get_by_role("button", name=say("desk_count", lang)).click()
    desk.said("desk_counted")
    desk.look()
    screenshot(desk, "desk-counted")
