"""Is this machine ready for the lesson? Each check takes what it looks at and returns one finding and its remedy.

`examine` looks at this machine; the `check_*` functions only judge, so that a test can hand them any machine.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from pipekit import __version__, plan
from pipekit.learn.experiment import ROUNDING, Experiment, Outcome, Settings
from pipekit.run.cores import CoreLimits, core_limits
from pipekit.show import say, sentence
from pipekit.show.fonts import Font, chinese

SIGNS = {"fine": "√", "limited": "!", "red": "×"}  # GBK has all three
KERNEL_PACKAGES = ("torch", "numpy", "matplotlib", "pillow", "ipywidgets", "anywidget")
LAB_PACKAGES = ("jupyterlab", "jupyterlab_widgets", "widgetsnbextension")
IPYWIDGETS = "8"  # first number of its version, and of those that draw its sliders
FRONT_ENDS = {"jupyterlab_widgets": "3", "widgetsnbextension": "4"}
SLOT = 0.04  # seconds of one slot of the class's time axis
LATE = 0.001  # a sleep may wake up this much later, or the boxes of a slot's length look ragged
VERY_LATE = SLOT / 4  # seconds; once in 100 sleeps it is a busy machine, not a coarse clock
NUM_SLEEPS = 50
SAME_BUBBLE = 0.03  # how far the measured bubble fraction may be from the predicted one
SMOKE = Settings(num_stages=2, num_micro_batches=4)

_ASK_VERSIONS = """
import json, sys
from importlib import metadata
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        found[name] = None
print(json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Args:
        level: "fine"; "limited": the lesson works, with less; "red": put it right first.
        says: key of `show`'s words. remedy: key of the words that say what to do; None where all is fine.
        numbers: what fills both.
    """

    check: str
    level: str
    says: str
    remedy: str | None = None
    numbers: dict[str, Any] = field(default_factory=dict)

    def lines(self, lang: str) -> list[str]:
        """Sign and sentence, and what to do on a line of its own."""
        first = f"{SIGNS[self.level]} {say(self.says, lang, **self.numbers)}"
        return [first, *([say("doctor_what_to_do", lang, words=self.way_out(lang))] if self.remedy else [])]

    def way_out(self, lang: str) -> str | None:
        """What to do, in words."""
        return say(self.remedy, lang, **self.numbers) if self.remedy else None

    def record(self, lang: str) -> dict[str, Any]:
        """The same for programs."""
        words = {"says": say(self.says, lang, **self.numbers), "remedy": self.way_out(lang)}
        return {**asdict(self), **words}


@dataclass(frozen=True, slots=True)
class Lab:
    """The Python that JupyterLab runs in, which need not be the kernel's, and what is installed there."""

    python: str
    versions: Mapping[str, str | None]


# Judging


def check_versions(versions: Mapping[str, str | None], python: str) -> Finding:
    """Everything the kernel's side needs is there; `versions` maps package to version, None where it's missing."""
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        numbers = {"names": ", ".join(missing), "python": python}
        return Finding("versions", "red", "doctor_not_installed", "doctor_not_installed_remedy", numbers)
    ipywidgets = versions.get("ipywidgets") or ""
    if ipywidgets.split(".")[0] != IPYWIDGETS:
        numbers = {"ipywidgets": ipywidgets, "name": "ipywidgets", "wanted": IPYWIDGETS, "python": python}
        return Finding("versions", "red", "doctor_ipywidgets_old", "doctor_widgets_remedy", numbers)
    return Finding("versions", "fine", "doctor_versions", numbers={"versions": _listed(versions)})


def check_lab(ipywidgets: str | None, lab: Lab | None, kernel_python: str) -> Finding:
    """JupyterLab's side can draw the sliders of the kernel's side."""
    if lab is None or lab.versions["jupyterlab"] is None:
        return Finding("lab", "limited", "doctor_no_lab", "doctor_no_lab_remedy", {"python": kernel_python})
    for name, wanted in FRONT_ENDS.items():
        found = lab.versions[name]
        numbers = {"name": name, "wanted": wanted, "python": lab.python}
        if found is None and name == "jupyterlab_widgets":
            return Finding("lab", "red", "doctor_widgets_missing", "doctor_widgets_remedy", numbers)
        if found is not None and found.split(".")[0] != wanted:
            numbers |= {"ipywidgets": str(ipywidgets), "found": found}
            return Finding("lab", "red", "doctor_widgets_differ", "doctor_widgets_remedy", numbers)
    return Finding(
        "lab", "fine", "doctor_lab", numbers={"versions": _listed(lab.versions), "python": lab.python}
    )


def check_devices(gpus: Sequence[str], mps: bool) -> Finding:
    """What stages can run on; never red: stand-ins are meant for a machine without GPUs."""
    if gpus:
        numbers = {"count": len(gpus), "names": ", ".join(gpus)}
        return Finding("devices", "fine", "doctor_gpus", numbers=numbers)
    return Finding("devices", "fine", "doctor_mps" if mps else "doctor_no_gpu")


def check_cores(limits: CoreLimits) -> Finding:
    """Cores for stand-ins (at least one), and for real time (more)."""
    quota = "-" if limits.quota == float("inf") else f"{limits.quota:.3g}"
    numbers = {**limits._asdict(), "usable": limits.usable, "quota": quota}
    if limits.usable < 1:
        return Finding("cores", "red", "doctor_cores", "doctor_cores_quota_remedy", numbers)
    if limits.usable < 2:
        return Finding("cores", "limited", "doctor_cores", "doctor_cores_one_remedy", numbers)
    return Finding("cores", "fine", "doctor_cores", numbers=numbers)


def check_sleep(late_10: Sequence[float], late_1: Sequence[float]) -> Finding:
    """The clock is fine enough for the class's slots; takes seconds of lateness of sleeps of 10 and of 1 ms."""
    medians, worst = [statistics.median(late_10), statistics.median(late_1)], max(*late_10, *late_1)
    numbers = {
        "late_10": medians[0] * 1e3,
        "late_1": medians[1] * 1e3,
        "worst": worst * 1e3,
        "limit": LATE * 1e3,
        "batch_time": 4 * max(medians) * SLOT / LATE,  # of which a slot is a quarter
    }
    if max(medians) >= LATE:
        return Finding("sleep", "red", "doctor_sleep", "doctor_sleep_coarse_remedy", numbers)
    if worst >= VERY_LATE:
        return Finding("sleep", "limited", "doctor_sleep", "doctor_sleep_worst_remedy", numbers)
    return Finding("sleep", "fine", "doctor_sleep", numbers=numbers)


def check_font(font: Font | None, lang: str) -> Finding:
    """Pictures can be labelled in Chinese; a Chinese lesson needs it."""
    if font is None:
        return Finding("font", "red" if lang == "zh" else "limited", "doctor_no_font", "font_hint")
    return Finding("font", "fine", "doctor_font", numbers={"name": font.name})


def check_browser(name: str | None) -> Finding:
    """There is a browser that `start.py` can open; without one its printed address does."""
    if name is None:
        return Finding("browser", "limited", "doctor_no_browser", "doctor_no_browser_remedy")
    return Finding("browser", "fine", "doctor_browser", numbers={"name": name})


def check_folders(folders: Sequence[str | None], write: Callable[[str | None], None]) -> Finding:
    """Each folder takes a file; None is the system's folder for temporary files.

    Args:
        write: makes a file in the folder and removes it again; `OSError` where it can't.
    """
    for folder in folders:
        try:
            write(folder)
        except OSError as error:
            numbers = {"folder": folder or "temp", "why": error.strerror or str(error)}
            return Finding("folders", "red", "doctor_folder_closed", "doctor_folder_remedy", numbers)
    return Finding(
        "folders",
        "fine",
        "doctor_folders",
        numbers={"folders": ", ".join(each or "temp" for each in folders)},
    )


def check_foreign(ours: Path, search_path: Sequence[str], foreign: str | None, python: str) -> Finding:
    """No other package takes the name pipekit.

    Args:
        ours: the folder that was imported. search_path: as `sys.path`.
        foreign: version of an installed distribution called pipekit (ours is called pipekit-lab); None without.
    """
    others = [] if foreign is None else [f"pipekit {foreign}"]
    for entry in search_path:
        folder = Path(entry or ".", "pipekit").resolve()
        if (folder / "__init__.py").is_file() and folder != ours.resolve():
            others += [] if (folder / "doctor.py").is_file() else [str(folder)]
    if others:
        numbers = {"where": ", ".join(others), "python": python}
        return Finding("pipekit", "red", "doctor_foreign", "doctor_foreign_remedy", numbers)
    return Finding("pipekit", "fine", "doctor_ours", numbers={"version": __version__, "folder": str(ours)})


def check_smoke(outcome: Outcome | Exception, lang: str) -> Finding:
    """A real step gave the uncut model's gradients, and the bubble that was predicted."""
    if isinstance(outcome, Exception):
        numbers: dict[str, Any] = {"why": sentence(outcome, lang)}
        return Finding("smoke", "red", "doctor_smoke_failed", "doctor_smoke_failed_remedy", numbers)
    numbers = {
        "difference": outcome.difference,
        "measured": outcome.bubble,
        "predicted": plan.bubble_fraction(outcome.prediction.timeline),
    }
    if not outcome.difference < ROUNDING:  # nan is not
        return Finding("smoke", "red", "doctor_smoke_gradients", "doctor_smoke_gradients_remedy", numbers)
    if abs(numbers["measured"] - numbers["predicted"]) > SAME_BUBBLE:
        return Finding("smoke", "red", "doctor_smoke_bubble", "doctor_smoke_bubble_remedy", numbers)
    return Finding("smoke", "fine", "doctor_smoke", numbers=numbers)


# Looking


def examine(lang: str) -> Iterator[Finding]:
    """Every finding about this machine, as soon as it is known; a check that fails itself is a red finding."""
    for name, check in _checks(lang).items():
        try:
            yield check()
        except Exception as error:
            numbers = {"check": name, "why": sentence(error, lang)}
            yield Finding(name, "red", "doctor_crashed", "doctor_crashed_remedy", numbers)


def _checks(lang: str) -> dict[str, Callable[[], Finding]]:
    python = sys.executable
    kernel = {"python": ".".join(map(str, sys.version_info[:3])), **installed(KERNEL_PACKAGES)}
    return {
        "versions": lambda: check_versions(kernel, python),
        "pipekit": lambda: check_foreign(
            Path(__file__).parent, sys.path, installed(["pipekit"])["pipekit"], python
        ),
        "lab": lambda: check_lab(
            kernel["ipywidgets"], look_at_lab(find_lab_python(os.environ, python)), python
        ),
        "devices": lambda: check_devices(gpu_names(), torch.backends.mps.is_available()),
        "cores": lambda: check_cores(core_limits()),
        "sleep": lambda: check_sleep(lateness(0.010), lateness(0.001)),
        "font": lambda: check_font(chinese(), lang),
        "browser": lambda: check_browser(find_browser()),
        "folders": lambda: check_folders([os.getcwd(), settings_folder(os.environ), None], write_a_file),
        "smoke": lambda: check_smoke(smoke_run(), lang),
    }


def installed(names: Sequence[str]) -> dict[str, str | None]:
    """Versions of packages of this Python, None for those that are not there."""

    def version(name: str) -> str | None:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return None

    return {name: version(name) for name in names}


def find_lab_python(environment: Mapping[str, str], python: str) -> str | None:
    """The Python that runs JupyterLab: of the server that started this kernel, else of the `jupyter-lab` at hand."""
    from_server = _server_python(environment.get("JPY_PARENT_PID", ""))
    if from_server is not None:
        return from_server
    near = os.pathsep.join([str(Path(python).parent), environment.get("PATH", "")])
    script = shutil.which("jupyter-lab", path=near)
    return None if script is None else python_of(Path(script))


def _server_python(process_id: str) -> str | None:
    """A kernel's parent is the server; psutil comes with every kernel."""
    if not process_id.isdigit():
        return None
    try:
        import psutil  # type: ignore[import-untyped]

        command = psutil.Process(int(process_id)).cmdline()
    except (ImportError, OSError, psutil.Error):
        return None
    if not command or not Path(command[0]).name.lower().startswith("python"):
        return None
    return shutil.which(command[0])


def python_of(script: Path) -> str | None:
    """The Python of a console script: named in its first lines, else (Windows) beside it or one folder up."""
    head = script.read_bytes()[:1024].decode("utf-8", "replace")
    named = re.findall(r"""^#!(\S.*python[\d.]*)\s*$|^'''exec' "?(.*?python[\d.]*)"? "\$0\"""", head, re.M)
    folder = script.parent
    candidates = [Path(first or second) for first, second in named]
    candidates += [folder / "python3", folder / "python.exe", folder.parent / "python.exe"]
    return next((str(path) for path in candidates if path.is_file()), None)


def look_at_lab(python: str | None) -> Lab | None:
    """Ask that Python what is installed there; None if it doesn't answer."""
    if python is None:
        return None
    try:
        answer = subprocess.run(
            [python, "-c", _ASK_VERSIONS, *LAB_PACKAGES],
            capture_output=True, encoding="utf-8", timeout=30, check=True,
        )  # fmt: skip
        return Lab(python, json.loads(answer.stdout))
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def gpu_names() -> list[str]:
    """The CUDA GPUs that torch sees."""
    return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]


