"""The same from a terminal: `python -m pipekit run`."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

from pipekit import learn, plan, show
from pipekit.cli import main
from pipekit.cli.parser import parser
from pipekit.cli.run import MODELS
from pipekit.learn import exercises

ROOT = Path(__file__).resolve().parents[1]

QUICK = ["run", "--stages", "2", "--micro-batches", "2", "--batch-time", "0.04", "--steps", "1"]


def test_the_report_shows_both_grids_on_the_same_columns_and_says_what_was_measured(capsys):
    assert main([*QUICK, "--checkpoint", "always"]) == 0
    said = capsys.readouterr().out
    predicted, measured = (
        said.split(f"\n{word}\n")[1].split("\n\n")[0].splitlines() for word in ("predicted", "measured")
    )
    assert predicted[0] == "F0 F1 .  .  .  .  R1 B1 B1 R0 B0 B0"
    assert len(measured) == len(predicted) == 2
    assert re.search(r"bubble +\d+\.\d% measured, 33\.3% predicted, 33\.3% = \(K-1\)/\(M\+K-1\)", said)
    assert "2 stand-ins, 40 ms a mini-batch forward; durations declared, order and waiting measured" in said
    assert said.isascii()


def test_json_gives_the_same_figures_to_a_program(capsys):
    assert main([*QUICK, "--schedule", "1f1b", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["source"] == "measured"
    assert figures["peak_in_flight"] == [2, 1]
    assert figures["bubble_fraction"]["formula"] == pytest.approx(1 / 3)
    assert figures["bubble_fraction"]["predicted"] == pytest.approx(1 / 3)
    assert figures["gradient_difference"] < 1e-5
    counted, predicted = figures["peak_activation_bytes"].values()
    assert counted == pytest.approx(predicted, rel=0.02)


@pytest.mark.parametrize(
    ("schedule", "pieces", "in_flight"),
    [("zb_h1", 2, [2, 2]), ("interleaved_1f1b", 2, [4, 3]), ("dualpipe", 4, [3, 3])],
)
def test_halves_chunks_and_two_copies_train_from_a_terminal(capsys, schedule, pieces, in_flight):
    asked = ["run", "--stages", "2", "--micro-batches", str(pieces), "--batch-time", "0.04", "--steps", "1"]
    assert main([*asked, "--schedule", schedule, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["source"] == "measured" and figures["num_devices"] == 2
    assert figures["peak_in_flight"] == in_flight
    assert figures["gradient_difference"] < 1e-5


def test_the_trace_holds_every_op_on_its_device(tmp_path, capsys):
    file = tmp_path / "trace.json"
    assert main([*QUICK, "--trace", str(file)]) == 0
    trace = json.loads(file.read_text(encoding="utf-8"))
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert sorted(event["name"] for event in events) == sorted(
        str(op) for lane in plan.gpipe(2, 2).lanes for op in lane
    )
    assert {(event["name"][0], event["tid"]) for event in events} == {("0", 0), ("1", 1)}
    assert min(event["ts"] for event in events) == 0
    assert trace["otherData"]["source"] == "measured"


@pytest.fixture(autouse=True)
def english(monkeypatch):
    monkeypatch.setenv("LC_ALL", "C")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--stages", "9"], "cannot cut 8 layers into 9 stages; choose K <= 8"),
        (["--stages", "0"], "a schedule needs at least 1 stage, not 0"),
        (["--micro-batches", "65"], "cannot cut 64 samples into 65 micro-batches; choose M <= 64"),
        (["--micro-batches", "0"], "at least 1 micro-batch, not 0"),
        (["--micro-batches", "-3"], "at least 1 micro-batch, not -3"),
        (["--stages", "1000000"], "cannot cut 8 layers into 1000000 stages; choose K <= 8"),
        (["--stages", "-1"], "a schedule needs at least 1 stage, not -1"),
        (["--batch-time", "-1"], "--batch-time goes from 0.0 to 60.0, not -1.0; choose a number in between"),
        (["--batch-time", "1e9"], "--batch-time goes from 0.0 to 60.0, not 1000000000.0"),
        (["--batch-time", "inf"], "--batch-time goes from 0.0 to 60.0, not inf"),
        (["--batch-time", "nan"], "--batch-time goes from 0.0 to 60.0, not nan"),
        (["--batch-time", "0"], "batch_time must be longer than 0, not 0.0"),
        (["--steps", "0"], "--steps goes from 1 to 1000, not 0; choose a number in between"),
        (["--steps", "-3"], "--steps goes from 1 to 1000, not -3"),
        (["--steps", "99999999"], "--steps goes from 1 to 1000, not 99999999"),
        (["--batch", "0"], "cannot take 0 of 1437 digits"),
        (["--batch", "-5"], "cannot take -5 of 1437 digits"),
        (["--trace", "/no/such/folder/trace.json"], "cannot write /no/such/folder/trace.json"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_exit_code_2(arguments, sentence, capsys):
    assert main(["run", *arguments]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("pipekit: ")
    assert sentence in said.err
    assert "Traceback" not in said.err
    assert said.out == ""


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="sees through /proc when the workers are there"
)
def test_ctrl_c_ends_with_130_and_one_line():
    command = [sys.executable, "-m", "pipekit", "run", "--batch-time", "5"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8", env=environment, cwd=ROOT)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(os.listdir(f"/proc/{process.pid}/task")) < 5:
        time.sleep(0.05)  # until the workers are there
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.strip() == "pipekit: interrupted; the step was undone"


def commands():
    """Every command by its name, with what it understands."""
    return next(each.choices for each in parser()._actions if each.dest == "command")


def test_every_command_is_a_module_that_can_be_run():
    assert all(callable(import_module(f"pipekit.cli.{name}").main) for name in commands())


def test_every_model_that_may_be_asked_for_can_be_trained():
    asked = next(each for each in commands()["run"]._actions if each.dest == "model")
    assert list(asked.choices) == list(MODELS)


def test_help_is_there_before_torch_would_be(tmp_path):
    (tmp_path / "torch.py").write_text("raise OSError('a DLL is missing')", encoding="utf-8")
    answer = started(tmp_path, "--help")
    assert (answer.returncode, answer.stderr) == (0, "") and "collect" in answer.stdout


@pytest.mark.parametrize("broken", ["raise OSError('a DLL is missing')", "import a_package_that_is_missing"])
def test_a_package_that_cannot_be_loaded_is_one_paragraph_with_the_way_out(tmp_path, broken):
    (tmp_path / "torch.py").write_text(broken, encoding="utf-8")
    answer = started(tmp_path, "run")
    assert (answer.returncode, answer.stdout) == (1, "")
    assert (
        "start.py setup" in answer.stderr and "missing" in answer.stderr and "Traceback" not in answer.stderr
    )


def started(shadows, *arguments):
    """The command line in a child that finds the modules of a folder first."""
    places = os.pathsep.join([str(shadows), str(ROOT)])
    command = [sys.executable, "-m", "pipekit", *arguments]
    environment = {**os.environ, "PYTHONPATH": places, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, cwd=shadows)


@pytest.mark.parametrize("package", [show, learn, exercises])
def test_a_package_lists_and_has_every_name_it_says_it_has(package):
    assert set(package.__all__) <= set(dir(package))
    assert all(getattr(package, name) is not None for name in package.__all__)
    assert not hasattr(package, "no_such_name")
