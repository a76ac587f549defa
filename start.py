"""Prepare pipekit and open its control room, with nothing but Python's standard library.

    python3 start.py                  prepare `.venv` (the first time only), open JupyterLab on the control room
    python3 start.py --lang en        the same in English
    python3 start.py test [ARGS]      prepare, then pass every check; ARGS are handed to pytest
    python3 start.py setup            only prepare

Preparing happens in the Python that was called; everything after it in `.venv`'s Python. Only
`run_cells_first`, which runs there, imports anything that is not in the standard library.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import platform
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from pathlib import Path

OLDEST_PYTHON = (3, 10)


def too_old(version):
    """Explain, in one paragraph, that this Python cannot run pipekit."""
    return (
        "pipekit needs Python {}.{} or newer, and this is Python {}.{}. Install a newer one (python.org, your "
        "system's packages, or conda) and call start.py with it, for example `python3.12 start.py`, or "
        "`py -3.12 start.py` on Windows."
    ).format(*OLDEST_PYTHON, version[0], version[1])


# The functions below are annotated in a way that Python 3.9 cannot read, so the check comes first.
if sys.version_info < OLDEST_PYTHON:
    sys.exit(too_old(sys.version_info))

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "pipekit-stamp"
TORCH_INDEX = os.environ.get("PIPEKIT_TORCH_INDEX", "https://download.pytorch.org/whl/cpu")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CELLS_SECONDS = 60  # how long the notebook's own cells may take before the browser opens without them


class SetupError(Exception):
    """Something is missing on this machine; the text says what, and the way out."""


def say(text: str) -> None:
    """Print one line at once, so that it stands before the output of what comes next."""
    print(f"pipekit: {text}", flush=True)


# Preparing


def venv_python(venv: Path) -> Path:
    """Where a virtual environment keeps its Python."""
    return venv / "Scripts" / "python.exe" if os.name == "nt" else venv / "bin" / "python"


def fingerprint(root: Path, python: str) -> str:
    """Name what a prepared `.venv` was made from: the pins, the package's needs, the place, the Python.

    The place counts because a virtual environment and an editable install both hold absolute paths.
    """
    digest = hashlib.sha256(f"{root}\n{python}\n".encode())
    for name in ("constraints.txt", "pyproject.toml"):
        digest.update((root / name).read_bytes())
    return digest.hexdigest()


def python_series(version: tuple[int, ...] = tuple(sys.version_info[:2])) -> str:
    """The part of a Python's version that its packages depend on, for example `3.12`."""
    return f"{version[0]}.{version[1]}"


def is_prepared(stamp: Path, python: Path, expected: str) -> bool:
    """Whether `.venv` is there and was made from the present pins."""
    return python.exists() and stamp.is_file() and stamp.read_text().strip() == expected


def prepare() -> None:
    """Make `.venv` hold exactly what constraints.txt says; do nothing when it already does."""
    expected = fingerprint(ROOT, python_series())
    if is_prepared(STAMP, venv_python(VENV), expected):
        return
    started = time.monotonic()
    say("preparing .venv; the first time this takes some minutes")
    STAMP.unlink(missing_ok=True)
    make_venv()
    install_torch()
    install(
        "pipekit and everything it needs",
        ["-c", "constraints.txt", "-e", ".[lab,test]"],
    )
    quiet_lab()
    STAMP.write_text(expected + "\n")
    say(f"prepared in {time.monotonic() - started:.0f} s")


def make_venv() -> None:
    """Create `.venv`, or keep the one that is there if it was made by the same Python."""
    if Path(sys.prefix).resolve() == VENV.resolve():
        return
    if not all(map(importlib.util.find_spec, ("venv", "ensurepip"))):
        raise SetupError(
            "this Python comes without venv or pip, which pipekit needs to keep its packages apart from the "
            f"system's. On Debian or Ubuntu: `apt-get install python{python_series()}-venv`, then start again."
        )
    config = VENV / "pyvenv.cfg"
    same_python = config.is_file() and f"version = {python_series()}." in config.read_text()
    fresh = ["--clear"] if VENV.exists() and not same_python else []
    if subprocess.call([sys.executable, "-m", "venv", *fresh, str(VENV)]) != 0:
        raise SetupError(
            f"the virtual environment {VENV} could not be made; the lines above say why. A full disk, a folder that "
            "may not be written to, or a program that holds .venv open are the usual reasons. Remove .venv and "
            "start again."
        )
    install("a pip that knows pyproject.toml", ["pip>=23.1"])


