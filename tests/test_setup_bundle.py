"""A folder for a USB stick: what another machine needs, and really installed from without a network."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from setup_folder import ROOT, copy_of_pipekit, prepared_folder, quiet_environment

from pipekit.launcher import bundle
from pipekit.launcher.environment import Pip, Sources, pinned, python_series
from pipekit.launcher.places import Places
from pipekit.launcher.words import Voice

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the prepared folder borrows packages by a symlink")
PATH_LENGTH = 200
NEEDS = {  # what a package needs under which condition
    "winonly": 'os_name == "nt"',
    "maconly": 'platform_system == "Darwin"',
    "linuxonly": 'sys_platform == "linux"',
    "newonly": 'python_version >= "3.12"',
}


def project() -> str:
    return (ROOT / "pyproject.toml").read_text(encoding="utf-8")  # Python 3.10 has no tomllib


def make_wheel(folder: Path, name: str, needs: dict[str, str]) -> None:
    """A package with nothing in it but its needs."""
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0"]
    lines += [f"Requires-Dist: {other}; {condition}" for other, condition in needs.items()]
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", "\n".join(lines))
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.mark.parametrize(
    ("target", "python", "wanted"),
    [
        ("windows", "3.12", {"winonly", "newonly"}),
        ("macos", "3.10", {"maconly"}),
        ("linux", "3.11", {"linuxonly"}),
    ],
)
def test_a_requirements_conditions_are_those_of_the_other_machine(tmp_path, target, python, wanted):
    shelf = tmp_path / "shelf (1)"
    shelf.mkdir()
    for name, needs in [("needy", NEEDS), *((name, {}) for name in NEEDS)]:
        make_wheel(shelf, name, needs)
    root = copy_of_pipekit(tmp_path / "here")
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8"
    )
    (root / ".venv" / "bin" / "python").chmod(0o755)
    pip = Pip(Places(root), Voice("en"), Sources(wheels=shelf), bundle.markers(target, python))
    answer = pip.run("download", "needy", ["--dest", str(tmp_path / "got"), "needy"])
    assert answer.succeeded, answer.output
    assert {path.name.split("-")[0] for path in (tmp_path / "got").iterdir()} == {"needy", *wanted}


def test_markers_answer_everything_that_a_condition_may_ask():
    from packaging.markers import default_environment

    for target in bundle.TAGS:
        assert set(bundle.markers(target, "3.12")) == set(default_environment())
    assert set(bundle.TAGS) == set(bundle.MARKERS) == set(bundle.OPENERS)
    assert all((ROOT / opener).is_file() for opener in bundle.OPENERS.values())


def test_the_bundle_holds_what_the_lab_needs_and_what_builds_pipekit_and_no_test_tools():
    names = {line.split(">=")[0].split("<")[0] for line in bundle.lab_requirements()}
    assert {"torch", "numpy", "matplotlib", "ipywidgets", "jupyterlab", "ipykernel"} <= names
    assert not {"mypy", "ruff", "pytest", "playwright"} & names
    assert all(f'"{line}"' in project() for line in bundle.BUILDS if line.startswith("setuptools"))
    assert bundle.this_platform() in bundle.TAGS


def test_what_is_private_or_made_here_does_not_go_onto_the_stick(tmp_path):
    names = [".venv", ".git", ".lab", "wheels", "dist", "my-class", "我的课堂", "workbook", "x.egg-info"]
    names += [".mypy_cache", "__pycache__", ".ipynb_checkpoints"]
    kept = ["start.py", "启动.bat", "notebooks", "pipekit", ".gitignore"]
    assert set(names + kept) - set(bundle.LEFT_OUT(str(tmp_path), names + kept)) == set(kept)


def test_a_bundle_inside_the_folder_it_is_made_from_does_not_hold_itself(tmp_path, monkeypatch):
    root = copy_of_pipekit(tmp_path / "here")
    (root / "usb").mkdir()
    monkeypatch.setattr(bundle, "download", lambda pip, target, python, wheels: None)
    pip = Pip(Places(root), Voice("en"), Sources())
    made = bundle.make_bundle(pip, "windows", "3.12", root / "usb")
    label = (made / "wheels" / "bundle.json").read_text(encoding="utf-8")
    assert json.loads(label) == {"platform": "windows", "python": "3.12"}
    assert (made / "start.py").is_file() and not (made / "usb").exists()


def may_unshare() -> bool:
    """Whether this user may start something in a network of its own, which leads nowhere."""
    unshare = shutil.which("unshare")
    return (
        unshare is not None and subprocess.run([unshare, "-n", "true"], capture_output=True).returncode == 0
    )


@pytest.fixture
def room(tmp_path):
    """A folder whose gigabytes go when the test is over."""
    yield tmp_path
    shutil.rmtree(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="makes and installs a bundle for Linux")
@pytest.mark.skipif(
    not may_unshare(), reason="`unshare -n` is not permitted here: no way to cut the network off"
)
def test_a_bundle_is_installed_and_trains_without_a_network_in_a_deep_chinese_folder(room):
    source = prepared_folder(room / "source")
    deep = room / "课 堂 (新) [1]"
    folder = deep / ("x" * (PATH_LENGTH - len(str(deep)) - 1))
    assert len(str(folder)) == PATH_LENGTH
    environment = quiet_environment(room / "home")

    def run(*command: str, cwd: Path) -> str:
        answer = subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", timeout=400
        )
        if "found no network" in answer.stderr:
            pytest.skip("there is no network to fetch the bundle's packages from")
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer.stdout

    said = run(
        *(sys.executable, "start.py", "bundle", "--lang", "en", "--platform", "linux"),
        *("--python", python_series(), "--into", str(folder)),
        cwd=source,
    )
    assert f"made {folder}" in said
    assert (folder / "start.sh").stat().st_mode & 0o100 and (folder / "启动.bat").is_file()
    (torch,) = (folder / "wheels").glob("torch-*")
    assert torch.name.startswith(f"torch-{pinned(ROOT, 'torch')}") and not (folder / ".venv").exists()

    python = (
        shutil.which(f"python{python_series()}", path=os.path.join(sys.base_prefix, "bin")) or sys.executable
    )
    said = run("unshare", "-n", python, "start.py", "setup", "--lang", "en", cwd=folder)
    assert "without a network" in said and "ready:" in said
    said = run("unshare", "-n", ".venv/bin/python", "-m", "pipekit", "run", "--steps", "1", cwd=folder)
    assert "gradients" in said
