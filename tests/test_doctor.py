"""The doctor: any machine can be handed to a check, and what is not fine says what to do, in both languages."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipekit import doctor
from pipekit.cli import main
from pipekit.doctor import Finding, Lab
from pipekit.errors import DeviceError
from pipekit.run.cores import CoreLimits, core_limits
from pipekit.show.fonts import Font
from pipekit.show.i18n import WORDS

KERNEL = {"torch": "2.13.0", "ipywidgets": "8.1.9"}
LAB = {"jupyterlab": "4.6.6", "jupyterlab_widgets": "3.0.17", "widgetsnbextension": "4.0.16"}
OURS = Path(doctor.__file__).parent


def lab(**other):
    return Lab("/lab/python", {**LAB, **other})


def cores(usable, quota=math.inf):
    return CoreLimits(present=8, affinity=usable, quota=quota)


def outcome(difference=4e-7, bubble=0.2):
    """As much of an `Outcome` as the doctor reads; predicted is the bubble of K = 2, M = 4: one part in five."""
    prediction = doctor.Experiment().predict(doctor.SMOKE)
    return SimpleNamespace(difference=difference, bubble=bubble, prediction=prediction)


def refuse(folder):
    raise PermissionError(13, "Permission denied")


class CoarseClock:
    """A clock and a sleep that only know multiples of 15.6 ms, as Windows has them."""

    GRAIN = 0.0156

    def __init__(self):
        self.ticks = 0

    def now(self):
        return self.ticks * self.GRAIN

    def sleep(self, seconds):
        self.ticks += math.ceil(seconds / self.GRAIN)


def on_a_coarse_clock(seconds):
    clock = CoarseClock()
    return doctor.lateness(seconds, clock=clock.now, sleep=clock.sleep)


WELL = {
    "versions": doctor.check_versions(KERNEL, "/python"),
    "lab": doctor.check_lab("8.1.9", lab(), "/python"),
    "no classic notebook": doctor.check_lab("8.1.9", lab(widgetsnbextension=None), "/python"),
    "devices": doctor.check_devices([], mps=False),
    "cores": doctor.check_cores(cores(4)),
    "sleep": doctor.check_sleep([0.0002] * 50, [0.0001] * 50),
    "font": doctor.check_font(Font("Noto Sans CJK SC", "/noto.otf"), "zh"),
    "browser": doctor.check_browser("firefox"),
    "folders": doctor.check_folders(["/here", None], lambda folder: None),
    "pipekit": doctor.check_foreign(OURS, [str(OURS.parent)], None, "/python"),
    "smoke": doctor.check_smoke(outcome(), "en"),
}

# What is wrong -> (finding, level, what it says, what its remedy says in English, and in Chinese)
ILL = {
    "a package is missing": (
        doctor.check_versions({**KERNEL, "torch": None}, "/python"),
        "red", "torch not installed in this Python (/python)", "python3 start.py setup", "python3 start.py setup",
    ),
    "old ipywidgets": (
        doctor.check_versions({**KERNEL, "ipywidgets": "7.8.5"}, "/python"),
        "red", "ipywidgets is 7.8.5", '/python -m pip install "ipywidgets==8.*"', '"ipywidgets==8.*"',
    ),
    "no JupyterLab": (
        doctor.check_lab("8.1.9", None, "/python"),
        "limited", "no JupyterLab found", "run python3 start.py", "请运行 python3 start.py",
    ),
    "the lab's Python has no JupyterLab": (
        doctor.check_lab("8.1.9", lab(jupyterlab=None), "/python"),
        "limited", "no JupyterLab found", "/python -m pip install", "/python -m pip install",
    ),
    "no widgets on the lab's side": (
        doctor.check_lab("8.1.9", lab(jupyterlab_widgets=None), "/python"),
        "red", "lacks jupyterlab_widgets", '/lab/python -m pip install "jupyterlab_widgets==3.*"', "重新打开 JupyterLab",
    ),
    "widgets of another generation on the lab's side": (
        doctor.check_lab("8.1.9", lab(jupyterlab_widgets="1.1.11"), "/python"),
        "red", "ipywidgets 8.1.9, JupyterLab's Python (/lab/python) has jupyterlab_widgets 1.1.11",
        '/lab/python -m pip install "jupyterlab_widgets==3.*"', '/lab/python -m pip install "jupyterlab_widgets==3.*"',
    ),
    "widgets of another generation in the classic notebook": (
        doctor.check_lab("8.1.9", lab(widgetsnbextension="3.6.10"), "/python"),
        "red", "widgetsnbextension 3.6.10", '"widgetsnbextension==4.*"', '"widgetsnbextension==4.*"',
    ),
    "one core": (
        doctor.check_cores(cores(1)),
        "limited", "usable CPU cores: 1 (counted 8, allowed 1, quota -)", "stand-ins work well", "每块显卡要一个核",
    ),
    "less than a core": (
        doctor.check_cores(cores(8, quota=0.5)),
        "red", "usable CPU cores: 0.5", "docker run --cpus 2", "docker run --cpus 2",
    ),
    "a clock of 15.6 ms": (
        doctor.check_sleep(on_a_coarse_clock(0.010), on_a_coarse_clock(0.001)),
        "red", "of 1 ms 14.60 ms (median)", "--batch-time 2.3", "请放慢，用 --batch-time 2.3",
    ),
    "one very late sleep": (
        doctor.check_sleep([0.0002] * 49 + [0.03], [0.0002] * 50),
        "limited", "the worst 30.0 ms", "close other programs", "关掉别的程序",
    ),
    "no font in a Chinese lesson": (
        doctor.check_font(None, "zh"), "red", "no Chinese font", "install Noto Sans CJK", "安装 Noto Sans CJK",
    ),
    "no font in an English lesson": (
        doctor.check_font(None, "en"), "limited", "no Chinese font", "install Noto Sans CJK", "安装 Noto Sans CJK",
    ),
    "no browser": (
        doctor.check_browser(None),
        "limited", "no browser found", "paste the address that start.py prints", "start.py 打印的网址",
    ),
    "a folder that can't be written to": (
        doctor.check_folders(["/here"], refuse),
        "red", "folder /here can't be written to: Permission denied", "a folder of your own", "自己的文件夹",
    ),
    "another package called pipekit": (
        doctor.check_foreign(OURS, [], "1.2.0", "/python"),
        "red", "pipekit 1.2.0", "/python -m pip uninstall pipekit", "/python -m pip uninstall pipekit",
    ),
    "wrong gradients": (
        doctor.check_smoke(outcome(difference=0.3), "en"),
        "red", "differ from the uncut model's by 3e-01", "python3 start.py setup", "python3 start.py setup",
    ),
    "gradients that are no numbers": (
        doctor.check_smoke(outcome(difference=math.nan), "en"),
        "red", "differ from the uncut model's by nan", "python3 start.py setup", "python3 start.py setup",
    ),
    "a bubble far from the prediction": (
        doctor.check_smoke(outcome(bubble=0.31), "en"),
        "red", "the bubble measured 31.0% is far from the predicted 20.0%", "close other programs", "关掉别的程序",
    ),
    "a step that fails": (
        doctor.check_smoke(DeviceError("device_number", asked=0), "en"),
        "red", "cannot make 0 devices", "do what that sentence says", "请照上面那句话做",
    ),
    "a check that fails itself": (
        Finding("font", "red", "doctor_crashed", "doctor_crashed_remedy", {"check": "font", "why": "OSError: no"}),
        "red", 'the check "font" failed itself: OSError: no', "python3 start.py setup", "python3 start.py setup",
    ),
}  # fmt: skip


@pytest.mark.parametrize("finding", WELL.values(), ids=WELL)
def test_what_is_fine_is_one_line(finding):
    assert finding.level == "fine"
    for lang in ("zh", "en"):
        (line,) = finding.lines(lang)
        assert line.startswith("√ ")


@pytest.mark.parametrize(("finding", "level", "says", "remedy", "remedy_zh"), ILL.values(), ids=ILL)
def test_what_is_not_fine_says_what_to_do(finding, level, says, remedy, remedy_zh):
    assert finding.level == level
    sign = "× " if level == "red" else "! "
    line, way_out = finding.lines("en")
    assert line.startswith(sign) and says in line
    assert way_out.startswith("   What to do: ") and remedy in way_out
    line, way_out = finding.lines("zh")
    assert line.startswith(sign)
    assert way_out.startswith("   怎么办：") and remedy_zh in way_out
    (line + way_out).encode("gbk")


def test_every_remedy_was_tried_above():
    tried = {finding.remedy for finding, *_ in ILL.values()}
    assert {key for key in WORDS if key.startswith("doctor_") and key.endswith("_remedy")} <= tried


def test_gpus_are_named_and_apples_device_is_explained():
    assert doctor.check_devices(["H200", "H200"], mps=False).lines("en") == ["√ CUDA GPUs: 2 (H200, H200)"]
    (line,) = doctor.check_devices([], mps=True).lines("en")
    assert "Apple's MPS is one device" in line and "not used" in line


def test_a_container_with_one_cpu_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(6), raising=False)
    (tmp_path / "cpu.max").write_text("100000 100000\n", encoding="ascii")
    limits = core_limits(tmp_path)
    assert limits == (8, 6, 1.0) and limits.usable == 1.0
    assert doctor.check_cores(limits).level == "limited"


def test_sleeps_are_timed_one_by_one():
    assert on_a_coarse_clock(0.010) == pytest.approx([0.0056] * 50)
    assert on_a_coarse_clock(0.001) == pytest.approx([0.0146] * 50)


def test_the_slower_clock_that_is_advised_has_slots_long_enough_for_the_sleep():
    finding = doctor.check_sleep([0.004] * 50, [0.004] * 50)
    slot = finding.numbers["batch_time"] / 4
    assert 0.004 / slot == pytest.approx(doctor.LATE / doctor.SLOT)


def test_a_folder_is_tried_by_writing_into_it(tmp_path):
    doctor.write_a_file(str(tmp_path))
    doctor.write_a_file(None)
    assert list(tmp_path.iterdir()) == []
    file = tmp_path / "file"
    file.touch()
    finding = doctor.check_folders([str(tmp_path), str(file)], doctor.write_a_file)
    assert finding.level == "red" and finding.numbers["folder"] == str(file)


def test_a_settings_folder_that_is_not_there_yet_is_made_in_the_nearest_one_above(tmp_path):
    assert doctor.settings_folder({"JUPYTER_CONFIG_DIR": str(tmp_path)}) == str(tmp_path)
    assert doctor.settings_folder({"JUPYTER_CONFIG_DIR": str(tmp_path / "a" / "b")}) == str(tmp_path)


def test_a_foreign_folder_on_the_path_is_found_and_a_copy_of_ours_is_none(tmp_path):
    foreign, copy = tmp_path / "foreign" / "pipekit", tmp_path / "copy" / "pipekit"
    for folder in (foreign, copy):
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    (copy / "doctor.py").touch()
    path = [str(copy.parent), str(OURS.parent), str(foreign.parent)]
    finding = doctor.check_foreign(OURS, path, None, "/python")
    assert finding.level == "red" and finding.numbers["where"] == str(foreign)


@pytest.mark.parametrize(
    "head",
    [
        "#!{python}\nimport sys\n",
        "#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n",
        "#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n",
    ],
)
def test_a_console_script_names_its_python(tmp_path, head):
    python, script = tmp_path / "bin 中" / "python3.12", tmp_path / "jupyter-lab"
    python.parent.mkdir()
    python.touch()
    script.write_text(head.format(python=python), encoding="utf-8")
    assert doctor.python_of(script) == str(python)


@pytest.mark.parametrize("place", ["Scripts/python.exe", "python.exe"])
def test_a_windows_launcher_has_its_python_beside_or_above_it(tmp_path, place):
    script = tmp_path / "Scripts" / "jupyter-lab.exe"
    script.parent.mkdir()
    script.write_bytes(b"MZ\x90\x00\xff")
    assert doctor.python_of(script) is None
    (tmp_path / place).touch()
    assert doctor.python_of(script) == str(tmp_path / place)


def test_the_lab_is_the_server_that_started_the_kernel_else_the_one_at_hand(tmp_path):
    code = "import os\nfrom pipekit.doctor import find_lab_python\n" + (
        "print(find_lab_python({'JPY_PARENT_PID': str(os.getppid())}, '/nowhere/python'))"
    )
    child = "import subprocess, sys; print(subprocess.check_output([sys.executable, '-c', sys.argv[1]], text=True))"
    environment = {**os.environ, "PYTHONPATH": str(OURS.parent)}
    answer = subprocess.run(
        [sys.executable, "-c", child, code],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=True,
    )
    assert answer.stdout.strip() == sys.executable
    assert doctor.find_lab_python({"PATH": str(tmp_path)}, "/nowhere/python") is None
    assert doctor.find_lab_python({"PATH": str(tmp_path)}, sys.executable) is not None


def test_a_python_that_does_not_answer_is_no_lab():
    assert doctor.look_at_lab(None) is None
    assert doctor.look_at_lab("/no/such/python") is None
    here = doctor.look_at_lab(sys.executable)
    assert here == Lab(sys.executable, doctor.installed(doctor.LAB_PACKAGES))


@pytest.mark.skipif(os.name == "nt", reason="stands in for the lab's Python with a shell script")
def test_the_labs_python_is_asked_for_its_own_packages(tmp_path):
    old = {"jupyterlab": "3.6.8", "jupyterlab_widgets": "1.1.11", "widgetsnbextension": "3.6.10"}
    for name, version in old.items():
        folder = tmp_path / f"{name}-{version}.dist-info"
        folder.mkdir()
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        (folder / "METADATA").write_text(text, encoding="utf-8")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}" exec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    seen = doctor.look_at_lab(str(python))
    assert seen == Lab(str(python), old)
    assert doctor.check_lab("8.1.9", seen, "/python").says == "doctor_widgets_differ"


def test_a_check_that_fails_itself_does_not_end_the_examination(monkeypatch):
    def broken(limits):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(doctor, "check_cores", broken)
    monkeypatch.setattr(doctor, "smoke_run", lambda: ValueError("not today"))
    found = {finding.check: finding for finding in doctor.examine("en")}
    assert list(found) == [
        "versions", "pipekit", "lab", "devices", "cores", "sleep", "font", "browser", "folders", "smoke"
    ]  # fmt: skip
    assert 'the check "cores" failed itself: ZeroDivisionError' in found["cores"].lines("en")[0]
    assert "not today" in found["smoke"].lines("en")[0]


def test_the_smoke_run_really_trains():
    finding = doctor.check_smoke(doctor.smoke_run(), "en")
    assert finding.says in ("doctor_smoke", "doctor_smoke_bubble"), (
        finding
    )  # the latter on a very busy machine
    assert finding.numbers["difference"] < 1e-5
    assert finding.numbers["predicted"] == pytest.approx(1 / 5)


def on(monkeypatch, *findings):
    monkeypatch.setattr(doctor, "examine", lambda lang: iter(findings))


def test_exit_code_0_says_that_nothing_is_red(monkeypatch, capsys):
    on(monkeypatch, WELL["cores"], ILL["no browser"][0])
    assert main(["doctor", "--lang", "en"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "Is this machine ready for the lesson?"
    assert [line[0] for line in said[1:3]] == ["√", "!"]
    assert said[-1] == "Nothing is in the way."


def test_exit_code_1_says_that_something_is_red(monkeypatch, capsys):
    on(monkeypatch, WELL["cores"], ILL["a clock of 15.6 ms"][0])
    assert main(["doctor", "--lang", "zh"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "1 个问题要先解决。"


def test_json_gives_the_findings_to_a_program(monkeypatch, capsys):
    on(monkeypatch, WELL["cores"], ILL["less than a core"][0])
    assert main(["doctor", "--json", "--lang", "en"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["red"] == 1
    assert [each["level"] for each in answer["findings"]] == ["fine", "red"]
    assert answer["findings"][0]["remedy"] is None
    assert answer["findings"][1]["numbers"]["usable"] == 0.5
    assert "docker run --cpus 2" in answer["findings"][1]["remedy"]


def test_a_package_that_cannot_be_loaded_is_said_in_one_paragraph(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise OSError('a DLL is missing')\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{OURS.parent}"}
    answer = subprocess.run(
        [sys.executable, "-m", "pipekit", "doctor"], capture_output=True, encoding="utf-8",
        env={**environment, "PYTHONIOENCODING": "utf-8"}, cwd=tmp_path,
    )  # fmt: skip
    assert answer.returncode == 1
    assert "a DLL is missing" in answer.stderr and "Traceback" not in answer.stderr
    assert (
        "Run `python3 start.py setup`" in answer.stderr and "请运行 python3 start.py setup" in answer.stderr
    )
