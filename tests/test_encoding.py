"""Text goes in and out as utf-8, named everywhere; a terminal that lacks a character gets another, never a traceback."""

import ast
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipekit.cli import PLAIN, language, write_plainly
from pipekit.doctor import SIGNS

ROOT = Path(__file__).resolve().parents[1]
QUICK = ["run", "--stages", "2", "--micro-batches", "2", "--batch-time", "0.04", "--steps", "1"]
STRICT = """
import sys, warnings
warnings.filterwarnings("error", category=EncodingWarning, module="pipekit|start|__main__")
"""  # only our own files: matplotlib and torch open theirs as they like


def child(code, *arguments, **environment):
    """Run a Python in which a file of ours that is opened without an encoding is an error."""
    command = [sys.executable, "-X", "warn_default_encoding", "-c", STRICT + code, *arguments]
    quiet = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore::EncodingWarning"}
    return subprocess.run(command, capture_output=True, env={**os.environ, **quiet, **environment}, cwd=ROOT)


def terminal(encoding, *arguments, **environment):
    """(exit code, stdout, stderr) of the command line on a terminal with this encoding; decoding is strict."""
    code = "from pipekit.cli import main; sys.exit(main())"
    answer = child(code, *arguments, PYTHONIOENCODING=encoding, **environment)
    return answer.returncode, answer.stdout.decode(encoding), answer.stderr.decode(encoding)


def without_encoding(source: str) -> Iterator[int]:
    """Lines that read or write text, or talk to a child in text, and don't say in which encoding."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        keywords = {keyword.arg for keyword in node.keywords}
        file, in_text = {"read_text": 0, "write_text": 1}.get(name), {"text", "universal_newlines"} & keywords
        if "encoding" in keywords or (file is not None and len(node.args) > file):
            continue
        if file is not None or (name in ("run", "Popen", "check_output") and in_text):
            yield node.lineno


@pytest.mark.parametrize(
    ("line", "caught"),
    [
        ("path.read_text()", True),
        ("path.write_text('a')", True),
        ("subprocess.run(command, text=True)", True),
        ("path.read_text(encoding='utf-8')", False),
        ("path.write_text('a', 'utf-8')", False),
        ("subprocess.run(command, text=True, encoding='utf-8')", False),
        ("subprocess.run(command)", False),
    ],
)
def test_a_line_that_leaves_the_encoding_to_chance_is_caught(line, caught):
    assert list(without_encoding(line)) == ([1] if caught else [])


def sources() -> list[Path]:
    folders = ("pipekit", "notebooks", "benchmarks")
    return [ROOT / "start.py", *(file for each in folders for file in sorted((ROOT / each).rglob("*.py")))]


@pytest.mark.parametrize("file", sources(), ids=lambda file: file.relative_to(ROOT).as_posix())
def test_every_text_names_its_encoding(file):
    assert list(without_encoding(file.read_text(encoding="utf-8"))) == []


def test_every_file_that_is_opened_names_its_encoding():
    command = [sys.executable, "-m", "ruff", "check", "--preview", "--select", "PLW1514", "--no-cache", "."]
    answer = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=ROOT)
    assert answer.returncode == 0, answer.stdout


def test_every_module_loads_where_a_forgotten_encoding_is_an_error():
    code = """
import importlib, pkgutil, pipekit, start
for module in pkgutil.walk_packages(pipekit.__path__, "pipekit."):
    importlib.import_module(module.name)
