"""The laundry and the grid puzzle in a real lab, each played to its end by mouse, by keyboard and by finger."""

import json

import pytest
from conftest import LATE, SOON
from eyes import FAINT, NULL_TITLES, OVERLAPS, SCROLLS, SMALL_WORDS
from setup_folder import notebook

from pipekit.launcher import copies
from pipekit.launcher.lab import page_of, run_cells_first
from pipekit.launcher.words import Voice
from pipekit.learn.games.grid_puzzle import Puzzle
from pipekit.show import say

CELL = """import ipywidgets
from pipekit.learn.games import GridPuzzle, LaundryGame

games = [LaundryGame("{lang}"), GridPuzzle("{lang}")]
for game in games:
    game.wide = True
ipywidgets.VBox(games)"""
GAMES = ("laundry", "puzzle")
PROJECTOR, LARGE = (
    {"width": 1280, "height": 595},
    {"width": 1920, "height": 955},
)  # in a window of 720, of 1080
TOUCH, SMALLEST, CONTRAST = 44, 15, 4.5
# Only one game is the panel that the eyes look at, and only it fills the window.
ONLY = """which => document.querySelectorAll('.pipekit-game').forEach((game, index) => {
    game.style.display = index === which ? '' : 'none';
    game.classList.toggle('pipekit-room', index === which); })"""
SMALL_TARGETS = """least => [...document.querySelectorAll('.pipekit-room :is(button, select, input)')]
    .filter(each => each.checkVisibility({visibilityProperty: true}))
    .map(each => [each.title || each.innerText, each.getBoundingClientRect()])
    .filter(([words, box]) => box.height < least - 0.5 || box.width < least - 0.5)
    .map(([words, box]) => [words, box.width, box.height])"""
SIDES = (("y", "height"), ("x", "width"))
FOCUSED = "() => document.activeElement?.dataset?.key ?? null"


class Mouse:
    """Presses and drags."""

    def __init__(self, game):
        self.game, self.page = game, game.page

    def press(self, what):
        what.click()

    def put(self, chip, cell):
        chip.drag_to(cell)

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
        for _ in range(60):
            if what.evaluate("each => each === document.activeElement"):
                break
            self.page.keyboard.press("Tab")
        else:
            raise AssertionError(f"Tab never came to {what}")
        self.page.keyboard.press("Enter")

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
    """A page with both games on it, of which one is in view."""

    def __init__(self, page, lang):
        self.page, self.lang, self.panel = page, lang, page.locator(".pipekit-room")
        self.table = self.panel.locator(".pk-games").last

    def show(self, game):
        self.page.evaluate(ONLY, GAMES.index(game))
        self.page.wait_for_timeout(200)

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


@pytest.fixture
def open_table(opening, starter, pages):
    """A function that opens a page with both games in a language, their cell run beforehand."""

    def opened(lang, size):
        places, lab, voice = starter.places, starter.lab(), Voice(lang)
        copies.give(places, voice, lang)
        file = copies.control_room(places, lang).with_name("games.ipynb")
        copies.write_whole(file, json.dumps(notebook(CELL.format(lang=lang))))
        run_cells_first(places, voice, lab, file)
        page = pages(**size, has_touch=True)
        page.goto(f"{lab.address}{page_of(places, file)}?token={lab.token}")
        page.wait_for_function(
            "() => document.querySelectorAll('.pk-games .pk-item').length > 20", timeout=LATE
        )
        page.wait_for_timeout(1500)  # Lab draws a saved output again once its kernel is connected
        return Table(page, lang)

    return opened


def play_laundry(game, hand):
    """Guess, then the line to its end; before the guess 180 is nowhere."""
    game.said({"zh": "0 到 30", "en": "0 to 30 min"}[game.lang])
    assert "180" not in game.text()
    hand.press(game.button("laundry_line"))
    game.said(game.say("laundry_locked"))
    hand.type(game.panel.locator("input[type=text]").first, "200")
    hand.press(game.button("guess_done"))
    for slot in range(6):
        minutes = 30 * slot
        game.said(f"{minutes} 到 {minutes + 30}" if game.lang == "zh" else f"{minutes} to {minutes + 30} min")
        hand.press(game.button("laundry_forward"))
    game.said(game.say("laundry_line_done", total=180, other=360, saved=180))
    game.said("200")


def play_puzzle(game, hand):
    """The lesson's grid: one mistake, then every cell, then count."""
    game.said(game.say("puzzle_begin_forward", pieces=4))
    hand.put(game.at("chip:F0"), game.at("cell:1:0"))
    game.said({"zh": "不行：", "en": "No: "}[game.lang])
    puzzle = Puzzle.of("forward")
    while (found := puzzle.hint()) is not None:
        op, tick = found
        hand.put(game.at(f"chip:F{op.micro_batch}"), game.at(f"cell:{op.stage}:{tick}"))
        puzzle = puzzle.put(op, tick)
        if puzzle.missing:
            game.said(game.say("puzzle_left", count=len(puzzle.missing)))
    game.said(game.say("puzzle_now_count"))
    hand.type(game.at("count:cells"), "7")
    game.said(game.say("puzzle_one_row", count=7, rows=4))
    for what, number in (("cells", 28), ("busy", 16), ("idle", 12)):
        hand.type(game.at(f"count:{what}"), str(number))
    game.said(game.say("puzzle_stars", stars="★★☆"))


PLAYS = {"laundry": play_laundry, "puzzle": play_puzzle}
SIZES = [
    pytest.param("zh", PROJECTOR),
    pytest.param("en", PROJECTOR, marks=pytest.mark.slow),
    pytest.param("zh", LARGE, marks=pytest.mark.slow),
    pytest.param("en", LARGE, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("lang", "size"), SIZES)
def test_both_games_are_played_to_their_end_by_mouse_by_keyboard_and_by_finger(
    open_table, screenshot, lang, size
):
    table = open_table(lang, size)
    for game in GAMES:
        table.show(game)
        screenshot(table, f"{game}-{size['width']}-begin")
        table.fits()
        for name, hand in HANDS.items():
            PLAYS[game](table, hand(table))
            if name == "mouse":
                screenshot(table, f"{game}-{size['width']}-end")
                table.fits()
            table.button("game_restart").click()
