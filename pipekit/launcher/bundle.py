"""A folder for a USB stick: pipekit and the packages of another machine, so that a class needs no network."""

import json
import platform
import re
import shutil
from collections.abc import Callable
from importlib.metadata import requires
from pathlib import Path

from .environment import Pip, get_torch, pinned
from .places import COPIES
from .words import SetupError

DISTRIBUTION = "pipekit-lab"
BUILDS = ["pip>=23.1", "setuptools>=77"]  # what installing pipekit itself takes
LEFT_OUT = shutil.ignore_patterns(
    *(".venv", ".git", ".lab", "wheels", "workbook", "dist", "build", "*.egg-info", "__pycache__"),
    *(".*_cache", ".hypothesis", ".ipynb_checkpoints", ".virtual_documents", ".coverage", *COPIES.values()),
)
TAGS = {  # what pip calls a platform's wheels, newest first
    "windows": ["win_amd64"],
    "macos": ["macosx_14_0_arm64"],  # torch has no wheels for Intel's any more
    "linux": [f"manylinux_2_{minor}_x86_64" for minor in range(28, 16, -1)] + ["manylinux2014_x86_64"],
}
MARKERS = {  # what a requirement's conditions see there
    "windows": {
        "os_name": "nt",
        "sys_platform": "win32",
        "platform_system": "Windows",
        "platform_machine": "AMD64",
    },
    "macos": {
        "os_name": "posix",
        "sys_platform": "darwin",
        "platform_system": "Darwin",
        "platform_machine": "arm64",
    },
    "linux": {
        "os_name": "posix",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
    },
}
OPENERS = {"windows": "启动.bat", "macos": "start.command", "linux": "start.sh"}


def make_bundle(pip: Pip, target: str, python: str, folder: Path) -> Path:
    """Copy pipekit to a folder and download beside it what a machine of another kind needs.

    Args:
        target: a key of TAGS.
        python: the other machine's Python, for example `3.12`.
        folder: where to; must be empty or not there.
    """
    root, folder = pip.places.root, folder.resolve()
    if not re.fullmatch(r"3\.\d+", python):
        raise SetupError("bundle_python", asked=python)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SetupError("bundle_exists", folder=folder)
    wheels = pip.places.lab / "bundle" / f"{target}-{python}"  # a break-off is gone on with from here
    wheels.mkdir(parents=True, exist_ok=True)
    download(pip, target, python, wheels)
    shutil.copytree(root, folder, ignore=all_but(folder), dirs_exist_ok=True)
    shutil.move(wheels, folder / "wheels")
    label = {"platform": target, "python": python}
    (folder / "wheels" / "bundle.json").write_text(json.dumps(label), encoding="utf-8")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    pip.voice.say(
        "bundled",
        folder=folder,
        megabytes=size / 1e6,
        platform=target,
        python=python,
        opener=OPENERS[target],
    )
    return folder


def all_but(folder: Path) -> Callable[[str, list[str]], set[str]]:
    """What copying leaves out: what is private or made here, and the new folder, should it lie inside."""

    def ignored(directory: str, names: list[str]) -> set[str]:
        return {*LEFT_OUT(directory, names), *(name for name in names if Path(directory, name) == folder)}

    return ignored


def download(pip: Pip, target: str, python: str, wheels: Path) -> None:
    """Fetch torch, then everything else that pipekit and its lab need."""
    there = ["--only-binary=:all:", "--implementation=cp", f"--python-version={python}"]
    there += [f"--platform={tag}" for tag in TAGS[target]]
    into = ["--dest", str(wheels), *there]
    other = Pip(pip.places, pip.voice, pip.sources, markers(target, python))
    get_torch(other, "download", target == "linux", into)
    torch = f"torch=={pinned(pip.places.root, 'torch')}"
    rest = ["--find-links", str(wheels), "-c", "constraints.txt", torch, *lab_requirements(), *BUILDS]
    what = f"pipekit ({target}, Python {python})"
    answer = other.run("download", what, [*into, *rest])
    if not answer.succeeded:
        raise pip.failure(what, answer.output)


def markers(target: str, python: str) -> dict[str, str]:
    """What the other machine would answer to a requirement's conditions."""
    return {
        **MARKERS[target],
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_name": "cpython",
        "implementation_version": f"{python}.0",
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_version": "",
    }


def lab_requirements() -> list[str]:
    """What pipekit needs to run and to open its lab, as pyproject.toml says it."""
    parts = [line.partition(";") for line in requires(DISTRIBUTION) or []]
    return [name.strip() for name, _, condition in parts if not condition or re.search(r"\blab\b", condition)]


def this_platform() -> str:
    """The word of --platform for this machine."""
    return {"Windows": "windows", "Darwin": "macos"}.get(platform.system(), "linux")