print(sum(name.startswith("pipekit.") for name in sys.modules))
"""
    answer = child(code)
    assert answer.returncode == 0, answer.stderr.decode()
    assert int(answer.stdout) > 40


def test_an_encoding_forgotten_by_us_is_an_error_there():
    answer = child("__name__ = 'pipekit.forgetful'\nopen('README.md').close()")
    assert answer.returncode == 1
    assert b"EncodingWarning" in answer.stderr


@pytest.mark.parametrize("encoding", ["gbk", "ascii"])
def test_run_prints_grid_and_figures_and_writes_a_file_with_a_chinese_name(encoding, tmp_path):
    file = tmp_path / "课 堂" / "轨迹.json"
    file.parent.mkdir()
    code, said, complaint = terminal(encoding, *QUICK, "--trace", str(file), PYTHONUTF8="1")
    assert (code, complaint) == (0, "")
    assert "\npredicted\nF0 F1 .  .  .  B1 B1 B0 B0\n" in said.replace("\r\n", "\n")
    assert "33.3% predicted, 33.3% = (K-1)/(M+K-1)" in said
    assert json.loads(file.read_text(encoding="utf-8"))["traceEvents"]


@pytest.mark.parametrize("encoding", ["gbk", pytest.param("ascii", marks=pytest.mark.slow)])
def test_help_is_printed(encoding):
    code, said, complaint = terminal(encoding, "--help")
    assert (code, complaint) == (0, "")
    assert "doctor" in said and said.isascii()


def test_the_doctor_speaks_chinese_where_the_terminal_can():
    code, said, complaint = terminal("gbk", "doctor", "--lang", "zh")
    assert code in (0, 1) and complaint == ""
    assert said.startswith("看看这台电脑能不能上课：") and "√ 版本：" in said and "训练了一次" in said


@pytest.mark.slow
def test_the_doctor_speaks_english_where_the_terminal_has_no_chinese():
    code, said, complaint = terminal("ascii", "doctor", "--lang", "zh")
    assert code in (0, 1) and complaint == ""
    assert "OK versions: " in said and "trained one step" in said and said.isascii()


def test_an_error_is_chinese_in_a_chinese_locale_and_plain_on_a_plain_terminal():
    for encoding, words in (("gbk", "8 层切不成 9 段"), ("ascii", "cannot cut 8 layers into 9 stages")):
        code, said, complaint = terminal(encoding, "run", "--stages", "9", LC_ALL="zh_CN.UTF-8")
        assert (code, said) == (2, "")
        assert complaint.startswith("pipekit: ") and words in complaint


def test_a_path_that_the_terminal_cannot_write_is_escaped():
    code, _, complaint = terminal("ascii", "run", "--trace", "/没有/轨迹.json", PYTHONUTF8="1")
    assert code == 2
    assert "cannot write /\\u6ca1\\u6709/" in complaint


def test_what_an_encoding_lacks_is_replaced_and_the_rest_stays():
    written = {}
    for encoding in ("utf-8", "gbk", "ascii"):
        bytes_ = io.BytesIO()
        stream = io.TextIOWrapper(bytes_, encoding=encoding)
        write_plainly(stream)
        print("√ 中 → █ 🙂", end="", file=stream, flush=True)
        written[encoding] = bytes_.getvalue().decode(encoding)
    assert written == {
        "utf-8": "√ 中 → █ 🙂",
        "gbk": "√ 中 → █ \\U0001f642",
        "ascii": "OK \\u4e2d -> # \\U0001f642",
    }


def test_every_sign_has_a_plain_form():
    for sign in SIGNS.values():
        sign.encode("gbk")
        assert sign.isascii() or PLAIN[sign].isascii()
    assert "".join(PLAIN.values()).isascii()


@pytest.mark.parametrize(
    ("asked", "encoding", "environment", "spoken"),
    [
        (None, "utf-8", {"LANG": "zh_CN.UTF-8"}, "zh"),
        (None, "gbk", {"LC_ALL": "zh_TW.Big5", "LANG": "en_US.UTF-8"}, "zh"),
        (None, "utf-8", {"LANG": "de_DE.UTF-8"}, "en"),
        (None, "ascii", {"LANG": "zh_CN.UTF-8"}, "en"),
        ("zh", "ascii", {}, "en"),
        ("zh", "gbk", {"LANG": "C"}, "zh"),
        ("en", "utf-8", {"LANG": "zh_CN.UTF-8"}, "en"),
        ("zh", None, {}, "zh"),
    ],
)
def test_the_language_is_the_one_asked_for_or_the_locales_if_the_terminal_can(
    asked, encoding, environment, spoken
):
    assert language(asked, encoding, environment) == spoken


@pytest.mark.parametrize(("name", "spoken"), [("Chinese (Simplified)_China", "zh"), ("English_World", "en")])
def test_windows_has_its_own_names_for_locales(name, spoken, monkeypatch):
    monkeypatch.setattr("locale.getlocale", lambda: (name, "936"))
    assert language(None, "gbk", {}) == spoken
