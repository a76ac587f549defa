"""The files a class opens by a double click: each finds a Python that can run pipekit, or says what to install."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from setup_folder import ROOT

BATCH = ["start.bat", "启动.bat"]
SHELL = ["start.sh", "start.command"]
TOOLS = ["sh", "cat", "dirname"]
needs_sh = pytest.mark.skipif(shutil.which("sh") is None, reason="there is no sh here")


def batch(name: str) -> list[str]:
    return (ROOT / name).read_bytes().decode("ascii").split("\r\n")


@pytest.mark.parametrize("name", BATCH)
def test_a_batch_file_is_ascii_with_windows_line_ends_and_git_leaves_it_so(name):
    content = (ROOT / name).read_bytes()
    content.decode("ascii")
    assert content.count(b"\n") == content.count(b"\r\n") == content.count(b"\r") > 0
    assert "*.bat -text\n" in (ROOT / ".gitattributes").read_text(encoding="utf-8")


def test_start_bat_asks_py_then_python_then_python3_to_run_a_line():
    asked = [line.split(" -c ")[0] for line in batch("start.bat") if " -c " in line]
    assert asked == ["py -3", "python", "python3"]
    lines = batch("start.bat")
    for number, line in enumerate(lines):
        if " -c " in line:  # the Microsoft Store's stand-in fails here, whatever it is called with
            assert line.endswith('"%CHECK%" >nul 2>nul') and lines[number + 1].startswith(
                "if not errorlevel 1 goto"
            )
    (check,) = (line for line in lines if line.startswith('set "CHECK='))
    code = check.removeprefix('set "CHECK=').removesuffix('"')
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    old = code.replace("sys.version_info <", "(3, 9) <")
    assert subprocess.run([sys.executable, "-c", old]).returncode == 1


def test_start_bat_hands_its_arguments_on_and_goes_to_its_own_folder_in_utf_8():
    lines = batch("start.bat")
    assert [line for line in lines if "start.py %*" in line] == [
        "py -3 start.py %*",
        "python start.py %*",
        "python3 start.py %*",
    ]
    assert 'cd /d "%~dp0"' in lines and "chcp 65001 >nul" in lines
    assert not any(
        "(" in line and "%~dp0" in line for line in lines
    )  # a bracket in the path would close a block


@pytest.mark.parametrize("name", BATCH)
def test_a_window_stays_open_on_every_way_that_fails(name):
    lines = batch(name)
    for number, line in enumerate(lines):
        if line == "exit /b 1":
            assert lines[number - 1] == "pause"
    assert "exit /b 1" in lines


@pytest.mark.parametrize("name", BATCH)
def test_every_label_that_is_gone_to_is_there(name):
    text = "\n".join(batch(name))
    assert set(re.findall(r"goto (\w+)", text)) <= set(re.findall(r"^:(\w+)", text, re.M))


def test_the_chinese_batch_file_opens_the_same_in_chinese():
    assert 'call "%~dp0start.bat" --lang zh %*' in batch("启动.bat")


def test_what_they_say_without_a_python_is_in_both_languages_and_can_be_shown_in_gbk():
    assert r"type pipekit\launcher\no-python.txt" in batch("start.bat")
    chinese, english = (
        (ROOT / "pipekit/launcher/no-python.txt").read_text(encoding="utf-8").strip().split("\n\n")
    )
    for text in (chinese, english):
        assert "3.12" in text and "python.org" in text and "PATH" in text and "\n" not in text
        text.encode("gbk")


# Really run


@pytest.fixture(params=["课 堂 (新)", "a [b] 'c' $d & e"])
def folder(request, tmp_path):
    """The files in a folder with an awkward name, and an empty folder of programs."""
    folder = tmp_path / request.param
    (folder / "pipekit" / "launcher").mkdir(parents=True)
    for name in [*SHELL, "pipekit/launcher/no-python.txt"]:
        shutil.copy(ROOT / name, folder / name)
    (folder / "start.py").write_text("import sys; print('ran', sys.argv[1:]); sys.exit(7)", encoding="utf-8")
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    return folder


def program(folder: Path, name: str, content: str) -> None:
    path = folder.parent / "bin" / name
    path.write_text(f"#!/bin/sh\n{content}\n", encoding="utf-8")
    path.chmod(0o755)


def run(folder: Path, name: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(folder / name), *arguments],
        cwd="/",
        env={"PATH": str(folder.parent / "bin")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=30,
    )


REAL = f'exec "{sys.executable}" "$@"'
STUB = "echo 'Python was not found; install it from the store' >&2; exit 1"


@needs_sh
@pytest.mark.parametrize("name", SHELL)
def test_they_can_be_run_and_stand_so_in_git(name):
    assert os.access(ROOT / name, os.X_OK)
    listed = subprocess.run(["git", "ls-files", "-s", name], cwd=ROOT, capture_output=True, text=True)
    assert listed.returncode != 0 or listed.stdout.startswith("100755")


@needs_sh
@pytest.mark.parametrize("name", SHELL)
def test_a_double_click_runs_start_py_with_its_arguments_and_passes_its_status_on(folder, name):
    program(folder, "python3", REAL)
    answer = run(folder, name, "--lang", "en", "two words")
    assert answer.stdout == "ran ['--lang', 'en', 'two words']\n" and answer.returncode == 7


@needs_sh
def test_a_python_that_only_offers_to_install_one_and_one_that_is_too_old_are_passed_over(folder):
    program(folder, "python3", STUB)
    program(folder, "python", 'case "$1" in -c) exit 1;; esac; echo too old')
    program(folder, "python3.12", REAL)
    answer = run(folder, "start.command")
    assert answer.stdout == "ran []\n" and answer.stderr == ""


@needs_sh
@pytest.mark.parametrize("name", SHELL)
def test_without_a_python_they_say_which_one_to_install(folder, name):
    program(folder, "python3", STUB)
    answer = run(folder, name)
    assert answer.returncode == 1
    assert answer.stdout == (ROOT / "pipekit/launcher/no-python.txt").read_text(encoding="utf-8")


@needs_sh
def test_a_real_old_python_is_told_so_by_start_py_itself(tmp_path):
    """Whatever old Python lies about; start.sh would not call it, but somebody may."""
    found = [shutil.which(f"python3.{minor}") for minor in (7, 8, 9)]
    for python in filter(None, found):
        if subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
            answer = subprocess.run([python, str(ROOT / "start.py")], capture_output=True, encoding="utf-8")
            assert answer.returncode == 1 and "3.10" in answer.stderr and "Traceback" not in answer.stderr
            return
    pytest.skip("no Python older than 3.10 on this machine")
