"""What the browser tests share: a lab that start.py opened, a Chromium, and a hand and an eye for the panel.

Screenshots go to $PIPEKIT_SCREENSHOTS, or to a temporary folder.
"""

import ast
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))

from setup_folder import prepared_folder, quiet_environment  # noqa: E402

from pipekit.launcher.lab import Lab, running_lab  # noqa: E402
from pipekit.launcher.places import COPIES, Places  # noqa: E402
from pipekit.show import say  # noqa: E402

CHROMIUM = os.environ.get("PIPEKIT_CHROMIUM") or shutil.which("chromium")
PROJECTOR = {"width": 1280, "height": 595}  # what is left of 1280 x 720 inside a browser's window
SOON, LATE = 15_000, 60_000  # ms
RECORD_URL = """#!/bin/sh
printf '%s\\n' "$1" > "{0}.part" && mv "{0}.part" "{0}"
"""


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            reason = "no Chromium found: install `chromium`, or name one in PIPEKIT_CHROMIUM"
            item.add_marker(pytest.mark.skipif(CHROMIUM is None or os.name == "nt", reason=reason))


class Starter:
    """Calls start.py in a prepared folder; what it would open in the user's browser is written down instead."""

    def __init__(self, folder: Path) -> None:
        self.places = Places(prepared_folder(folder / "pipekit"))
        shutil.rmtree(self.places.root / "notebooks")
        shutil.copytree(ROOT / "notebooks", self.places.root / "notebooks")
        self.home, self.url_file = folder / "home", folder / "url"
        self.log = folder / "start.log"
        self.browser = folder / "browser.sh"
        self.browser.write_text(RECORD_URL.format(self.url_file), encoding="utf-8")
        self.browser.chmod(0o755)

    def call(self, *arguments: str) -> subprocess.Popen:
        self.url_file.unlink(missing_ok=True)
        with self.log.open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "start.py", *arguments],
                cwd=self.places.root,
                env=quiet_environment(self.home, BROWSER=f"{self.browser} %s"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def url(self, process: subprocess.Popen) -> str:
        """The page that start.py opens."""
        deadline = time.monotonic() + 90
        while not self.url_file.exists():
            assert time.monotonic() < deadline and process.poll() in (None, 0), self.log.read_text("utf-8")
            time.sleep(0.05)
        return self.url_file.read_text(encoding="utf-8").strip()

    def afresh(self, lang: str) -> str:
        """A new control room in the lab that runs, and its page."""
        process = self.call("--lang", lang, "afresh")
        url = self.url(process)
        assert process.wait(30) == 0, self.log.read_text(encoding="utf-8")
        return url

    def lab(self) -> Lab:
        """The lab that runs; a busy one is asked again."""
        deadline = time.monotonic() + 30
        while (lab := running_lab(self.places)) is None:
            assert time.monotonic() < deadline, self.places.server_log.read_text("utf-8")
            print("the lab did not answer: asked again")
            time.sleep(0.5)
        return lab

    def in_kernel(self, lang: str, expression: str):
        """The value of a Python expression in the kernel of a language's control room."""
        from jupyter_client.blocking import BlockingKernelClient

        path = f"{COPIES[lang]}/control-room.ipynb"
        sessions = self.lab().ask("/api/sessions")
        kernel = next(each["kernel"]["id"] for each in sessions if each["path"] == path)
        client = BlockingKernelClient(
            connection_file=str(self.places.lab / "runtime" / f"kernel-{kernel}.json")
        )
        client.load_connection_file()
        client.start_channels(hb=False)
        try:
            client.wait_for_ready(timeout=30)
            asked = client.execute("", user_expressions={"it": expression}, store_history=False)
            while (reply := client.get_shell_msg(timeout=30))["parent_header"].get("msg_id") != asked:
                pass
            answer = reply["content"]["user_expressions"]["it"]
            assert answer["status"] == "ok", answer
            return ast.literal_eval(answer["data"]["text/plain"])
        finally:
            client.stop_channels()


SETTLED = """() => {
    const panel = document.querySelector('.pipekit-room');
    if (window.pipekitPanel !== panel) { window.pipekitPanel = panel; window.pipekitSince = performance.now(); }
    return panel && performance.now() - window.pipekitSince > 1500;
}"""


class Room:
    """A page with the control room on it."""

    def __init__(self, page, lang: str, starter: Starter) -> None:
        self.page, self.lang, self.starter = page, lang, starter
        self.panel = page.locator(".pipekit-room")

    def open(self, url: str) -> None:
        """Go there, and wait until the panel is alive."""
        self.page.goto(url)
        self.train.wait_for(timeout=LATE)
        self.page.wait_for_function("() => document.querySelector('.pipekit-room img')?.naturalWidth > 0")
        # Lab draws a saved output again once its kernel is connected; what is pressed on the first drawing is lost.
        self.page.wait_for_function(SETTLED, timeout=LATE)

    def say(self, key: str, **numbers) -> str:
        return say(key, self.lang, **numbers)

    def button(self, key: str, **numbers):
        """A button that begins with these words."""
        words = self.say(key, **numbers)
        return self.panel.locator("button:visible", has_text=words).first

    @property
    def train(self):
        """The button that trains, whatever it says about the time."""
        return self.panel.locator("button.mod-primary").first

    @property
    def numbers(self):
        """The numbers between arrows: how many GPUs, how many pieces."""
        return self.panel.locator("input[type=number]")

    @property
    def picture(self):
        return self.panel.locator("img").first

    def source(self) -> str:
        return self.picture.get_attribute("src")

    def text(self) -> str:
        """All words on the panel, also those for a screen reader or a resting mouse."""
        return self.page.evaluate(
            """() => [...document.querySelectorAll('.pipekit-room, .pipekit-room *')]
                .filter(each => each.tagName !== 'STYLE' && each.checkVisibility())
                .flatMap(each => [...each.childNodes].filter(node => node.nodeType === 3)
                    .map(node => node.data).concat(
                    ['title', 'aria-label', 'aria-valuetext', 'placeholder', 'alt', 'data-why']
                        .map(name => each.getAttribute(name) ?? '')))
                .filter(words => words.trim()).join('\\n')"""
        )

    def answer(self, words: str, timeout: int = LATE) -> None:
        """Wait for these words on the panel."""
        self.panel.get_by_text(words).first.wait_for(timeout=timeout)

    def train_once(self) -> float:
        """Press Run and wait for the measurement; seconds from the click."""
        began = time.monotonic()
        self.train.click()
        self.button("cancel").and_(self.page.locator(":enabled")).wait_for(timeout=SOON)
        self.trained()
        return time.monotonic() - began

    def trained(self) -> None:
        """Wait until a run has ended and its sentences are there."""
        self.train.and_(self.page.locator(":enabled")).wait_for(timeout=LATE)
        self.answer(self.say("evidence_trained"))

    def guess(self, slots: str = "7", percent: str = "43") -> None:
        fields = self.panel.locator(".pipekit-ask input[type=text]")
        fields.nth(0).fill(slots)
        fields.nth(1).fill(percent)
        self.button("guess_done").click()
        self.button("guess_done").wait_for(state="hidden", timeout=SOON)

    def choose(self, key: str, value: str) -> None:
        """Take a choice of the menu that has this label."""
        menu = self.panel.locator(".widget-hbox", has=self.page.get_by_text(self.say(key), exact=True)).last
        menu.locator("select").select_option(label=self.say(value))


@pytest.fixture(scope="session")
def starter(tmp_path_factory):
    return Starter(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="session")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def opening(starter, chromium):
    """`start.py` as a class calls it, in a browser that was never here: (page's address, seconds until Run can be pressed)."""
    began = time.monotonic()
    process = starter.call("--lang", "zh")
    try:
        url = starter.url(process)
        page = chromium.new_page(viewport=PROJECTOR)
        room = Room(page, "zh", starter)
        room.open(url)
        room.train.and_(page.locator(":enabled")).wait_for(timeout=LATE)
        seconds = time.monotonic() - began
        page.close()
        yield url, seconds
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@contextmanager
def new_pages(browser):
    """A function that opens a tab of a browser that was never here; afterwards no console may have complained."""
    contexts, complaints = [], []

    def new(width=PROJECTOR["width"], height=PROJECTOR["height"], **more):
        viewport = {"width": width, "height": height}
        context = browser.new_context(viewport=viewport, accept_downloads=True, **more)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield new
    for context in contexts:
        context.close()
    assert complaints == []


def new_room(lang: str, starter: Starter, page) -> Room:
    """A control room that nobody has touched."""
    room = Room(page, lang, starter)
    room.open(starter.afresh(lang))
    return room


@pytest.fixture
def pages(chromium):
    with new_pages(chromium) as new:
        yield new


@pytest.fixture
def open_room(opening, starter, pages):
    """A function that opens a new control room in a language."""
    return lambda lang: new_room(lang, starter, pages())


@pytest.fixture(scope="session")
def screenshot(tmp_path_factory):
    folder = Path(os.environ.get("PIPEKIT_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)

    def take(room, name):
        path = folder / f"{room.lang}-{name}.png"
        room.page.screenshot(path=path)
        return path

    take.folder = folder
    yield take
    print(f"screenshots: {folder}")
