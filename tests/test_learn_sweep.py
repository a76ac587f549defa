"""The sweep: lists as typed, points one by one, pause, cancel, errors that stay in the table, files for Excel."""

import csv
import io
import threading
import time

import pytest
import torch
from PIL import Image
from torch import nn

from pipekit import plan, run
from pipekit.errors import Cancelled, FileError, PlacementError, ScheduleError, StageError, SweepError
from pipekit.learn import Experiment, Settings, SweepPanel, mlp, sweeping
from pipekit.learn.controlroom import sweep_pictures
from pipekit.learn.experiment import Watch
from pipekit.show import LANGUAGES, say

pytestmark = pytest.mark.alone

QUICK = 0.04  # batch_time in seconds: a micro-batch of 16 takes 10 ms


@pytest.fixture
def make():
    made = []

    def panel(lang="en", experiment=None, **lists):
        wanted = {"stages": "2", "micro_batches": "1, 2, 4", "overhead_ms": 0.0, **lists}
        made.append(SweepPanel(lang, experiment or Experiment(batch_time=QUICK), **wanted))
        return made[-1]

    yield panel
    for each in made:
        each.stop()
        each.settle()


class Picky(nn.Module):
    """Refuses small pieces."""

    least = 16

    def forward(self, x):
        if x.shape[0] < self.least:
            raise RuntimeError(f"only {x.shape[0]} samples\nbang")
        return x


def picky():
    layer = Picky()
    return layer, Experiment(model=nn.Sequential(*mlp(3), layer), batch_time=QUICK)


def until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# -- lists


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1, 2, 4, 8", [1, 2, 4, 8]),
        ("8 4 4 1", [1, 4, 8]),
        ("1-4", [1, 2, 3, 4]),
        ("4-1", [1, 2, 3, 4]),
        ("１，２、４；８", [1, 2, 4, 8]),
        ("１－３", [1, 2, 3]),
        ("1 ~ 3，8", [1, 2, 3, 8]),
        ("1～3", [1, 2, 3]),
        ("1至3、5到6", [1, 2, 3, 5, 6]),
        ("", []),
    ],
)
def test_a_list_is_read_as_people_type_it(text, found):
    assert sweeping.numbers(text, "num_micro_batches") == found


@pytest.mark.parametrize("text", ["1, two", "-3", "1.5", "1-2-3", "四", "9" * 5000])
def test_an_entry_that_cannot_be_read_is_named(text):
    with pytest.raises(SweepError, match="in the list of M; write whole numbers"):
        sweeping.numbers(text, "num_micro_batches")


def test_a_range_that_is_too_long_is_refused_with_both_numbers():
    with pytest.raises(SweepError, match=r"K has 60000 numbers, at most 500"):
        sweeping.numbers("1-60000", "num_stages")


@pytest.mark.parametrize(("text", "key"), [("0", "num_stages"), ("99999999", "too_many")])
def test_a_number_that_cannot_be_is_refused_by_the_rule_of_schedules(text, key):
    with pytest.raises(ScheduleError) as caught:
        sweeping.numbers(text, "num_stages")
    assert caught.value.key == key


def test_the_cross_product_has_every_combination_once_and_keeps_a_k_together():
    points = sweeping.cross([2, 4], [1, 2], ["never", "always"], ["gpipe", "1f1b"])
    assert len(points) == len(set(points)) == 16
    assert [each.num_stages for each in points] == [2] * 8 + [4] * 8


def test_a_relay_race_is_one_point_whatever_m_says():
    assert sweeping.cross([4], [1, 2, 4], ["never"], ["naive", "gpipe"]) == [
        Settings(4, 1),
        Settings(4, 2),
        Settings(4, 4),
    ]


def test_an_empty_list_says_which():
    with pytest.raises(SweepError, match="1 values of K, 0 of M, 1 checkpoint"):
        sweeping.cross([4], [], ["never"], ["gpipe"])


def test_too_many_combinations_are_refused_with_both_numbers():
    with pytest.raises(SweepError, match="1600 combinations, at most 500"):
        sweeping.cross(range(1, 9), range(1, 201), ["never"], ["gpipe"])


def test_what_cannot_run_is_skipped_with_its_reason():
    experiment = Experiment(batch_size=8, batch_time=QUICK)
    choice = sweeping.choose(experiment, sweeping.cross([2, 9], [1, 16], ["never"], ["gpipe"]))
    assert list(choice.points) == [Settings(2, 1)]
    assert {each: error.key for each, error in choice.skipped.items()} == {
        Settings(2, 16): "batch_small",
        Settings(9, 1): "cut_layers",
        Settings(9, 16): "batch_small",
    }


