"""The cards and the scratch paper in a real lab: each played to its end by mouse, by keyboard and by touch."""

import itertools

import pytest
from conftest import LATE, PROJECTOR, SOON
from eyes import FAINT, NULL_TITLES, OVERLAPS, SCROLLS, SMALL_WORDS

from pipekit.launcher import copies
from pipekit.launcher.lab import page_of, run_cells_first
from pipekit.launcher.words import Voice
from pipekit.learn.games.cards_grid import IDLE, CardsGrid
from pipekit.show import say

TOUCH, LARGE, CONTRAST = 44, 15, 4.5
FULL_HD = {"width": 1920, "height": 955}  # what is left of 1920 x 1080 inside a browser's window
BOTH = """import ipywidgets
from pipekit.learn import CardsGame, ScratchPaperGame
ipywidgets.VBox([CardsGame("{lang}"), ScratchPaperGame("{lang}")])"""
SMALL_TARGETS = """least => [...document.querySelectorAll('.pipekit-wide :is(button, select, input)')]
    .filter(each => each.checkVisibility({visibilityProperty: true}))
    .map(each => [each.title || each.innerText || each.ariaLabel, each.getBoundingClientRect()])
    .filter(([words, box]) => box.height < least - 0.5 || box.width < least - 0.5)
    .map(([words, box]) => [words, box.width, box.height])"""
NAMELESS = """() => [...document.querySelectorAll('.pipekit-wide .pk-games :is(button, input)')]
    .filter(each => each.checkVisibility() && !(each.innerText || each.title || each.ariaLabel))
    .map(each => each.outerHTML.slice(0, 120))"""
COUNTED = """before => document.querySelector('.pipekit-wide [data-key="tally"]').innerText !== before"""
DRAWN = 150  # ms: no hand is quicker than a picture
FOCUSED = "() => document.activeElement.dataset.key ?? null"
WAY_TO = """key => {
    const middle = each => { const box = each.getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2, box.height]; };
    const [x, y, high] = middle(document.activeElement);
    const [there, below] = middle(document.querySelector(`.pipekit-wide [data-key="${key}"]`));
    if (Math.abs(below - y) > high / 2) return below > y ? 'ArrowDown' : 'ArrowUp';
    return there > x ? 'ArrowRight' : 'ArrowLeft';
}"""
ONLY = "document.querySelector('.pipekit-wide')"  # what eyes look at: one game, the other lies behind it


def only(script):
    """A check of the eyes on the game that fills the window."""
    return script.replace("document.querySelector('.pipekit-room')", ONLY).replace(
        ".pipekit-room", ".pipekit-wide"
    )


class Hand:
    """One game that fills the window, and a hand that presses by mouse, by keyboard or by touch."""

    def __init__(self, page, lang, index):
        self.page, self.lang = page, lang
        self.panel = page.locator(".pipekit-game").nth(index)
        self.press = self.click

    def say(self, key, **numbers):
        return say(key, self.lang, **numbers)

    def item(self, key):
        return self.panel.locator(f'[data-key="{key}"]')

    def button(self, key):
        return self.panel.locator("button:visible", has_text=self.say(key)).first

    def reads(self, key, text):
        self.panel.locator(f'[data-key="{key}"]', has_text=text).wait_for(timeout=SOON)

    def said(self, key, **numbers):
        self.panel.locator(".pk-said", has_text=self.say(key, **numbers)).first.wait_for(timeout=SOON)

    def full(self):
        """Fill the window with it, or give the page back."""
        self.button("wide").click()
        self.page.wait_for_timeout(300)

    # -- three ways to press a thing on the table

    def click(self, key):
        self.item(key).click()

    def tap(self, key):
        self.item(key).tap()

    def enter(self, key):
        """Arrow keys to it, then Enter."""
        if self.page.evaluate(FOCUSED) is None:
            self.panel.locator(".pk-games [tabindex='0']").last.focus()
        for _ in range(40):
            if self.page.evaluate(FOCUSED) == key:
                return self.page.keyboard.press("Enter")
            self.page.keyboard.press(self.page.evaluate(WAY_TO, key))
        raise AssertionError(f"the arrow keys don't come to {key}")

    # -- games

    def fill_grid(self):
        """Each cell of the grid, by what stands in it, so that a chip is taken once."""
        grid = CardsGrid()
        cells = [cell for cell in itertools.product(range(3), range(5)) if cell != (0, 0)]
        for entry in (0, 1, 2, IDLE):
            self.press(f"chip:{entry}")
            for person, slot in cells:
                if grid.right((person, slot)) == entry:
                    self.press(f"cell:{person}:{slot}")
                    self.page.locator(f'.pipekit-wide [data-key="cell:{person}:{slot}"].pk-ok').wait_for(
                        timeout=SOON
                    )
        self.said("grid_finished", cells=15, busy=9, idle=6, percent="40")

    def compute(self, steps):
        for _ in range(steps):
            before = self.item("tally").inner_text()
            self.press("compute")
            self.page.wait_for_function(COUNTED, arg=before, timeout=SOON)

    def ask_back(self, base, third):
        """Two questions from a base, and the base itself where it is a cell; True: the third cell is used."""
        self.press(base)
        self.page.wait_for_timeout(DRAWN)
        self.compute(1)
        if third:
            self.press("cell:2")
            self.page.wait_for_timeout(DRAWN)
        self.compute(1)
        self.press("cell:2" if third else base)
        if not third:
            self.compute(1)
        if base != "restart":
            self.press(base)

    def play_lesson(self, third):
        """Keep 3 and 6, then ask back: 15 with the third cell, 18 without."""
        for cell in (0, 1):
            self.compute(3)
            self.press(f"cell:{cell}")
            self.page.wait_for_timeout(DRAWN)
        self.compute(3)
        for base in ("cell:1", "cell:0", "restart"):
            self.ask_back(base, third)
        self.reads("tally", "15" if third else "18")


