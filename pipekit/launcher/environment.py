"""Make `.venv` hold exactly what constraints.txt says, from pip's configured index, a named one, or a USB stick."""

import errno
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .places import COPIES, Places
from .words import SetupError, Voice

TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
SYSTEMS = {
    "win32": "windows",
    "darwin": "macos",
    "linux": "linux",
}  # sys.platform, and --platform's word for it
DISK_GB, CUDA_DISK_GB = 2.5, 9.0  # .venv and what pip unpacks meanwhile; torch's CUDA build on Linux
LONGEST_INSIDE = 195  # characters below the root: torch's longest file name under .venv\Lib\site-packages
WINDOWS_PATH = 259  # what Windows allows without its long paths
SHORT_PLACE = "C:\\pipekit" if os.name == "nt" else "~/pipekit"
WHY = [  # in this order: without a network pip also says that it found no matching distribution
    ("disk_full", r"No space left on device|WinError 112|not enough space on the disk|Errno 28\b"),
    ("path_too_long", r"File name too long|WinError 206|Errno 36\b|enable.{0,40}long path"),
    ("slow_mirror", r"Read ?timed ?out|ReadTimeout|ConnectTimeout|Download.{0,20}stalled|IncompleteRead"),
    ("certificate", r"CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerification"),
    (
        "no_network",
        r"NewConnectionError|NameResolutionError|getaddrinfo failed|Name or service not known"
        r"|Temporary failure in name resolution|Network is unreachable|Connection refused|ProxyError"
        r"|No route to host|Connection aborted|Connection to \S+ timed out",
    ),
    ("no_permission", r"Permission denied|PermissionError|WinError 5\b|WinError 32\b|Read-only file system"),
    ("no_match", r"No matching distribution found|Could not find a version that satisfies"),
]
PIP_FOR = Path(__file__).with_name("pip_for.py")
TORCH_CHECK = "import torch"


@dataclass(frozen=True)
class Sources:
    """Where packages come from, besides what pip's own configuration says."""

    index_url: str | None = None
    torch_index: str = TORCH_INDEX
    wheels: Path | None = None

    def options(self) -> list[str]:
        """What pip is told; with a folder of wheels it asks nobody."""
        if self.wheels is not None:
            return ["--no-index", "--find-links", str(self.wheels)]
        return [] if self.index_url is None else ["--index-url", self.index_url]


@dataclass(frozen=True)
class PipAnswer:
    """Whether pip did it, and all it said."""

    succeeded: bool
    output: str


def python_series(version: tuple[int, ...] = tuple(sys.version_info[:2])) -> str:
    """The part of a Python's version that its packages depend on, for example `3.12`."""
    return f"{version[0]}.{version[1]}"


def fingerprint(root: Path, python: str) -> str:
    """Name what a prepared `.venv` was made from: the pins, the package's needs, the place, the Python.

    The place counts because a virtual environment and an editable install both hold absolute paths.
    """
    digest = hashlib.sha256(f"{root}\n{python}\n".encode())
    for name in ("constraints.txt", "pyproject.toml"):
        digest.update((root / name).read_bytes())
    return digest.hexdigest()


def stamped(places: Places) -> list[str]:
    """What the complete `.venv` that is there was made from and the extras it has; empty if there is none."""
    if not (places.python.exists() and places.stamp.is_file()):
        return []
    return places.stamp.read_text(encoding="utf-8").split()


def is_prepared(places: Places, expected: str, extras: Iterable[str]) -> bool:
    """Whether `.venv` is there, was made from the present pins, and has the extras that are wanted."""
    stamp = stamped(places)
    return stamp[:1] == [expected] and set(extras) <= set(stamp[1:])


def prepare(places: Places, voice: Voice, sources: Sources, extras: list[str]) -> None:
    """Make `.venv` hold what is pinned, or do nothing when it already does. A break-off is gone on with."""
    expected = fingerprint(places.root, python_series())
    if is_prepared(places, expected, extras):
        return
    started = time.monotonic()
    resumed = places.unfinished.exists()
    extras = sorted({*extras, *stamped(places)[1:]})  # what was there stays there
    check_wheels(sources.wheels)
    check_path(places.root)
    if not places.venv.exists():
        check_disk(places.root)
    voice.say("resuming" if resumed else "preparing")
    if sources.wheels is not None:
        voice.say("from_wheels")
    places.stamp.unlink(missing_ok=True)
    make_venv(places)
    places.unfinished.touch()
    pip = Pip(places, voice, sources)
    pip.install("pip", ["pip>=23.1"])  # one that knows pyproject.toml
    install_torch(pip)
    pip.install("pipekit", ["-c", "constraints.txt", "-e", f".[{','.join(extras)}]"])
    check_torch(pip, mend=resumed)
    places.stamp.write_text("\n".join([expected, *extras]) + "\n", encoding="utf-8")
    places.unfinished.unlink()
    voice.say("prepared", seconds=time.monotonic() - started)


# What is looked at before anything is downloaded