def test_the_estimate_counts_a_warm_up_for_each_k():
    points = {Settings(2, 1): 2.0, Settings(2, 4): 1.0, Settings(4, 1): 3.0}
    assert sweeping.Choice(points, {}).seconds == pytest.approx(6 + 1 + 3 + 3 * sweeping.BETWEEN)


# -- the panel


def test_points_arrive_one_by_one_and_the_charts_fill(make):
    panel = make()
    seen, pictures = [], set()
    panel.charts.observe(
        lambda change: (seen.append(len(panel.points)), pictures.add(change["new"])), "value"
    )
    rows = panel.run().wait(timeout=60)
    assert [row.settings.num_micro_batches for row in rows] == [1, 2, 4]
    assert seen == [1, 2, 3] and len(pictures) == 3
    assert panel.points == rows
    assert all(row.difference < 1e-4 for row in rows)
    assert [row.bubble for row in rows] == pytest.approx([row.bubble_predicted for row in rows], abs=0.1)
    panel.settle()
    assert panel.bar.value == 1.0 and "of 3 points measured" in panel.status.value


def test_the_fastest_m_is_where_the_simulation_says(make):
    experiment = Experiment(batch_time=0.08)
    panel = make("zh", experiment, stages="4", micro_batches="1, 4, 16", overhead_ms=20.0)
    rows = panel.run().wait(timeout=60)
    predicted = {row.settings.num_micro_batches: row.step_predicted for row in rows}
    assert min(predicted, key=predicted.get) == 4
    assert min(rows, key=lambda row: row.step).settings.num_micro_batches == 4
    assert predicted == {
        m: experiment.predict(Settings(4, m, overhead_ms=20.0)).timeline.makespan for m in (1, 4, 16)
    }
    if all(row.status == "measured" for row in rows):
        assert "最快的是 M=4" in panel.notes.value and "最快的是 M=4" in panel.picture_text()


def test_a_point_is_not_measured_twice_unless_asked(make):
    panel = make(micro_batches="1")
    panel._rows += [sweeping.Row(Settings(2, 1), "measured", bubble=0.5, step=0.2, overruns=0)]
    assert panel.run().wait(timeout=30) == []
    panel._lists_changed()
    assert panel.start_button.disabled and "All 1 points are known" in panel.status.value
    panel.again = True
    assert not panel.start_button.disabled
    assert len(panel.run().wait(timeout=30)) == 1
    assert len(panel.points) == 2


def test_what_failed_or_overran_is_tried_again(make):
    panel = make(micro_batches="1, 2")
    panel._rows += [sweeping.Row(Settings(2, 1), "measured", bubble=0.5, step=0.2, overruns=1)]
    panel._rows += [sweeping.Row(Settings(2, 2), error=StageError("cancelled"))]
    assert len(panel._wanted(panel.choice).points) == 2


def test_pause_rests_after_the_point_that_runs_and_resume_goes_on(make):
    panel = make(micro_batches="1, 2, 4, 8", experiment=Experiment(batch_time=0.08))
    running = panel.run()
    until(lambda: panel.points)
    panel.pause_button.click()
    until(lambda: panel._status[0] == "sweep_paused")
    panel.settle()
    resting = len(panel.points)
    assert resting < 4 and not running.done
    assert panel.pause_button.description == say("sweep_resume", "en")
    with panel.experiment.bench(Settings(2, 1)):  # others may use the model meanwhile
        time.sleep(0.3)
    assert len(panel.points) == resting
    panel.pause_button.click()
    assert len(running.wait(timeout=30)) == 4
    assert panel.pause_button.description == say("sweep_pause", "en")


def test_cancel_is_quick_keeps_points_and_leaves_the_panel_usable(make):
    panel = make("zh", Experiment(batch_time=0.32), stages="4", micro_batches="8, 1")
    before = [parameter.detach().clone() for parameter in panel.experiment.model.parameters()]
    running = panel.run()
    until(lambda: panel.points)
    until(lambda: panel._status == ("sweep_point", {"stages": 4, "pieces": 8}))
    time.sleep(0.3)
    began = time.monotonic()
    panel.cancel_button.click()
    with pytest.raises(Cancelled):
        running.wait(timeout=10)
    took = time.monotonic() - began
    print(f"cancelled after {1000 * took:.0f} ms")
    assert took < 1  # alone 0.1 s; here other things may run
    assert len(panel.points) == 1 and "测了 1/2 个点" in panel.status.value
    assert not panel.start_button.disabled and panel.cancel_button.disabled
    assert all(torch.equal(a, b) for a, b in zip(before, panel.experiment.model.parameters(), strict=True))
    assert all(parameter.grad is None for parameter in panel.experiment.model.parameters())


