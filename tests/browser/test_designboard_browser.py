"""The design board in a real lab: a schedule built by hand, refused once, found, trained; without a mouse; by touch."""

import json

import pytest
from conftest import LATE, ROOT, SOON
from eyes import FAINT, NULL_TITLES, OUT_OF_REACH, OVERLAPS, SCROLLS, SMALL_WORDS

from pipekit import plan
from pipekit.launcher import copies
from pipekit.launcher.lab import page_of, run_cells_first
from pipekit.launcher.words import Voice
from pipekit.show import say

TOUCH = 44  # pixels
LARGE = 15  # pixels: the axis; all else is larger
CONTRAST = 4.5
NUM_CELLS = len(json.loads((ROOT / "notebooks" / "en" / "design-board.ipynb").read_text("utf-8"))["cells"])
WARMED = "() => document.querySelectorAll('.pipekit-room .pk-head').length > 1"
# A tick may be narrower: its row's head does the same, and so do the arrow keys.
SMALL_TARGETS = """least => [...document.querySelectorAll(
    '.pipekit-room button, .pipekit-room select, .pipekit-room input')]
    .filter(each => each.checkVisibility({visibilityProperty: true}))
    .map(each => [each.title || each.innerText, each.getBoundingClientRect()])
    .filter(([words, box]) => box.height < least - 0.5 || (box.width < least - 0.5 && !/slot|格/.test(words)))
    .map(([words, box]) => [words, box.width, box.height])"""
# A number field has the words beside it: ipywidgets lets nobody name it.
NAMELESS = """() => [...document.querySelectorAll('.pipekit-room :is(button, select, input[type=text])')]
    .filter(each => each.checkVisibility() && !(each.innerText || each.title || each.ariaLabel))
    .map(each => each.outerHTML.slice(0, 120))"""


class Desk:
    """A page with the design board on it, and a hand."""

    def __init__(self, page, lang):
        self.page, self.lang, self.panel = page, lang, page.locator(".pipekit-room")

    def say(self, key, **numbers):
        return say(key, self.lang, **numbers)

    def chip(self, key):
        return self.panel.locator(f'.pk-chip[data-key="{key}"]')

    def head(self, device):
        return self.panel.locator(f'.pk-head[data-device="{device}"]')

    def cell(self, device, tick):
        return self.panel.locator(f'[data-device="{device}"][data-tick="{tick}"]').first

    def button(self, key):
        return self.panel.locator("button:visible", has_text=self.say(key)).first

    def put(self, chip, device, tick=None):
        """By mouse: press a chip, unless it's in hand already, then the row's head or a cell."""
        if self.chip(chip).get_attribute("aria-pressed") != "true":
            self.chip(chip).click()
        (self.head(device) if tick is None else self.cell(device, tick)).click()

    def there(self, op, tick):
        """Wait until an op stands at a tick."""
        self.panel.locator(f'.pk-op[data-op="{op}"][data-tick="{tick}"]').wait_for(timeout=SOON)

    def said(self, words, timeout=SOON):
        self.panel.locator("[role=status]", has_text=words).first.wait_for(timeout=timeout)

    def trained(self):
        """Wait until the run has ended and says what became of the result."""
        self.said({"zh": "结果一样：", "en": "Same result:"}[self.lang], LATE)


def opened(starter, new_page, lang, **context):
    """A new design board in a language, its cells run beforehand, filling the window."""
    places, lab, voice = starter.places, starter.lab(), Voice(lang)
    copies.give(places, voice, lang)
    notebook = copies.control_room(places, lang).with_name("design-board.ipynb")
    run_cells_first(places, voice, lab, notebook)
    page = new_page(**context)
    page.goto(f"{lab.address}{page_of(places, notebook)}?token={lab.token}")
    page.wait_for_function(WARMED, timeout=LATE)
    page.wait_for_timeout(1500)  # Lab draws a saved output again once its kernel is connected
    desk = Desk(page, lang)
    desk.button("wide").click()
    page.wait_for_timeout(300)
    return desk


@pytest.fixture
def open_desk(opening, starter, pages):
    """A function that opens a new design board in a language."""
    return lambda lang, **context: opened(starter, pages, lang, **context)


def assert_fits(desk):
    """All of it in the window without a scrollbar, readable, with names, large enough for a finger."""
    page = desk.page
    assert page.evaluate(SCROLLS) == []
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(SMALL_WORDS, LARGE) == []
    assert page.evaluate(FAINT, CONTRAST) == []
    assert page.evaluate(NULL_TITLES) == []
    assert page.evaluate(NAMELESS) == []
    assert page.evaluate(SMALL_TARGETS, TOUCH) == []