def check_wheels(wheels: Path | None) -> None:
    """Refuse a folder of wheels that was made for another machine."""
    label = None if wheels is None else wheels / "bundle.json"
    if label is None or not label.is_file():
        return
    made = json.loads(label.read_text(encoding="utf-8"))
    here = {"platform": SYSTEMS.get(sys.platform, sys.platform), "python": python_series()}
    if made != here:
        raise SetupError("wheels_unfit", made_platform=made["platform"], made_python=made["python"], **here)


def path_limit(system: str = sys.platform) -> int:
    """How many characters the root's path may have so that the longest file below it can be written."""
    if system != "win32" or windows_allows_long_paths():
        return 4095 - LONGEST_INSIDE if system == "linux" else 1023 - LONGEST_INSIDE
    return WINDOWS_PATH - LONGEST_INSIDE - 1


def windows_allows_long_paths() -> bool:
    """Whether this Windows was told to allow paths of more than 259 characters."""
    if sys.platform != "win32":
        return False
    import winreg

    try:
        with winreg.OpenKey(
            winreg.HKEY_LOCAL_MACHINE, r"SYSTEM\CurrentControlSet\Control\FileSystem"
        ) as folder:
            return bool(winreg.QueryValueEx(folder, "LongPathsEnabled")[0])
    except OSError:
        return False


def path_too_long(root: Path) -> SetupError:
    """The paragraph about this folder's path."""
    return SetupError(
        "path_too_long", folder=root, length=len(str(root)), limit=path_limit(), example=SHORT_PLACE
    )


def check_path(root: Path) -> None:
    """Refuse a root so deep that torch's files could not be written below it."""
    if len(str(root)) > path_limit():
        raise path_too_long(root)


def has_nvidia_driver() -> bool:
    """Whether this machine can use torch's CUDA build."""
    return shutil.which("nvidia-smi") is not None or Path("/proc/driver/nvidia").exists()


def wants_cpu_build() -> bool:
    """Whether torch's default build would bring gigabytes that this machine cannot use."""
    return sys.platform == "linux" and not has_nvidia_driver()


def needed_gb() -> float:
    """What an installation takes on disk, in GB, unpacking included."""
    return CUDA_DISK_GB if sys.platform == "linux" and has_nvidia_driver() else DISK_GB


def disk_full(root: Path) -> SetupError:
    """The paragraph about this folder's disk."""
    return SetupError("disk_full", folder=root, free=shutil.disk_usage(root).free / 1e9, needed=needed_gb())


def check_disk(root: Path) -> None:
    """Refuse to begin what the disk cannot hold."""
    if shutil.disk_usage(root).free < needed_gb() * 1e9:
        raise disk_full(root)


def explained(error: OSError, root: Path) -> SetupError | None:
    """The paragraph for an error of the file system, or None if it is none that we know."""
    windows_code = getattr(error, "winerror", None)
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or windows_code == 112:
        return disk_full(root)
    if error.errno == errno.ENAMETOOLONG or windows_code == 206:
        return path_too_long(root)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return SetupError("no_permission", folder=error.filename or root)
    return None


# Making