def test_cancel_while_paused_ends_it(make):
    panel = make()
    running = panel.run()
    panel.pause()
    until(lambda: panel._status[0] == "sweep_paused")
    panel.cancel()
    with pytest.raises(Cancelled):
        running.wait(timeout=5)


def test_an_error_is_kept_in_the_table_and_the_sweep_goes_on(make):
    layer, experiment = picky()
    panel = make("zh", experiment, micro_batches="1, 8, 4")
    rows = panel.run().wait(timeout=60)
    assert {row.settings.num_micro_batches: row.status == "failed" for row in rows} == {
        1: False,
        4: False,
        8: True,
    }
    failed = next(row for row in panel.points if row.status == "failed")
    assert failed.bubble is None and failed.error.__traceback__ is None
    assert "bang" in panel.table.value and "没做成" in panel.table.value
    assert "3 个点里有" in panel.status.value
    layer.least = 1
    again = panel.run().wait(timeout=60)
    assert 8 in [row.settings.num_micro_batches for row in again]
    assert failed in panel.points


def test_while_somebody_else_trains_the_model_a_sweep_waits(make):
    panel = make(micro_batches="1")
    with panel.experiment.bench(Settings(2, 1)):
        running = panel.run()
        until(lambda: panel._status[0] == "sweep_waiting")
        assert not panel.points
    assert len(running.wait(timeout=30)) == 1


def test_an_experiment_is_opened_by_one_at_a_time():
    experiment = Experiment(batch_time=QUICK)
    with experiment.bench(Settings(2, 1)), pytest.raises(PlacementError, match="another pipeline"):
        experiment.train_once(Settings(2, 1))
    assert experiment.train_once(Settings(2, 2)).same


def test_new_lists_keep_what_was_measured(make):
    panel = make(micro_batches="1, 2")
    rows = panel.run().wait(timeout=60)
    picture = panel.charts.value
    panel.stages, panel.micro_batches = "4", "8"
    assert panel.points == rows
    assert panel.charts.value != picture
    assert [each.name for each in panel._lines("en")] == ["K=4 GPipe", "K=2 GPipe"]
    panel.micro_batches = "nonsense"
    assert panel.points == rows and "nonsense" in panel.status.value and panel.start_button.disabled
    with pytest.raises(SweepError):
        panel.run()
    panel.micro_batches = "8"
    assert not panel.start_button.disabled


def test_a_line_keeps_its_look_when_lists_change(make):
    panel = make(stages="2, 4")
    looks = {each.name: each.look for each in panel._lines("en")}
    panel.stages = "4, 1"
    assert {each.name: each.look for each in panel._lines("en")}["K=4 GPipe"] == looks["K=4 GPipe"]


def test_a_long_sweep_wants_a_second_press(make):
    panel = make(experiment=Experiment(), stages="4, 8", micro_batches="1-16")
    assert panel._wanted(panel.choice).seconds > 30
    panel.start_button.click()
    assert panel.current is None and "press again" in panel.start_button.description
    panel.micro_batches = "1-15"
    assert "press again" not in panel.start_button.description
    panel.start_button.click()
    panel.start_button.click()
    until(lambda: panel.current is not None)
    panel.cancel()
    with pytest.raises(Cancelled):
        panel.wait(timeout=10)


def test_a_prediction_is_never_shown_as_measured(make):
    panel = make()
    panel._rows += [sweeping.Row(Settings(2, 1), "shared", bubble=0.4, step=0.1, overruns=0)]
    panel._rows += [sweeping.Row(Settings(2, 2), "measured", bubble=0.4, step=0.1, overruns=3)]
    (line,) = panel._lines("en")
    assert line.measured == {} and set(line.doubtful) == {1, 2}
    assert line.fastest()[1] is False
    assert "Not measured yet" in panel.picture_text()
    assert sweep_pictures.best([line], "en", "class") == []


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("view", ["class", "engineer"])
def test_the_panel_speaks_both_languages_to_both_audiences(make, lang, view):
    other = "en" if lang == "zh" else "zh"
    panel = make(other, stages="2, 9", policies=["never", "always"])
    panel._rows += [sweeping.Row(Settings(2, 1), "measured", bubble=0.4, step=0.1, overruns=0)]
    panel.lang, panel.view = lang, view
    assert panel.stages_field.description == say("num_stages", lang, view)
    assert panel.policy_boxes["always"].description == say("always", lang, view)
    assert say("sweep_skipped", lang, count=6)[:8] in panel.notes.value
    unit = say("slots", lang, count=10.0) if view == "class" else say("sweep_second_unit", lang, count=0.1)
    assert unit in panel.table.value
    assert panel.policies == ["never", "always"]