def opened(starter, new_page, lang, **context):
    """Both games in a language, their cell run beforehand."""
    places, lab, voice = starter.places, starter.lab(), Voice(lang)
    copies.give(places, voice, lang)
    path = copies.control_room(places, lang).with_name("cards-and-scratch.ipynb")
    cell = {
        "cell_type": "code",
        "id": "games",
        "source": BOTH.format(lang=lang),
        "metadata": {},
        "outputs": [],
    }
    book = {"cells": [{**cell, "execution_count": None}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    copies.write(book, path)
    run_cells_first(places, voice, lab, path)
    page = new_page(has_touch=True, **context)
    page.goto(f"{lab.address}{page_of(places, path)}?token={lab.token}")
    page.wait_for_function(
        "() => document.querySelectorAll('.pipekit-game .pk-said').length > 2", timeout=LATE
    )
    page.wait_for_timeout(1500)  # Lab draws a saved output again once its kernel is connected
    return Hand(page, lang, 0), Hand(page, lang, 1)


def assert_fits(hand):
    """All of it in the window without a scrollbar, readable, with names, large enough for a finger."""
    page = hand.page
    page.wait_for_timeout(200)
    assert page.evaluate(only(SCROLLS)) == []
    assert page.evaluate(only(OVERLAPS)) == []
    assert page.evaluate(only(SMALL_WORDS), LARGE) == []
    assert page.evaluate(only(FAINT), CONTRAST) == []
    assert page.evaluate(only(NULL_TITLES)) == []
    assert page.evaluate(NAMELESS) == []
    assert page.evaluate(SMALL_TARGETS, TOUCH) == []


@pytest.mark.parametrize(
    ("lang", "window"),
    [
        ("zh", PROJECTOR),
        pytest.param("zh", FULL_HD, marks=pytest.mark.slow),
        pytest.param("en", PROJECTOR, marks=pytest.mark.slow),
        pytest.param("en", FULL_HD, marks=pytest.mark.slow),
    ],
)
def test_both_games_are_played_to_their_end_by_mouse_keyboard_and_touch(
    opening, starter, pages, screenshot, lang, window
):
    cards, scratch = opened(starter, pages, lang, **window)
    play_cards(cards, screenshot, f"{window['width']}")
    cards.full()
    scratch.full()
    play_scratch(scratch, screenshot, f"{window['width']}")


def play_cards(hand, screenshot, size):
    hand.full()
    screenshot(hand, f"cards-ask-{size}")
    assert_fits(hand)
    assert "36" not in hand.panel.inner_text(), "nothing is given away before the guess"
    fields = hand.panel.locator(".pipekit-ask input")
    for way, guess in enumerate(("36", "22", "14")):
        fields.nth(way).fill(guess)
    hand.button("guess_done").click()
    for way, (first, done) in enumerate(((24, 36), (8, 20), (2, 14))):
        hand.reads(f"result:{way}:0", hand.say("cards_first", last="C", seconds=first))
        hand.reads(f"result:{way}:1", hand.say("cards_done", seconds=done))
    screenshot(hand, f"cards-ways-{size}")
    assert_fits(hand)
    more = hand.panel.locator(".pipekit-stepper button").nth(1)
    for _ in range(2):
        more.click()
    hand.reads("name:2:4", "E")
    screenshot(hand, f"cards-five-{size}")
    assert_fits(hand)
    hand.button("cards_tab_grid").click()
    hand.press("chip:0")
    hand.press("cell:1:0")
    hand.said("grid_not_there", piece=1, end=1, slot=2, person="B", before="A")
    screenshot(hand, f"cards-wrong-{size}")
    hand.press("chip:0")  # back out of the hand
    for press in (hand.click, hand.enter, hand.tap):
        hand.press = press
        hand.fill_grid()
        screenshot(hand, f"cards-grid-{size}")
        assert_fits(hand)
        if press != hand.tap:
            hand.button("game_restart").click()
            hand.panel.locator(".pk-ok").first.wait_for(state="detached", timeout=SOON)
    hand.button("cards_tab_groups").click()
    hand.item("time:2:0").tap()
    for text in ("49", "97.5", "17", "75.5", "5", "59"):  # by keyboard, field after field
        hand.page.keyboard.type(text)
        hand.page.keyboard.press("ArrowRight")
    hand.page.keyboard.press("Enter")
    hand.said("fit_longer", clock=hand.say("cards_way", number=2) + hand.say("times_done_long"), seconds=9)
    screenshot(hand, f"cards-groups-{size}")
    assert_fits(hand)
    hand.item("time:2:0").fill("soon")
    hand.page.keyboard.press("Enter")
    hand.said("times_number", asked="soon")


def play_scratch(hand, screenshot, size):
    screenshot(hand, f"scratch-ask-{size}")
    assert_fits(hand)
    hand.panel.locator(".pipekit-ask input").fill("20")
    hand.button("guess_done").click()
    hand.press = hand.click
    hand.play_lesson(third=True)
    hand.said("scratch_training")
    screenshot(hand, f"scratch-15-{size}")
    assert_fits(hand)
    for press in (hand.enter, hand.tap):
        hand.button("game_restart").click()
        hand.reads("tally", hand.say("scratch_count", count=0))
        hand.press = press
        hand.play_lesson(third=False)
        hand.panel.locator(".pk-said", has_text="15").first.wait_for(timeout=SOON)
    hand.button("scratch_race").click()
    hand.button("scratch_best_game").click()
    hand.reads("tally", hand.say("scratch_count_race", count=14, computer=14))
    screenshot(hand, f"scratch-best-{size}")
    assert_fits(hand)
