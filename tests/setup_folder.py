"""A pipekit folder to spoil: its own `.venv`, which borrows the packages of the Python that runs the tests."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from pipekit.launcher.environment import fingerprint, python_series

ROOT = Path(__file__).resolve().parents[1]
PARTS = (
    "start.py",
    "start.sh",
    "start.command",
    "start.bat",
    "启动.bat",
    "constraints.txt",
    "pyproject.toml",
)
PANEL = "import os, ipywidgets\nslider = ipywidgets.IntSlider(3)\nslider"
WATCH = """
import os, sys
if "PIPEKIT_TEST_CONNECTIONS" in os.environ:
    def note(event, arguments):
        if event == "socket.connect":
            with open(os.environ["PIPEKIT_TEST_CONNECTIONS"], "a", encoding="utf-8") as file:
                file.write(f"{arguments[1]}\\n")
    sys.addaudithook(note)
"""


def copy_of_pipekit(root: Path) -> Path:
    """pipekit's files in another folder, without notebooks and without an environment."""
    root.mkdir(parents=True)
    for name in PARTS:
        shutil.copy(ROOT / name, root)
    shutil.copytree(ROOT / "pipekit", root / "pipekit", ignore=shutil.ignore_patterns("__pycache__"))
    return root


def notebook(*sources: str) -> dict:
    """A notebook of code cells."""
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "source": source,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for number, source in enumerate(sources)
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def commit_notebook(root: Path, language: str, *sources: str) -> Path:
    """Put a control room among the notebooks that come with pipekit."""
    path = root / "notebooks" / language / "control-room.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook(*sources)), encoding="utf-8")
    return path


def prepared_folder(root: Path) -> Path:
    """A folder that start.py finds prepared, with a small living panel in both languages."""
    copy_of_pipekit(root)
    for language in ("zh", "en"):
        commit_notebook(root, language, PANEL, "raise SystemError('not to be run beforehand')")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root / ".venv")], check=True)
    series = f"python{python_series()}"
    site = root / ".venv" / "lib" / series / "site-packages"
    (site / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n{root}\n", encoding="utf-8")
    (site / "sitecustomize.py").write_text(WATCH, encoding="utf-8")
    for name in ("share", "etc"):  # JupyterLab itself, and its extensions
        (root / ".venv" / name).symlink_to(Path(sysconfig.get_path("data")) / name)
    (root / ".venv" / "pipekit-stamp").write_text(
        fingerprint(root, python_series()) + "\nlab\n", encoding="utf-8"
    )
    return root


def quiet_environment(home: Path, **more: str) -> dict[str, str]:
    """A user's environment whose browser is `true`, with a home of its own."""
    home.mkdir(exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    inherited.pop("PYTHONPATH", None)
    return {**inherited, "HOME": str(home), "BROWSER": "true", **more}
