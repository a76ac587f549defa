"""The set-up: one list of pins, two commands, nothing private, and a start.py that any Python can read."""

import ast
import importlib.util
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from setup_folder import commit_notebook, copy_of_pipekit, notebook

from pipekit.launcher import checks, copies, environment, words
from pipekit.launcher.main import parse
from pipekit.launcher.places import LANGUAGES, Places

ROOT = Path(__file__).resolve().parents[1]
TEST_COMMAND = "python3 start.py test"


def load_start():
    spec = importlib.util.spec_from_file_location("start", ROOT / "start.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


start = load_start()


def pins() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def project() -> str:
    return (ROOT / "pyproject.toml").read_text(encoding="utf-8")  # Python 3.10 has no tomllib


# The pins


def test_environment_yml_has_the_pins_of_constraints_txt():
    lines = (ROOT / "environment.yml").read_text(encoding="utf-8").splitlines()
    listed = [line.strip()[2:].strip("'") for line in lines if line.startswith("      - ")]
    assert listed == [*pins(), "-e ."]


def test_every_pin_is_exact_and_runs_on_every_system():
    for line in pins():
        assert re.fullmatch(r'[a-z0-9-]+==[0-9.]+( ; python_version (<|>=) "3\.\d+")?', line), line


def test_every_dependency_is_pinned():
    names = set(re.findall(r'^ +"([a-z0-9-]+)>=', project(), re.M)) | {"jupyterlab", "ipykernel"}
    assert names == {line.split("==")[0] for line in pins()}


def test_the_distribution_is_not_called_pipekit():
    assert re.search(r'^name = "pipekit-lab"', project(), re.M)


# start.py


def test_start_imports_only_the_standard_library_before_the_environment_is_there():
    lazy = {"run_cells_first", "run_code_cells", "qr_code"}  # they run in .venv's Python
    files = [ROOT / "start.py", *(ROOT / "pipekit" / "launcher").glob("*.py")]
    files.remove(ROOT / "pipekit" / "launcher" / "pip_for.py")  # run by .venv's Python
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        late = {id(node) for f in tree.body if getattr(f, "name", "") in lazy for node in ast.walk(f)}
        for node in ast.walk(tree):
            if id(node) in late or not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            if isinstance(node, ast.ImportFrom) and (
                node.level or node.module.startswith("pipekit.launcher")
            ):
                continue
            names = (
                [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            )
            assert all(name.split(".")[0] in sys.stdlib_module_names for name in names), (file.name, names)


def test_an_old_python_is_told_so_in_two_paragraphs_that_it_can_read():
    chinese, english = start.too_old((3, 9, 18), "utf-8").splitlines()
    assert "3.10" in english and "Python 3.9." in english and "3.10" in chinese and "Python 3.9。" in chinese
    assert start.too_old((3, 9, 18), "ascii") == english
    source = (ROOT / "start.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 7))
    assert source.index("sys.exit(too_old") < source.index("from pipekit.launcher")


def test_the_stamp_changes_with_the_pins_the_place_and_the_python(tmp_path):
    def copy(name: str) -> Path:
        (tmp_path / name).mkdir()
        for file in ("constraints.txt", "pyproject.toml"):
            shutil.copy(ROOT / file, tmp_path / name)
        return tmp_path / name

    here = copy("here")
    before = environment.fingerprint(here, "3.12")
    assert before == environment.fingerprint(here, "3.12")
    assert before != environment.fingerprint(here, "3.13")
    assert before != environment.fingerprint(copy("there"), "3.12")
    with (here / "constraints.txt").open("a", encoding="utf-8") as file:
        file.write("new==1.0\n")
    assert before != environment.fingerprint(here, "3.12")


def test_prepared_means_the_python_the_right_stamp_and_the_extras(tmp_path):
    places = Places(tmp_path)
    assert not environment.is_prepared(places, "abc", [])
    places.python.parent.mkdir(parents=True)
    places.stamp.write_text("abc\nlab\n", encoding="utf-8")
    assert not environment.is_prepared(places, "abc", ["lab"])
    places.python.touch()
    assert environment.is_prepared(places, "abc", ["lab"])
    assert not environment.is_prepared(places, "abc", ["lab", "test"])
    assert not environment.is_prepared(places, "abd", ["lab"])


def test_the_cpu_build_is_asked_for_first_where_there_is_no_driver():
    sources = environment.Sources(torch_index="INDEX")
    attempts = environment.torch_attempts("2.13.0", cpu_only=True, sources=sources)
    assert [attempt[0] for attempt in attempts] == ["torch==2.13.0+cpu", "torch==2.13.0+cpu", "torch==2.13.0"]
    assert ["INDEX" in attempt for attempt in attempts] == [False, True, False]
    assert environment.torch_attempts("2.13.0", cpu_only=False, sources=sources) == [["torch==2.13.0"]]


def test_with_a_folder_of_wheels_nobody_else_is_asked():
    sources = environment.Sources("INDEX", "TORCH", Path("wheels"))
    assert sources.options() == ["--no-index", "--find-links", "wheels"]
    assert environment.torch_attempts("2.13.0", cpu_only=True, sources=sources) == [["torch==2.13.0"]]


def test_indexes_are_named_on_the_command_line_or_in_the_environment(monkeypatch):
    monkeypatch.delenv("PIPEKIT_TORCH_INDEX", raising=False)
    assert parse([])[0].torch_index_url == environment.TORCH_INDEX
    monkeypatch.setenv("PIPEKIT_TORCH_INDEX", "file:///named")
    assert parse([])[0].torch_index_url == "file:///named"
    asked = parse(["--index-url", "file:///mirror", "--torch-index-url", "file:///torch"])[0]
    assert (asked.index_url, asked.torch_index_url) == ("file:///mirror", "file:///torch")
    assert environment.Sources(asked.index_url).options() == ["--index-url", "file:///mirror"]
    assert environment.Sources().options() == []  # then pip's own configuration counts


def test_pip_options_add_to_pips_own_configuration():
    """pip must append what we pass to what the user configured; if it ever replaces it, we must pass both."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--retries", "0", "--timeout", "1"]
    environment = {**os.environ, "PIP_EXTRA_INDEX_URL": "file:///configured", "PIP_INDEX_URL": "file:///main"}
    answer = subprocess.run(
        [*command, "--extra-index-url", "file:///ours", "no-such-package-at-all"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "file:///main, file:///configured, file:///ours" in answer.stdout


def test_options_of_one_command_are_refused_elsewhere(capsys):
    for arguments in (["--platform", "windows"], ["setup", "--python", "3.12"], ["afresh", "--into", "x"]):
        with pytest.raises(SystemExit):
            parse(arguments)
        assert "belong to `start.py bundle`" in capsys.readouterr().err


def test_test_hands_its_arguments_to_pytest_and_to_nothing_else(tmp_path):
    options, rest = parse(["test", "-k", "gpipe", "--lang"])
    assert options.command == "test" and rest == ["-k", "gpipe", "--lang"]
    steps = dict(checks.check_steps(tmp_path, rest))
    both = ["pytest, side by side", "pytest, one at a time"]
    assert list(steps) == ["ruff check", "ruff format", "mypy", *both]
    assert [name for name, command in steps.items() if command[-3:] == rest] == both
    assert list(dict(checks.check_steps(tmp_path, ["-m", "cuda"])))[3:] == ["pytest"]


def test_notebooks_are_checked_last_when_there_are_any(tmp_path):
    (tmp_path / "notebooks" / "zh").mkdir(parents=True)
    assert not checks.has_notebooks(tmp_path)
    (tmp_path / "notebooks" / "zh" / "a.ipynb").touch()
    assert checks.check_steps(tmp_path, [])[-1][0] == "notebooks"


def test_every_test_is_in_one_of_the_two_runs_or_slow():
    one, other = (command[command.index("-m") + 1] for _, command in checks.pytest_steps([]))
    for slow, alone, browser in itertools.product((False, True), repeat=3):
        marks = {"slow": slow, "alone": alone, "browser": browser}
        assert eval(one, {}, marks) + eval(other, {}, marks) == (not slow)


@pytest.mark.parametrize(("answers", "status"), [((0, 5), 0), ((5, 0), 0), ((5, 5), 5), ((5, 1), 1)])
def test_one_of_the_two_runs_may_be_empty_but_not_both(tmp_path, monkeypatch, answers, status):
    given = iter(answers)
    monkeypatch.setattr(subprocess, "call", lambda command, cwd: next(given))
    assert checks.run_tests(tmp_path, checks.pytest_steps([])) == status


def test_testing_stops_at_the_first_failure(tmp_path, capfd):
    steps = [
        ("first", ["calendar", "2020"]),
        ("second", ["json.tool", "no-such-file"]),
        ("third", ["calendar", "1999"]),
    ]
    assert checks.run_tests(tmp_path, steps) != 0
    said = capfd.readouterr().out
    assert "[2/3] second FAILED" in said and "1999" not in said


# What it says


def test_every_line_is_there_in_both_languages_with_the_same_gaps_and_in_gbk():
    for table in (words.LINES, words.FAILURES):
        for key, text in table.items():
            assert set(text) == set(LANGUAGES), key
            zh, en = (set(re.findall(r"{(\w+)", text[language])) for language in ("zh", "en"))
            assert zh == en, key
            text["zh"].encode("gbk")
            text["en"].encode("ascii")


def test_every_line_is_said_somewhere():
    sources = "".join(
        file.read_text(encoding="utf-8")
        for file in (ROOT / "pipekit" / "launcher").glob("*.py")
        if file.name != "words.py"
    )
    unused = [key for key in [*words.LINES, *words.FAILURES] if f'"{key}"' not in sources]
    assert unused == []


@pytest.mark.parametrize(("encoding", "expected"), [("utf-8", "正在"), ("gbk", "正在"), ("ascii", "opening")])
def test_a_terminal_without_chinese_is_spoken_to_in_english(encoding, expected):
    code = (
        "from pipekit.launcher.words import *\nvoice = Voice('zh')\nvoice.say('starting')\n"
        "voice.say('opened', url='http://课堂/ü')\nvoice.explain(SetupError('no_port', first=1, last=2))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.decode(encoding).startswith(f"pipekit: {expected}")
    paragraphs = answer.stderr.decode(encoding).split()
    assert ("端口" in answer.stderr.decode(encoding)) == (encoding != "ascii") and "Ports" in paragraphs


# The learner's own copies of the notebooks


@pytest.fixture
def places(tmp_path):
    return Places(tmp_path)


VOICE = words.Voice("en")


def first_source(places: Places, language: str = "en") -> str:
    copy = copies.give(places, VOICE, language)
    return json.loads(copy.read_text(encoding="utf-8"))["cells"][0]["source"]


def test_an_untouched_copy_follows_the_committed_notebook_and_a_changed_one_is_kept(places, capsys):
    committed = commit_notebook(places.root, "en", "1")
    assert first_source(places) == "1"
    commit_notebook(places.root, "en", "2")
    assert first_source(places) == "2"
    copy = places.root / "my-class" / "control-room.ipynb"
    copy.write_text(copy.read_text(encoding="utf-8").replace('"2"', '"mine"'), encoding="utf-8")
    assert first_source(places) == "mine" and "keeping" not in capsys.readouterr().out
    commit_notebook(places.root, "en", "3")
    assert first_source(places) == "mine"
    assert "keeping your control-room.ipynb" in capsys.readouterr().out
    assert json.loads(committed.read_text(encoding="utf-8"))["cells"][0]["metadata"] == {}


def test_what_a_learners_run_has_shown_stays_from_one_start_to_the_next(places):
    commit_notebook(places.root, "en", "1")
    copy = copies.give(places, VOICE, "en")
    notebook = json.loads(copy.read_text(encoding="utf-8"))
    notebook["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "shown"}]
    copy.write_text(json.dumps(notebook), encoding="utf-8")
    copies.give(places, VOICE, "en")
    assert "shown" in copy.read_text(encoding="utf-8")


@pytest.mark.parametrize(("language", "folder"), [("zh", "我的课堂"), ("en", "my-class")])
def test_each_language_has_its_folder_and_git_ignores_it(places, language, folder):
    commit_notebook(places.root, language, "1")
    assert copies.give(places, VOICE, language) == places.root / folder / "control-room.ipynb"
    assert f"/{folder}/\n" in (ROOT / ".gitignore").read_text(encoding="utf-8")
    assert f'"{folder}"' in project()  # what the linter leaves alone


def test_the_control_rooms_code_is_folded_away_and_other_notebooks_are_as_committed(places):
    committed = commit_notebook(places.root, "en", "1", "2")
    lesson = committed.with_name("lesson.ipynb")
    shutil.copy(committed, lesson)
    copy = copies.give(places, VOICE, "en")
    folded = [cell["metadata"] for cell in json.loads(copy.read_text(encoding="utf-8"))["cells"]]
    assert folded == [{"jupyter": {"source_hidden": True}}] * 2
    cells = json.loads(copy.with_name("lesson.ipynb").read_text(encoding="utf-8"))["cells"]
    assert [cell["metadata"] for cell in cells] == [{}, {}]


def test_a_workbook_of_an_earlier_version_moves_over_once(places, capsys):
    commit_notebook(places.root, "en", "1")
    old = places.root / "workbook" / "en"
    old.mkdir(parents=True)
    (old / "control-room.ipynb").write_text(json.dumps(notebook("mine")), encoding="utf-8")
    (old / "notes.txt").write_text("notes", encoding="utf-8")
    assert first_source(places) == "mine"
    assert (places.root / "my-class" / "notes.txt").read_text(encoding="utf-8") == "notes"
    assert not (places.root / "workbook").exists() and "moved from workbook/en" in capsys.readouterr().out
    old.mkdir(parents=True)
    (old / "control-room.ipynb").write_text(json.dumps(notebook("another")), encoding="utf-8")
    assert first_source(places) == "mine" and old.exists()


def test_afresh_keeps_every_old_copy_beside_the_new_one(places):
    commit_notebook(places.root, "en", "1")
    copy = copies.give(places, VOICE, "en")
    for number in range(3):
        copy.write_text(json.dumps(notebook(f"mine {number}")), encoding="utf-8")
        copies.afresh(places, VOICE, "en")
        assert first_source(places) == "1"
    kept = sorted(copy.parent.glob(f"control-room-{date.today().isoformat()}*.ipynb"))
    assert [json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"] for path in kept] == [
        "mine 1",
        "mine 2",
        "mine 0",
    ]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"cells": []}', '{"cells": [{}], "metadata": {}}'])
def test_a_copy_that_cannot_be_read_is_set_aside_and_said(places, content, capsys):
    commit_notebook(places.root, "en", "1")
    copy = copies.give(places, VOICE, "en")
    copy.write_text(content, encoding="utf-8")
    assert first_source(places) == "1"
    (kept,) = copy.parent.glob("control-room-*.ipynb")
    assert kept.read_text(encoding="utf-8") == content and kept.name in capsys.readouterr().out


def test_a_break_off_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    copies.write_whole(path, "old")
    monkeypatch.setattr(Path, "replace", lambda *ignored: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError, match="no"):
        copies.write_whole(path, "new")
    assert path.read_text(encoding="utf-8") == "old" and list(tmp_path.iterdir()) == [path]


# Awkward folders


def test_a_copy_under_a_long_path_with_chinese_spaces_and_brackets_trains_and_says_what_start_py_can(
    tmp_path,
):
    deep = tmp_path / "课 堂 (新) [1]"
    root = copy_of_pipekit(deep / ("x" * (199 - len(str(deep)))))
    assert len(str(root)) == 200
    for command in (["-m", "pipekit", "run", "--stages", "2", "--steps", "1"], ["start.py", "--help"]):
        answer = subprocess.run(
            [sys.executable, *command],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root), "PYTHONIOENCODING": "gbk"},
            capture_output=True,
        )
        assert answer.returncode == 0, answer.stderr.decode("gbk", "replace")
        assert any(
            word in answer.stdout
            for word in (b"gradients", b"afresh", "梯度".encode("gbk"), "结果".encode("gbk"))
        )


# What is written down


def test_readme_names_both_commands_and_ci_runs_its_test_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "python3 start.py\n" in readme and TEST_COMMAND in readme
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").rstrip().endswith(f"\n{TEST_COMMAND}")


def test_the_example_in_the_readme_runs():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", readme, re.S)
    for attempt in range(2):  # a busy machine may spoil one step
        answer = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True)
        assert answer.returncode == 0, answer.stderr
        (measured,) = re.findall(r"^measured (\d+\.\d)%, formula 27\.3%$", answer.stdout, re.M)
        if abs(float(measured) - 27.3) < 3:
            break
        print(f"attempt {attempt}: {measured} %")
    assert abs(float(measured) - 27.3) < 3


def test_no_file_in_git_names_a_private_place():
    slash, dot = "/", r"\."
    private = re.compile(
        rf"(?<![\w.~-]){slash}(work|opt{slash}(wheels|pypi))\b"
        rf"|{dot}{dot}{slash}shared"
        rf"|pypi{dot}org{slash}simple|pythonhosted{dot}org|deb{dot}debian{dot}org|registry{dot}npmjs|conda{dot}anaconda"
    )
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    for name in filter(None, listed.stdout.split("\0")):
        file = ROOT / name
        if file.suffix in {".png", ".npz"} or not file.is_file():
            continue
        found = private.search(file.read_text(encoding="utf-8", errors="replace"))
        assert not found, f"{name} names {found[0]}"
