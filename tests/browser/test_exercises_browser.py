"""A graded exercise as a learner does it in a real lab: wrong, right, three hints, the solution."""

import re
import time

import pytest
from conftest import LATE, SOON
from test_course_browser import BOTH, Course

from pipekit.learn import exercises
from pipekit.show import say

ASKED, ANSWERED, HINTED = 1, 2, 3  # code cells of the first exercise; the one before imports
NUMBERED = re.compile(r"\[\d+\]")  # a cell that has run
ONE_LATE = "def slot(k, m):\n    return k + m\n\n\ntask1.check(slot)"


class Sheet:
    """The exercise page, cell by cell."""

    def __init__(self, page, lang):
        self.page, self.lang = page, lang
        self.cells = page.locator(".jp-NotebookPanel:visible .jp-CodeCell")

    def run(self, cell, code=None):
        """Run a cell, with other code if there is some; pressed again where Lab was not ready for it."""
        prompt = self.cells.nth(cell).locator(".jp-InputPrompt").first
        before = prompt.inner_text()
        self.cells.nth(cell).locator(".cm-content").click()
        if code is not None:
            self.page.keyboard.press("Control+a")
            self.page.keyboard.insert_text(code)
        deadline = time.monotonic() + LATE / 1000
        while (now := prompt.inner_text()) == before or not NUMBERED.search(now):
            assert time.monotonic() < deadline, f"cell {cell} does not run"
            self.page.keyboard.press("Control+Enter")
            self.page.wait_for_timeout(2000)

    def answer(self, cell, words):
        """Wait for these words below a cell."""
        self.cells.nth(cell).get_by_text(words).locator("visible=true").first.wait_for(timeout=LATE)

    def say(self, key, **numbers):
        return say(key, self.lang, **numbers)


@pytest.mark.parametrize("lang", BOTH)
def test_an_exercise_is_tried_wrongly_and_rightly_and_its_hints_open_one_by_one(
    opening, starter, pages, screenshot, lang
):
    walk = Course(pages(), starter.afresh(lang), lang)
    walk.go("exercises-code")
    sheet = Sheet(walk.page, lang)
    for cell in (0, ASKED, ANSWERED):
        sheet.run(cell)
    sheet.answer(ANSWERED, sheet.say("wrong_unanswered").split("\n")[0])
    sheet.run(ANSWERED, ONE_LATE)
    sheet.answer(ANSWERED, sheet.say("wrong_slot_one_late"))
    screenshot(sheet, "exercise-wrong")
    solution = exercises.get("slot", lang=lang)
    sheet.run(ANSWERED, f"{solution.task.solution}\n\ntask1.check(slot)")
    sheet.answer(ANSWERED, sheet.say("verdict_right", why=sheet.say("exercise_slot_right")).split("\n")[0])
    screenshot(sheet, "exercise-right")

    sheet.run(HINTED)
    folds = sheet.cells.nth(HINTED).locator("details")
    for number in (1, 2, 3):
        fold = folds.nth(number - 1)
        assert fold.get_attribute("open", timeout=LATE) is None
        fold.locator("summary").first.click(timeout=SOON)
        assert fold.get_attribute("open") is not None
        assert fold.locator("summary").nth(1).is_visible() or number == 3  # the next one can be opened now
        sheet.answer(HINTED, sheet.say(f"exercise_slot_hint_{number}"))
    screenshot(sheet, "exercise-hints")
    sheet.run(HINTED, "task1.solution()")
    sheet.cells.nth(HINTED).locator("summary", has_text=sheet.say("exercise_solution")).click(timeout=LATE)
    sheet.cells.nth(HINTED).locator("pre", has_text=solution.task.solution.split("\n")[0]).wait_for(
        timeout=SOON
    )
