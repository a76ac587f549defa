"""The comparison panel in a real lab, 1280 wide: knobs move the picture, training replaces it, nothing is cut off."""

import json

import pytest
from conftest import LATE, SOON
from eyes import FAINT, NULL_TITLES, OVERLAPS
from setup_folder import notebook

from pipekit.launcher import copies
from pipekit.launcher.lab import page_of, run_cells_first
from pipekit.launcher.words import Voice
from pipekit.show import say

CONTRAST = 4.5
PANEL = """from pipekit.learn import ComparisonPanel

panel = ComparisonPanel(lang="{lang}", num_micro_batches=7)
panel"""
# What reaches over the panel's right edge, or over the window's.
CUT_OFF = """() => { const panel = document.querySelector('.pipekit-compare');
    const edge = Math.min(panel.getBoundingClientRect().right, innerWidth) + 1;
    return [...panel.querySelectorAll('button, select, input, img, td, th, .widget-html-content > *')]
        .filter(each => each.checkVisibility() && each.tagName !== 'STYLE' && each.getBoundingClientRect().right > edge)
        .map(each => [each.innerText || each.tagName, each.getBoundingClientRect().right, edge]); }"""


class Compared:
    """A page with the comparison on it."""

    def __init__(self, page, lang):
        self.page, self.lang, self.panel = page, lang, page.locator(".pipekit-compare")

    def button(self, key):
        words = say(key, self.lang, seconds="").strip(" 秒s")
        return self.panel.locator("button:visible", has_text=words).first

    def source(self):
        return self.panel.locator("img").first.get_attribute("src")

    def said(self, words):
        self.panel.get_by_text(words).first.wait_for(timeout=LATE)

    def look(self):
        """Nothing is cut off, covered, faint or badly named."""
        self.page.wait_for_timeout(400)
        assert self.page.evaluate(CUT_OFF) == []
        assert self.page.evaluate(OVERLAPS) == []
        assert self.page.evaluate(FAINT, CONTRAST) == []
        assert self.page.evaluate(NULL_TITLES) == []


@pytest.fixture
def compared(opening, starter, pages):
    """A function that opens the panel in a language, its cell run beforehand."""

    def opened(lang):
        places, lab, voice = starter.places, starter.lab(), Voice(lang)
        copies.give(places, voice, lang)
        file = copies.control_room(places, lang).with_name("compare.ipynb")
        file.write_text(json.dumps(notebook(PANEL.format(lang=lang))), encoding="utf-8")
        run_cells_first(places, voice, lab, file)
        page = pages(height=1500)
        page.goto(f"{lab.address}{page_of(places, file)}?token={lab.token}")
        page.wait_for_function(
            "() => document.querySelector('.pipekit-compare img')?.naturalWidth > 0", timeout=LATE
        )
        page.wait_for_timeout(1500)  # Lab draws a saved output again once its kernel is connected
        return Compared(page, lang)

    return opened


@pytest.mark.parametrize("lang", ["zh", pytest.param("en", marks=pytest.mark.slow)])
def test_knobs_move_the_picture_and_training_replaces_it(compared, screenshot, lang):
    panel = compared(lang)
    screenshot(panel, "compare-opened")
    panel.look()
    before = panel.source()
    panel.panel.locator(".pipekit-stepper").nth(1).locator("button").last.click()
    panel.page.wait_for_function(
        "was => document.querySelector('.pipekit-compare img').src !== was", arg=before, timeout=SOON
    )
    panel.said("33")
    screenshot(panel, "compare-predicted")

    panel.button("compare_run").click()
    panel.said(
        say("compare_finished", lang, good=5, rest=0, seconds=0).partition(
            "，用了" if lang == "zh" else ", in"
        )[0]
    )
    screenshot(panel, "compare-measured")
    panel.look()

    panel.panel.locator("select").first.select_option(index=1)
    panel.said(say("compare_col_span", lang, "engineer"))
    panel.look()
    screenshot(panel, "compare-engineer")
