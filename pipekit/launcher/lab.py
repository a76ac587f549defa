"""Open the control room alive: one running lab a folder, its first cells run before the browser looks."""

import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from . import copies
from .environment import last_line
from .lock import one_at_a_time
from .places import Places
from .settings import FOLDERS, lab_environment, write_settings
from .words import SetupError, Voice

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
FIRST_PORT, NUM_PORTS = 8888, 100
UP_SECONDS = 90  # how long JupyterLab may take to answer: a virus scanner reads every new file
CELLS_SECONDS = 60  # how long the notebook's own cells may take before the browser opens without them
BROWSER_SECONDS = 5  # a browser that hasn't come back by then is open
OPEN_BROWSER = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: whose it is and how it is reached."""

    root: str
    pid: int
    port: int
    token: str

    @property
    def address(self) -> str:
        """Its web address."""
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path: str, data: dict[str, Any] | None = None, method: str | None = None) -> Any:
        """Ask the server; with data, POST it. An empty answer is None.

        Raises:
            OSError: nobody answers, or not with success.
            ValueError: what answers is no Jupyter server.
        """
        body = None if data is None else json.dumps(data).encode()
        headers = {"Authorization": f"token {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.address}{path}", body, headers, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never by a proxy: it is here
        with opener.open(request, timeout=30) as answer:
            content = answer.read()
        return json.loads(content) if content else None

    def answers(self) -> bool:
        """Whether it is there and takes our token."""
        try:
            return "started" in self.ask("/api/status")
        except (OSError, ValueError, TypeError, http.client.HTTPException):  # somebody else's port
            return False


def running_lab(places: Places) -> Lab | None:
    """The lab that an earlier start of this folder left running, or None."""
    try:
        lab = Lab(**json.loads(places.state.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    if type(lab.port) is not int:  # anything else could make an address elsewhere
        return None
    return lab if lab.root == str(places.root) and lab.answers() else None


def open_lab(
    places: Places,
    voice: Voice,
    language: str,
    start_afresh: bool = False,
    name: str = copies.CONTROL_ROOM,
) -> int:
    """Open a notebook's page, in the lab that runs or in a new one; stay until a new one ends."""
    server = None
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ended from outside, the lab ends too
        with one_at_a_time(places.lock, voice):
            lab = running_lab(places)
            voice.say("starting" if lab is None else "already_open")
            if lab is None:
                lab = Lab(str(places.root), 0, free_port(), secrets.token_hex(6))
                server = start_server(places, lab, language)
                lab = wait_until_up(places, server, lab)
            page = bring_to_life(
                places, voice, lab, copies.copy_called(places, language, name), language, start_afresh
            )
            show_page(voice, lab, page)
        if server is None:
            return 0
        voice.say("how_to_stop")
        return server.wait()
    except KeyboardInterrupt:
        if server is not None:
            voice.say("stopping")
        return 0
    finally:
        if server is not None:
            end_server(places, server)


# The server


def free_port(first: int = FIRST_PORT) -> int:
    """The first port of this machine from `first` up that can be listened on."""
    for port in range(first, first + NUM_PORTS):
        with socket.socket() as probe:
            if os.name == "posix":  # elsewhere this would allow a port that is taken
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise SetupError("no_port", first=first, last=first + NUM_PORTS - 1)


def lab_command(places: Places, port: int, language: str) -> list[str]:
    """How JupyterLab is started; its browser is left to us, since the cells run first."""
    page = page_of(places, copies.control_room(places, language))
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--log-level=WARN"]
    command += ["--LabApp.log_level=WARN", f"--LabApp.default_url={page}"]
    command += ["--LabApp.extension_manager=readonly"]  # the other one asks the package index
    command += app_folders(places)
    command += ["--ServerApp.answer_yes=True"]  # after Ctrl-C there is nobody to ask
    command += [
        f"--ServerApp.port={port}",
        f"--ServerApp.port_retries={NUM_PORTS}",
        "--ServerApp.ip=127.0.0.1",
    ]
    command += [f"--ServerApp.root_dir={places.root}"]
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*command, "--allow-root"] if is_root else command


def app_folders(places: Places) -> list[str]:
    """Where JupyterLab finds its own files, as seen from the root, in which it is started.

    It searches them by patterns, and a bracket in an absolute path would be taken for one: then no widget appears.
    """
    share = f"{places.venv.name}/share/jupyter"
    folders = {"schemas_dir": "lab/schemas", "labextensions_path": "labextensions"}
    return [f"--LabApp.{name}={share}/{folder}" for name, folder in folders.items()]