@pytest.mark.parametrize("lang", ["zh", pytest.param("en", marks=pytest.mark.slow)])
def test_a_learner_builds_1f1b_by_hand_and_trains_it(open_desk, screenshot, lang):
    desk = open_desk(lang)
    screenshot(desk, "design-empty")
    assert_fits(desk)
    desk.put("F0", 0, 0)
    desk.there("0F0", 0)
    desk.put("F0", 1, 0)
    desk.said(
        "第 2 段第 1 小份往前算 要等 第 1 段第 1 小份往前算，那格活满 1 格才做完"
        if lang == "zh"
        else "stage 2's forward of piece 1 needs stage 1's forward of piece 1, which ends at slot 1"
    )
    screenshot(desk, "design-refused")
    assert_fits(desk)
    desk.put("F0", 1, 1)
    desk.there("1F0", 1)
    desk.put("F1", 0)
    desk.there("0F1", 1)
    for chip, device, op, tick in (
        ("B0", 1, "1B0", 2), ("B0", 0, "0B0", 4), ("F1", 1, "1F1", 4), ("B1", 1, "1B1", 5), ("F2", 0, "0F2", 2),
        ("F2", 1, "1F2", 7), ("B1", 0, "0B1", 7), ("B2", 1, "1B2", 8), ("B2", 0, "0B2", 10),
    ):  # fmt: skip
        desk.put(chip, device)
        desk.there(op, tick)
    desk.said(desk.say("design_own"))
    desk.cell(0, 2).drag_to(desk.cell(0, 6))
    desk.there("0F2", 6)
    desk.said(desk.say("design_found", name="1F1B"))
    screenshot(desk, "design-found")
    assert_fits(desk)

    desk.panel.locator("button.mod-primary").first.click()
    desk.button("cancel").and_(desk.page.locator(":enabled")).wait_for(timeout=SOON)
    desk.page.wait_for_timeout(1200)
    screenshot(desk, "design-running")
    desk.trained()
    desk.page.wait_for_timeout(300)
    assert desk.panel.locator(".pk-box").count() == 12
    screenshot(desk, "design-trained")
    assert_fits(desk)
    desk.page.set_viewport_size({"width": 640, "height": 297})  # what a window of 1280 x 595 is at 200%
    desk.page.wait_for_timeout(500)
    screenshot(desk, "design-zoomed")
    assert desk.page.evaluate(OVERLAPS) == []
    assert desk.page.evaluate(OUT_OF_REACH) == []


def test_the_keyboard_alone_and_a_finger_do_it_too(open_desk, screenshot):
    desk = open_desk("en", has_touch=True)
    keys = desk.page.keyboard
    desk.chip("F0").focus()
    keys.press("Enter")
    keys.press("ArrowDown")  # to the first row's head
    keys.press("Enter")
    desk.there("0F0", 0)
    for key in ("ArrowDown", "ArrowRight", "Enter"):  # into the second row, at its first tick
        keys.press(key)
    desk.said("which ends at slot 1")
    screenshot(desk, "design-keyboard")
    keys.press("ArrowRight")
    keys.press("Enter")
    desk.there("1F0", 1)
    assert desk.page.evaluate("() => document.activeElement.dataset.op") == "1F0", (
        "the focus is where the hand is"
    )
    keys.press("Enter")  # takes it
    keys.press("ArrowRight")
    keys.press("Enter")
    desk.there("1F0", 2)
    keys.press("Control+z")
    desk.there("1F0", 1)
    keys.press("ArrowLeft")
    keys.press("Delete")
    desk.panel.locator('[data-op="1F0"]').wait_for(state="detached", timeout=SOON)
    for key in ("ArrowUp", "ArrowUp"):
        keys.press(key)
    assert desk.page.evaluate("() => document.activeElement.className").startswith("pk-chip")
    for key in ("Escape", "b", "d", "d", "x"):  # in a notebook these add cells and take them away
        keys.press(key)
    desk.page.wait_for_timeout(300)
    assert desk.page.locator(".jp-Cell").count() == NUM_CELLS, "the notebook took no key for a command"

    desk.chip("F1").tap()
    desk.head(0).tap()
    desk.there("0F1", 1)
    touch = desk.page.context.new_cdp_session(desk.page)
    finger_drags(touch, desk.chip("F0"), desk.cell(1, 3))
    desk.there("1F0", 3)


def finger_drags(touch, what, where):
    """A finger goes from the middle of one thing to the middle of another."""
    (start, end) = (each.bounding_box() for each in (what, where))
    points = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in (start, end)]
    middle = tuple(sum(pair) / 2 for pair in zip(*points, strict=True))
    for kind, at in (
        ("touchStart", points[0]),
        ("touchMove", middle),
        ("touchMove", points[1]),
        ("touchEnd", None),
    ):
        pressed = [] if at is None else [{"x": at[0], "y": at[1]}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": pressed})


@pytest.mark.slow
def test_the_largest_board_fits_and_a_saved_one_comes_back(open_desk, screenshot, tmp_path):
    desk = open_desk("zh")
    desk.button("design_files").click()
    text = desk.panel.locator("input[type=text]")
    text.fill(str(plan.one_f_one_b(4, 8)))
    desk.button("design_load").click()
    desk.said("1F1B")
    with desk.page.expect_download() as download:
        desk.panel.locator("a[download$='.json']").click()
    download.value.save_as(tmp_path / "mine.json")
    desk.button("design_clear").click()
    desk.panel.locator(".pk-op").first.wait_for(state="detached", timeout=SOON)
    with desk.page.expect_file_chooser() as chooser:
        desk.button("design_upload").click()
    chooser.value.set_files(tmp_path / "mine.json")
    desk.said("1F1B")
    assert desk.panel.locator(".pk-op").count() == 64
    screenshot(desk, "design-files")
    desk.button("design_files").click()
    desk.page.wait_for_timeout(300)
    desk.panel.locator("button.mod-primary").first.click()
    desk.trained()
    desk.page.wait_for_timeout(500)
    screenshot(desk, "design-largest")
    assert_fits(desk)
    desk.panel.locator("select").first.select_option(label=desk.say("view_engineer"))
    desk.panel.locator('.pk-chip[data-key="W0"]').wait_for(timeout=SOON)
    screenshot(desk, "design-engineer")
    assert desk.page.evaluate(OVERLAPS) == []
    assert desk.page.evaluate(OUT_OF_REACH) == []