def test_boxes_and_lists_say_the_same(make):
    panel = make()
    panel.policy_boxes["always"].value = True
    assert panel.policies == ["never", "always"]
    seen = []
    panel.observe(lambda change: seen.append(change["new"]), "policies")
    panel.policies = ["except_last"]
    assert seen == [["except_last"]]
    assert [each.value for each in panel.policy_boxes.values()] == [False, True, False]
    panel.policy_boxes["except_last"].value = False
    assert panel.start_button.disabled and "0 checkpoint policies" in panel.status.value


def test_a_policy_that_nobody_knows_is_skipped_with_a_sentence(make):
    panel = make(policies=["sometimes"])
    assert "unknown checkpoint policy" in panel.notes.value and panel.start_button.disabled


def test_a_picture_and_words_stand_in_for_the_panel(make):
    panel = make()
    bundle = panel._repr_mimebundle_()
    assert len(bundle["image/png"]) > 1000
    assert "Not measured yet" in bundle["text/plain"]
    assert Image.open(io.BytesIO(panel.picture_png())).width == 1180


# -- files


def test_the_table_comes_back_from_its_file(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, experiment = picky()
    panel = make("zh", experiment, micro_batches="1, 8")
    panel.run().wait(timeout=60)
    path = panel.save_csv()
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf") and path.parent == tmp_path
    found = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    wanted = [row.record() for row in panel.points]
    assert found == [{k: "" if v is None else str(v) for k, v in each.items()} for each in wanted]
    assert [float(each["step_seconds_measured"]) for each in found if each["step_seconds_measured"]] == [
        row.step for row in panel.points if row.step is not None
    ]


def test_files_never_overwrite_and_the_panel_says_where_they_are(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    panel = make("zh")
    panel._rows += [sweeping.Row(Settings(2, 1), "measured", bubble=0.4, step=0.1, overruns=0)]
    panel._lists_changed()
    for name in ("pipekit-sweep.csv", "pipekit-sweep-2.csv"):
        panel.csv_button.click()
        assert str(tmp_path / name) in panel.status.value
    panel.png_button.click()
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "pipekit-sweep-2.csv",
        "pipekit-sweep.csv",
        "pipekit-sweep.png",
    ]
    with Image.open(tmp_path / "pipekit-sweep.png") as picture:
        assert picture.width == 1180


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    with pytest.raises(FileError, match="refuses"):
        sweeping.save_beside(tmp_path / "nowhere", "table.csv", b"")


def test_a_table_without_rows_is_not_saved(make):
    with pytest.raises(SweepError, match="run the sweep first"):
        make().save_csv()


# -- the engine side


def test_a_failing_warm_up_is_a_row_of_its_own_and_not_of_another_point():
    experiment = Experiment(batch_time=QUICK)
    choice = sweeping.choose(experiment, [Settings(2, 1), Settings(2, 64)])
    rows = []
    sweeping.Sweep(experiment, choice.points).run(Watch(), rows.append)
    statuses = {row.settings.num_micro_batches: row.status for row in rows}
    assert statuses.keys() == {1, 64}
    assert statuses[1] != "failed"


def test_an_error_of_who_keeps_a_row_is_not_blamed_on_a_point():
    experiment = Experiment(batch_time=QUICK)
    sweep = sweeping.Sweep(experiment, sweeping.choose(experiment, [Settings(2, 1), Settings(2, 2)]).points)

    def keep(row):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sweep.run(Watch(), keep)
    with experiment.bench(Settings(2, 1)):  # and the devices are free
        pass


def test_no_thread_is_left(make):
    panel = make()
    panel.run().wait(timeout=60)
    panel.settle()
    until(lambda: not [each for each in threading.enumerate() if each.name.startswith("pipekit-panel")], 5)


def test_a_sweep_is_a_real_pipeline_and_shares_the_formula(make):
    panel = make(micro_batches="4")
    (row,) = panel.run().wait(timeout=60)
    assert row.bubble_formula == plan.formula_bubble(2, 4)
    assert row.devices == run.stand_ins(2, batch_time=QUICK).label()
    assert row.peak_bytes > 0