def has_nvidia_driver() -> bool:
    """Whether this machine can use torch's CUDA build."""
    return shutil.which("nvidia-smi") is not None or Path("/proc/driver/nvidia").exists()


def pinned(name: str) -> str:
    """The version that constraints.txt pins a package to."""
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if line.startswith(f"{name}=="):
            return line.split(";")[0].strip().removeprefix(f"{name}==")
    raise SetupError(f"constraints.txt has no line `{name}==...`; take it back from git.")


def torch_attempts(version: str, cpu_only: bool, index: str) -> list[list[str]]:
    """What to ask pip for, best first.

    torch's default wheels for Linux bring several GB of CUDA libraries, so without a driver the CPU build
    is asked for by its full name: first where pip is configured to look, then at PyTorch's own index too.
    A short patience is enough for these two, and only for these: there is always a next attempt.
    """
    default = [f"torch=={version}"]
    if not cpu_only:
        return [default]
    patience = ["--retries", "1", "--timeout", "15"]
    by_name = [f"torch=={version}+cpu", *patience]
    return [by_name, [*by_name, "--extra-index-url", index], default]


def install_torch() -> None:
    """Install torch alone, as its CPU build where that saves gigabytes."""
    cpu_only = sys.platform == "linux" and not has_nvidia_driver()
    version = pinned("torch")
    attempts = torch_attempts(version, cpu_only, TORCH_INDEX)
    for number, attempt in enumerate(attempts, start=1):
        last = number == len(attempts)
        if last and cpu_only:
            say(
                f"found no CPU build of torch {version} (asked {TORCH_INDEX} too): taking the default build, "
                "which may be several GB. To stop, press Ctrl-C; PIPEKIT_TORCH_INDEX may name another index."
            )
        what = f"torch {version}" + (", CPU build" if cpu_only and not last else "")
        if run_pip(what, ["--no-deps", *attempt], show_errors=last):
            return
    raise SetupError(
        f"torch {version} could not be installed for Python {python_series()} on {platform.platform()}; pip's "
        "lines above say why. Without a network, try again with one. If pip found no matching "
        "distribution, this Python is newer or this machine older than torch is built for (Macs with an Intel "
        "processor, 32-bit Pythons): use Python 3.12 on a 64-bit machine."
    )


def install(what: str, arguments: list[str]) -> None:
    """Install with pip, or stop with a paragraph."""
    if not run_pip(what, arguments):
        raise SetupError(
            f"pip could not install {what}; its lines above say why. Usual reasons: no network, a proxy that pip "
            "has not been told of (`pip config set global.proxy ...`), or a full disk. Start again when it is "
            "mended: what was installed stays."
        )


def run_pip(what: str, arguments: list[str], show_errors: bool = True) -> bool:
    """Run `.venv`'s pip install with the user's own configuration, saying every 20 s that it is still at it."""
    say(f"installing {what}")
    pip = [str(venv_python(VENV)), "-m", "pip", "--disable-pip-version-check"]
    errors = None if show_errors else subprocess.DEVNULL
    environment = {**os.environ, "PIP_USER": "0"}  # a user-wide --user would fail in a virtual environment
    started = time.monotonic()
    with subprocess.Popen(
        [*pip, "install", "-qq", *arguments], cwd=ROOT, env=environment, stderr=errors
    ) as process:
        while True:
            try:
                return process.wait(timeout=20) == 0
            except subprocess.TimeoutExpired:
                say(f"    still installing ({time.monotonic() - started:.0f} s)")


def quiet_lab() -> None:
    """Keep JupyterLab from asking a class whether it wants news."""
    settings = VENV / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    news = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
    (settings / "overrides.json").write_text(json.dumps(news, indent=2))


# Testing


def has_notebooks(root: Path) -> bool:
    """Whether there is a notebook to check."""
    return any((root / "notebooks").glob("**/*.ipynb"))