def start_server(places: Places, lab: Lab, language: str) -> subprocess.Popen[bytes]:
    """Start JupyterLab; what it and its kernels say goes to a log, not to the teacher's terminal."""
    write_settings(places, language)
    with places.server_log.open("wb") as log:
        return subprocess.Popen(
            lab_command(places, lab.port, language),
            cwd=places.root,
            env=lab_environment(places, lab.token),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def wait_until_up(places: Places, server: subprocess.Popen[bytes], asked: Lab) -> Lab:
    """Return when the server answers, and write down where it is."""
    deadline = time.monotonic() + UP_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            log = places.server_log
            said = log.read_text(encoding="utf-8", errors="replace")
            raise SetupError("lab_ended", line=last_line(said), log=log)
        lab = replace(asked, pid=server.pid, port=port_of(places, asked))
        if lab.answers():
            copies.write_whole(places.state, json.dumps(asdict(lab)), mode=0o600)
            return lab
        time.sleep(0.2)
    raise SetupError("lab_silent", seconds=UP_SECONDS, log=places.server_log)


def port_of(places: Places, asked: Lab) -> int:
    """The port that a server listens on: as asked, or a later one if another program was quicker."""
    for file in (places.lab / FOLDERS["JUPYTER_RUNTIME_DIR"]).glob("jpserver-*.json"):
        try:
            server = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # just being written
            continue
        if server.get("token") == asked.token:
            return int(server["port"])
    return asked.port


def end_server(places: Places, server: subprocess.Popen[bytes]) -> None:
    """End the server that we started, and take back what was written about it."""
    server.terminate()
    server.wait()
    places.state.unlink(missing_ok=True)


# The page


def page_of(places: Places, notebook: Path) -> str:
    """The page that shows one notebook and nothing else."""
    return f"/doc/tree/{urllib.parse.quote(notebook.relative_to(places.root).as_posix())}"


def bring_to_life(
    places: Places, voice: Voice, lab: Lab, notebook: Path, language: str, start_afresh: bool
) -> str:
    """The page of one of a language's notebooks. One that has a kernel is left as it is, and so is its run."""
    path = notebook.relative_to(places.root).as_posix()
    kernels = [session for session in lab.ask("/api/sessions") if session["path"] == path]
    if start_afresh:
        for session in kernels:
            lab.ask(f"/api/sessions/{session['id']}", method="DELETE")
        copies.afresh(places, voice, language)
        kernels = []
    if not kernels:
        copies.give(places, voice, language)
        try:
            run_cells_first(places, voice, lab, notebook)
        except Exception as error:  # whatever went wrong, the notebook still opens as it was saved
            voice.say("cells_not_run", error=repr(error), log=places.server_log)
    return page_of(places, notebook)


def show_page(voice: Voice, lab: Lab, page: str) -> None:
    """Open the browser on a page and say where it is, as short as it can be said."""
    url = f"{lab.address}{page}?token={lab.token}"
    voice.say("opened" if open_browser(url) else "open_it", url=short_address(lab, page))


def short_address(lab: Lab, page: str) -> str:
    """The address to print: the lab's front door, if that leads to the page."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect())
    door = f"{lab.address}/?token={lab.token}"
    try:
        opener.open(door, timeout=30).close()
    except urllib.error.HTTPError as answer:
        if answer.headers.get("Location", "").partition("?")[0] == page:
            return door
    except OSError:
        pass
    return f"{lab.address}{page}?token={lab.token}"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Reports a redirection instead of following it."""

    def redirect_request(self, *ignored: Any) -> None:
        """Follow nothing."""


def open_browser(url: str) -> bool:
    """Open a page in the user's browser, whose own messages nobody needs to see; whether there is one."""
    quiet = subprocess.DEVNULL
    opener = subprocess.Popen(
        [sys.executable, "-c", OPEN_BROWSER, url],
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,  # Ctrl-C in our window is not for the browser
    )
    try:
        return opener.wait(BROWSER_SECONDS) == 0
    except subprocess.TimeoutExpired:
        opener.returncode = 0  # it stays open, and Python need not warn that we don't wait for it
        return True


# The cells


def run_cells_first(places: Places, voice: Voice, lab: Lab, notebook: Path) -> None:
    """Run the notebook's first cells in the kernel that Lab will find, so that its controls are alive on opening.

    The outputs are written into the learner's copy, which is signed: an untrusted one shows only text.
    """
    import nbformat
    from jupyter_client.blocking import BlockingKernelClient
    from nbformat.sign import NotebookNotary

    path = notebook.relative_to(places.root).as_posix()
    session = {"path": path, "name": notebook.name, "type": "notebook", "kernel": {"name": "python3"}}
    kernel = lab.ask("/api/sessions", session)["kernel"]["id"]
    connection = places.lab / FOLDERS["JUPYTER_RUNTIME_DIR"] / f"kernel-{kernel}.json"
    client = BlockingKernelClient(connection_file=str(connection))
    client.load_connection_file()
    client.start_channels(hb=False)  # a kernel that starts on a busy machine beats late, and isn't dead
    try:
        client.wait_for_ready(timeout=CELLS_SECONDS)
        content = nbformat.read(notebook, as_version=4)
        run_code_cells(client, content, voice, deadline=time.monotonic() + CELLS_SECONDS)
        copies.write_whole(notebook, nbformat.writes(content))
        signatures = places.lab / FOLDERS["JUPYTER_DATA_DIR"]
        signatures.mkdir(exist_ok=True)
        NotebookNotary(data_dir=str(signatures)).sign(content)
    finally:
        client.stop_channels()


def run_code_cells(client: Any, notebook: Any, voice: Voice, deadline: float) -> None:
    """Run code cells in order until one has shown a widget, fails, or the time is over.

    Their outputs replace the old ones. What comes after the living panel trains for real: it waits for its reader.
    """
    from nbformat.v4 import output_from_msg

    kinds = {"stream", "display_data", "execute_result", "error"}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        outputs: list[Any] = []
        cell.outputs = outputs

        def keep(message: Any, outputs: list[Any] = outputs) -> None:
            if message["msg_type"] in kinds:
                outputs.append(output_from_msg(message))

        left = deadline - time.monotonic()
        try:
            reply = client.execute_interactive(
                cell.source, output_hook=keep, timeout=max(left, 0.1), allow_stdin=False
            )
        except TimeoutError:
            voice.say("cells_slow")
            return
        cell.execution_count = reply["content"].get("execution_count")
        if reply["content"]["status"] != "ok":
            voice.say("cell_failed")
            return
        if any(WIDGET_VIEW in output.get("data", {}) for output in outputs):
            return
