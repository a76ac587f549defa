"""Opening: alive, once, quiet, in a folder of its own; a second start finds the first."""

import ast
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from setup_folder import PANEL, commit_notebook, notebook, prepared_folder, quiet_environment

from pipekit.launcher import copies, lab, settings
from pipekit.launcher.lock import one_at_a_time
from pipekit.launcher.places import Places
from pipekit.launcher.words import SetupError, Voice

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(os.name == "nt", reason="the prepared folder borrows packages by a symlink"),
]
CHROMIUM = os.environ.get("PIPEKIT_CHROMIUM") or shutil.which("chromium")
VOICE = Voice("en")
CONFIGURATIONS = {"jupyter_server_config.py", "jupyter_lab_config.py"}
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\S*\?token=([0-9a-f]{12})\n")


class Start:
    """One `python3 start.py` in a folder."""

    def __init__(self, root, home, *arguments, **environment):
        self.output = home / f"output-{time.monotonic_ns()}"
        with self.output.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "start.py", *arguments],
                cwd=root,
                env=quiet_environment(home, **environment),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    def said(self):
        return self.output.read_text(encoding="utf-8")

    def until(self, text, seconds=90):
        """What was said, once it contains a text."""
        deadline = time.monotonic() + seconds
        while text not in self.said():
            assert time.monotonic() < deadline and self.process.poll() in (None, 0), self.said()
            time.sleep(0.1)
        return self.said()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with a Jupyter configuration that would be noticed."""
    home = tmp_path_factory.mktemp("home")
    (home / ".jupyter").mkdir()
    loud = f"open({str(home / 'was-read')!r}, 'w').close()"
    for name in CONFIGURATIONS:
        (home / ".jupyter" / name).write_text(loud, encoding="utf-8")
    return home


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    return Places(prepared_folder(tmp_path_factory.mktemp("p") / "课 堂 (新) [1]"))


@pytest.fixture(scope="module")
def first(places, home):
    """A start that runs while the tests of this file do, on a machine whose first port is taken."""
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):  # somebody else has it: just as well
            taken.bind(("127.0.0.1", lab.FIRST_PORT))
            taken.listen()
        start = Start(
            *(places.root, home, "--lang", "en"),
            http_proxy="http://127.0.0.1:9",  # not for what is here
            PIPEKIT_TEST_CONNECTIONS=str(home / "connections"),
        )
        try:
            start.until("Ctrl-C")
            yield start
        finally:
            assert start.end() == 0
    assert not places.state.exists(), "the state outlived its lab"


def connected(file):
    """Which machines the Python processes of a start asked for a connection."""
    addresses = [ast.literal_eval(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {address[0] for address in addresses}


def sessions(places):
    return {one["path"]: one["kernel"]["id"] for one in lab.running_lab(places).ask("/api/sessions")}


# One lab


def test_the_terminal_shows_four_short_lines_and_nothing_else(first, places):
    said = first.until("Ctrl-C")
    port, token = ADDRESS.search(said).groups()
    assert int(port) > lab.FIRST_PORT
    assert said == (
        "pipekit: opening the control room (the first time this can take a minute)\n"
        f"pipekit: the page is at\n\n    http://127.0.0.1:{port}/?token={token}\n\n"
        "pipekit: press Ctrl-C here to stop\n"
    )


def test_jupyterlab_finds_its_settings_and_widgets_in_a_folder_with_brackets(first, places):
    running = lab.running_lab(places)
    listed = running.ask("/lab/api/settings/")["settings"]

    assert len(listed) > 30  # one a plugin
    with urllib.request.urlopen(f"{running.address}/lab?token={running.token}") as page:
        assert "@jupyter-widgets/jupyterlab-manager" in page.read().decode("utf-8")


def test_the_front_door_leads_to_the_control_room(first, places):
    running = lab.running_lab(places)
    page = lab.page_of(places, copies.control_room(places, "en"))
    assert lab.short_address(running, page) == f"{running.address}/?token={running.token}"
    other = lab.page_of(places, copies.control_room(places, "zh"))
    assert lab.short_address(running, other) == f"{running.address}{other}?token={running.token}"


def test_the_panel_was_run_and_trusted_with_its_code_folded_and_nothing_after_it_was_run(first, places):
    notebook = nbformat.read(places.root / "my-class" / "control-room.ipynb", as_version=4)
    panel, later = notebook.cells
    assert lab.WIDGET_VIEW in panel.outputs[0].data and panel.execution_count == 1
    assert later.outputs == [] and later.execution_count is None
    assert panel.metadata.jupyter.source_hidden and later.metadata.jupyter.source_hidden
    assert NotebookNotary(data_dir=str(places.lab / "data")).check_signature(notebook)


def test_nobody_elses_jupyter_is_read_or_written(first, places, home):
    assert not (home / "was-read").exists()
    assert {path.name for path in (home / ".jupyter").iterdir()} == CONFIGURATIONS
    assert not any((home / name).exists() for name in (".ipython", ".local/share/jupyter"))
    assert (places.lab / "runtime").is_dir() and (places.lab / "ipython").is_dir()


def test_the_state_is_for_its_owners_eyes(first, places):
    assert places.state.stat().st_mode & 0o077 == 0
    assert places.lab.stat().st_mode & 0o077 == 0


def test_a_second_start_opens_the_page_again_and_touches_nothing(first, places, home, tmp_path):
    copy, connections = places.root / "my-class" / "control-room.ipynb", tmp_path / "connections"
    before = copy.stat().st_mtime_ns, sessions(places), places.state.read_bytes()
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}"\n', encoding="utf-8")
    browser.chmod(0o755)
    second = Start(
        places.root, home, "--lang", "en", BROWSER=str(browser), PIPEKIT_TEST_CONNECTIONS=str(connections)
    )
    assert second.process.wait(60) == 0
    assert second.said().startswith("pipekit: the control room is running already")
    assert ADDRESS.search(second.said()).groups() == ADDRESS.search(first.said()).groups()
    assert before == (copy.stat().st_mtime_ns, sessions(places), places.state.read_bytes())
    assert "/doc/tree/my-class/control-room.ipynb?token=" in opened.read_text(encoding="utf-8")
    assert connected(connections) == {"127.0.0.1"}


def test_a_start_with_everything_prepared_opens_no_connection_to_the_outside(first, places, home):
    running = lab.running_lab(places)
    with urllib.request.urlopen(f"{running.address}/lab?token={running.token}") as page:
        assert page.status == 200
    assert connected(home / "connections") == {"127.0.0.1"}  # start.py, JupyterLab and its kernel


def test_the_other_language_opens_in_the_same_lab(first, places, home):
    second = Start(places.root, home)
    assert second.process.wait(90) == 0
    said = second.said()
    assert said.startswith("pipekit: 控制室已经开着")
    assert ADDRESS.search(said).groups() == ADDRESS.search(first.said()).groups()
    assert set(sessions(places)) == {"my-class/control-room.ipynb", "我的课堂/control-room.ipynb"}


def test_a_lesson_opens_in_the_same_lab_with_its_panel_run_and_its_code_folded(first, places, home):
    committed = places.root / "notebooks" / "en" / "lesson-45.ipynb"
    committed.write_text(json.dumps(notebook(PANEL)), encoding="utf-8")
    second = Start(places.root, home, "--lang", "en", "lesson")
    assert second.process.wait(90) == 0
    assert "/doc/tree/my-class/lesson-45.ipynb?token=" in second.said()
    (panel,) = nbformat.read(places.root / "my-class" / "lesson-45.ipynb", as_version=4).cells
    assert lab.WIDGET_VIEW in panel.outputs[0].data and panel.metadata.jupyter.source_hidden


def test_afresh_in_a_running_lab_gives_a_new_notebook_and_kernel_and_keeps_the_old_file(first, places, home):
    Start(places.root, home).process.wait(90)
    copy = places.root / "我的课堂" / "control-room.ipynb"
    old_kernel = sessions(places)["我的课堂/control-room.ipynb"]
    mine = copy.read_text(encoding="utf-8").replace("slider", "my_slider")
    copy.write_text(mine, encoding="utf-8")
    assert Start(places.root, home, "afresh").process.wait(90) == 0
    assert sessions(places)["我的课堂/control-room.ipynb"] != old_kernel
    assert "my_slider" not in copy.read_text(encoding="utf-8")
    assert mine in [path.read_text(encoding="utf-8") for path in copy.parent.glob("control-room-20*.ipynb")]


def test_kernels_know_that_start_py_opened_them(monkeypatch, tmp_path):
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/somebody/elses")
    environment = settings.lab_environment(Places(tmp_path), "token")
    assert environment["PIPEKIT_STARTED"] == "1" and environment["PYTHONUTF8"] == "1"
    assert environment["JUPYTER_CONFIG_PATH"] == ".venv/etc/jupyter"
    assert all(Path(environment[name]).is_relative_to(tmp_path / ".lab") for name in settings.FOLDERS)


@pytest.mark.slow  # the control room's own page does the same in tests/browser
@pytest.mark.browser
@pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium found: install `chromium`, or name one in PIPEKIT_CHROMIUM"
)
def test_the_page_opens_alive_and_a_closed_tab_finds_it_again(first, places):
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    url = ADDRESS.search(first.said())[0].strip()
    # In a thread of its own: other tests' browser may still be open in this one.
    with ThreadPoolExecutor(1) as aside:
        assert aside.submit(open_and_open_again, playwright, url).result(timeout=180) == []


def open_and_open_again(playwright, url):
    """Move the slider, close the tab, find its value in another; what the console complained of."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        complaints = []
        page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
        page.goto(url)
        handle = page.locator(".widget-slider .noUi-handle")
        handle.wait_for(timeout=60_000)
        assert page.locator(".jp-InputPlaceholder").count() == 2
        assert page.locator(".jp-InputArea-editor:visible").count() == 0
        page.wait_for_timeout(2000)  # Lab draws a saved output again once its kernel is connected
        handle.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(3000)  # the kernel hears of it before the tab is closed
        page.close()
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(url)
        page.locator(".widget-readout", has_text=re.compile("^4$")).wait_for(timeout=60_000)
        browser.close()
    return complaints