def check_steps(root: Path, pytest_arguments: list[str]) -> list[tuple[str, list[str]]]:
    """Every check, cheapest first; the notebooks come last, so that a run ends with pytest's closing line."""
    steps = [
        ("ruff check", ["ruff", "check", "."]),
        ("ruff format", ["ruff", "format", "--check", "."]),
        ("mypy", ["mypy", "pipekit"]),
        ("pytest", ["pytest", *pytest_arguments]),
    ]
    if has_notebooks(root):
        nbval = ["--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=120"]
        sanitize = ["--nbval-sanitize-with", "tests/nbval_sanitize.cfg"]
        steps.append(("notebooks", ["pytest", *nbval, *sanitize, "notebooks"]))
    return steps


def run_tests(pytest_arguments: list[str]) -> int:
    """Run the checks in order and stop at the first that fails."""
    steps = check_steps(ROOT, pytest_arguments)
    if not has_notebooks(ROOT):
        say("notebooks/ holds no notebook yet: that check is skipped")
    times = []
    for number, (name, command) in enumerate(steps, start=1):
        say(f"[{number}/{len(steps)}] {name}")
        started = time.monotonic()
        status = subprocess.call([sys.executable, "-m", *command], cwd=ROOT)
        seconds = time.monotonic() - started
        if status != 0:
            say(f"[{number}/{len(steps)}] {name} FAILED after {seconds:.1f} s (exit status {status})")
            return status
        times.append(f"{name} {seconds:.1f} s")
    say("everything passed: " + ", ".join(times))
    return 0


# Opening


def working_copy(committed: Path, copy: Path) -> Path:
    """Give the learner a notebook of their own: git's stays as it is, and what they change is never replaced.

    A copy that was not changed since it was made follows the committed notebook.
    """
    notebook = json.loads(committed.read_text(encoding="utf-8"))
    if copy.exists():
        mine = json.loads(copy.read_text(encoding="utf-8"))
        origin = mine["metadata"].get("pipekit_origin")
        if origin != sources_digest(mine):
            if origin != sources_digest(notebook):
                say(f"keeping your {copy.name}; there is a newer one: {committed.relative_to(ROOT)}")
            return copy
    notebook["metadata"]["pipekit_origin"] = sources_digest(notebook)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(json.dumps(notebook, ensure_ascii=False, indent=1), encoding="utf-8")
    return copy


