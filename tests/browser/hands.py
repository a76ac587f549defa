"""Hands that play a game in a real lab, with a mouse, with a finger or with keys alone; and the page that it lies on."""

import json

import pytest
from conftest import LATE, SOON
from eyes import FAINT, NULL_TITLES, OVERLAPS, SCROLLS, SMALL_WORDS
from setup_folder import notebook

from pipekit.launcher import copies
from pipekit.launcher.lab import page_of, run_cells_first
from pipekit.launcher.words import Voice
from pipekit.show import say

PROJECTOR, LARGE = (
    {"width": 1280, "height": 595},
    {"width": 1920, "height": 955},
)  # in a window of 720, of 1080
TOUCH, SMALLEST, CONTRAST = 44, 15, 4.5
SMALL_TARGETS = """least => [...document.querySelectorAll('.pipekit-room :is(button, select, input)')]
    .filter(each => each.checkVisibility({visibilityProperty: true}))
    .map(each => [each.title || each.innerText, each.getBoundingClientRect()])
    .filter(([words, box]) => box.height < least - 0.5 || box.width < least - 0.5)
    .map(([words, box]) => [words, box.width, box.height])"""
SIDES = (("y", "height"), ("x", "width"))
COMES_BEFORE = """each => document.activeElement !== document.body
    && Boolean(each.compareDocumentPosition(document.activeElement) & Node.DOCUMENT_POSITION_FOLLOWING)"""
FOCUSED = "() => document.activeElement?.dataset?.key ?? null"


SIZES = [
    pytest.param("zh", PROJECTOR),
    pytest.param("en", PROJECTOR, marks=pytest.mark.slow),
    pytest.param("zh", LARGE, marks=pytest.mark.slow),
    pytest.param("en", LARGE, marks=pytest.mark.slow),
]


class Mouse:
    """Presses and drags."""

    def __init__(self, game):
        self.game, self.page = game, game.page

    def press(self, what):
        what.click()

    def put(self, chip, cell):
        chip.drag_to(cell)

    def choose(self, menu, words):
        """Take a menu's choice that says this: the list that opens is the browser's own."""
        self.press(menu)
        menu.select_option(label=words)
        self.page.keyboard.press("Escape")

    def type(self, field, text):
        field.fill(text)
        field.press("Enter")


class Finger(Mouse):
    """Taps."""

    def press(self, what):
        what.tap()

    def put(self, chip, cell):
        if chip.get_attribute("aria-pressed") != "true":
            chip.tap()
        cell.tap()

    def type(self, field, text):
        field.tap()
        super().type(field, text)


class Keys(Mouse):
    """Only keys: Tab from thing to thing, arrows on a table, Enter."""

    def press(self, what):
        self.tab_to(what)
        self.page.keyboard.press("Enter")

    def tab_to(self, what):
        """Tab, or Shift and Tab where it comes before what has the focus."""
        key = "Shift+Tab" if what.evaluate(COMES_BEFORE) else "Tab"
        for _ in range(60):
            if what.evaluate("each => each === document.activeElement"):
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"{key} never came to {what}")

    def choose(self, menu, words):
        self.tab_to(menu)
        options = [
            " ".join(each.split()) for each in menu.locator("option").all_inner_texts()
        ]  # no-break spaces
        goal = options.index(words)
        for _ in options:
            here = menu.evaluate("each => each.selectedIndex")
            if here == goal:
                return
            self.page.keyboard.press("ArrowDown" if here < goal else "ArrowUp")
            self.page.wait_for_timeout(200)
        raise AssertionError(f"the arrows never came to {words}")

    def put(self, chip, cell):
        if chip.get_attribute("aria-pressed") != "true":
            self.walk(chip)
            self.page.keyboard.press("Enter")
        self.walk(cell)
        self.page.keyboard.press("Enter")

    def walk(self, target):
        """Arrows towards a thing on the table, which Tab brought the hand to."""
        if self.page.evaluate(FOCUSED) is None:
            self.game.table.locator("[tabindex='0']").first.focus()
        goal, box, tried = target.get_attribute("data-key"), target.bounding_box(), set()
        for _ in range(60):
            key = self.page.evaluate(FOCUSED)
            if key == goal:
                return
            here = self.game.at(key).bounding_box()
            down, right = (box[side] + box[size] / 2 - here[side] - here[size] / 2 for side, size in SIDES)
            ways = ["Down" if down > 0 else "Up"] * (abs(down) > 10) + ["Right" if right > 0 else "Left"]
            way = next((each for each in ways if (key, each) not in tried), ways[-1])
            tried.add((key, way))  # where the straight way is blocked, one goes around
            self.page.keyboard.press(f"Arrow{way}")
        raise AssertionError(f"the arrows never came to {goal}")

    def type(self, field, text):
        if field.get_attribute("data-key"):
            self.walk(field)
        else:
            self.press(field)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")


HANDS = {"mouse": Mouse, "keys": Keys, "finger": Finger}


class Table:
    """A page with games on it; what is looked at is the one that is the panel."""

    def __init__(self, page, lang):
        self.page, self.lang, self.panel = page, lang, page.locator(".pipekit-room")
        self.table = self.panel.locator(".pk-games").last

    def say(self, key, **numbers):
        return say(key, self.lang, **numbers)

    def button(self, key):
        return self.panel.locator("button:visible", has_text=self.say(key)).first

    def at(self, key):
        return self.table.locator(f'[data-key="{key}"]')

    def text(self):
        return self.panel.evaluate(
            "panel => panel.innerText + [...panel.querySelectorAll('[title], [aria-label], [placeholder]')]"
            ".map(each => each.title + each.ariaLabel + each.placeholder).join(' ')"
        )

    def said(self, words):
        self.table.locator("[role=status]", has_text=words).wait_for(timeout=SOON)

    def fits(self):
        """All of it in the window without a scrollbar, readable, with names, large enough for a finger."""
        self.page.wait_for_timeout(200)
        assert self.page.evaluate(SCROLLS) == []
        assert self.page.evaluate(OVERLAPS) == []
        assert self.page.evaluate(SMALL_WORDS, SMALLEST) == []
        assert self.page.evaluate(FAINT, CONTRAST) == []
        assert self.page.evaluate(NULL_TITLES) == []
        assert self.page.evaluate(SMALL_TARGETS, TOUCH) == []


def open_games(starter, pages, lang, size, cell, name="games"):
    """A page with a cell's games, which was run beforehand, in a notebook of this name."""
    places, lab, voice = starter.places, starter.lab(), Voice(lang)
    copies.give(places, voice, lang)
    file = copies.control_room(places, lang).with_name(f"{name}.ipynb")
    copies.write_whole(file, json.dumps(notebook(cell)))
    run_cells_first(places, voice, lab, file)
    page = pages(**size, has_touch=True)
    page.goto(f"{lab.address}{page_of(places, file)}?token={lab.token}")
    page.wait_for_function("() => document.querySelectorAll('.pk-games .pk-item').length > 20", timeout=LATE)
    page.wait_for_timeout(1500)  # Lab draws a saved output again once its kernel is connected
    return page