def make_venv(places: Places) -> None:
    """Create `.venv`, or keep the one that is there if it was made by the same Python."""
    if places.in_venv():
        return
    for key, module in (("no_venv", "venv"), ("no_pip", "ensurepip")):
        if importlib.util.find_spec(module) is None:
            raise SetupError(key, python=python_series())
    config = places.venv / "pyvenv.cfg"
    same_python = config.is_file() and f"version = {python_series()}." in config.read_text(encoding="utf-8")
    fresh = ["--clear"] if places.venv.exists() and not same_python else []
    answer = subprocess.run(
        [sys.executable, "-m", "venv", *fresh, str(places.venv)],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    if answer.returncode != 0:
        output = answer.stdout + answer.stderr
        key = why(output)
        if key in ("disk_full", "path_too_long", "no_permission"):
            raise file_system_error(key, places.root)
        raise SetupError("venv_failed", venv=places.venv, line=last_line(output))


def why(output: str) -> str:
    """The key of the paragraph that fits what pip said."""
    return next((key for key, words in WHY if re.search(words, output, re.I)), "pip_failed")


def last_line(output: str) -> str:
    """The last line that says something, with an error's in preference."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"error\b|\w*Error\b", line, re.I)]
    return (errors or lines or ["?"])[-1][:300]


def newest_line(output: str) -> str:
    """The last line that tells what pip is at; its warnings stay in the log."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if not line.startswith("WARNING")), "...")


def file_system_error(key: str, root: Path) -> SetupError:
    """The paragraph for a key that concerns the disk."""
    if key == "disk_full":
        return disk_full(root)
    return path_too_long(root) if key == "path_too_long" else SetupError(key, folder=root)


@dataclass(frozen=True)
class Pip:
    """`.venv`'s pip, with the user's own configuration; what it says goes to a log."""

    places: Places
    voice: Voice
    sources: Sources
    markers: Mapping[str, str] | None = None  # another machine's, if pip is to decide as it would there

    def install(self, what: str, arguments: list[str]) -> None:
        """Install, or stop with the paragraph that fits."""
        answer = self.run("install", what, arguments)
        if not answer.succeeded:
            raise self.failure(what, answer.output)

    def run(self, command: str, what: str, arguments: list[str]) -> PipAnswer:
        """Run one pip command, saying every 20 s that it is still at it."""
        self.voice.say("installing", what=what)
        pip = ["-m", "pip"] if self.markers is None else [str(PIP_FOR), json.dumps(self.markers)]
        call = [str(self.places.python), *pip, "--disable-pip-version-check", "--no-input", command]
        with self.places.pip_log.open("ab") as log:
            begin = log.tell()
            started = time.monotonic()
            with subprocess.Popen(
                [*call, *self.sources.options(), *arguments],
                cwd=self.places.root,
                env=child_environment(),
                stdout=log,
                stderr=subprocess.STDOUT,
            ) as process:
                while True:
                    try:
                        status = process.wait(timeout=20)
                        break
                    except subprocess.TimeoutExpired:
                        seconds, line = time.monotonic() - started, newest_line(self.said(begin))
                        self.voice.say("still_installing", seconds=seconds, line=line[:80])
        return PipAnswer(status == 0, self.said(begin))

    def said(self, begin: int) -> str:
        """What pip wrote to its log from a position on."""
        with self.places.pip_log.open("rb") as log:
            log.seek(begin)
            return log.read().decode("utf-8", "replace")

    def failure(self, what: str, output: str) -> SetupError:
        """The paragraph for what pip could not do."""
        key = why(output)
        if key in ("disk_full", "path_too_long", "no_permission"):
            return file_system_error(key, self.places.root)
        return SetupError(
            key,
            what=what,
            line=last_line(output),
            log=self.places.pip_log,
            python=python_series(),
            machine=platform.platform(),
        )


def child_environment() -> dict[str, str]:
    """The environment of what we start: utf-8 everywhere; a user-wide --user would fail in a virtual environment."""
    return {**os.environ, "PIP_USER": "0", "PYTHONUTF8": "1"}


def pinned(root: Path, name: str) -> str:
    """The version that constraints.txt pins a package to."""
    for line in (root / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{name}=="):
            return line.split(";")[0].strip().removeprefix(f"{name}==")
    raise SetupError("constraints", name=name)


def torch_attempts(version: str, cpu_only: bool, sources: Sources) -> list[list[str]]:
    """What to ask pip for, best first.

    torch's default wheels for Linux bring several GB of CUDA libraries, so without a driver the CPU build
    is asked for by its full name: first where pip is configured to look, then at PyTorch's own index too.
    A short patience is enough for these two, and only for these: there is always a next attempt.
    """
    default = [f"torch=={version}"]
    if sources.wheels is not None or not cpu_only:
        return [default]
    patience = ["--retries", "1", "--timeout", "15"]
    by_name = [f"torch=={version}+cpu", *patience]
    return [by_name, [*by_name, "--extra-index-url", sources.torch_index], default]


def get_torch(pip: Pip, command: str, cpu_only: bool, arguments: list[str]) -> None:
    """Let pip install or download torch alone, as its CPU build where that saves gigabytes."""
    version = pinned(pip.places.root, "torch")
    attempts = torch_attempts(version, cpu_only, pip.sources)
    for number, attempt in enumerate(attempts, start=1):
        if number == len(attempts) > 1:
            pip.voice.say("no_cpu_build", version=version, index=pip.sources.torch_index)
        answer = pip.run(command, f"torch {version}", ["--no-deps", *arguments, *attempt])
        if answer.succeeded:
            return
    raise pip.failure(f"torch {version}", answer.output)


def install_torch(pip: Pip) -> None:
    """Install torch."""
    get_torch(pip, "install", wants_cpu_build(), [])


def check_torch(pip: Pip, mend: bool) -> None:
    """Load torch once. After a break-off its files may be half there: then it is installed anew before giving up."""
    answer = subprocess.run(
        [str(pip.places.python), "-c", TORCH_CHECK],
        cwd=pip.places.venv,
        env=child_environment(),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    if answer.returncode == 0:
        return
    if not mend:
        raise SetupError("torch_broken", line=last_line(answer.stderr))
    get_torch(pip, "install", wants_cpu_build(), ["--force-reinstall"])
    check_torch(pip, mend=False)


# What may have been installed since


def find_foreign_pipekit(root: Path, search_path: list[str]) -> Path | None:
    """Another `pipekit` that a kernel would import instead of this one, or None."""
    others = [entry for entry in search_path if Path(entry or ".").resolve() != root]
    spec = importlib.machinery.PathFinder.find_spec("pipekit", others)
    if spec is None:
        return None
    found = Path(spec.origin or next(iter(spec.submodule_search_locations or []), "pipekit"))
    return None if found.resolve().is_relative_to(root / "pipekit") else found


def check_foreign_pipekit(places: Places) -> None:
    """Refuse to go on where a kernel would import somebody else's pipekit."""
    folders = [str(places.root / name) for name in COPIES.values()]
    found = find_foreign_pipekit(places.root, [*folders, *sys.path])
    if found is not None:
        raise SetupError("foreign_pipekit", found=found, python=places.python)