def sources_digest(notebook: dict) -> str:
    """Name a notebook by what is written in its cells, outputs left out."""
    sources = [[cell["cell_type"], "".join(cell["source"])] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()


def free_port(first: int = 8888) -> int:
    """The first port of this machine from `first` up that nobody listens on."""
    for port in range(first, first + 100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise SetupError(f"ports {first} to {first + 99} are all taken; close a JupyterLab and start again.")


def ask(url: str, token: str, data: dict | None = None) -> dict:
    """Ask the Jupyter server; with data, POST it."""
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(url, body, {"Authorization": f"token {token}"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never through a proxy: it is here
    with opener.open(request, timeout=30) as answer:
        return json.load(answer)


def wait_until_up(server: subprocess.Popen, address: str, token: str, seconds: float = 60) -> None:
    """Return when the server answers."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise SetupError("JupyterLab ended while it started; the lines above say why.")
        try:
            ask(f"{address}/api/status", token)
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise SetupError(f"JupyterLab did not answer within {seconds:.0f} s; start again.")


def run_cells_first(address: str, token: str, notebook: Path) -> None:
    """Run the notebook's first cells in the kernel that Lab will find, so that its controls are alive on opening.

    The outputs are written into the working copy, which is signed: an untrusted one shows only text.
    """
    import nbformat
    from jupyter_client.blocking import BlockingKernelClient
    from jupyter_core.paths import jupyter_data_dir, jupyter_runtime_dir
    from nbformat.sign import NotebookNotary

    path = notebook.relative_to(ROOT).as_posix()
    session = {"path": path, "name": notebook.name, "type": "notebook", "kernel": {"name": "python3"}}
    kernel = ask(f"{address}/api/sessions", token, session)["kernel"]["id"]
    client = BlockingKernelClient(connection_file=str(Path(jupyter_runtime_dir()) / f"kernel-{kernel}.json"))
    client.load_connection_file()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=30)
        content = nbformat.read(notebook, as_version=4)
        run_code_cells(client, content, deadline=time.monotonic() + CELLS_SECONDS)
        nbformat.write(content, notebook)
        NotebookNotary(data_dir=jupyter_data_dir()).sign(content)
    finally:
        client.stop_channels()


def run_code_cells(client, notebook, deadline: float) -> None:
    """Run code cells in order until one has shown a widget, fails, or the time is over.

    Their outputs replace the old ones. What comes after the living panel trains for real: it waits for its reader.
    """
    from nbformat.v4 import output_from_msg

    kinds = {"stream", "display_data", "execute_result", "error"}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs = outputs = []

        def keep(message, outputs=outputs):
            if message["msg_type"] in kinds:
                outputs.append(output_from_msg(message))

        left = deadline - time.monotonic()
        try:
            reply = client.execute_interactive(
                cell.source, output_hook=keep, timeout=max(left, 0.1), allow_stdin=False
            )
        except TimeoutError:
            say("the notebook's cells take longer than expected: the browser opens while they run")
            return
        cell.execution_count = reply["content"].get("execution_count")
        if reply["content"]["status"] != "ok":
            say("a cell of the notebook stopped with an error, which the notebook shows")
            return
        if any(WIDGET_VIEW in output.get("data", {}) for output in outputs):
            return


def lab_command(port: int) -> list[str]:
    """How JupyterLab is started; its browser is left to us, since the cells run first."""
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--log-level=WARN",
        "--LabApp.log_level=WARN",
    ]
    command += ["--ServerApp.answer_yes=True"]  # after Ctrl-C there is nobody to ask
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={ROOT}"]
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*command, "--allow-root"] if is_root else command


def open_lab(language: str) -> int:
    """Start JupyterLab, bring the control room to life in it, open the browser, and stay until Lab ends."""
    committed = ROOT / "notebooks" / language / "control-room.ipynb"
    token, port = secrets.token_urlsafe(24), free_port()
    address = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(lab_command(port), cwd=ROOT, env={**os.environ, "JUPYTER_TOKEN": token})
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ended from outside, Lab ends too
    try:
        wait_until_up(server, address, token)
        page = "lab"
        if committed.exists():
            notebook = working_copy(committed, ROOT / "workbook" / language / committed.name)
            page = f"doc/tree/{notebook.relative_to(ROOT).as_posix()}"
            say("running the control room's first cell, so that it opens alive")
            try:
                run_cells_first(address, token, notebook)
            except Exception as error:  # whatever went wrong, the notebook still opens as it was saved
                say(f"could not run the cells first ({error!r}); use Run > Run All Cells")
        else:
            say(f"{committed.relative_to(ROOT)} is not there: opening JupyterLab without it")
        url = f"{address}/{page}?token={token}"
        opened = webbrowser.open(url)
        say(f"the control room is at\n\n    {url}\n" if opened else f"open this in a browser:\n\n    {url}\n")
        say("press Ctrl-C here to stop")
        return server.wait()
    except KeyboardInterrupt:
        say("stopping JupyterLab")
        return 0
    finally:
        server.terminate()
        server.wait()


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Read the command line; what follows `test` belongs to pytest."""
    parser = argparse.ArgumentParser(
        prog="start.py", description="Prepare pipekit and open its control room in JupyterLab."
    )
    parser.add_argument(
        "command", nargs="?", choices=["lab", "test", "setup"], default="lab", help="default: lab"
    )
    parser.add_argument("--lang", choices=["zh", "en"], default="zh", help="the notebook's language")
    if arguments[:1] == ["test"]:
        return parser.parse_args(["test"]), arguments[1:]
    return parser.parse_args(arguments), []


def main(arguments: list[str]) -> int:
    """Prepare with whatever Python this is, then go on in `.venv`'s."""
    options, pytest_arguments = parse(arguments)
    try:
        prepare()
        if options.command == "setup":
            say("ready: `python3 start.py` opens it")
            return 0
        if Path(sys.prefix).resolve() != VENV.resolve():
            command = [str(venv_python(VENV)), str(ROOT / "start.py"), *arguments]
            if os.name != "nt":
                os.execv(command[0], command)
            return subprocess.call(command)
        return run_tests(pytest_arguments) if options.command == "test" else open_lab(options.lang)
    except SetupError as error:
        print(f"\npipekit: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
