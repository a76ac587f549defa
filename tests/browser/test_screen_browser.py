"""The control room on a projector's screen: all of it in view, large, with contrast, and without a mouse."""

import pytest
from conftest import SOON
from eyes import BOXES, FAINT, FOCUS, NULL_TITLES, OUT_OF_REACH, OVERLAPS, SCROLLS, SMALL_WORDS

LARGE = 18  # pixels of text for the back row
CONTRAST = 4.5  # WCAG's AA for text
MOST_TABS = 60
PLAY, SLIDER, NUMBER = "jupyter-button", "noUi-handle", "INPUT"  # ipywidgets lets nobody name these


def assert_all_in_view(room) -> None:
    """Every box lies in the window, nothing scrolls, nothing lies over anything else, all words can be read."""
    page = room.page
    size = page.viewport_size
    outside = [
        box
        for box in page.evaluate(BOXES)
        if box[1] < -0.5 or box[2] < -0.5 or box[3] > size["width"] + 0.5 or box[4] > size["height"] + 0.5
    ]
    assert outside == []
    assert page.evaluate(SCROLLS) == []
    assert page.evaluate(OVERLAPS) == []
    assert_words_can_be_read(room)


def assert_words_can_be_read(room) -> None:
    assert room.page.evaluate(SMALL_WORDS, LARGE) == []
    assert room.page.evaluate(FAINT, CONTRAST) == []
    assert room.page.evaluate(NULL_TITLES) == []


@pytest.mark.parametrize("lang", ["zh", pytest.param("en", marks=pytest.mark.slow)])
def test_class_view_fits_a_projector_before_while_and_after_a_run_and_nothing_overlaps_zoomed(
    open_room, screenshot, lang
):
    room = open_room(lang)
    assert_all_in_view(room)
    room.guess("8", "50")
    room.page.wait_for_timeout(300)
    assert_all_in_view(room)
    room.train.click()
    room.button("cancel").and_(room.page.locator(":enabled")).wait_for(timeout=SOON)
    room.page.wait_for_timeout(2000)
    screenshot(room, "running")
    assert_all_in_view(room)
    room.trained()
    room.page.wait_for_timeout(300)
    screenshot(room, "guessed-and-trained")
    assert_all_in_view(room)

    room.button("more").click()
    room.button("preset_4_pieces").wait_for(timeout=SOON)
    screenshot(room, "more")
    assert room.page.evaluate(OVERLAPS) == []
    assert_words_can_be_read(room)
    for drawer in ("history", "memory"):
        room.button(drawer).click()
        room.page.wait_for_timeout(700)
        screenshot(room, drawer)
        assert_all_in_view(room)
    room.button("memory").click()
    room.page.set_viewport_size({"width": 1280, "height": 720})
    room.page.wait_for_timeout(500)
    assert_all_in_view(room)
    screenshot(room, "720")

    room.page.set_viewport_size({"width": 640, "height": 297})  # what a window of 1280 x 595 is at 200%
    for drawer in ("more", "history", "memory"):
        room.button(drawer).click()
        room.page.wait_for_timeout(700)
        screenshot(room, f"zoomed-{drawer}")
        assert room.page.evaluate(OVERLAPS) == []
        assert room.page.evaluate(OUT_OF_REACH) == []


@pytest.mark.slow
def test_more_gpus_and_pieces_fit_too(open_room, screenshot):
    room = open_room("en")
    room.numbers.nth(1).fill("16")
    room.numbers.nth(0).fill("8")
    room.numbers.nth(0).press("Tab")
    room.answer(room.say("guess_intro", uncut=32, count=16, samples=16), SOON)
    room.button("guess_none").click()
    room.button("guess_none").wait_for(state="hidden", timeout=SOON)
    room.train_once()
    room.page.wait_for_timeout(300)
    screenshot(room, "8-gpus-16-pieces")
    assert_all_in_view(room)

    room.choose("view", "view_engineer")
    room.page.wait_for_timeout(700)
    screenshot(room, "engineer")
    assert room.page.evaluate(OVERLAPS) == []
    assert room.page.evaluate(OUT_OF_REACH) == []
    assert_words_can_be_read(room)


def tab_to(room, words: str) -> None:
    """Press Tab until what says this has the focus, which is always to be seen."""
    for _ in range(MOST_TABS):
        room.page.keyboard.press("Tab")
        said, on_panel, marked = room.page.evaluate(FOCUS)
        if on_panel:
            assert marked, f"the focus on {said!r} can't be seen"
        if said.startswith(words):
            return
    raise AssertionError(f"{MOST_TABS} times Tab, and the focus was never on {words!r}")


def test_a_lesson_goes_with_the_keyboard_alone(open_room, screenshot):
    room = open_room("zh")
    keys = room.page.keyboard
    tab_to(room, room.say("slots_asked"))
    keys.type("7")
    tab_to(room, room.say("guess_percent"))
    keys.type("43%")
    tab_to(room, room.say("guess_done"))
    screenshot(room, "keyboard-focus")
    keys.press("Enter")
    room.answer(f"{room.say('guessed')} 43%", SOON)

    back_to_the_knobs(room)
    tab_to(room, "训练一次")
    keys.press("Space")
    room.button("cancel").and_(room.page.locator(":enabled")).wait_for(timeout=SOON)
    room.trained()

    tab_to(room, PLAY)
    keys.press("Space")
    column = room.panel.get_by_text("第 2 格", exact=False).first
    column.wait_for(timeout=SOON)
    keys.press("Space")  # and pauses
    tab_to(room, SLIDER)
    keys.press("Home")
    for _ in range(3):
        keys.press("ArrowRight")
    room.answer("第 3 格", SOON)

    tab_to(room, room.say("memory"))
    keys.press("Enter")
    room.page.wait_for_timeout(500)
    screenshot(room, "keyboard-memory")
    assert room.panel.locator(".pipekit-tall img:visible").count() == 1

    back_to_the_knobs(room)
    tab_to(room, "EN")
    keys.press("Space")
    room.panel.get_by_text("Control room").wait_for(timeout=SOON)
    tab_to(room, NUMBER)
    keys.press("ArrowDown")
    room.answer("uncut takes 12 slots", SOON)

    menu = room.panel.locator("select:visible").first
    menu.focus()
    before = menu.evaluate("each => each.selectedIndex")
    keys.press("ArrowUp" if before else "ArrowDown")
    assert menu.evaluate("each => each.selectedIndex") != before  # Lab has no use for it


def back_to_the_knobs(room) -> None:
    """Shift+Tab until the focus has left the panel: what comes next is its first knob."""
    for _ in range(MOST_TABS):
        room.page.keyboard.press("Shift+Tab")
        if not room.page.evaluate(FOCUS)[1]:
            return
    raise AssertionError("the focus never left the panel")