def lateness(
    seconds: float,
    count: int = NUM_SLEEPS,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
) -> list[float]:
    """How much later than asked each of `count` sleeps woke up, in seconds, by the clock given."""
    late = []
    for _ in range(count):
        begin = clock()
        sleep(seconds)
        late.append(max(0.0, clock() - begin - seconds))
    return late


def find_browser() -> str | None:
    """The name of the browser that Python would open; None without one."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return None
    return getattr(browser, "name", type(browser).__name__)


def write_a_file(folder: str | None) -> None:
    """Make a file there and remove it: `OSError` where that can't be done."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"pipekit")


def smoke_run() -> Outcome | Exception:
    """One small step, cut in two, really run on stand-ins: the median bubble of three, in 3 s. Or what it raised."""
    try:
        outcomes = Experiment().sweep(SMOKE, [SMOKE.num_micro_batches] * 3)
        return sorted(outcomes, key=lambda outcome: outcome.bubble)[1]
    except Exception as error:
        return error


def settings_folder(environment: Mapping[str, str]) -> str:
    """Where Jupyter keeps its settings, or the nearest folder above it that is there and would have to take it."""
    folder = Path(environment.get("JUPYTER_CONFIG_DIR") or Path.home() / ".jupyter").absolute()
    return str(next(path for path in [folder, *folder.parents] if path.exists()))


def _listed(versions: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items() if version is not None)
