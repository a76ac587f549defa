"""`start.py test`: every check that CI runs, cheapest first."""

import subprocess
import sys
import time
from pathlib import Path


def has_notebooks(root: Path) -> bool:
    """Whether there is a notebook to check."""
    return any((root / "notebooks").glob("**/*.ipynb"))


# pytest's -m. What takes minutes is asked for: `start.py test -m slow`.
SIDE_BY_SIDE = "not slow and not alone"  # may share the machine
ONE_AT_A_TIME = "not slow and alone"
IN_TWO = ["-n", "2", "--dist", "loadfile"]  # processes; the tests of a file stay together
NOTHING_SELECTED = 5  # pytest's exit status


def pytest_steps(arguments: list[str]) -> list[tuple[str, list[str]]]:
    """What keeps time runs one at a time, all else in two processes; a choice by -m runs as it is asked for."""
    if "-m" in arguments:
        return [("pytest", ["pytest", *arguments])]
    return [
        ("pytest, side by side", ["pytest", *IN_TWO, "-m", SIDE_BY_SIDE, *arguments]),
        ("pytest, one at a time", ["pytest", "-m", ONE_AT_A_TIME, *arguments]),
    ]


def check_steps(root: Path, pytest_arguments: list[str]) -> list[tuple[str, list[str]]]:
    """Every check, cheapest first; the notebooks come last, so that a run ends with pytest's closing line."""
    steps = [
        ("ruff check", ["ruff", "check", "."]),
        ("ruff format", ["ruff", "format", "--check", "."]),
        ("mypy", ["mypy"]),
        *pytest_steps(pytest_arguments),
    ]
    if has_notebooks(root):
        nbval = ["--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=120"]
        sanitize = ["--nbval-sanitize-with", "tests/nbval_sanitize.cfg"]
        steps.append(("notebooks", ["pytest", *IN_TWO, *nbval, *sanitize, "notebooks"]))
    return steps


def tell(text: str) -> None:
    """Print one line at once."""
    print(f"pipekit: {text}", flush=True)


def run_tests(root: Path, steps: list[tuple[str, list[str]]]) -> int:
    """Run the checks in order, each a Python module and its arguments, and stop at the first that fails.

    One of the two pytest runs may have nothing to do, both may not.
    """
    times, empty = [], 0
    for number, (name, command) in enumerate(steps, start=1):
        tell(f"[{number}/{len(steps)}] {name}")
        started = time.monotonic()
        status = subprocess.call([sys.executable, "-m", *command], cwd=root)
        seconds = time.monotonic() - started
        if command[0] == "pytest" and status == NOTHING_SELECTED and name.startswith("pytest,") and not empty:
            empty, status = 1, 0
        if status != 0:
            tell(f"[{number}/{len(steps)}] {name} FAILED after {seconds:.1f} s (exit status {status})")
            return status
        times.append(f"{name} {seconds:.1f} s")
    tell("everything passed: " + ", ".join(times))
    return 0
