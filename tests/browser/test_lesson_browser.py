"""The lesson in a real lab: all five stops at a projector's size, nothing scrolls, nothing is lost, and it's quick."""

import json
import time

import pytest
from conftest import LATE, SOON
from eyes import FAINT, NULL_TITLES, OVERLAPS, SCROLLS, SMALL_WORDS
from setup_folder import notebook

from pipekit.launcher import copies
from pipekit.launcher.lab import page_of, run_cells_first
from pipekit.launcher.words import Voice
from pipekit.learn.lesson.pieces import laundry_answer
from pipekit.show import say

CONTRAST, LARGE, FINGER = 4.5, 18, 44
SECONDS = 60  # from the first press to the last number
BELOW = """() => [...document.querySelectorAll('.pipekit-lesson *')]
    .filter(each => each.checkVisibility({visibilityProperty: true}) && each.tagName !== 'STYLE')
    .map(each => [each.className, each.getBoundingClientRect()])
    .filter(([name, box]) => box.width > 0 && box.height > 0 && (box.bottom > innerHeight + 0.5 || box.right > innerWidth + 0.5))
    .map(([name, box]) => [String(name), Math.round(box.right), Math.round(box.bottom)])"""
SMALL_TARGETS = """least => [...document.querySelectorAll('.pk-bar button, .pipekit-real button, .pipekit-real input')]
    .filter(each => each.checkVisibility()).map(each => [each.innerText, each.getBoundingClientRect()])
    .filter(([words, box]) => box.height < least || box.width < least)
    .map(([words, box]) => [words, box.width, box.height])"""


class Class:
    """A page with the lesson on it."""

    def __init__(self, page, lang):
        self.page, self.lang, self.lesson = page, lang, page.locator(".pipekit-lesson")

    def say(self, key, **numbers):
        return say(key, self.lang, **numbers)

    def press(self, words):
        self.lesson.locator("button:visible:enabled", has_text=words).first.click()

    def answer(self, words, timeout=LATE):
        self.lesson.get_by_text(words).locator("visible=true").first.wait_for(timeout=timeout)

    def at(self, number):
        """Wait until the class is at a stop, counted from 1."""
        self.lesson.locator(f".pk-stop[aria-current]:has-text('{number} ')").wait_for(timeout=SOON)
        self.page.wait_for_timeout(400)

    def time(self):
        minutes, seconds = self.lesson.locator(".pk-time").inner_text().replace("\n", "").split(":")
        return 60 * int(minutes) + float(seconds)

    def look(self):
        """Nothing scrolls, lies below the fold or over something else, is faint or small."""
        self.page.wait_for_timeout(300)
        assert self.page.evaluate(BELOW) == []
        assert self.page.evaluate(SCROLLS) == []
        assert self.page.evaluate(OVERLAPS) == []
        assert self.page.evaluate(SMALL_WORDS, LARGE) == []
        assert self.page.evaluate(FAINT, CONTRAST) == []
        assert self.page.evaluate(NULL_TITLES) == []
        assert self.page.evaluate(SMALL_TARGETS, FINGER) == []


@pytest.fixture
def opened(opening, starter, pages):
    """A function that opens the lesson in a language, its cell run beforehand; and the seconds until it's there."""

    def open_lesson(lang, width, height):
        places, lab, voice = starter.places, starter.lab(), Voice(lang)
        copies.give(places, voice, lang)
        file = copies.copy_called(places, lang, "lesson-browser.ipynb")
        source = f'from pipekit.learn import Lesson\n\nlesson = Lesson(lang="{lang}")\nlesson'
        file.write_text(json.dumps(notebook(source)), encoding="utf-8")
        run_cells_first(places, voice, lab, file)
        page = pages(width, height)
        page.goto(f"{lab.address}{page_of(places, file)}?token={lab.token}")
        page.locator(".pk-stop").first.wait_for(timeout=LATE)
        page.wait_for_timeout(1500)  # Lab draws a saved output again once its kernel is connected
        return Class(page, lang)

    return open_lesson


SLOW = pytest.mark.slow
SIZES = [
    pytest.param("zh", 1280, 595),
    pytest.param("en", 1280, 595, marks=SLOW),
    pytest.param("zh", 1920, 955, marks=SLOW),
    pytest.param("en", 1920, 955, marks=SLOW),
]


@pytest.mark.parametrize(("lang", "width", "height"), SIZES)
def test_a_class_goes_through_the_five_stops(opened, screenshot, lang, width, height):
    room = opened(lang, width, height)
    began = time.monotonic()
    took = {}

    def done(what):
        took[what] = time.monotonic() - began - sum(took.values())
        screenshot(room, f"lesson-{width}-{what}")
        room.look()

    room.press(room.say("lesson_start"))
    room.lesson.locator(".pipekit-ask:visible input").fill("200")
    room.press(room.say("guess_done"))
    room.press(room.say("laundry_forward"))
    done("1-laundry")
    assert "180" not in room.lesson.inner_text()

    room.page.keyboard.press("PageDown")  # as a presenter's clicker
    room.at(2)
    room.press(room.say("guess_none"))
    done("2-cards")

    room.lesson.locator(".pk-stop").nth(2).focus()
    room.page.keyboard.press("Enter")
    room.at(3)
    room.press(room.say("guess_none"))
    room.lesson.locator("button.mod-primary:visible").first.click()
    room.answer(room.say("evidence_trained"))
    done("3-grids")

    room.page.keyboard.press("PageDown")
    room.at(4)
    room.press(room.say("guess_none"))
    room.press(room.say("lesson_run", count=4, seconds="").split("（")[0].split(" (")[0])
    room.answer(room.say("lesson_pieces_busy"))
    room.press(room.say("lesson_laundry_answer"))
    room.answer(laundry_answer(lang)[:20], SOON)
    done("4-pieces")

    room.page.keyboard.press("PageDown")
    room.at(5)
    done("5-game")
    room.press(room.say("lesson_erase_run"))
    room.lesson.locator(".pipekit-erase:visible").wait_for(timeout=SOON)
    room.lesson.locator(".pipekit-game:visible").wait_for(state="hidden", timeout=SOON)
    room.press(room.say("guess_none"))
    room.press(room.say("lesson_run", count=3, seconds="").split("（")[0].split(" (")[0])
    room.answer(room.say("lesson_erase_kept"))
    done("5-run")
    whole = time.monotonic() - began
    print({what: f"{seconds:.1f} s" for what, seconds in took.items()}, f"in all {whole:.1f} s")

    room.press(room.say("lesson_lap"))
    room.press(room.say("lesson_stop"))
    room.lesson.locator("[data-do=start]").wait_for(timeout=SOON)
    assert abs(room.time() - (time.monotonic() - began)) < 3
    room.press(room.say("lesson_large"))
    room.answer(room.say("lesson_lap_said", number=1, time="")[:5].strip(), SOON)
    done("watch")

    room.lesson.locator(".pk-stop").first.click()
    room.at(1)
    room.answer("60", SOON)  # the laundry's clock stands where it stood
    room.page.keyboard.press("PageDown")
    room.at(2)
    assert room.lesson.locator(".pipekit-ask:visible").count() == 0  # nobody is asked again
    assert whole < SECONDS
