"""Notebooks on somebody else's machine: what is installed stays, and memory is small."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = None

ROOT = Path(__file__).resolve().parents[1]
MOST_MEGABYTES = 900  # torch included; the smallest hosted notebooks have one or two gigabytes
NOTEBOOKS = sorted((ROOT / "notebooks" / "zh").glob("*.ipynb"))  # the English ones run the same code

# The kernel's VmHWM, not getrusage's ru_maxrss: that one begins with the peak of the process that started this one.
CHILD = """
import sys
for source in __import__("json").loads(sys.stdin.read()):
    exec(compile(source, "cell", "exec"), globals())
print(open("/proc/self/status", encoding="utf-8").read().split("VmHWM:")[1].split()[0])
"""
IN_EVERY_RUN = ("control-room",)  # the others are slow


@pytest.mark.skipif(tomllib is None, reason="reading pyproject.toml needs Python 3.11")
def test_ranges_leave_a_hosted_torch_and_its_widgets_alone():
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert "torch>=2.11" in needs
    assert "ipywidgets>=7.7,<9" in needs
    assert not any(re.search("==|~=", need) for need in needs)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read in kilobytes as Linux gives it")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=() if path.stem in IN_EVERY_RUN else pytest.mark.slow)
        for path in NOTEBOOKS
    ],
)
def test_a_notebook_needs_little_memory(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(sources),
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    megabytes = int(done.stdout.split()[-1]) / 1024
    print(f"{path.name}: {megabytes:.0f} MB at its peak")
    assert megabytes < MOST_MEGABYTES
