"""The course as a learner walks it in a real lab: every title opens its page, every page leads on, and all cells run."""

import json
import time

import pytest
from conftest import LATE, ROOT, SOON

from pipekit.launcher.places import COPIES

COURSE = [
    each["name"] for each in json.loads((ROOT / "notebooks" / "course.json").read_text(encoding="utf-8"))
]
BOTH = ["zh", pytest.param("en", marks=pytest.mark.slow)]
RUNS = 180  # seconds that all cells of a page may take on a busy machine
TO_THE_END = """() => document.querySelectorAll('.jp-WindowedPanel-outer')
    .forEach(each => { each.scrollTop = each.scrollHeight; })"""


class Course:
    """A page of the lab in which notebooks open one after the other."""

    def __init__(self, page, url, lang):
        self.page, self.lang, self.url = page, lang, url

    def go(self, name):
        """Open a notebook by its address."""
        self.page.goto(self.url.replace("control-room", name))
        self.opened(name)

    def opened(self, name):
        """Wait until this notebook is the one in view, with its cells, and nothing asks or complains."""
        self.page.wait_for_function(
            "name => document.querySelector('#jp-title-panel-title input')?.value === name",
            arg=f"{name}.ipynb",
            timeout=LATE,
        )
        self.page.locator(".jp-NotebookPanel:visible .jp-Cell").first.wait_for(timeout=LATE)
        assert self.page.locator(".jp-Dialog").count() == 0

    def click(self, name):
        """The last link in view that leads to a notebook."""
        link = self.page.locator(f".jp-NotebookPanel:visible a[href*='/{name}.ipynb']").last
        deadline = time.monotonic() + SOON / 1000
        while link.count() == 0:  # Lab puts a cell into the page when it is scrolled to
            assert time.monotonic() < deadline, f"no link to {name}"
            self.page.evaluate(TO_THE_END)
            self.page.wait_for_timeout(100)
        link.click()
        self.opened(name)


@pytest.fixture
def course(opening, starter, pages):
    """A function that opens the lab in a language."""
    return lambda lang: Course(pages(), starter.afresh(lang), lang)


@pytest.mark.parametrize("lang", BOTH)
def test_every_title_on_the_start_page_opens_its_page(course, lang):
    walk = course(lang)
    walk.go("start")
    for name in COURSE[1:]:  # a living control room covers the whole window: it comes last
        walk.click(name)
        walk.click("start")
    walk.click(COURSE[0])


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_last_line_of_each_page_leads_through_the_whole_course(course, lang):
    walk = course(lang)
    walk.go(COURSE[1])
    for name in COURSE[2:]:
        walk.click(name)
    walk.click("start")


def outputs(path):
    """What the cells of a saved notebook left: how often each ran, and every output."""
    cells = [
        each for each in json.loads(path.read_text(encoding="utf-8"))["cells"] if each["cell_type"] == "code"
    ]
    return [each["execution_count"] for each in cells], [
        output for each in cells for output in each["outputs"]
    ]


def complaints(shown):
    """Of the outputs, errors and what was written to stderr."""
    return [each for each in shown if each["output_type"] == "error" or each.get("name") == "stderr"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["start", *COURSE[1:]])  # start.py itself runs the control room
def test_all_cells_of_a_page_run_in_lab_and_nothing_complains(course, starter, name):
    walk = course("en")
    walk.go(name)
    saved = starter.places.root / COPIES["en"] / f"{name}.ipynb"

    def choose(menu, item, done):
        """Choose from the menu, and save until the file's counts are as they should be; what its cells left."""
        walk.page.locator(".lm-MenuBar-itemLabel", has_text=menu).first.click()
        walk.page.locator(".lm-Menu-itemLabel", has_text=item).first.click()
        deadline = time.monotonic() + RUNS
        while True:
            walk.page.keyboard.press("Control+s")
            walk.page.wait_for_timeout(1000)
            counts, shown = outputs(saved)
            if done(counts) or complaints(shown):  # after an error Lab runs no further
                return shown
            assert time.monotonic() < deadline, f"{item}: cells that ran: {counts}"

    # The committed outputs go first, or they would be taken for this run's.
    assert choose("Edit", "Clear Outputs of All Cells", lambda counts: set(counts) == {None}) == []
    shown = choose("Run", "Run All Cells", lambda counts: None not in counts)
    assert complaints(shown) == []