# Finding it


def write_state(places, **changes):
    state = {"root": str(places.root), "pid": 1, "port": 9, "token": "x"} | changes
    places.state.write_text(json.dumps(state), encoding="utf-8")


@pytest.fixture
def stranger():
    """A web server that answers everything, but is no JupyterLab."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"[]")

        def log_message(self, *ignored):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"pid": 1}', '{"root": 1, "pid": 1, "port": "x", "token": 1}']
)
def test_a_state_that_cannot_be_read_is_ignored(tmp_path, content):
    places = Places(tmp_path)
    places.state.write_text(content, encoding="utf-8")
    assert lab.running_lab(places) is None


def test_a_state_whose_port_is_dead_or_somebody_elses_is_ignored(tmp_path, stranger):
    places = Places(tmp_path)
    write_state(places)
    assert lab.running_lab(places) is None
    write_state(places, port=stranger)
    assert lab.running_lab(places) is None


@pytest.mark.parametrize("port", ["x", None, "@elsewhere:80/", 80.5])
def test_a_state_whose_port_is_no_number_is_ignored_and_asks_nobody(tmp_path, port, monkeypatch):
    places = Places(tmp_path)
    monkeypatch.setattr(lab.Lab, "ask", lambda *asked: {"started": ""})
    write_state(places, port=port)
    assert lab.running_lab(places) is None


def test_a_state_of_brackets_alone_is_ignored(tmp_path):
    places = Places(tmp_path)
    places.state.write_text("[" * 100_000, encoding="utf-8")
    assert lab.running_lab(places) is None


def test_a_port_whose_program_speaks_no_http_is_not_ours(tmp_path):
    places = Places(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet():
            client, _ = server.accept()
            with client:
                client.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")
                client.recv(4096)

        greeting = threading.Thread(target=greet)
        greeting.start()
        write_state(places, port=server.getsockname()[1])
        assert lab.running_lab(places) is None
        greeting.join()


def test_a_copied_folder_does_not_take_over_the_lab_of_the_folder_it_was_copied_from(first, places, tmp_path):
    shutil.copytree(places.lab, tmp_path / ".lab", ignore=shutil.ignore_patterns("runtime", "data"))
    assert lab.running_lab(places) is not None
    assert lab.running_lab(Places(tmp_path)) is None


def test_a_wrong_token_is_not_ours(first, places, tmp_path):
    other = Places(tmp_path)
    write_state(other, port=lab.running_lab(places).port)
    assert lab.running_lab(other) is None


def test_of_two_starts_at_the_same_moment_one_wins_and_the_other_opens_its_page(tmp_path, home):
    root = prepared_folder(tmp_path / "two")
    both = [Start(root, home, "--lang", "en") for _ in range(2)]
    try:
        for one in both:
            one.until("the page is at")
        deadline = time.monotonic() + 30
        while all(one.process.poll() is None for one in both) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert sorted(one.process.poll() is None for one in both) == [False, True]
        assert len({ADDRESS.search(one.said()).groups() for one in both}) == 1
        assert sum("running already" in one.said() for one in both) == 1
        assert sum("waiting for it" in one.said() for one in both) == 1
    finally:
        for one in both:
            one.end()


def test_whoever_dies_inside_leaves_no_lock_behind(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from pipekit.launcher.lock import one_at_a_time\n"
        "from pipekit.launcher.words import Voice\n"
        "with one_at_a_time(Path(sys.argv[1]), Voice('en')):\n    os._exit(3)"
    )
    lock = tmp_path / "lock"
    answer = subprocess.run([sys.executable, "-c", code, str(lock)], cwd=Path(lab.__file__).parents[2])
    assert answer.returncode == 3
    with one_at_a_time(lock, VOICE):
        pass


def test_a_port_that_is_taken_is_passed_over_and_none_at_all_is_said(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert lab.free_port(port) != port
        monkeypatch.setattr(lab, "NUM_PORTS", 1)
        with pytest.raises(SetupError, match=f"Ports {port} to {port} are all taken"):
            lab.free_port(port)


@pytest.mark.slow
def test_a_port_that_another_program_takes_meanwhile_is_passed_over(tmp_path, home, monkeypatch):
    root = prepared_folder(tmp_path / "late")
    places = Places(root)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(sys, "executable", str(places.python))
        asked = lab.Lab(str(root), 0, port, "0123456789ab")
        server = lab.start_server(places, asked, "en")
        try:
            found = lab.wait_until_up(places, server, asked)
            assert found.port != port and lab.running_lab(places) == found
        finally:
            lab.end_server(places, server)


# What goes wrong while it opens


def run_start(monkeypatch, root, *code):
    monkeypatch.setattr(lab, "lab_command", lambda *ignored: [sys.executable, "-c", *code])
    commit_notebook(root, "en", "1")
    return lambda: lab.open_lab(Places(root), VOICE, "en")


def test_a_lab_that_ends_at_once_is_explained_by_its_own_last_words(tmp_path, monkeypatch):
    start = run_start(monkeypatch, tmp_path, "import sys; sys.exit('ImportError: no jupyterlab here')")
    with pytest.raises(SetupError) as caught:
        start()
    assert "ImportError: no jupyterlab here" in str(caught.value) and "server.log" in str(caught.value)
    assert "ImportError: no jupyterlab here" in caught.value.text("zh")


def test_a_lab_that_never_answers_is_ended_and_said(tmp_path, monkeypatch):
    monkeypatch.setattr(lab, "UP_SECONDS", 1)
    started = []
    real = lab.start_server
    monkeypatch.setattr(lab, "start_server", lambda *given: started.append(real(*given)) or started[0])
    with pytest.raises(SetupError, match="did not answer within 1 s"):
        run_start(monkeypatch, tmp_path, "import time; time.sleep(60)")()
    assert started[0].poll() is not None


def test_a_browser_that_stays_in_the_foreground_does_not_hold_us_up(tmp_path, monkeypatch):
    monkeypatch.setattr(lab, "BROWSER_SECONDS", 0.2)
    monkeypatch.setattr(lab, "OPEN_BROWSER", "import time; time.sleep(1)")
    assert lab.open_browser("http://127.0.0.1:9/")
    monkeypatch.setattr(lab, "BROWSER_SECONDS", 10)
    monkeypatch.setattr(lab, "OPEN_BROWSER", "import sys; sys.exit(1)")
    assert not lab.open_browser("http://127.0.0.1:9/")


# Settings


def test_news_and_update_checks_are_off_and_saving_is_on_and_what_a_learner_changes_stays(tmp_path):
    places = Places(tmp_path)
    settings.write_settings(places, "zh")
    folder = tmp_path / ".lab" / "settings" / "@jupyterlab"
    news = folder / "apputils-extension" / "notification.jupyterlab-settings"
    saving = folder / "docmanager-extension" / "plugin.jupyterlab-settings"
    assert json.loads(news.read_text(encoding="utf-8")) == {"fetchNews": "false", "checkForUpdates": False}
    assert json.loads(saving.read_text(encoding="utf-8"))["autosave"] is True
    saving.write_text('{"autosave": false}', encoding="utf-8")
    settings.write_settings(places, "zh")
    assert json.loads(saving.read_text(encoding="utf-8")) == {"autosave": False}


@pytest.mark.parametrize("installed", [False, True])
def test_the_interface_speaks_chinese_only_where_its_language_pack_is_installed(
    tmp_path, monkeypatch, installed
):
    monkeypatch.setattr(settings, "LANGUAGE_PACK", "json" if installed else "no_such_language_pack")
    places = Places(tmp_path)
    path = tmp_path / ".lab/settings/@jupyterlab/translation-extension/plugin.jupyterlab-settings"
    for language, locale in (("zh", "zh_CN"), ("en", "default")):
        settings.write_settings(places, language)
        assert path.exists() == installed
        assert not installed or json.loads(path.read_text(encoding="utf-8")) == {"locale": locale}
